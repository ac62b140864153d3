"""A store reduced to its meaning: rows in dictionaries, and the kernel's reference functions over them.

What a real store answers is compared with this. It is slow and obviously right.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any

from ugs.catalog import Catalog
from ugs.changes import TableWrites, Writes
from ugs.errors import UniqueViolation
from ugs.events import Event, Head
from ugs.reads.filters import EVERYTHING, All, Any_, Linked, Not, Where, matcher
from ugs.reads.plan import WHOLE, Order, Page, paged
from ugs.storage import EventQuery, Session, Storage
from ugs.tables import Row, Table
from ugs_conformance.support.harness import Harness


class Reference(Session):
    """Tables and a log in plain dictionaries and lists."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self.tables: dict[str, dict[Any, Row]] = {table.name: {} for table in catalog}
        self.log: list[Event] = []

    def rows(self, table: Table) -> list[Row]:
        return list(self.tables[table.name].values())

    async def fetch(
        self, table: Table, where: Where = EVERYTHING, order: Sequence[Order] = (), page: Page = WHOLE
    ) -> list[Row]:
        found = [row for row in self.rows(table) if self.meets(row, table, where)]
        return paged(found, table, tuple(order), page)

    def meets(self, row: Row, table: Table, where: Where) -> bool:
        """Whether a row meets a condition, also one about the rows linked to it."""
        if isinstance(where, Linked):
            relation = table.relations[where.relation]
            others = self.catalog.target(relation)
            tie = getattr(row, relation.local)
            linked = (other for other in self.rows(others) if getattr(other, relation.remote) == tie)
            return any(self.meets(other, others, where.where) for other in linked)
        if isinstance(where, All):
            return all(self.meets(row, table, part) for part in where.parts)
        if isinstance(where, Any_):
            return any(self.meets(row, table, part) for part in where.parts)
        if isinstance(where, Not):
            return not self.meets(row, table, where.part)
        return matcher(where, table.words)(row)

    async def events(self, query: EventQuery) -> list[Event]:
        found = [event for event in self.log if matches_query(event, query)]
        found = found[::-1] if query.newest else found
        found = found if query.limit is None else found[: query.limit]
        if query.max_bytes is None:
            return found
        sizes = [0, *accumulate(len(event.data) for event in found)]
        return [event for event, before in zip(found, sizes, strict=False) if before < query.max_bytes]

    async def head(self) -> Head:
        if not self.log:
            return Head()
        last = self.log[-1]
        return Head(last.position, last.timestamp, last.crc or "")

    async def append(self, events: Sequence[Event], writes: Writes) -> None:
        after = {name: dict(rows) for name, rows in self.tables.items()}
        for table, changes in writes.items():
            rows = after[table.name]
            for key in changes.deletes:
                del rows[key]
            for row in (*changes.updates, *changes.inserts):
                rows[table.key_of(row)] = row
            check_unique(table, rows.values())
        self.tables = after
        self.log.extend(events)

    async def clear(self, tables: Iterable[Table]) -> None:
        for table in tables:
            self.tables[table.name] = {}


async def store_rows(harness: Harness, rows: dict[Table, Sequence[Any]]) -> tuple[Storage, Reference]:
    """The store and its reference, holding the same rows."""
    storage, reference = await harness.fresh(), Reference(harness.catalog)
    writes: Writes = {table: TableWrites(inserts=list(some)) for table, some in rows.items() if some}
    await reference.append((), writes)
    async with storage.session(write=True) as session:
        await session.append((), writes)
    return storage, reference


def matches_query(event: Event, query: EventQuery) -> bool:
    """Whether an event belongs to the asked part of the log."""
    if event.position <= query.after or (query.until is not None and event.position > query.until):
        return False
    if query.element is not None and event.element != query.element:
        return False
    if query.elements is not None and event.element not in query.elements:
        return False
    return query.types is None or event.type in query.types


def check_unique(table: Table, rows: Iterable[Row]) -> None:
    """Refuse rows that agree where no two may; a missing value agrees with nothing."""
    rows = list(rows)
    for rule in table.unique:
        meant = matcher(rule.when, table.words)
        places = [tuple(getattr(row, name) for name in rule.fields) for row in rows if meant(row)]
        whole = [place for place in places if None not in place]
        if len(set(whole)) < len(whole):
            raise UniqueViolation(rule.name)
