"""A column against a value, as Python would compare them.

Python finds 1, 1.0 and True equal and refuses to order a text and a number; Neo4j does neither. So each kind of column
says which values it can meet, and whatever else comes is left to the matcher.
"""

from __future__ import annotations

from typing import Any

from backends.neo4j.conditions import (
    COMPARISONS,
    NEVER,
    UNDECIDED,
    Condition,
    Parameters,
    joined,
    negated,
)
from backends.neo4j.layout import Layout
from backends.neo4j.texts import to_ordered
from ugs.catalog import Kind
from ugs.reads.where import Compare, Op

EXACT = 2**53
"""Below this, integers and floats compare alike everywhere."""
TEXTUAL = frozenset({Op.CONTAINS, Op.STARTS, Op.ENDS})


class NotComparable(Exception):
    """Neo4j would not compare this value as Python does."""


def compare(parameters: Parameters, layout: Layout, n: str, where: Compare) -> Condition:
    """The comparison as Cypher, exact where Neo4j can be."""
    column, kind = f"{n}.{layout.columns[where.field]}", layout.kinds[where.field]
    if where.op is Op.EXISTS:
        return Condition(f"{column} IS NOT NULL")
    if where.op is Op.NE:
        return negated(_among(parameters, column, kind, (where.value,)))
    if where.op is Op.EQ:
        return _among(parameters, column, kind, (where.value,))
    if where.op is Op.IN:
        return _among(parameters, column, kind, tuple(where.value), many=True)
    return _ordered(parameters, column, kind, where)


def _among(parameters: Parameters, column: str, kind: Kind, values: tuple[Any, ...], many: bool = False) -> Condition:
    try:
        stored = [same for value in values if value is not None and (same := equal_value(kind, value)) is not None]
    except NotComparable:
        return UNDECIDED
    parts = [Condition(f"{column} IS NULL")] if None in values else []
    if stored and many:
        parts.append(Condition(f"{column} IN {parameters.add(stored)}"))
    elif stored:
        parts.append(Condition(f"{column} = {parameters.add(stored[0])}"))
    return joined("OR", parts, NEVER)


def _ordered(parameters: Parameters, column: str, kind: Kind, where: Compare) -> Condition:
    try:
        value = ordered_value(kind, where.value, textual=where.op in TEXTUAL)
    except NotComparable:
        return Condition(f"{column} IS NOT NULL", exact=False)
    return Condition(f"{column} {COMPARISONS[where.op]} {parameters.add(value)}")


def equal_value(kind: Kind, value: Any) -> Any:
    """The stored value that equals this one, None when no value of the kind does."""
    if kind in (Kind.TEXT, Kind.JSON):
        return _text(kind, value) if isinstance(value, str) else _unequal(value)
    if not isinstance(value, int | float):
        return _unequal(value)
    if kind is Kind.BOOLEAN:
        return bool(value) if value in (0, 1) else None
    if kind is Kind.REAL:
        return _real(value)
    return int(value) if value == value // 1 and -(2**63) <= value < 2**63 else None


def _unequal(value: Any) -> None:
    # Texts, numbers and None never equal each other; of anything else we know nothing.
    if not isinstance(value, str | int | float):
        raise NotComparable
    return None


def ordered_value(kind: Kind, value: Any, textual: bool = False) -> Any:
    """The value to compare a column with by `<`, or by a part of its text."""
    if isinstance(value, str) and (kind is Kind.TEXT or (kind is Kind.JSON and textual)):
        return _text(kind, value)
    if textual or not isinstance(value, int | float) or kind not in (Kind.INTEGER, Kind.REAL):
        raise NotComparable
    if kind is Kind.REAL:
        return _real(value)
    if not -EXACT < value < EXACT and (isinstance(value, float) or not -(2**63) <= value < 2**63):
        raise NotComparable
    return value + 0


def _text(kind: Kind, value: str) -> str:
    # No stored text has NUL, but the marks of `texts` have.
    if "\x00" in value:
        raise NotComparable
    return value if kind is Kind.JSON else to_ordered(value)


def _real(value: float) -> float:
    try:
        real = float(value)
    except OverflowError:
        raise NotComparable from None
    if real != value or abs(real) == float("inf"):
        raise NotComparable
    return real + 0.0
