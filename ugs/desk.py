"""The desk a decision works at: the store, with everything decided so far laid over it.

Commands that wait together are decided one after another in one transaction. Each sees what the ones before it
changed, and the store hears of nothing until the whole group is written at once, as whole rows. A refused command is
rolled back here, so it costs the store nothing at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from ugs.catalog import Catalog, Row, Table
from ugs.changes import Change, Drop, Patch, Put, Raise, TableWrites, Writes, patched, projected, raised
from ugs.events import Draft, Event, Head, Idem, Tx, event_id, seal
from ugs.reads.plan import WHOLE, Order, paged
from ugs.reads.where import EVERYTHING, Compare, Op, Where, conditions, matcher
from ugs.storage import EventQuery, Session
from ugs.values import to_text

_UNKNOWN = object()
FEW = 32
"""So many pending rows are looked through faster than they are indexed."""

Changes = dict[tuple[str, Any], Row | None]
"""Rows by table and key; None where one is gone."""


class Desk:
    """Reads through pending changes; stages events; yields the rows to write."""

    def __init__(self, session: Session, catalog: Catalog, head: Head, now: int) -> None:
        self.session = session
        self.catalog = catalog
        self.head = head
        self.now = max(now, head.timestamp, head.floor)
        self.events: list[Event] = []
        self._open: list[Event] = []
        self._stored: dict[Table, dict[Any, Row | None]] = {}
        self._current: dict[Table, dict[Any, Row | None]] = {}
        self._asked: dict[tuple[Table, Where], list[Any]] = {}
        self._journal: list[tuple[Table, Any, Any]] = []
        self._pending: dict[Table, dict[str, dict[Any, set[Any]]]] = {}
        """Keys of pending rows by the value of a field, for fields that were asked for while many rows were pending."""

    async def find(self, table: Table, key: Any) -> Row | None:
        """The row with this key as it is now, pending changes included."""
        current = self._current.get(table, {}).get(key, _UNKNOWN)
        if current is not _UNKNOWN:
            return current
        stored = self._stored.setdefault(table, {})
        if key not in stored:
            stored[key] = await self.session.find(table, key)
        return stored[key]

    async def prefetch(self, wanted: Iterable[tuple[Table, Any]]) -> None:
        """Load many rows in one call, so that a group costs a few statements, not a few per command."""
        by_table: dict[Table, list[Any]] = {}
        for table, key in wanted:
            if key not in self._stored.setdefault(table, {}):
                by_table.setdefault(table, []).append(key)
        if by_table:
            for table, rows in (await self.session.find_keys(by_table)).items():
                stored = self._stored[table]
                stored.update(dict.fromkeys(by_table[table]))
                stored.update((table.key_of(row), row) for row in rows)

    def know(self, table: Table, where: Where, rows: Sequence[Row]) -> None:
        """Remember what the store answers to a condition; nobody else can change it during this transaction."""
        stored = self._stored.setdefault(table, {})
        for row in rows:
            stored.setdefault(table.key_of(row), row)
        self._asked[table, where] = [table.key_of(row) for row in rows]

    def know_absent(self, table: Table, key: Any) -> None:
        """Remember that the store has no row with this key, since it has just been made up at random."""
        self._stored.setdefault(table, {}).setdefault(key, None)

    def is_new(self, table: Table, key: Any) -> bool:
        """Whether the store is known to have no row with this key."""
        return self._stored.get(table, {}).get(key, _UNKNOWN) is None

    async def fetch(self, table: Table, where: Where = EVERYTHING, order: Sequence[Order] = ()) -> list[Row]:
        """Rows that meet the condition as of now, pending changes included."""
        if (table, where) not in self._asked:
            self.know(table, where, await self.session.fetch(table, where))
        pending = self._current.get(table) or {}
        stored = self._stored[table]
        rows = [stored[key] for key in self._asked[table, where] if key not in pending]
        if pending:
            matches = matcher(where, table.words)
            rows += [row for row in self._candidates(table, where) if row is not None and matches(row)]
        return rows if len(rows) < 2 else paged(rows, table, tuple(order), WHOLE)

    def _candidates(self, table: Table, where: Where) -> Iterable[Row | None]:
        """Pending rows that may meet the condition; a large group would look at every row for every command."""
        pending = self._current[table]
        if len(pending) > FEW:
            for part in conditions(where):
                if isinstance(part, Compare) and part.op is Op.EQ:
                    keys = self._pending_by(table, part.field).get(part.value, ())
                    return [pending[key] for key in keys]
        return pending.values()

    def _pending_by(self, table: Table, field: str) -> dict[Any, set[Any]]:
        kept = self._pending.setdefault(table, {})
        if field not in kept:
            kept[field] = {}
            for key, row in self._current[table].items():
                if row is not None:
                    kept[field].setdefault(getattr(row, field), set()).add(key)
        return kept[field]

    def _reindex(self, table: Table, key: Any, old: Row | None, new: Row | None) -> None:
        for field, keys in self._pending.get(table, {}).items():
            if old is not None:
                keys[getattr(old, field)].discard(key)
            if new is not None:
                keys.setdefault(getattr(new, field), set()).add(key)

    async def events_of(self, element: str) -> list[Event]:
        """All events of an element, those of this group included."""
        logged = await self.session.events(EventQuery(element=element))
        return logged + [event for event in (*self.events, *self._open) if event.element == element]

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
        staged = []
        for draft in drafts:
            position = self.head.position + len(self.events) + len(self._open) + 1
            event = Event(
                position=position,
                id=event_id(self.now, position),
                timestamp=self.now,
                type=draft.type,
                data=to_text(draft.data),
                element=draft.element,
                version=draft.version,
            )
            self._open.append(event)
            staged.append(event)
            await self.act(event)
        return staged

    async def act(self, event: Event) -> None:
        """Let an event that has its place act on the rows."""
        for change in self.catalog.rules.reduce(event):
            await self._settle(change)

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
        if key not in self._stored.get(table, ()):
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
        current = self._current.setdefault(table, {})
        before = current.get(key, _UNKNOWN)
        self._journal.append((table, key, before))
        current[key] = row
        if table in self._pending:
            self._reindex(table, key, None if before is _UNKNOWN else before, row)

    async def close_command(self, by: str | None = None, idem: Idem | None = None) -> list[Event]:
        """Seal what the command staged, as one batch when it is more than one event."""
        batch, self._open = self._open, []
        sealed = []
        for index, event in enumerate(batch):
            tx = Tx(batch[0].id, index, len(batch)) if len(batch) > 1 else None
            if tx or idem or by:
                event = msgspec.structs.replace(event, tx=tx, idem=idem if index == 0 else None, by=by)
            sealed.append(seal(event, self.last_crc))
            self.events.append(sealed[-1])
        if sealed:
            for change in self.catalog.rules.remember(sealed[0]):
                await self._settle(change)
        self._journal.clear()
        return sealed

    @property
    def last_crc(self) -> str:
        return (self.events[-1].crc if self.events else None) or self.head.crc

    def changed_rows(self) -> Changes:
        """The rows the open command has touched, as it leaves them."""
        return {(table.name, key): self._current[table][key] for table, key, _ in self._journal}

    def undo_command(self) -> None:
        """Take back what the open command did to the rows."""
        self._open = []
        for table, key, before in reversed(self._journal):
            if table in self._pending:
                self._reindex(table, key, self._current[table][key], None if before is _UNKNOWN else before)
            if before is _UNKNOWN:
                del self._current[table][key]
            else:
                self._current[table][key] = before
        self._journal.clear()

    def writes(self) -> Writes:
        """The net effect on the store, as whole rows."""
        return {
            table: writes
            for table, current in self._current.items()
            if (writes := _net(current, self._stored.get(table, {}))) is not None
        }


def _net(current: dict[Any, Row | None], stored: dict[Any, Row | None]) -> TableWrites | None:
    writes = TableWrites()
    for key, row in current.items():
        before = stored.get(key)
        if before is not None:
            writes.before[key] = before
        if row is None:
            if before is not None:
                writes.deletes.append(key)
        elif before is None:
            writes.inserts.append(row)
        elif row != before:
            writes.updates.append(row)
    return writes if writes.inserts or writes.updates or writes.deletes else None
