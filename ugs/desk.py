"""The desk a decision works at: the store, with everything decided so far laid over it.

Commands that wait together are decided one after another in one transaction. Each sees what the ones before it
changed, and the store hears of nothing until the whole group is written at once, as whole rows. A refused command is
rolled back here, so it costs the store nothing at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from typing import Any

from ugs.catalog import Catalog, Row, Table
from ugs.changes import Change, Drop, NewElements, Patch, Put, Raise, Writes, patched, projected, raised
from ugs.events import Draft, Event, Head, Idem, SealedEvents, event_id
from ugs.reads.plan import WHOLE, Order, paged
from ugs.reads.where import EVERYTHING, Compare, Op, Where
from ugs.sheets import UNKNOWN, Sheet
from ugs.storage import EventQuery, Session
from ugs.values import JsonText, to_text

Changes = dict[tuple[str, Any], Row | None]
"""Rows by table and key; None where one is gone."""


class Desk:
    """Reads through pending changes; stages events; yields the rows to write."""

    def __init__(self, session: Session, catalog: Catalog, head: Head, now: int) -> None:
        self.session = session
        self.catalog = catalog
        self.head = head
        self.now = max(now, head.timestamp, head.floor)
        self.events = SealedEvents()
        self._open: list[Event] = []
        self._sheets: dict[Table, Sheet] = {}
        self._journal: list[tuple[Sheet, Any, Any]] = []

    def _sheet(self, table: Table) -> Sheet:
        sheet = self._sheets.get(table)
        if sheet is None:
            sheet = self._sheets[table] = Sheet(table, self.session.at_hand(table))
        return sheet

    async def find(self, table: Table, key: Any) -> Row | None:
        """The row with this key as it is now, pending changes included."""
        sheet = self._sheets.get(table) or self._sheet(table)
        row = sheet.look(key)
        if row is UNKNOWN:
            row = sheet.stored[key] = await self.session.find(table, key)
        return row

    async def prefetch(self, wanted: Iterable[tuple[Table, Any]]) -> None:
        """Load many rows in one call, so that a group costs a few statements, not a few per command."""
        unknown: dict[Table, list[Any]] = {}
        for table, key in dict.fromkeys(wanted):
            if not self._sheet(table).knows(key):
                unknown.setdefault(table, []).append(key)
        if unknown:
            await self._load(unknown)

    async def prefetch_unlikely(self, wanted: Mapping[Table, Sequence[Any]]) -> None:
        """The same for rows that hardly ever exist: a store may leave it at that until it is written to."""
        unknown: dict[Table, list[Any]] = {}
        for table, keys in wanted.items():
            if not keys:
                continue
            sheet = self._sheet(table)
            if not sheet.whole and (new := [key for key in dict.fromkeys(keys) if key not in sheet.stored]):
                unknown[table] = new
        if not unknown:
            return
        if self.session.presume_absent(unknown):
            for table, keys in unknown.items():
                self._sheets[table].stored.update(dict.fromkeys(keys))
        else:
            await self._load(unknown)

    async def _load(self, wanted: Mapping[Table, Sequence[Any]]) -> None:
        for table, rows in (await self.session.find_keys(wanted)).items():
            stored = self._sheet(table).stored
            stored.update(dict.fromkeys(wanted[table]))
            stored.update((table.key_of(row), row) for row in rows)

    def know(self, table: Table, where: Where, rows: Sequence[Row]) -> None:
        """Remember what the store answers to a condition; nobody else can change it during this transaction."""
        self._sheet(table).remember(where, rows)

    def know_absent(self, table: Table, key: Any) -> None:
        """Remember that the store has no row with this key, since it has just been made up at random."""
        sheet = self._sheet(table)
        if not sheet.knows(key):
            sheet.stored[key] = None

    def is_new(self, table: Table, key: Any) -> bool:
        """Whether the store is known to have no row with this key."""
        sheet = self._sheet(table)
        return sheet.knows(key) and sheet.stored.get(key) is None

    def is_unused(self, key: Any, tables: Iterable[Table]) -> bool:
        """Whether certainly no row of these tables has or had this key, told without asking the store."""
        for table in tables:
            sheet = self._sheets.get(table) or self._sheet(table)
            if sheet.may_have(key):
                return False
        return True

    def are_unused(self, keys: Sequence[Any], tables: Iterable[Table]) -> bool:
        """The same of several keys, which must be different ones."""
        return len(set(keys)) == len(keys) and not any(self._sheet(table).may_have_any(keys) for table in tables)

    async def fetch(self, table: Table, where: Where = EVERYTHING, order: Sequence[Order] = ()) -> list[Row]:
        """Rows that meet the condition as of now, pending changes included."""
        sheet = self._sheet(table)
        if sheet.is_empty:
            return []
        if where not in sheet.asked:
            sheet.remember(where, await self.session.fetch(table, where))
        rows = sheet.answer(where)
        return rows if len(rows) < 2 else paged(rows, table, tuple(order), WHOLE)

    def certainly_none(self, table: Table, where: Where) -> bool:
        """Whether no row meets the condition, as far as that is known without asking: no row is pending, and the store
        has none or was asked."""
        sheet = self._sheets.get(table) or self._sheet(table)
        return not sheet.current and (sheet.is_empty or sheet.asked.get(where) == [])

    async def events_of(self, element: str) -> list[Event]:
        """All events of an element, those of this group included."""
        logged = await self.session.events(EventQuery(element=element))
        return logged + [event for event in (*self.events, *self._open) if event.element == element]

    def is_there(self, table: Table, key: Any) -> bool:
        """Whether there is certainly a row with this key, told without asking the store."""
        row = (self._sheets.get(table) or self._sheet(table)).look(key)
        return row is not None and row is not UNKNOWN

    @property
    def next_position(self) -> int:
        """Where the next event will stand in the log."""
        return self.head.position + len(self.events) + len(self._open) + 1

    @property
    def open_events(self) -> Sequence[Event]:
        """The events that the open command has staged."""
        return self._open

    @property
    def open_count(self) -> int:
        """How many events the open command has staged."""
        return len(self._open)

    async def stage(self, drafts: Iterable[Draft]) -> list[Event]:
        """Give drafts their place in the log and let them act on the rows."""
        first = len(self._open)
        for draft in drafts:
            await self.act(self._place(draft.type, to_text(draft.data), draft.element, draft.version))
        return self._open[first:]

    def record(self, type: str, data: JsonText, table: Table, key: str, row: Row) -> None:
        """Place the first event of an element and lay its row, which nobody need be asked about: `is_unused`."""
        self._place(type, data, key, 1)
        self._lay(table, key, row)

    def _place(self, type: str, data: JsonText, element: str | None, version: int | None) -> Event:
        """Give an event its place in the log."""
        now, position = self.now, self.next_position
        event = Event(
            position=position,
            id=event_id(now, position),
            timestamp=now,
            type=type,
            data=data,
            element=element,
            version=version,
        )
        self._open.append(event)
        return event

    async def act(self, event: Event) -> None:
        """Let an event that has its place act on the rows."""
        for change in self.catalog.rules.reduce(event):
            if not self._put_at_once(change):
                await self._settle(change)

    def _put_at_once(self, change: Change) -> bool:
        """Put a row where nobody need be asked what was there, which is nearly always; False where that is not so."""
        if not isinstance(change, Put):
            return False
        sheet, key = self._sheets.get(change.table) or self._sheet(change.table), change.table.key_of(change.row)
        if not sheet.whole and key not in sheet.stored:
            return False
        self._journal.append((sheet, key, sheet.lay(key, change.row)))
        return True

    async def _settle(self, change: Change) -> None:
        if isinstance(change, Put):
            await self._put(change.table, change.row)
        elif isinstance(change, Patch):
            row = await self.find(change.table, change.key)
            if row is not None:
                self._lay(change.table, change.key, patched(row, change))
        elif isinstance(change, Raise):
            await self._raise(change)
        else:
            await self._drop(change)

    async def _put(self, table: Table, row: Row) -> None:
        key = table.key_of(row)
        if not self._sheet(table).knows(key):
            await self.find(table, key)
        self._lay(table, key, row)

    async def _raise(self, change: Raise) -> None:
        key = change.table.key_of(change.row)
        old = await self.find(change.table, key)
        self._lay(change.table, key, change.row if old is None else raised(change.table, old, change.row))

    async def _drop(self, change: Drop) -> None:
        table = change.table
        for row in await self._rows_meant(table, change.where):
            self._lay(table, table.key_of(row), None)
            if change.into is not None:
                await self._put(change.into, projected(row, change.into))

    async def _rows_meant(self, table: Table, where: Where) -> list[Row]:
        if isinstance(where, Compare) and where.op is Op.EQ and table.key == (where.field,):
            row = await self.find(table, where.value)
            return [] if row is None else [row]
        return await self.fetch(table, where)

    def _lay(self, table: Table, key: Any, row: Row | None) -> None:
        sheet = self._sheets[table]
        self._journal.append((sheet, key, sheet.lay(key, row)))

    async def close_command(self, by: str | None = None, idem: Idem | None = None) -> list[Event]:
        """Seal what the command staged, as one batch when it is more than one event."""
        batch = self._sealed(by, idem)
        if batch:
            for change in self.catalog.rules.remember(batch[0]):
                await self._settle(change)
        self._journal.clear()
        return batch

    def close_at_once(self, by: str | None = None) -> list[Event]:
        """The same for a command that nobody may send again under a key, so that there is nothing to remember."""
        batch = self._sealed(by, None)
        self._journal.clear()
        return batch

    def record_each(self, new: NewElements, authors: Sequence[str | None]) -> list[tuple[list[Event], Changes]]:
        """Record and close commands that only add elements, one after another; their ids are unused: `are_unused`."""
        sheet, name = self._sheets[new.table], new.table.name
        commands = self.events.seal_new(new, authors, self.now, self.next_position, self.last_crc)
        sheet.lay_new(new.keys, new.rows)
        closed, end = [], 0
        for events in commands:
            start, end = end, end + len(events)
            rows = zip(zip(repeat(name), new.keys[start:end]), new.rows[start:end], strict=True)
            closed.append((events, dict(rows)))
        return closed

    def _sealed(self, by: str | None, idem: Idem | None) -> list[Event]:
        batch, self._open = self._open, []
        if batch:
            self.events.seal(batch, self.last_crc, by, idem)
        return batch

    @property
    def last_crc(self) -> str:
        return (self.events[-1].crc if self.events else None) or self.head.crc

    def changed_rows(self) -> Changes:
        """The rows the open command has touched, as it leaves them."""
        return {(sheet.table.name, key): sheet.current[key] for sheet, key, _ in self._journal}

    def undo_command(self) -> None:
        """Take back what the open command did to the rows."""
        self._open = []
        for sheet, key, before in reversed(self._journal):
            sheet.lay(key, before)
        self._journal.clear()

    def writes(self) -> Writes:
        """The net effect on the store, as whole rows."""
        return {table: writes for table, sheet in self._sheets.items() if (writes := sheet.net()) is not None}
