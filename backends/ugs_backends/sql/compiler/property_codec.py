"""Encodes property values as text with exactly the order of the values.

Databases disagree on JSON: some round floats, some mix booleans with numbers, none compares a 64-bit integer with a
float by value. So each value of an indexed JSON column is also stored as a text, with a first letter for its kind,
whose order by code point is the order of the values; every comparison becomes a comparison of texts.

    null "z"   boolean "b0" "b1"   text "s" + the text   list, map "c" + canonical JSON
    number "n" + "0", "1" or "2" for its sign, then the binary exponent and the significant bits
"""

from __future__ import annotations

from typing import Any

from ugs.reads.sort_keys import MAX_SORT_CHARS, NUMBER, TEXT, number_text
from ugs.values import MAX_INT, MIN_INT, Json, from_text, to_text

COMPOSITE = "c"
TEXTS = frozenset({str})
INDEXED_PREFIX_LENGTH = MAX_SORT_CHARS
"""Number of indexed characters of an encoded value: index entries are limited, and sort keys are cut to the same."""


def encode_property(value: Json) -> str:
    """Encode a JSON value: equal exactly for equal values, ordered as numbers and texts are."""
    # Runs for every stored value; an identity check of the type is the fastest dispatch.
    kind = type(value)
    if kind is float or kind is int:
        return NUMBER + number_text(value)
    if isinstance(value, str):
        return TEXT + value
    if kind is bool:
        return "b1" if value else "b0"
    if value is None:
        return "z"
    if isinstance(value, int | float):  # subclasses, as libraries define them
        return NUMBER + number_text(value)
    return COMPOSITE + to_text(value if kind is list and TEXTS.issuperset(map(type, value)) else _normalize(value))


def encode_search_value(value: Json) -> str | None:
    """Encode a value for a search; None if no stored value can be equal."""
    try:
        return encode_property(value)
    except (OverflowError, UnicodeEncodeError):
        return None


def encode_properties(text: str | None) -> dict[str, str]:
    """Encode every property of a JSON object; empty for other JSON."""
    if text is None or text == "{}":
        return {}
    properties = from_text(text)
    if not isinstance(properties, dict):
        return {}
    return {key: TEXT + value if type(value) is str else encode_property(value) for key, value in properties.items()}


def find_kind_end(kind: str) -> str:
    """The least text greater than all encoded values of a kind."""
    return chr(ord(kind) + 1)


def _normalize(value: Any) -> Any:
    """The value with equal numbers in one representation."""
    if isinstance(value, dict):
        return {key: _normalize(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_normalize(item) for item in value]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return _normalize_number(value)


def _normalize_number(value: int | float) -> int | float:
    if isinstance(value, float):
        return int(value) if value.is_integer() and MIN_INT <= value <= MAX_INT else value
    if MIN_INT <= value <= MAX_INT:
        return value
    if float(value) != value:
        raise OverflowError(f"no stored number is {value}")
    return float(value)
