"""Property values as text that sorts as the values do, exactly.

Databases disagree on JSON: some round floats, some mix booleans with numbers, none compares a 64-bit integer with a
float by value. So each value of an indexed JSON column is also written as one text whose order by code point is the
order of the values, with a first letter for the kind, and every comparison becomes a comparison of texts.

    null "z"   boolean "b0" "b1"   text "s" + the text   list, map "c" + canonical JSON
    number "n" + "0", "1" or "2" for its sign, then the binary exponent and the significant bits
"""

from __future__ import annotations

from functools import lru_cache
from math import frexp
from typing import Any

from ugs.values import MAX_INT, MIN_INT, Json, from_text, to_text

NUMBER, TEXT = "n", "s"
TEXTS = frozenset({str})
HEAD = 100
"""How many characters of an encoded value are indexed where a database limits the size of index entries."""

_EXPONENT_BIAS = 2_000
_LARGEST_EXPONENT = 9_999
_COMPLEMENT = str.maketrans("0123456789abcdef", "fedcba9876543210")


def encoded(value: Json) -> str:
    """The text that stands for a JSON value: equal exactly for the same value, ordered like numbers and texts."""
    # Every value that is ever stored comes by here, and looking at its class is the quickest look.
    kind = type(value)
    if kind is float or kind is int:
        return NUMBER + _number(value)
    if isinstance(value, str):
        return TEXT + value
    if kind is bool:
        return "b1" if value else "b0"
    if value is None:
        return "z"
    if isinstance(value, int | float):  # of a class made of these, as libraries have them
        return NUMBER + _number(value)
    return "c" + to_text(value if kind is list and TEXTS.issuperset(map(type, value)) else _plain(value))


def sought(value: Json) -> str | None:
    """The encoding of a value to look for; None when nothing stored can be the same."""
    try:
        return encoded(value)
    except (OverflowError, UnicodeEncodeError):
        return None


def encoded_properties(text: str | None) -> dict[str, str]:
    """Every key of a JSON object with its encoded value; nothing for other JSON."""
    if text is None or text == "{}":
        return {}
    properties = from_text(text)
    if not isinstance(properties, dict):
        return {}
    return {key: TEXT + value if type(value) is str else encoded(value) for key, value in properties.items()}


def after_kind(kind: str) -> str:
    """The first text behind all values of a kind."""
    return chr(ord(kind) + 1)


@lru_cache(maxsize=16_384)
def _number(value: int | float) -> str:
    # Equal numbers have one text, so it does not matter which of them was seen first.
    if value == 0:
        return "1"
    exponent, bits = _exponent_and_bits(abs(value))
    exponent = min(exponent + _EXPONENT_BIAS, _LARGEST_EXPONENT)
    if value > 0:
        return f"2{exponent:04d}{bits}"
    # Larger magnitudes come first below zero; "g" makes the shorter of two equal beginnings the greater.
    return f"0{_LARGEST_EXPONENT - exponent:04d}{bits.translate(_COMPLEMENT)}g"


def _exponent_and_bits(magnitude: int | float) -> tuple[int, str]:
    """The exponent and the significant bits in hexadecimal, of which the first is always set."""
    if isinstance(magnitude, float):
        fraction, exponent = frexp(magnitude)
        whole, width = int(fraction * 2**53), 53
    else:
        whole, width = magnitude, magnitude.bit_length()
        exponent = width
    digits = -(-width // 4)
    return exponent, f"{whole << (digits * 4 - width):0{digits}x}".rstrip("0")


def _plain(value: Any) -> Any:
    """The value with equal numbers written equally."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return _plain_number(value)


def _plain_number(value: int | float) -> int | float:
    if isinstance(value, float):
        return int(value) if value.is_integer() and MIN_INT <= value <= MAX_INT else value
    if MIN_INT <= value <= MAX_INT:
        return value
    if float(value) != value:
        raise OverflowError(f"no stored number is {value}")
    return float(value)
