"""Order and place: `ORDER BY` and keyset conditions with the reference's rules (nothing before something).

Neo4j puts null last, so a nullable column sorts by its presence first. A column fixed by the condition may lead the
order without changing it, and columns that are never null may be said to be so: both let an index give the order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from backends.neo4j.columns import NotComparable, ordered_value
from backends.neo4j.conditions import Parameters
from backends.neo4j.layout import Layout
from ugs.catalog import Kind
from ugs.reads.plan import Order
from ugs.reads.where import Compare, Op, Where, conditions

Place = tuple[Any, ...]


def is_native(layout: Layout, order: Sequence[Order]) -> bool:
    """Whether Neo4j sorts these columns as the reference does; JSON text it sorts by UTF-16 unit."""
    return all(layout.kinds[part.field] is not Kind.JSON for part in order)


def turned(order: Sequence[Order]) -> tuple[Order, ...]:
    """The same order from the other end."""
    return tuple(msgspec.structs.replace(part, descending=not part.descending) for part in order)


def order_by(layout: Layout, n: str, order: Sequence[Order], fixed: Sequence[str] = ()) -> str:
    """The sort keys, led by the columns that the condition fixes (in the direction of the rest)."""
    ordered = {part.field for part in order}
    descending = bool(order) and order[0].descending
    lead = [Order(name, descending) for name in fixed if name not in ordered]
    return ", ".join(key for part in [*lead, *order] for key in _keys(layout, n, part, part.field in fixed))


def _keys(layout: Layout, n: str, part: Order, fixed: bool) -> list[str]:
    column, way = layout.at(n, part.field), " DESC" if part.descending else ""
    if part.field in layout.nullable and not fixed:
        return [f"{column} IS NOT NULL{way}", f"{column}{way}"]
    return [f"{column}{way}"]


def present(layout: Layout, n: str, order: Sequence[Order]) -> list[str]:
    """Conditions that always hold, and without which Neo4j would not use an index for the order."""
    names = dict.fromkeys(part.field for part in order if part.field not in layout.nullable)
    return [f"{layout.at(n, name)} IS NOT NULL" for name in names]


def fixed_fields(layout: Layout, where: Where) -> list[str]:
    """Columns that the condition allows one value only."""
    return [
        part.field
        for part in conditions(where)
        if isinstance(part, Compare)
        and part.op is Op.EQ
        and part.value is not None
        and layout.kinds[part.field] is not Kind.JSON
    ]


def stored_place(layout: Layout, order: Sequence[Order], place: Place) -> Place:
    """The place as stored values; `NotComparable` when the matcher must look at it."""
    if len(place) != len(order):
        raise NotComparable
    return tuple(_stored(layout, part.field, value) for part, value in zip(order, place, strict=True))


def _stored(layout: Layout, name: str, value: Any) -> Any:
    if value is None:
        return None
    if layout.kinds[name] is Kind.BOOLEAN:
        if not isinstance(value, bool):
            raise NotComparable
        return value
    return ordered_value(layout.kinds[name], value)


def behind(parameters: Parameters, layout: Layout, n: str, order: Sequence[Order], place: Place) -> str:
    """The condition that a row stands strictly behind a place."""
    column, value = layout.at(n, order[0].field), place[0]
    name = parameters.add(value) if value is not None else ""
    nullable = order[0].field in layout.nullable
    beyond = _beyond(column, name, order[0].descending, nullable)
    if len(order) == 1:
        return beyond
    rest = behind(parameters, layout, n, order[1:], place[1:])
    same = f"{column} = {name}" if name else f"{column} IS NULL"
    # As CASE the planner does not split it, and the bound in front of it can use an index.
    bound = f"{column} {'<=' if order[0].descending else '>='} {name} AND " if name and not nullable else ""
    return f"{bound}CASE WHEN {beyond} THEN true WHEN {same} THEN {rest} ELSE false END"


def _beyond(column: str, name: str, descending: bool, nullable: bool) -> str:
    if not name:
        return "false" if descending else f"{column} IS NOT NULL"
    if not descending:
        return f"{column} > {name}"
    return f"({column} < {name} OR {column} IS NULL)" if nullable else f"{column} < {name}"
