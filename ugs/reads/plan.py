"""Read plans: a whole read, including nested related rows, as one value.

GraphQL selections and openCypher queries both become a `Read`. A store may execute it in one statement; otherwise
`ugs.reads.level_executor` does, with one fetch per relation and level.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from ugs.reads.aggregation import Aggregation, Group
from ugs.reads.filters import EVERYTHING, Where
from ugs.tables import Row, Table


class Order(Struct, frozen=True):
    """Sort by a column; nulls are the smallest values."""

    field: str
    descending: bool = False


class Page(Struct, frozen=True):
    """A page of ordered rows: at most `limit`, strictly after a place (keyset pagination).

    `after` holds the values of the full order (see `full_order`) at that place. `backward` pages towards the start; the
    result is still in forward order. `per` names a column: the limit then applies to each of its values separately.
    """

    limit: int | None = None
    after: tuple[Any, ...] | None = None
    backward: bool = False
    per: str | None = None


WHOLE = Page()


class Read(Struct, frozen=True):
    """Rows of a table, with the rows related to each."""

    table: Table
    where: Where = EVERYTHING
    order: tuple[Order, ...] = ()
    page: Page = WHOLE
    nest: Mapping[str, Nested] = {}
    total: bool = False
    """Also count all rows that meet the condition, regardless of the page."""
    aggregates: Mapping[str, Aggregation] = {}
    """Also aggregate all rows that meet the condition, regardless of the page."""

    def nested(self, **reads: Nested) -> Read:
        return msgspec.structs.replace(self, nest={**self.nest, **reads})


class Nested(Struct, frozen=True):
    """A read of related rows, applied to each parent row."""

    relation: str
    read: Read


class ResultRow(Struct):
    """One row and its nested pages, by the names in `Read.nest`."""

    row: Row
    nest: dict[str, ResultPage] = {}


class ResultPage(Struct):
    """The result of a read: the page, whether more rows follow in its direction, and the total if requested."""

    items: list[ResultRow]
    more: bool = False
    total: int | None = None
    aggregates: dict[str, list[Group]] = {}
    """The groups of each aggregation, by the names in `Read.aggregates`."""

    def __iter__(self) -> Iterator[ResultRow]:
        return iter(self.items)

    @property
    def rows(self) -> list[Row]:
        return [item.row for item in self.items]


def has_aggregates(read: Read) -> bool:
    """Whether a read or one nested in it aggregates rows."""
    return bool(read.aggregates) or any(has_aggregates(nested.read) for nested in read.nest.values())


def full_order(table: Table, order: tuple[Order, ...]) -> tuple[Order, ...]:
    """The order completed by the key, so that it is total and the same on every store."""
    named = {part.field for part in order}
    return order + tuple(Order(name) for name in table.row_key if name not in named)


def sort_key(value: Any) -> tuple[bool, Any]:
    """A sort key that puts None first."""
    return (False, 0) if value is None else (True, value)


def place_of(row: Row, order: tuple[Order, ...]) -> tuple[Any, ...]:
    """The values that a cursor holds to continue after this row."""
    return tuple(getattr(row, part.field) for part in order)


def sorted_rows(rows: list[Row], order: tuple[Order, ...]) -> list[Row]:
    """Rows sorted by the order, with stable sorts from its last part to its first."""
    for part in reversed(order):
        field = part.field
        rows = sorted(rows, key=lambda row: sort_key(getattr(row, field)), reverse=part.descending)
    return rows


def is_after(row: Row, place: tuple[Any, ...], order: tuple[Order, ...]) -> bool:
    """Whether the row comes strictly after the place."""
    for part, value in zip(order, place, strict=True):
        mine, theirs = sort_key(getattr(row, part.field)), sort_key(value)
        if mine != theirs:
            return (mine < theirs) if part.descending else (mine > theirs)
    return False


def is_before(row: Row, place: tuple[Any, ...], order: tuple[Order, ...]) -> bool:
    """Whether the row comes strictly before the place."""
    return place_of(row, order) != place and not is_after(row, place, order)


def paged(rows: list[Row], table: Table, order: tuple[Order, ...], page: Page) -> list[Row]:
    """The reference implementation of order and page, for rows in memory."""
    whole = full_order(table, order)
    rows = sorted_rows(rows, whole)
    if page.after is not None:
        beyond = is_before if page.backward else is_after
        rows = [row for row in rows if beyond(row, page.after, whole)]
    if page.limit is None:
        return rows
    return _per_group(rows, page) if page.per else _cut(rows, page)


def _cut(rows: list[Row], page: Page) -> list[Row]:
    limit = page.limit or 0
    return (rows[-limit:] if limit else []) if page.backward else rows[:limit]


def _per_group(rows: list[Row], page: Page) -> list[Row]:
    groups: dict[Any, list[Row]] = {}
    for row in rows:
        groups.setdefault(getattr(row, page.per or ""), []).append(row)
    kept = {id(row) for group in groups.values() for row in _cut(group, page)}
    return [row for row in rows if id(row) in kept]
