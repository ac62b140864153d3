"""Replay: applies events to in-memory tables without a session, in bulk where the event type allows it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, cast

from ugs.catalog import Catalog
from ugs.changes import Change, Drop, Patch, Put, Raise, patched, projected, raised
from ugs.errors import WALCorrupt
from ugs.events import Event
from ugs.tables import Row, Table
from ugs_backends.memory.query.index_selection import choose_access_path
from ugs_backends.memory.tables.table import MemoryTable
from ugs_backends.memory.wal.line_codec import MALFORMED, StoredEvent

Tables = dict[str, MemoryTable]

FAILURES = (*MALFORMED, WALCorrupt, KeyError, TypeError)
"""What a reducer may raise when an event's data does not have the shape of its type."""
MIN_BULK_EVENTS = 8
"""Minimum number of consecutive events for which the bulk path is faster."""


class CannotApply(Exception):
    """An event whose data does not have the shape of its type."""

    def __init__(self, place: int, error: Exception) -> None:
        super().__init__(str(error))
        self.place = place
        """Its index in the sequence that was to be applied."""


class EventApplier:
    """Applies events to the tables of a catalog."""

    def __init__(self, catalog: Catalog, tables: Tables) -> None:
        self.catalog, self.tables, self.rules = catalog, tables, catalog.rules
        self._settled = False

    def apply_all(self, events: Sequence[Event | StoredEvent]) -> None:
        """Apply events, in bulk where possible; the result is the same as applying them one by one."""
        place, runs = 0, [(True, events)] if _are_plain_adds(events) else groupby(events, _is_plain_add)
        for quick, group in runs:
            run = list(group)
            if not (quick and len(run) >= MIN_BULK_EVENTS and self._store(cast(Sequence[StoredEvent], run))):
                self.apply_each(run, place)
            place += len(run)

    def apply_each(self, events: Iterable[Event | StoredEvent], place: int = 0) -> None:
        """Apply events one by one; `place` is the index of the first, for `CannotApply`."""
        for number, event in enumerate(events, place):
            try:
                self.act(event)
            except FAILURES as error:
                raise CannotApply(number, error) from error

    def act(self, event: Event | StoredEvent) -> None:
        """Apply one event."""
        self.settle()
        if isinstance(event, StoredEvent):
            changes = [*self._put(event), *self.rules.remember(cast(Event, event))]
        else:
            if event.version is None and self.rules.counts(event.type):
                event = self.catalog.versioned(event, self._find)
            changes = self.rules.reduce(event)
        for change in changes:
            apply_change(self.tables, change)

    def settle(self) -> None:
        """Bring the column indexes of all tables up to date after bulk inserts."""
        if not self._settled:
            for table in self.tables.values():
                table.settle()
            self._settled = True

    def _find(self, table: Table, key: Any) -> Row | None:
        return self.tables[table.name].rows.get(key)

    def _put(self, event: StoredEvent) -> Sequence[Change]:
        way = self.rules.bulk_replay[event.type]
        row = way.table.row(*(column[0] for column in way.columns_of((event,))))
        self.tables[way.table.name].put(row)
        return way.also((row,))

    def _store(self, events: Sequence[StoredEvent]) -> bool:
        """Apply events with a bulk rule together; False, with nothing changed, if their columns cannot be computed."""
        ways = {
            kind: self.rules.bulk_replay[kind.type]
            for kind in cast(Iterable[type[StoredEvent]], dict.fromkeys(map(type, events)))
        }
        try:
            columns = {kind: way.columns_of(_have_types(events, kind, len(ways))) for kind, way in ways.items()}
        except FAILURES:
            return False
        self._settled, changes = False, list[Change]()
        for kind, way in ways.items():
            changes += way.also(self.tables[way.table.name].put_many(columns[kind]))
        for event in events:
            if event.idem is not None:
                changes += self.rules.remember(cast(Event, event))
        for change in changes:
            apply_change(self.tables, change)
        return True


def _have_types(events: Sequence[StoredEvent], kind: type[StoredEvent], kinds: int) -> Sequence[StoredEvent]:
    return events if kinds == 1 else [event for event in events if type(event) is kind]


def _are_plain_adds(events: Sequence[Event | StoredEvent]) -> bool:
    return all(issubclass(kind, StoredEvent) for kind in set(map(type, events)))


def _is_plain_add(event: Event | StoredEvent) -> bool:
    return isinstance(event, StoredEvent)


def apply_change(tables: Tables, change: Change) -> None:
    """Apply one change to the tables."""
    table = tables[change.table.name]
    if isinstance(change, Put):
        table.put(change.row)
    elif isinstance(change, Patch):
        row = table.rows.get(change.key)
        if row is not None:
            table.put(patched(row, change))
    elif isinstance(change, Raise):
        _raise(table, change.row)
    else:
        _drop(tables, table, change)


def _raise(table: MemoryTable, row: Row) -> None:
    old = table.rows.get(table.key_of(row))
    table.put(row if old is None else raised(table.table, old, row))


def _drop(tables: Tables, table: MemoryTable, change: Drop) -> None:
    for row in choose_access_path(table, change.where).found():
        table.drop(table.key_of(row))
        if change.into is not None:
            tables[change.into.name].put(projected(row, change.into))
