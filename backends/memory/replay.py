"""From events to rows without a session: what replay needs, at once and in memory."""

from __future__ import annotations

from backends.memory.choosing import choose
from backends.memory.tables import MemoryTable
from ugs.catalog import Row
from ugs.changes import Change, Drop, Patch, Put, Raise, patched, projected, raised

Tables = dict[str, MemoryTable]


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
