"""Writes as bulk statements: events, whole rows, and the words and properties that stand beside them.

Deletes go first, then updates, then inserts, over all tables. What stands beside a row is changed by difference with
the row that was there before, so an update touches only the words and properties that really changed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from msgspec import Struct

from backends.sql.dialect import Dialect
from backends.sql.encoding import encoded_properties
from backends.sql.names import EVENTS, indexed_fields, properties_name
from backends.sql.rows import EVENT_COLUMNS, event_columns, writer_of
from ugs.catalog import Catalog, Field, Kind, Row, Table
from ugs.changes import TableWrites, Writes
from ugs.events import Event

PROPERTY_COLUMNS = (("key", Kind.TEXT), ("value", Kind.TEXT))


class Bulk(Struct, frozen=True):
    """One statement for many rows of a table."""

    table: str
    text: str
    columns: list[Sequence[Any]]
    """A column of values for each parameter; none at all where there is nothing to write."""

    @property
    def rows(self) -> Iterator[tuple[Any, ...]]:
        return zip(*self.columns, strict=True)


def columns_of(rows: Sequence[Sequence[Any]]) -> list[Sequence[Any]]:
    """Rows of values, column by column."""
    return list(zip(*rows, strict=True))


def key_columns(keys: list[Any], width: int) -> list[Sequence[Any]]:
    """Keys of so many fields, column by column."""
    return ([keys] if width == 1 else columns_of(keys)) if keys else []


class Beside(ABC):
    """What writes a table beside a table."""

    name: str

    @abstractmethod
    def bulks(self, pairs: Iterable[tuple[Row | None, Row | None]]) -> tuple[Bulk, Bulk]:
        """What goes and what comes for rows that became other rows, appeared (from None) or went (to None)."""


class Side(Beside):
    """A table beside a table: for each row some names with a value each (words with weights, keys with values)."""

    def __init__(
        self,
        dialect: Dialect,
        table: Table,
        name: str,
        columns: tuple[tuple[str, Kind], tuple[str, Kind]],
        entries: Callable[[Row], Mapping[str, Any]],
    ) -> None:
        self.name = name
        self.columns = columns
        self.entries = entries
        self.key = [(table.field(part).stored_as, table.field(part).kind) for part in table.key]
        self._key_of = table.key_of
        self.insert = dialect.insert_many(name, [*columns, *self.key])
        self.delete = dialect.delete_many(name, [columns[0], *self.key])

    def bulks(self, pairs: Iterable[tuple[Row | None, Row | None]]) -> tuple[Bulk, Bulk]:
        gone, new = _Entries(), _Entries()
        for before, after in pairs:
            if before is None and after is not None:
                new.take(self.entries(after), self._key_of(after))
                continue
            old = {} if before is None else self.entries(before)
            now = {} if after is None else self.entries(after)
            key = self._key_of(after if before is None else before)
            gone.take({name: value for name, value in old.items() if now.get(name) != value}, key)
            new.take({name: value for name, value in now.items() if old.get(name) != value}, key)
        keys, left = key_columns(new.keys, len(self.key)), key_columns(gone.keys, len(self.key))
        insert = [new.names, new.values, *keys] if keys else []
        return Bulk(self.name, self.delete, [gone.names, *left] if left else []), Bulk(self.name, self.insert, insert)


class _Entries:
    """Names with their values and whose they are, side by side."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.values: list[Any] = []
        self.keys: list[Any] = []

    def take(self, entries: Mapping[str, Any], key: Any) -> None:
        self.names += entries
        self.values += entries.values()
        self.keys += [key] * len(entries)


class TableWriter:
    """The bulk statements of one table."""

    def __init__(self, dialect: Dialect, table: Table) -> None:
        self.table = table
        self.dialect = dialect
        self.columns = [(field.stored_as, field.kind) for field in table.fields]
        self.key = [(table.field(part).stored_as, table.field(part).kind) for part in table.key]
        self.values = writer_of(table)
        self.sides = list(_sides(dialect, table))
        rest = [column for column in self.columns if column not in self.key]
        self._order = [self.columns.index(column) for column in (*rest, *self.key)]
        self._has_rest = bool(rest)

    @cached_property
    def insert(self) -> str:
        return self.dialect.insert_many(self.table.name, self.columns)

    @cached_property
    def update(self) -> str:
        return self.dialect.update_many(self.table.name, [self.columns[place] for place in self._order], len(self.key))

    @cached_property
    def delete(self) -> str:
        return self.dialect.delete_many(self.table.name, self.key)

    def deletes(self, writes: TableWrites) -> list[Bulk]:
        keys = list(writes.deletes)
        if self.table.unique:
            keys += [self.table.key_of(row) for row in writes.updates]
        return [Bulk(self.table.name, self.delete, key_columns(keys, len(self.key)))]

    def updates(self, writes: TableWrites) -> list[Bulk]:
        # Under a uniqueness rule two rows may exchange values: those are removed first and stored anew.
        if self.table.unique or not self._has_rest:
            return []
        return [Bulk(self.table.name, self.update, columns_of([self._keyed(row) for row in writes.updates]))]

    def inserts(self, writes: TableWrites) -> list[Bulk]:
        rows = [*writes.updates, *writes.inserts] if self.table.unique else writes.inserts
        return [Bulk(self.table.name, self.insert, columns_of([self.values(row) for row in rows]))]

    def _keyed(self, row: Row) -> tuple[Any, ...]:
        values = self.values(row)
        return tuple(values[place] for place in self._order)

    def beside(self, writes: TableWrites) -> list[tuple[Bulk, Bulk]]:
        """The words and properties that go, and those that come."""
        pairs: list[tuple[Row | None, Row | None]] = [(writes.before[key], None) for key in writes.deletes]
        pairs += [(writes.before[self.table.key_of(row)], row) for row in writes.updates]
        pairs += [(None, row) for row in writes.inserts]
        return [side.bulks(pairs) for side in self.sides]


def _sides(dialect: Dialect, table: Table) -> Iterable[Beside]:
    if table.words is not None:
        yield dialect.words.side(dialect, table)
    for field in indexed_fields(table):
        yield Side(dialect, table, properties_name(table, field), PROPERTY_COLUMNS, _properties_in(field))


def _properties_in(field: Field) -> Callable[[Row], Mapping[str, str]]:
    name = field.name
    return lambda row: encoded_properties(getattr(row, name))


class Writer:
    """Turns the writes of a transaction into bulk statements."""

    def __init__(self, dialect: Dialect, catalog: Catalog) -> None:
        self.tables = {table.name: TableWriter(dialect, table) for table in catalog}
        self.log = dialect.insert_many(EVENTS, EVENT_COLUMNS)

    def bulks(self, events: Sequence[Event], writes: Writes) -> list[Bulk]:
        """All statements in their order, without the empty ones."""
        parts = [(self.tables[table.name], changed) for table, changed in writes.items()]
        bulks = [Bulk(EVENTS, self.log, event_columns(events))]
        for step in (TableWriter.deletes, TableWriter.updates):
            bulks += [bulk for writer, changed in parts for bulk in step(writer, changed)]
        beside = [pair for writer, changed in parts for pair in writer.beside(changed)]
        bulks += [gone for gone, _ in beside]
        bulks += [bulk for writer, changed in parts for bulk in writer.inserts(changed)]
        bulks += [new for _, new in beside]
        return [bulk for bulk in bulks if bulk.columns]
