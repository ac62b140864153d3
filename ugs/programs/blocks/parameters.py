"""Access to a block's parameters, and quoting of values in generated queries."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

NAME = re.compile(r"[^\W\d]\w*", re.ASCII)


class InvalidParameter(Exception):
    """A parameter is missing or has an unusable value."""


class Params:
    """Typed access to the parameters of one block."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.given = given

    def text(self, name: str) -> str:
        value = self.given.get(name)
        if not isinstance(value, str) or not value.strip():
            raise InvalidParameter(f"{name} must be a text that is not empty")
        return value

    def maybe_text(self, name: str) -> str | None:
        return None if self.given.get(name) in (None, "") else self.text(name)

    def number(self, name: str, low: float, high: float, default: float | None = None) -> float | None:
        value = self.given.get(name, default)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            raise InvalidParameter(f"{name} must be a number from {low:g} to {high:g}")
        return value

    def count(self, name: str, high: int, default: int | None = None) -> int | None:
        value = self.number(name, 1, high, default)
        if isinstance(value, float):
            raise InvalidParameter(f"{name} must be a whole number")
        return value

    def texts(self, name: str) -> list[str]:
        value = self.given.get(name)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
            raise InvalidParameter(f"{name} must be a list of texts")
        return value

    def some_texts(self, name: str) -> list[str]:
        found = self.texts(name)
        if not found:
            raise InvalidParameter(f"{name} must name at least one")
        return found

    def choice(self, name: str, options: Sequence[str], default: str) -> str:
        value = self.given.get(name, default)
        if value not in options:
            raise InvalidParameter(f"{name} must be one of {', '.join(options)}")
        return str(value)


def quote_text(text: str) -> str:
    """A text as a Cypher string literal."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def quote_list(texts: Sequence[str]) -> str:
    return "[" + ", ".join(map(quote_text, texts)) + "]"


def quote_name(text: str) -> str:
    """A label or relationship type as it is written in a pattern."""
    if NAME.fullmatch(text):
        return text
    if "`" in text or "\\" in text:
        raise InvalidParameter(f"{text!r} cannot be a type in a query")
    return f"`{text}`"


def quote_types(names: Sequence[str]) -> str:
    return ":" + "|".join(map(quote_name, names)) if names else ""
