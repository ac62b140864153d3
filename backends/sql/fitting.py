"""Comparing a typed column with any value, exactly.

Python compares integers, floats and booleans by value, whatever their size; databases convert one to the other and
round. So the value is moved to the column's type first, and the operator adjusted where the value lies between two
that the column can hold. What no row can meet is `NEVER`; what every row with a value meets is `ALWAYS`.
"""

from __future__ import annotations

from enum import Enum
from math import ceil, floor, inf, isinf, isnan
from typing import Any

from msgspec import Struct

from ugs.catalog import Kind
from ugs.reads.where import Op
from ugs.values import FORBIDDEN_TEXT, MAX_INT, MIN_INT


class Fitted(Struct, frozen=True):
    """A comparison the database can do as it is."""

    op: Op
    value: Any


class Fixed(Enum):
    """A comparison that is decided without looking at the column's value."""

    NEVER = False
    ALWAYS = True


NEVER, ALWAYS = Fixed.NEVER, Fixed.ALWAYS
ORDERED = frozenset({Op.LT, Op.LE, Op.GT, Op.GE})
_BELOW = frozenset({Op.LT, Op.LE})


def fitted(kind: Kind, op: Op, value: Any) -> Fitted | Fixed:
    """The comparison `column op value`, for a column of this kind that holds something."""
    if kind in (Kind.TEXT, Kind.JSON):
        return _fit_text(op, value) if isinstance(value, str) else NEVER
    if not isinstance(value, int | float) or (isinstance(value, float) and isnan(value)):
        return NEVER
    if kind is Kind.REAL:
        return _fit_real(op, value)
    return _fit_integer(op, value)


def _fit_text(op: Op, value: str) -> Fitted | Fixed:
    bad = FORBIDDEN_TEXT.search(value)
    if bad is None:
        return Fitted(op, value)
    if op not in ORDERED:
        return NEVER
    # No stored text has such a character, so its place among them lies next to what comes before it.
    start = value[: bad.start()]
    if bad[0] == "\x00":
        return Fitted(Op.LE if op in _BELOW else Op.GT, start)
    return Fitted(Op.LT if op in _BELOW else Op.GE, start + "\ue000")


def _fit_integer(op: Op, value: int | float) -> Fitted | Fixed:
    if isinstance(value, float):
        if isinf(value):
            return _beyond(op, value > 0)
        if not value.is_integer():
            return _between_integers(op, value)
    whole = int(value)
    if MIN_INT <= whole <= MAX_INT:
        return Fitted(op, whole)
    return _beyond(op, whole > 0)


def _between_integers(op: Op, value: float) -> Fitted | Fixed:
    if op not in ORDERED:
        return NEVER
    return _fit_integer(Op.LE, floor(value)) if op in _BELOW else _fit_integer(Op.GE, ceil(value))


def _fit_real(op: Op, value: int | float) -> Fitted | Fixed:
    if isinstance(value, float):
        return Fitted(op, value)
    near = _nearest(value)
    if isinf(near):
        return _beyond(op, value > 0)
    if int(near) == value:
        return Fitted(op, near)
    if op not in ORDERED:
        return NEVER
    if near < value:
        return Fitted(Op.LE if op in _BELOW else Op.GT, near)
    return Fitted(Op.LT if op in _BELOW else Op.GE, near)


def _nearest(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf


def _beyond(op: Op, above: bool) -> Fixed:
    """A value outside the range of the column: all of it lies on one side."""
    return ALWAYS if op in ORDERED and (op in _BELOW) == above else NEVER


def prefix_end(prefix: str) -> str | None:
    """The first text behind all that start with the prefix; None when there is none."""
    kept = prefix.rstrip("\U0010ffff")
    if not kept:
        return None
    following = ord(kept[-1]) + 1
    return kept[:-1] + chr(0xE000 if 0xD800 <= following <= 0xDFFF else following)
