"""From events to rows without a session: what replay needs, at once and in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from backends.memory.choosing import choose
from backends.memory.lines import Stored
from backends.memory.tables import MemoryTable
from ugs.catalog import Catalog, Row, Table
from ugs.changes import Change, Drop, Patch, Put, Raise, patched, projected, raised
from ugs.events import Event

Tables = dict[str, MemoryTable]


def actor(catalog: Catalog, tables: Tables) -> Callable[[Event | Stored], None]:
    """A function that lets an event act on the tables."""
    reduce, counts, remember = catalog.rules.reduce, catalog.rules.counts, catalog.rules.remember
    ways = {name: (way.row_of, way.also, tables[way.table.name]) for name, way in catalog.rules.storing.items()}

    def find(table: Table, key: Any) -> Row | None:
        return tables[table.name].rows.get(key)

    def act(event: Event | Stored) -> None:
        if isinstance(event, Stored):
            row_of, also, table = ways[event.type]
            row = row_of(event)
            table.put(row)
            changes = also(row) if event.idem is None else [*also(row), *remember(cast(Event, event))]
        else:
            if event.version is None and counts(event.type):
                event = catalog.versioned(event, find)
            changes = reduce(event)
        for change in changes:
            apply_change(tables, change)

    return act


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
