"""From events to rows without a session: what replay needs, at once and in memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, cast

from backends.memory.choosing import choose
from backends.memory.lines import MALFORMED, Stored
from backends.memory.tables import MemoryTable
from ugs.catalog import Catalog, Row, Table
from ugs.changes import Change, Drop, Patch, Put, Raise, patched, projected, raised
from ugs.errors import WALCorrupt
from ugs.events import Event

Tables = dict[str, MemoryTable]

FAILURES = (*MALFORMED, WALCorrupt, KeyError, TypeError)
"""What a reducer may raise when the data of an event is not what its type promises."""
WORTH_IT = 8
"""From so many events on acting together is quicker."""


class CannotApply(Exception):
    """An event whose data is not what its type promises."""

    def __init__(self, place: int, error: Exception) -> None:
        super().__init__(str(error))
        self.place = place
        """Which one it is of those that were to act."""


class Actor:
    """Lets events act on the tables."""

    def __init__(self, catalog: Catalog, tables: Tables) -> None:
        self.catalog, self.tables, self.rules = catalog, tables, catalog.rules
        self._settled = False

    def act_all(self, events: Sequence[Event | Stored]) -> None:
        """Let events act, one after the other as far as anybody could tell."""
        place, runs = 0, [(True, events)] if _are_quick(events) else groupby(events, _is_quick)
        for quick, group in runs:
            run = list(group)
            if not (quick and len(run) >= WORTH_IT and self._store(cast(Sequence[Stored], run))):
                self.act_in_turn(run, place)
            place += len(run)

    def act_in_turn(self, events: Iterable[Event | Stored], place: int = 0) -> None:
        """Let one event after the other act."""
        for number, event in enumerate(events, place):
            try:
                self.act(event)
            except FAILURES as error:
                raise CannotApply(number, error) from error

    def act(self, event: Event | Stored) -> None:
        """Let one event act."""
        self.settle()
        if isinstance(event, Stored):
            changes = [*self._put(event), *self.rules.remember(cast(Event, event))]
        else:
            if event.version is None and self.rules.counts(event.type):
                event = self.catalog.versioned(event, self._find)
            changes = self.rules.reduce(event)
        for change in changes:
            apply_change(self.tables, change)

    def settle(self) -> None:
        """Let every table know its rows by their columns."""
        if not self._settled:
            for table in self.tables.values():
                table.settle()
            self._settled = True

    def _find(self, table: Table, key: Any) -> Row | None:
        return self.tables[table.name].rows.get(key)

    def _put(self, event: Stored) -> Sequence[Change]:
        way = self.rules.storing[event.type]
        row = way.table.row(*(column[0] for column in way.columns_of((event,))))
        self.tables[way.table.name].put(row)
        return way.also((row,))

    def _store(self, events: Sequence[Stored]) -> bool:
        """Let events that have a quick way act together; False, and nothing has happened, when one of them cannot."""
        ways = {
            kind: self.rules.storing[kind.type]
            for kind in cast(Iterable[type[Stored]], dict.fromkeys(map(type, events)))
        }
        try:
            columns = {kind: way.columns_of(_of_kind(events, kind, len(ways))) for kind, way in ways.items()}
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


def _of_kind(events: Sequence[Stored], kind: type[Stored], kinds: int) -> Sequence[Stored]:
    return events if kinds == 1 else [event for event in events if type(event) is kind]


def _are_quick(events: Sequence[Event | Stored]) -> bool:
    return all(issubclass(kind, Stored) for kind in set(map(type, events)))


def _is_quick(event: Event | Stored) -> bool:
    return isinstance(event, Stored)


def apply_change(tables: Tables, change: Change) -> None:
    """Let one change happen to the tables."""
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
    for row in choose(table, change.where).found():
        table.drop(table.key_of(row))
        if change.into is not None:
            tables[change.into.name].put(projected(row, change.into))
