"""Functions on text."""

from __future__ import annotations

import unicodedata
from typing import Any

from ugs.cypher.errors import CypherArgumentError
from ugs.cypher.functions.registry import function, wrong_type
from ugs.cypher.values.arithmetic import MAX_TEXT_CHARS, check_length
from ugs.errors import LimitExceeded

PIECE_BYTES = 70
"""What a piece of a text takes beside its characters."""
MAX_NORMALIZED = 1 << 18
"""Characters that are brought into a normal form at once, which takes long for some."""


def _text(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    raise wrong_type(name, value)


def _count(name: str, value: Any) -> int:
    if type(value) is not int:
        raise wrong_type(name, value)
    if value < 0:
        raise CypherArgumentError("NegativeIntegerArgument", f"{name}() takes no negative number")
    return value


for _name in ("toLower", "lower"):
    function(_name, "string", "string")(lambda value: _text("toLower", value).lower())
for _name in ("toUpper", "upper"):
    function(_name, "string", "string")(lambda value: _text("toUpper", value).upper())


@function("trim", "string, string", "string", min_arguments=1)
def trim(value: Any, characters: Any = None) -> str:
    return _text("trim", value).strip(None if characters is None else _text("trim", characters))


@function("btrim", "string, string", "string", min_arguments=1)
def btrim(value: Any, characters: Any = None) -> str:
    return trim(value, characters)  # type: ignore[no-any-return]


@function("lTrim", "string, string", "string", min_arguments=1)
def ltrim(value: Any, characters: Any = None) -> str:
    return _text("lTrim", value).lstrip(None if characters is None else _text("lTrim", characters))


@function("rTrim", "string, string", "string", min_arguments=1)
def rtrim(value: Any, characters: Any = None) -> str:
    return _text("rTrim", value).rstrip(None if characters is None else _text("rTrim", characters))


@function("left", "string, integer", "string")
def left(value: Any, length: Any) -> str:
    return _text("left", value)[: _count("left", length)]


@function("right", "string, integer", "string")
def right(value: Any, length: Any) -> str:
    count = _count("right", length)
    return _text("right", value)[-count:] if count else ""


@function("substring", "string, integer, integer", "string", min_arguments=2)
def substring(value: Any, start: Any, length: Any = None) -> str:
    text, first = _text("substring", value), _count("substring", start)
    return text[first:] if length is None else text[first : first + _count("substring", length)]


@function("replace", "string, string, string", "string")
def replace(value: Any, old: Any, new: Any) -> str:
    text, old, new = _text("replace", value), _text("replace", old), _text("replace", new)
    # The result is measured before it is made: a short query could ask for a very long text.
    if len(text) + text.count(old) * (len(new) - len(old)) > MAX_TEXT_CHARS:
        raise LimitExceeded(f"A text grew beyond {MAX_TEXT_CHARS} characters", limit=MAX_TEXT_CHARS)
    return text.replace(old, new)  # nothing is found before, between and behind all letters


@function("split", "string, string|list", "list<string>", live=True)
def split(run: Any, value: Any, delimiters: Any) -> list[str]:
    parts = [_text("split", value)]
    for delimiter in delimiters if isinstance(delimiters, list) else [delimiters]:
        cut = _text("split", delimiter)
        run.tick(len(parts) // 8 + 1)
        # The pieces are counted before they are made.
        check_length(range(sum([part.count(cut) + 1 if cut else len(part) for part in parts])))
        run.require(sum([(part.count(cut) + 1 if cut else len(part)) * PIECE_BYTES + len(part) for part in parts]))
        parts = [piece for part in parts for piece in (part.split(cut) if cut else list(part))]
    return parts


@function("char_length", "string", "integer")
def char_length(value: Any) -> int:
    return len(_text("char_length", value))


@function("character_length", "string", "integer")
def character_length(value: Any) -> int:
    return len(_text("character_length", value))


@function("normalize", "string, string", "string", min_arguments=1)
def normalize(value: Any, form: Any = "NFC") -> str:
    if form not in ("NFC", "NFD", "NFKC", "NFKD"):
        raise CypherArgumentError("InvalidArgumentValue", f"There is no normal form {form!r}")
    text = _text("normalize", value)
    if len(text) > MAX_NORMALIZED and not unicodedata.is_normalized(form, text):
        raise LimitExceeded(f"normalize() takes at most {MAX_NORMALIZED} characters", limit=MAX_NORMALIZED)
    return check_length(unicodedata.normalize(form, text))  # type: ignore[no-any-return]
