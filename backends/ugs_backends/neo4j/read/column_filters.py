"""Compiles comparisons of columns, with the semantics of Python.

Python treats 1, 1.0 and True as equal and refuses to order a text and a number; Neo4j does neither. So each kind of
column defines the values it can be compared with, and everything else is left to the matcher.
"""

from __future__ import annotations

from typing import Any

from ugs.reads.filters import Compare, Op
from ugs.tables import Kind
from ugs_backends.neo4j.cypher_fragments import (
    COMPARISONS,
    NEVER,
    UNDECIDED,
    Condition,
    Parameters,
    join_conditions,
    negate,
)
from ugs_backends.neo4j.indexes.collation import to_ordered
from ugs_backends.neo4j.layout import Layout

MAX_EXACT_INTEGER = 2**53
"""Below this magnitude, integers and floats compare exactly."""
TEXTUAL = frozenset({Op.CONTAINS, Op.STARTS, Op.ENDS})


class NotComparable(Exception):
    """Neo4j would not compare this value as Python does."""


def compare(parameters: Parameters, layout: Layout, n: str, where: Compare) -> Condition:
    """The comparison as Cypher, exact where Neo4j can be."""
    column, kind = f"{n}.{layout.columns[where.field]}", layout.kinds[where.field]
    if where.op is Op.EXISTS:
        return Condition(f"{column} IS NOT NULL")
    if where.op is Op.NE:
        return negate(_compare_list(parameters, column, kind, (where.value,)))
    if where.op is Op.EQ:
        return _compare_list(parameters, column, kind, (where.value,))
    if where.op is Op.IN:
        return _compare_list(parameters, column, kind, tuple(where.value), many=True)
    return _compare_order(parameters, column, kind, where)


def _compare_list(
    parameters: Parameters, column: str, kind: Kind, values: tuple[Any, ...], many: bool = False
) -> Condition:
    try:
        stored = [same for value in values if value is not None and (same := coerce_equal(kind, value)) is not None]
    except NotComparable:
        return UNDECIDED
    parts = [Condition(f"{column} IS NULL")] if None in values else []
    if stored and many:
        parts.append(Condition(f"{column} IN {parameters.add(stored)}"))
    elif stored:
        parts.append(Condition(f"{column} = {parameters.add(stored[0])}"))
    return join_conditions("OR", parts, NEVER)


def _compare_order(parameters: Parameters, column: str, kind: Kind, where: Compare) -> Condition:
    try:
        value = coerce_ordered(kind, where.value, textual=where.op in TEXTUAL)
    except NotComparable:
        return Condition(f"{column} IS NOT NULL", exact=False)
    return Condition(f"{column} {COMPARISONS[where.op]} {parameters.add(value)}")


def coerce_equal(kind: Kind, value: Any) -> Any:
    """The stored value that equals this one; None if no value of the kind does."""
    if kind in (Kind.TEXT, Kind.JSON):
        return _coerce_text(kind, value) if isinstance(value, str) else _require_comparable(value)
    if not isinstance(value, int | float):
        return _require_comparable(value)
    if kind is Kind.BOOLEAN:
        return bool(value) if value in (0, 1) else None
    if kind is Kind.REAL:
        return _coerce_real(value)
    return int(value) if value == value // 1 and -(2**63) <= value < 2**63 else None


def _require_comparable(value: Any) -> None:
    # Texts and numbers never equal each other; values of other types are left to the matcher.
    if not isinstance(value, str | int | float):
        raise NotComparable
    return None


def coerce_ordered(kind: Kind, value: Any, textual: bool = False) -> Any:
    """The value to compare a column with by order, or by substring (`textual`)."""
    if isinstance(value, str) and (kind is Kind.TEXT or (kind is Kind.JSON and textual)):
        return _coerce_text(kind, value)
    if textual or not isinstance(value, int | float) or kind not in (Kind.INTEGER, Kind.REAL):
        raise NotComparable
    if kind is Kind.REAL:
        return _coerce_real(value)
    if not -MAX_EXACT_INTEGER < value < MAX_EXACT_INTEGER and (
        isinstance(value, float) or not -(2**63) <= value < 2**63
    ):
        raise NotComparable
    return value + 0


def _coerce_text(kind: Kind, value: str) -> str:
    # Stored texts have no NUL except in the marks of `collation`, which a search must not match.
    if "\x00" in value:
        raise NotComparable
    return value if kind is Kind.JSON else to_ordered(value)


def _coerce_real(value: float) -> float:
    try:
        real = float(value)
    except OverflowError:
        raise NotComparable from None
    if real != value or abs(real) == float("inf"):
        raise NotComparable
    return real + 0.0
