"""The unit of work of a command group: pending changes as an overlay over the store.

The commands of a group are decided one after another in one transaction. Each sees the changes of the ones before it,
and nothing is written until the whole group is stored with one `append`, as whole rows. A refused command is rolled
back in memory and costs the store nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import count, repeat
from typing import Any

from ugs.catalog import Catalog
from ugs.changes import Change, Drop, NewElements, Patch, Put, Raise, TableWrites, Writes, patched, projected, raised
from ugs.events import Draft, Event, Head, Idem, SealedEvents, event_id
from ugs.reads.filters import EVERYTHING, Compare, Op, Where
from ugs.reads.plan import WHOLE, Order, paged
from ugs.storage import EventQuery, Session
from ugs.table_overlay import UNKNOWN, TableOverlay
from ugs.tables import Row, Table
from ugs.values import JsonText, to_text

Changes = dict[tuple[str, Any], Row | None]
"""Rows by table name and key; None for a deleted row."""


class UnitOfWork:
    """Reads through the overlay, stages events, and computes the rows to write.

    "Open" is the command being decided: its events and a journal of overwritten rows are kept until it is closed or
    undone.
    """

    def __init__(self, session: Session, catalog: Catalog, head: Head, now: int, counter_lead: int = 0) -> None:
        self.session = session
        self.catalog = catalog
        self.head = head
        self.now = max(now, head.timestamp, head.floor)
        self.counter_lead = counter_lead
        """Difference between the counter in an event id and the event's position."""
        self.events = SealedEvents()
        self._open: list[Event] = []
        self._overlays: dict[Table, TableOverlay] = {}
        self._journal: list[tuple[TableOverlay, Any, Any]] = []
        self._keeps_history = session.keeps_history
        self._steps: list[tuple[Table, int, Any, Row | None]] = []
        """The changes of versioned tables, if the store keeps former rows."""
        self._closed_steps = 0
        """How many of them belong to closed commands."""
        self._position = head.position
        """The position of the event whose changes are applied."""

    def _overlay(self, table: Table) -> TableOverlay:
        overlay = self._overlays.get(table)
        if overlay is None:
            overlay = self._overlays[table] = TableOverlay(table, self.session.rows_in_memory(table))
        return overlay

    async def find(self, table: Table, key: Any) -> Row | None:
        """The row with this key, pending changes included; at most one look-up in the store per key."""
        overlay = self._overlays.get(table) or self._overlay(table)
        row = overlay.get_cached(key)
        if row is UNKNOWN:
            row = overlay.stored[key] = await self.session.find(table, key)
        return row

    async def prefetch(self, wanted: Iterable[tuple[Table, Any]]) -> None:
        """Load many rows in one call, so that a group costs a few statements, not a few per command."""
        unknown: dict[Table, list[Any]] = {}
        for table, key in dict.fromkeys(wanted):
            if not self._overlay(table).is_cached(key):
                unknown.setdefault(table, []).append(key)
        if unknown:
            await self._load(unknown)

    async def prefetch_unlikely(self, wanted: Mapping[Table, Sequence[Any]]) -> None:
        """As `prefetch`, for rows that rarely exist: a store may assume them missing and check that at commit."""
        unknown: dict[Table, list[Any]] = {}
        for table, keys in wanted.items():
            if not keys:
                continue
            overlay = self._overlay(table)
            if not overlay.whole and (new := [key for key in dict.fromkeys(keys) if key not in overlay.stored]):
                unknown[table] = new
        if not unknown:
            return
        if self.session.assume_missing(unknown):
            for table, keys in unknown.items():
                self._overlays[table].stored.update(dict.fromkeys(keys))
        else:
            await self._load(unknown)

    async def _load(self, wanted: Mapping[Table, Sequence[Any]]) -> None:
        for table, rows in (await self.session.find_keys(wanted)).items():
            stored = self._overlay(table).stored
            stored.update(dict.fromkeys(wanted[table]))
            stored.update((table.key_of(row), row) for row in rows)

    def cache_rows(self, table: Table, where: Where, rows: Sequence[Row]) -> None:
        """Cache the store's rows for a condition. Valid for the whole transaction, since no other writer can commit."""
        self._overlay(table).remember(where, rows)

    def cache_absent(self, table: Table, key: Any) -> None:
        """Record, without a look-up, that the store has no row with this key: it was just generated at random."""
        overlay = self._overlay(table)
        if not overlay.is_cached(key):
            overlay.stored[key] = None

    def is_new(self, table: Table, key: Any) -> bool:
        """Whether the store is known to have no row with this key."""
        overlay = self._overlay(table)
        return overlay.is_cached(key) and overlay.stored.get(key) is None

    def is_unused(self, key: Any, tables: Iterable[Table]) -> bool:
        """Whether these tables are known to have no row with this key, stored, pending or deleted in this group."""
        for table in tables:
            overlay = self._overlays.get(table) or self._overlay(table)
            if overlay.may_contain(key):
                return False
        return True

    def are_unused(self, keys: Sequence[Any], tables: Iterable[Table]) -> bool:
        """As `is_unused`, for several keys; False if two of them are equal."""
        return len(set(keys)) == len(keys) and not any(self._overlay(table).may_contain_any(keys) for table in tables)

    async def fetch(self, table: Table, where: Where = EVERYTHING, order: Sequence[Order] = ()) -> list[Row]:
        """Rows that meet the condition, pending changes included; each condition is fetched from the store once."""
        overlay = self._overlay(table)
        if overlay.is_empty:
            return []
        if where not in overlay.asked:
            overlay.remember(where, await self.session.fetch(table, where))
        rows = overlay.answer(where)
        return rows if len(rows) < 2 else paged(rows, table, tuple(order), WHOLE)

    def is_known_empty(self, table: Table, where: Where) -> bool:
        """Whether it is known without a fetch that no row meets the condition: no change of the table is pending, and
        the stored table is empty or the cached result of the condition is."""
        overlay = self._overlays.get(table) or self._overlay(table)
        return not overlay.current and (overlay.is_empty or overlay.asked.get(where) == [])

    async def events_of(self, element: str) -> list[Event]:
        """All events of an element, including those of this group."""
        logged = await self.session.events(EventQuery(element=element))
        return logged + [event for event in (*self.events, *self._open) if event.element == element]

    def is_there(self, table: Table, key: Any) -> bool:
        """Whether a row with this key is known to exist; False if that would need a look-up."""
        row = (self._overlays.get(table) or self._overlay(table)).get_cached(key)
        return row is not None and row is not UNKNOWN

    @property
    def next_position(self) -> int:
        """The log position of the next event."""
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
        """Turn drafts into events with log positions, and apply their changes to the overlay."""
        first = len(self._open)
        for draft in drafts:
            await self.act(self._place(draft.type, to_text(draft.data), draft.element, draft.version))
        return self._open[first:]

    def record(self, type: str, data: JsonText, table: Table, key: str, row: Row) -> None:
        """Stage the first event of an element with its row, without reducing; the key must be unused (`is_unused`)."""
        self._position = self._place(type, data, key, 1).position
        self._set_row(table, key, row)

    def _place(self, type: str, data: JsonText, element: str | None, version: int | None) -> Event:
        """Create an event at the next log position and add it to the open command."""
        now, position = self.now, self.next_position
        event = Event(
            position=position,
            id=event_id(now, position + self.counter_lead),
            timestamp=now,
            type=type,
            data=data,
            element=element,
            version=version,
        )
        self._open.append(event)
        return event

    async def act(self, event: Event) -> None:
        """Reduce an event and apply its changes to the overlay."""
        self._position = event.position
        for change in self.catalog.rules.reduce(event):
            if not self._put_cached(change):
                await self._apply_change(change)

    def _put_cached(self, change: Change) -> bool:
        """Apply a `Put` whose stored row is already known, synchronously (the usual case); False for anything else."""
        if not isinstance(change, Put):
            return False
        overlay, key = self._overlays.get(change.table) or self._overlay(change.table), change.table.key_of(change.row)
        if not overlay.whole and key not in overlay.stored:
            return False
        self._journal.append((overlay, key, overlay.set_row(key, change.row)))
        if self._keeps_history and change.table.versioned:
            self._steps.append((change.table, self._position, key, change.row))
        return True

    async def _apply_change(self, change: Change) -> None:
        if isinstance(change, Put):
            await self._put(change.table, change.row)
        elif isinstance(change, Patch):
            row = await self.find(change.table, change.key)
            if row is not None:
                self._set_row(change.table, change.key, patched(row, change))
        elif isinstance(change, Raise):
            await self._raise(change)
        else:
            await self._drop(change)

    async def _put(self, table: Table, row: Row) -> None:
        key = table.key_of(row)
        if not self._overlay(table).is_cached(key):
            await self.find(table, key)
        self._set_row(table, key, row)

    async def _raise(self, change: Raise) -> None:
        key = change.table.key_of(change.row)
        old = await self.find(change.table, key)
        self._set_row(change.table, key, change.row if old is None else raised(change.table, old, change.row))

    async def _drop(self, change: Drop) -> None:
        table = change.table
        for row in await self._matching_rows(table, change.where):
            self._set_row(table, table.key_of(row), None)
            if change.into is not None:
                await self._put(change.into, projected(row, change.into))

    async def _matching_rows(self, table: Table, where: Where) -> list[Row]:
        if isinstance(where, Compare) and where.op is Op.EQ and table.key == (where.field,):
            row = await self.find(table, where.value)
            return [] if row is None else [row]
        return await self.fetch(table, where)

    def _set_row(self, table: Table, key: Any, row: Row | None) -> None:
        overlay = self._overlays[table]
        self._journal.append((overlay, key, overlay.set_row(key, row)))
        if self._keeps_history and table.versioned:
            self._steps.append((table, self._position, key, row))

    async def close_command(self, by: str | None = None, idem: Idem | None = None) -> list[Event]:
        """Seal the open command's events, as a batch if more than one, and record its idempotency key."""
        batch = self._sealed(by, idem)
        if batch:
            for change in self.catalog.rules.remember(batch[0]):
                await self._apply_change(change)
        self._journal.clear()
        self._closed_steps = len(self._steps)
        return batch

    def close_plain_command(self, by: str | None = None) -> list[Event]:
        """As `close_command`, synchronously, for a command without an idempotency key."""
        batch = self._sealed(by, None)
        self._journal.clear()
        self._closed_steps = len(self._steps)
        return batch

    def record_each(self, new: NewElements, authors: Sequence[str | None]) -> list[tuple[list[Event], Changes]]:
        """Stage and close a batch of commands that only add elements; all keys must be unused (`are_unused`)."""
        overlay, name = self._overlays[new.table], new.table.name
        first = self.next_position
        commands = self.events.seal_new(new, authors, self.now, first, self.last_crc, self.counter_lead)
        overlay.add_rows(new.keys, new.rows)
        if self._keeps_history and new.table.versioned:
            self._steps += zip(repeat(new.table), count(first), new.keys, new.rows, strict=False)
            self._closed_steps = len(self._steps)
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
        """The rows changed by the open command, in their current state."""
        return {(overlay.table.name, key): overlay.current[key] for overlay, key, _ in self._journal}

    def undo_command(self) -> None:
        """Roll back the open command: drop its events and restore the overwritten rows from the journal."""
        self._open = []
        for overlay, key, before in reversed(self._journal):
            overlay.set_row(key, before)
        self._journal.clear()
        del self._steps[self._closed_steps :]

    def writes(self) -> Writes:
        """The net changes of the group, as whole rows per table, with every change on the way where the store keeps
        former rows."""
        found = {
            table: writes for table, overlay in self._overlays.items() if (writes := overlay.net_writes()) is not None
        }
        for table, position, key, row in self._steps:
            writes = found.get(table)
            if writes is None:  # what happened to the table was undone within the group
                writes = found[table] = TableWrites()
            writes.steps.append((position, key, row))
        return found
