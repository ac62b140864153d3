"""Sort keys: texts by whose code points rows sort by a key of a JSON object column, the same on every store.

Texts, numbers and booleans have an order; everything else (nothing, null, lists and objects) counts as missing. A sort
key begins with a letter for the kind of value and is cut to `MAX_SORT_CHARS`, so that cursors that hold it stay short:
texts that agree so far are equal in the order.

    boolean "b0" "b1"   text "s" + the text
    number  "n" + "0", "1" or "2" for its sign, then the binary exponent and the significant bits
"""

from __future__ import annotations

from functools import lru_cache
from math import frexp, ldexp

from msgspec import Struct

from ugs.values import MAX_INT, MIN_INT, JsonText, from_text

NUMBER, TEXT, BOOLEAN = "n", "s", "b"
FIRST, LAST = "a", "z"
"""The sort keys of missing values: before all values, and behind them."""
MAX_SORT_CHARS = 100

_EXPONENT_BIAS = 2_000
_LARGEST_EXPONENT = 9_999
_COMPLEMENT = str.maketrans("0123456789abcdef", "fedcba9876543210")
_PREFIX = "sort"


class SortKey(Struct, frozen=True):
    """A computed column, not stored: the sort key of the value of a key of a JSON object column.

    `Table.counting` gives a table that includes it under `name`, from which it can be read back: orders and cursors
    mention names only.
    """

    field: str
    key: str
    missing: str = FIRST

    @property
    def name(self) -> str:
        """The name as a column; an identifier, whatever characters the key has."""
        return f"{_PREFIX}_{self.missing}_{self.key.encode().hex()}_{self.field}"

    def of(self, text: JsonText) -> str:
        """The sort key of a row, from the text of the JSON column."""
        return sort_text(from_text(text).get(self.key), self.missing)


def parse_sort_key(name: str) -> SortKey | None:
    """The sort key with this name; None if a column of another kind has it."""
    prefix, _, rest = name.partition("_")
    missing, _, rest = rest.partition("_")
    key, _, field = rest.partition("_")
    if prefix != _PREFIX or missing not in (FIRST, LAST) or not field:
        return None
    try:
        return SortKey(field, bytes.fromhex(key).decode(), missing)
    except ValueError:
        return None


def sort_text(value: object, missing: str) -> str:
    """The sort key of a JSON value."""
    if isinstance(value, str):
        return (TEXT + value)[:MAX_SORT_CHARS]
    if isinstance(value, bool):
        return f"{BOOLEAN}{int(value)}"
    if isinstance(value, int | float):
        return NUMBER + number_text(value)
    return missing


@lru_cache(maxsize=16_384)
def number_text(value: int | float) -> str:
    """A number as a text: equal for equal numbers, and ordered as numbers are."""
    # Equal numbers (1 and 1.0) have the same text, so they may share a cache entry.
    if value == 0:
        return "1"
    exponent, bits = _exponent_and_bits(abs(value))
    exponent = min(exponent + _EXPONENT_BIAS, _LARGEST_EXPONENT)
    if value > 0:
        return f"2{exponent:04d}{bits}"
    # Negative numbers sort by descending magnitude; the "g" sorts a number after those that extend its digits.
    return f"0{_LARGEST_EXPONENT - exponent:04d}{bits.translate(_COMPLEMENT)}g"


@lru_cache(maxsize=16_384)
def parse_number_text(text: str) -> int | float:
    """The number that `number_text` wrote, as an integer where a 64-bit one has the value."""
    if text == "1":
        return 0
    exponent, digits = int(text[1:5]), text[5:]
    if text[0] == "0":
        exponent, digits = _LARGEST_EXPONENT - exponent, digits[:-1].translate(_COMPLEMENT)
    bits, shift = int(digits, 16), exponent - _EXPONENT_BIAS - 4 * len(digits)
    sign = -1 if text[0] == "0" else 1
    if shift < 0 and bits & ((1 << -shift) - 1):
        return sign * ldexp(bits, shift)
    whole = sign * (bits << shift if shift >= 0 else bits >> -shift)
    return whole if MIN_INT <= whole <= MAX_INT else float(whole)


def _exponent_and_bits(magnitude: int | float) -> tuple[int, str]:
    """The binary exponent, and the significant bits in hexadecimal, with the first bit set."""
    if isinstance(magnitude, float):
        fraction, exponent = frexp(magnitude)
        whole, width = int(fraction * 2**53), 53
    else:
        whole, width = magnitude, magnitude.bit_length()
        exponent = width
    digits = -(-width // 4)
    return exponent, f"{whole << (digits * 4 - width):0{digits}x}".rstrip("0")
