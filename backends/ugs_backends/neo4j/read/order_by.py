"""`ORDER BY` and keyset conditions with the reference order, in which null comes first.

Neo4j sorts null last, so a nullable column is sorted by its presence first. A column fixed by the condition may lead
the order without changing it, and columns that are never null may be tested for that: both let an index provide the
order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from ugs.reads.filters import Compare, Op, Where, conditions
from ugs.reads.plan import Order
from ugs.tables import Kind
from ugs_backends.neo4j.cypher_fragments import Parameters
from ugs_backends.neo4j.layout import Layout
from ugs_backends.neo4j.read.column_filters import NotComparable, coerce_ordered

Place = tuple[Any, ...]


def is_native(layout: Layout, order: Sequence[Order]) -> bool:
    """Whether Neo4j sorts these columns as the reference does; it sorts JSON text by UTF-16 unit."""
    return all(layout.kinds[part.field] is not Kind.JSON for part in order)


def reverse_order(order: Sequence[Order]) -> tuple[Order, ...]:
    """The reversed order."""
    return tuple(msgspec.structs.replace(part, descending=not part.descending) for part in order)


def build_order_by(layout: Layout, n: str, order: Sequence[Order], fixed: Sequence[str] = ()) -> str:
    """The sort keys, led by the columns that the condition fixes (in the direction of the first key)."""
    ordered = {part.field for part in order}
    descending = bool(order) and order[0].descending
    lead = [Order(name, descending) for name in fixed if name not in ordered]
    return ", ".join(key for part in [*lead, *order] for key in _keys(layout, n, part, part.field in fixed))


def _keys(layout: Layout, n: str, part: Order, fixed: bool) -> list[str]:
    column, way = layout.at(n, part.field), " DESC" if part.descending else ""
    if part.field in layout.nullable and not fixed:
        return [f"{column} IS NOT NULL{way}", f"{column}{way}"]
    return [f"{column}{way}"]


def build_presence_conditions(layout: Layout, n: str, order: Sequence[Order]) -> list[str]:
    """Conditions that are always true, but without which Neo4j would not use an index for the order."""
    names = dict.fromkeys(part.field for part in order if part.field not in layout.nullable)
    return [f"{layout.at(n, name)} IS NOT NULL" for name in names]


def list_fixed_fields(layout: Layout, where: Where) -> list[str]:
    """Columns for which the condition allows only one value."""
    return [
        part.field
        for part in conditions(where)
        if isinstance(part, Compare)
        and part.op is Op.EQ
        and part.value is not None
        and layout.kinds[part.field] is not Kind.JSON
    ]


def encode_place(layout: Layout, order: Sequence[Order], place: Place) -> Place:
    """A cursor's values in stored form; raises `NotComparable` if the page must be cut in Python."""
    if len(place) != len(order):
        raise NotComparable
    return tuple(_encode_value(layout, part.field, value) for part, value in zip(order, place, strict=True))


def _encode_value(layout: Layout, name: str, value: Any) -> Any:
    if value is None:
        return None
    if layout.kinds[name] is Kind.BOOLEAN:
        if not isinstance(value, bool):
            raise NotComparable
        return value
    return coerce_ordered(layout.kinds[name], value)


def build_cursor_condition(parameters: Parameters, layout: Layout, n: str, order: Sequence[Order], place: Place) -> str:
    """The condition for rows strictly behind a cursor."""
    column, value = layout.at(n, order[0].field), place[0]
    name = parameters.add(value) if value is not None else ""
    nullable = order[0].field in layout.nullable
    beyond = _build_step(column, name, order[0].descending, nullable)
    if len(order) == 1:
        return beyond
    rest = build_cursor_condition(parameters, layout, n, order[1:], place[1:])
    same = f"{column} = {name}" if name else f"{column} IS NULL"
    # The planner does not split a CASE, so the bound in front of it can use an index.
    bound = f"{column} {'<=' if order[0].descending else '>='} {name} AND " if name and not nullable else ""
    return f"{bound}CASE WHEN {beyond} THEN true WHEN {same} THEN {rest} ELSE false END"


def _build_step(column: str, name: str, descending: bool, nullable: bool) -> str:
    if not name:
        return "false" if descending else f"{column} IS NOT NULL"
    if not descending:
        return f"{column} > {name}"
    return f"({column} < {name} OR {column} IS NULL)" if nullable else f"{column} < {name}"
