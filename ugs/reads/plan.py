"""Plans: a whole read, nested as deep as it will be shown, as one value.

GraphQL selections and openCypher both become a `Read`. A store may answer it in one statement; otherwise
`ugs.reads.levels` does, one fetch per relation per level.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from ugs.catalog import Row, Table
from ugs.reads.where import EVERYTHING, Where


class Order(Struct, frozen=True):
    """Sort by a column; nothing comes before something."""

    field: str
    descending: bool = False


class Page(Struct, frozen=True):
    """Which part of the ordered rows: at most `limit`, strictly after a place.

    `after` holds the values of the full order (see `full_order`) at that place. `backward` walks towards the
    start, and still answers in forward order. `per` names a column: then the limit counts anew for each of its values.
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
    """Also count all rows that meet the condition, page or not."""

    def nested(self, **reads: Nested) -> Read:
        return msgspec.structs.replace(self, nest={**self.nest, **reads})


class Nested(Struct, frozen=True):
    """A read of the rows at the other end of a relation, once per parent row."""

    relation: str
    read: Read


class Found(Struct):
    """One row and what hangs on it, by the name it was asked under."""

    row: Row
    nest: dict[str, Rows] = {}


class Rows(Struct):
    """The answer to a read: the page, whether more follows in its direction, and the total when asked."""

    items: list[Found]
    more: bool = False
    total: int | None = None

    def __iter__(self) -> Iterator[Found]:
        return iter(self.items)

    @property
    def rows(self) -> list[Row]:
        return [item.row for item in self.items]


def full_order(table: Table, order: tuple[Order, ...]) -> tuple[Order, ...]:
    """The order made total by the key, which every page and every store needs."""
    named = {part.field for part in order}
    return order + tuple(Order(name) for name in table.key if name not in named)


def sort_key(value: Any) -> tuple[bool, Any]:
    """Nothing sorts before something."""
    return (False, 0) if value is None else (True, value)


def place_of(row: Row, order: tuple[Order, ...]) -> tuple[Any, ...]:
    """The values a cursor must hold to continue after this row."""
    return tuple(getattr(row, part.field) for part in order)


def sorted_rows(rows: list[Row], order: tuple[Order, ...]) -> list[Row]:
    """Rows in the order, by stable sorts from the last part to the first."""
    for part in reversed(order):
        field = part.field
        rows = sorted(rows, key=lambda row: sort_key(getattr(row, field)), reverse=part.descending)
    return rows


def is_after(row: Row, place: tuple[Any, ...], order: tuple[Order, ...]) -> bool:
    """Whether the row stands strictly behind the place."""
    for part, value in zip(order, place, strict=True):
        mine, theirs = sort_key(getattr(row, part.field)), sort_key(value)
        if mine != theirs:
            return (mine < theirs) if part.descending else (mine > theirs)
    return False


def is_before(row: Row, place: tuple[Any, ...], order: tuple[Order, ...]) -> bool:
    """Whether the row stands strictly in front of the place."""
    return place_of(row, order) != place and not is_after(row, place, order)


def paged(rows: list[Row], table: Table, order: tuple[Order, ...], page: Page) -> list[Row]:
    """The reference meaning of order and page, for stores that hold rows at hand."""
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
