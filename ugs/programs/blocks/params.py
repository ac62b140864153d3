"""Reading a block's parameters, and writing values into a query so that they stay values."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

NAME = re.compile(r"[^\W\d]\w*", re.ASCII)


class Missing(Exception):
    """Something a block needs is not there, or is not usable."""


class Params:
    """The parameters of one block."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.given = given

    def text(self, name: str) -> str:
        value = self.given.get(name)
        if not isinstance(value, str) or not value.strip():
            raise Missing(f"{name} must be a text that is not empty")
        return value

    def maybe_text(self, name: str) -> str | None:
        return None if self.given.get(name) in (None, "") else self.text(name)

    def number(self, name: str, low: float, high: float, default: float | None = None) -> float | None:
        value = self.given.get(name, default)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            raise Missing(f"{name} must be a number from {low:g} to {high:g}")
        return value

    def count(self, name: str, high: int, default: int | None = None) -> int | None:
        value = self.number(name, 1, high, default)
        if isinstance(value, float):
            raise Missing(f"{name} must be a whole number")
        return value

    def texts(self, name: str) -> list[str]:
        value = self.given.get(name)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
            raise Missing(f"{name} must be a list of texts")
        return value

    def some_texts(self, name: str) -> list[str]:
        found = self.texts(name)
        if not found:
            raise Missing(f"{name} must name at least one")
        return found

    def choice(self, name: str, options: Sequence[str], default: str) -> str:
        value = self.given.get(name, default)
        if value not in options:
            raise Missing(f"{name} must be one of {', '.join(options)}")
        return str(value)


def quoted(text: str) -> str:
    """A text as a literal of a query."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def quoted_list(texts: Sequence[str]) -> str:
    return "[" + ", ".join(map(quoted, texts)) + "]"


def name(text: str) -> str:
    """A label or relationship type inside a pattern."""
    if NAME.fullmatch(text):
        return text
    if "`" in text or "\\" in text:
        raise Missing(f"{text!r} cannot be a type in a query")
    return f"`{text}`"


def types(names: Sequence[str]) -> str:
    return ":" + "|".join(map(name, names)) if names else ""
