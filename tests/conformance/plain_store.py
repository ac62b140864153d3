"""A small, slow, right store, and ways to make it wrong: what the kit must let pass and what it must catch.

The tests install this file as a stranger's package; `plain:` is right, `plain:<fault>` is wrong in one way.
"""

from __future__ import annotations

import asyncio
import copy
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from ugs.catalog import Catalog
from ugs.changes import Writes
from ugs.events import Event
from ugs.reads.filters import EVERYTHING, Op, Property, Where, conditions
from ugs.reads.plan import WHOLE, Order, Page
from ugs.storage import EventQuery, Session, Storage
from ugs.tables import Row, Table
from ugs_conformance.support.reference_store import Reference


class Reversed(Reference):
    """Gives rows in the wrong order when none is asked for."""

    async def fetch(
        self, table: Table, where: Where = EVERYTHING, order: Sequence[Order] = (), page: Page = WHOLE
    ) -> list[Row]:
        rows = await super().fetch(table, where, order, page)
        return rows if order else rows[::-1]


class Inclusive(Reference):
    """Begins a page with the row it should begin after."""

    async def fetch(
        self, table: Table, where: Where = EVERYTHING, order: Sequence[Order] = (), page: Page = WHOLE
    ) -> list[Row]:
        rows = await super().fetch(table, where, order, page)
        if page.after is None or len(table.key) > 1:
            return rows
        here = [row for row in self.rows(table) if table.key_of(row) == page.after[-1]]
        return [*here, *rows][: page.limit]


class Truthy(Reference):
    """Takes true for one, as Python does."""

    def meets(self, row: Row, table: Table, where: Where) -> bool:
        for part in conditions(where):
            if isinstance(part, Property) and part.op is Op.EQ and part.value in (0, 1):
                return bool(getattr(row, "properties", {}).get(part.key) == part.value)
        return super().meets(row, table, where)


class Lawless(Reference):
    """Keeps no unique rule."""

    async def append(self, events: Sequence[Event], writes: Writes) -> None:
        for table, changes in writes.items():
            rows = self.tables[table.name]
            for key in changes.deletes:
                del rows[key]
            rows.update({table.key_of(row): row for row in (*changes.updates, *changes.inserts)})
        self.log.extend(events)


class Forgetful(Reference):
    """Loses who an event was by."""

    async def events(self, query: EventQuery) -> list[Event]:
        import msgspec

        return [msgspec.structs.replace(event, by=None) for event in await super().events(query)]


FAULTS: dict[str, Callable[[Catalog], Reference]] = {
    "": Reference,
    "leaky": Reference,
    "reversed": Reversed,
    "inclusive": Inclusive,
    "truthy": Truthy,
    "lawless": Lawless,
    "forgetful": Forgetful,
}


class PlainStorage(Storage):
    """Everything in dictionaries; a write session works on a copy."""

    scheme = "plain"

    def __init__(self, fault: str) -> None:
        self.fault = fault
        self.lock = asyncio.Lock()

    async def open(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self.now = FAULTS[self.fault](catalog)

    async def close(self) -> None:
        return None

    async def wipe(self) -> None:
        self.now = FAULTS[self.fault](self.catalog)

    @asynccontextmanager
    async def session(self, *, write: bool = False) -> AsyncIterator[Session]:
        if not write:
            yield self.now
            return
        async with self.lock:
            draft: Any = self.now if self.fault == "leaky" else copy.copy(self.now)
            if draft is not self.now:
                draft.tables = {name: dict(rows) for name, rows in self.now.tables.items()}
                draft.log = [*self.now.log]
            yield draft
            self.now = draft


def open_plain(url: str) -> PlainStorage:
    return PlainStorage(url.partition(":")[2].partition("?")[0])
