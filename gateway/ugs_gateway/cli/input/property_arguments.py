"""Property arguments: `key=text`, `key:=json`, `key=@(ref)`, `+key=value` to append, `-key` to remove (seed §6.1)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from ugs.errors import InvalidJSON, InvalidSyntax
from ugs_gateway.cli.lazy_imports import parse_json

KEY = r"[A-Za-z_][A-Za-z0-9_.-]*"
SETTING = re.compile(rf"(?P<sign>\+?)(?P<key>{KEY})(?P<json>:?)=(?P<value>.*)", re.DOTALL)
REMOVAL = re.compile(rf"-(?P<key>{KEY})")
WORD = re.compile(r"[^\W\d][\w .,-]{0,60}")
"""Text that looks like JSON was not intended, for the hint in the error."""
LOOKS_LIKE = "a property is key=text, key:=json, +key=value or -key"


class Properties(NamedTuple):
    """The changes of an element's properties."""

    changed: dict[str, Any]
    appended: dict[str, list[Any]]
    """Of each property the values to append, in order."""
    removed: tuple[str, ...]

    @property
    def append_requests(self) -> dict[str, Any] | list[dict[str, Any]]:
        """The values to append in request form: one object, or several if a property gets several values."""
        round_count = max(map(len, self.appended.values()), default=0)
        rounds = [
            {key: values[number] for key, values in self.appended.items() if number < len(values)}
            for number in range(round_count)
        ]
        return rounds if round_count > 1 else {} if not rounds else rounds[0]

    @property
    def for_new_element(self) -> dict[str, Any]:
        """The properties of a new element: appended values follow the set ones."""
        before = {key: value if isinstance(value, list) else [value] for key, value in self.changed.items()}
        return {**self.changed, **{key: [*before.get(key, []), *values] for key, values in self.appended.items()}}


def is_property(word: str) -> bool:
    """Whether a word can only be a property (C-34)."""
    return "=" in word or word.startswith(("+", "-"))


def parse_properties(words: Iterable[str]) -> Properties:
    """Parse property arguments; the last one for a key wins."""
    changed: dict[str, Any] = {}
    appended: dict[str, list[Any]] = {}
    removed: list[str] = []
    for word in words:
        removal = REMOVAL.fullmatch(word)
        if removal is not None:
            removed.append(removal["key"])
            changed.pop(removal["key"], None)
            appended.pop(removal["key"], None)
            continue
        sign, key, value = _setting(word)
        if sign:
            appended.setdefault(key, []).append(value)
        else:
            changed[key] = value
        removed = [name for name in removed if name != key]
    return Properties(changed, appended, tuple(dict.fromkeys(removed)))


def _setting(word: str) -> tuple[str, str, Any]:
    match = SETTING.fullmatch(word)
    if match is None:
        raise InvalidSyntax(f"{word!r} is not understood: {LOOKS_LIKE}")
    value = _json(match["key"], match["value"]) if match["json"] else match["value"]
    return match["sign"], match["key"], value


def _json(key: str, text: str) -> Any:
    try:
        return parse_json(text)
    except InvalidJSON as error:
        hint = f" Text needs no colon: {key}={text}" if WORD.fullmatch(text) else ""
        raise InvalidJSON(f"{key}: {error.message}.{hint}", key=key) from error
