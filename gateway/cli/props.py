"""Properties as words: `key=text`, `key:=json`, `key=@(ref)`, `+key=value` to append, `-key` to remove (seed §6.1)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from gateway.cli.kernel import parse_json
from ugs.errors import InvalidJSON, InvalidSyntax

KEY = r"[A-Za-z_][A-Za-z0-9_.-]*"
SETTING = re.compile(rf"(?P<sign>\+?)(?P<key>{KEY})(?P<json>:?)=(?P<value>.*)", re.DOTALL)
REMOVAL = re.compile(rf"-(?P<key>{KEY})")
LOOKS_LIKE = "a property is key=text, key:=json, +key=value or -key"


class Properties(NamedTuple):
    """What is to become of an element's properties."""

    changed: dict[str, Any]
    appended: dict[str, Any]
    removed: tuple[str, ...]


def is_property(word: str) -> bool:
    """Whether a word can only be meant as a property (C-34)."""
    return "=" in word or word.startswith(("+", "-"))


def read_properties(words: Iterable[str]) -> Properties:
    """The properties that words stand for; the last word about a key wins."""
    changed: dict[str, Any] = {}
    appended: dict[str, Any] = {}
    removed: list[str] = []
    for word in words:
        removal = REMOVAL.fullmatch(word)
        if removal is not None:
            removed.append(removal["key"])
            changed.pop(removal["key"], None)
            continue
        sign, key, value = _setting(word)
        if sign and key in appended:
            raise InvalidSyntax(f"+{key} is given twice; one command appends one value to a property")
        (appended if sign else changed)[key] = value
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
        raise InvalidJSON(f"{key}: {error.message}", key=key) from error
