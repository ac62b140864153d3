"""Coerces comparisons of a typed column with any value, without loss.

Python compares integers, floats and booleans by value at any size; databases convert and round. So the value is
converted to the column's type first, and the operator adjusted where the value lies between two values of the column's
type. `NEVER`: no row can match; `ALWAYS`: every row with a value matches.
"""

from __future__ import annotations

from enum import Enum
from math import ceil, floor, inf, isinf, isnan
from typing import Any

from msgspec import Struct

from ugs.reads.filters import Op
from ugs.tables import Kind
from ugs.values import FORBIDDEN_TEXT, MAX_INT, MIN_INT


class CoercedComparison(Struct, frozen=True):
    """A comparison that the database evaluates exactly."""

    op: Op
    value: Any


class ConstantResult(Enum):
    """A comparison whose result does not depend on the column's value."""

    NEVER = False
    ALWAYS = True


NEVER, ALWAYS = ConstantResult.NEVER, ConstantResult.ALWAYS
ORDERED = frozenset({Op.LT, Op.LE, Op.GT, Op.GE})
_BELOW = frozenset({Op.LT, Op.LE})


def coerce_comparison(kind: Kind, op: Op, value: Any) -> CoercedComparison | ConstantResult:
    """Coerce `column op value` for a column of this kind that is not null."""
    if kind in (Kind.TEXT, Kind.JSON):
        return _coerce_text(op, value) if isinstance(value, str) else NEVER
    if not isinstance(value, int | float) or (isinstance(value, float) and isnan(value)):
        return NEVER
    if kind is Kind.REAL:
        return _coerce_real(op, value)
    return _coerce_integer(op, value)


def _coerce_text(op: Op, value: str) -> CoercedComparison | ConstantResult:
    bad = FORBIDDEN_TEXT.search(value)
    if bad is None:
        return CoercedComparison(op, value)
    if op not in ORDERED:
        return NEVER
    # No stored text has such a character, so the comparison is decided by the prefix before it.
    start = value[: bad.start()]
    if bad[0] == "\x00":
        return CoercedComparison(Op.LE if op in _BELOW else Op.GT, start)
    return CoercedComparison(Op.LT if op in _BELOW else Op.GE, start + "\ue000")


def _coerce_integer(op: Op, value: int | float) -> CoercedComparison | ConstantResult:
    if isinstance(value, float):
        if isinf(value):
            return resolve_out_of_range(op, value > 0)
        if not value.is_integer():
            return _round_bound(op, value)
    whole = int(value)
    if MIN_INT <= whole <= MAX_INT:
        return CoercedComparison(op, whole)
    return resolve_out_of_range(op, whole > 0)


def _round_bound(op: Op, value: float) -> CoercedComparison | ConstantResult:
    if op not in ORDERED:
        return NEVER
    return _coerce_integer(Op.LE, floor(value)) if op in _BELOW else _coerce_integer(Op.GE, ceil(value))


def _coerce_real(op: Op, value: int | float) -> CoercedComparison | ConstantResult:
    if isinstance(value, float):
        return CoercedComparison(op, value)
    near = _round_to_real(value)
    if isinf(near):
        return resolve_out_of_range(op, value > 0)
    if int(near) == value:
        return CoercedComparison(op, near)
    if op not in ORDERED:
        return NEVER
    if near < value:
        return CoercedComparison(Op.LE if op in _BELOW else Op.GT, near)
    return CoercedComparison(Op.LT if op in _BELOW else Op.GE, near)


def _round_to_real(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf


def resolve_out_of_range(op: Op, above: bool) -> ConstantResult:
    """A comparison with a value beyond the range of the column."""
    return ALWAYS if op in ORDERED and (op in _BELOW) == above else NEVER


def find_prefix_end(prefix: str) -> str | None:
    """The least text greater than all texts with the prefix; None if there is none."""
    kept = prefix.rstrip("\U0010ffff")
    if not kept:
        return None
    following = ord(kept[-1]) + 1
    return kept[:-1] + chr(0xE000 if 0xD800 <= following <= 0xDFFF else following)
