"""Compiles writes to bulk statements: events, whole rows, and their words and properties in side tables.

Updates come first, then deletes, then inserts, over all tables. So a row that an update moves to another owner is not
taken along when the former owner is deleted, where the database deletes what refers to a row. A unique value that an
update takes from another row is first replaced there by a placeholder (`TableWriter.parks`). Side tables are updated by
the difference to the previous row, so an update writes only the words and properties that changed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any
from uuid import uuid4

import msgspec
from msgspec import Struct

from ugs.changes import TableWrites, Writes
from ugs.events import Event
from ugs.reads.filters import matcher
from ugs.tables import Field, Format, Kind, Row, Table, Unique
from ugs_backends.sql.compiler.property_codec import encode_properties
from ugs_backends.sql.dialect import ColumnType, Dialect
from ugs_backends.sql.row_codec import EVENT_COLUMNS, encode_events, get_writer
from ugs_backends.sql.table_names import EVENTS, list_indexed_fields, name_properties_table

PROPERTY_COLUMNS = (("key", Kind.TEXT), ("value", Kind.TEXT))


class BulkStatement(Struct, frozen=True):
    """One statement for many rows of a table."""

    table: str
    text: str
    columns: list[Sequence[Any]]
    """A column of values for each parameter; empty where there is nothing to write."""

    @property
    def rows(self) -> Iterator[tuple[Any, ...]]:
        return zip(*self.columns, strict=True)


def to_columns(rows: Sequence[Sequence[Any]]) -> list[Sequence[Any]]:
    """Transpose rows to columns."""
    return list(zip(*rows, strict=True))


def to_key_columns(keys: list[Any], width: int) -> list[Sequence[Any]]:
    """Transpose keys of `width` fields to columns."""
    return ([keys] if width == 1 else to_columns(keys)) if keys else []


def list_key_columns(dialect: Dialect, table: Table) -> list[tuple[str, ColumnType]]:
    """The columns of a table's key."""
    return [(field.stored_as, dialect.column_type(field)) for field in map(table.field, table.key)]


class ColumnEncoder:
    """Encodes columns of values as the database takes them; most have no format and stay as they are."""

    def __init__(self, dialect: Dialect, columns: Sequence[tuple[str, ColumnType]]) -> None:
        self._dialect = dialect
        self._formats = [(place, kind) for place, (_, kind) in enumerate(columns) if isinstance(kind, Format)]

    def __call__(self, values: list[Sequence[Any]]) -> list[Sequence[Any]]:
        if values:
            for place, format in self._formats:
                values[place] = self._dialect.encode(format, values[place])
        return values


class SideWriter(ABC):
    """The writer of a side table."""

    name: str

    @abstractmethod
    def bulks(self, pairs: Iterable[tuple[Row | None, Row | None]]) -> tuple[BulkStatement, BulkStatement]:
        """The delete and the insert for pairs of rows before and after a change; None: no such row."""


class SideTableWriter(SideWriter):
    """A side table of name-value entries per row (words with weights, property keys with values)."""

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
        self.key = list_key_columns(dialect, table)
        self._key_of = table.key_of
        self._encode = ColumnEncoder(dialect, self.key)
        self.insert = dialect.insert_many(name, [*columns, *self.key])
        self.delete = dialect.delete_many(name, [columns[0], *self.key])

    def bulks(self, pairs: Iterable[tuple[Row | None, Row | None]]) -> tuple[BulkStatement, BulkStatement]:
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
        keys, left = (self._encode_keys(entries.keys) for entries in (new, gone))
        insert = [new.names, new.values, *keys] if keys else []
        return BulkStatement(self.name, self.delete, [gone.names, *left] if left else []), BulkStatement(
            self.name, self.insert, insert
        )

    def _encode_keys(self, keys: list[Any]) -> list[Sequence[Any]]:
        return self._encode(to_key_columns(keys, len(self.key)))


class _Entries:
    """Entries as columns: names, values and keys of their rows."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.values: list[Any] = []
        self.keys: list[Any] = []

    def take(self, entries: Mapping[str, Any], key: Any) -> None:
        self.names += entries
        self.values += entries.values()
        self.keys += [key] * len(entries)


class _UniqueRule:
    """A uniqueness rule of a table, applied to rows."""

    def __init__(self, table: Table, rule: Unique) -> None:
        self._fields, self._holds = rule.fields, matcher(rule.when, table.words)
        self.placeholder_field = next(name for name in reversed(rule.fields) if table.field(name).kind is Kind.TEXT)

    def value_of(self, row: Row) -> tuple[Any, ...] | None:
        """The values that no other row may have; None if the rule does not apply to the row."""
        values = tuple([getattr(row, name) for name in self._fields])
        return values if None not in values and self._holds(row) else None


def _park(row: Row, rules: Iterable[_UniqueRule]) -> Row:
    """The row with placeholders that no other row has: random UUIDs, which fit columns of texts and of UUIDs."""
    return msgspec.structs.replace(row, **{rule.placeholder_field: str(uuid4()) for rule in rules})


class TableWriter:
    """The bulk statements of one table."""

    def __init__(self, dialect: Dialect, table: Table) -> None:
        self.table = table
        self.dialect = dialect
        self.columns = [(field.stored_as, dialect.column_type(field)) for field in table.fields]
        self.key = list_key_columns(dialect, table)
        self.values = get_writer(table)
        self.sides = list(_build_side_writers(dialect, table))
        rest = [column for column in self.columns if column not in self.key]
        self._order = [self.columns.index(column) for column in (*rest, *self.key)]
        self._has_rest = bool(rest)
        self._encode_columns, self._encode_key = ColumnEncoder(dialect, self.columns), ColumnEncoder(dialect, self.key)
        self._rules = [_UniqueRule(table, rule) for rule in table.unique]

    @cached_property
    def insert(self) -> str:
        return self.dialect.insert_many(self.table.name, self.columns)

    @cached_property
    def update(self) -> str:
        return self.dialect.update_many(self.table.name, [self.columns[place] for place in self._order], len(self.key))

    @cached_property
    def delete(self) -> str:
        return self.dialect.delete_many(self.table.name, self.key)

    def parks(self, writes: TableWrites) -> list[BulkStatement]:
        """Updates that release the unique values which other updates take; hardly ever any."""
        if not self._rules or len(writes.updates) + len(writes.deletes) < 2:
            return []
        return self._update([_park(writes.before[key], rules) for key, rules in self._find_taken(writes).items()])

    def updates(self, writes: TableWrites) -> list[BulkStatement]:
        return self._update(writes.updates) if self._has_rest else []

    def deletes(self, writes: TableWrites) -> list[BulkStatement]:
        keys = self._encode_key(to_key_columns(writes.deletes, len(self.key)))
        return [BulkStatement(self.table.name, self.delete, keys)]

    def inserts(self, writes: TableWrites) -> list[BulkStatement]:
        columns = to_columns([self.values(row) for row in writes.inserts])
        return [BulkStatement(self.table.name, self.insert, self._encode_columns(columns))]

    def _update(self, rows: Iterable[Row]) -> list[BulkStatement]:
        columns = self._encode_columns(to_columns([self.values(row) for row in rows]))
        return [
            BulkStatement(self.table.name, self.update, [columns[place] for place in self._order] if columns else [])
        ]

    def _find_taken(self, writes: TableWrites) -> dict[Any, list[_UniqueRule]]:
        """The keys of rows whose unique values are taken by updates of other rows, with the rules."""
        changing = [*writes.deletes, *map(self.table.key_of, writes.updates)]
        taken: dict[Any, list[_UniqueRule]] = {}
        for rule in self._rules:
            holders = {value: key for key in changing if (value := rule.value_of(writes.before[key])) is not None}
            for row in writes.updates:
                value = rule.value_of(row)
                holder = None if value is None else holders.get(value)
                if holder is not None and holder != self.table.key_of(row):
                    taken.setdefault(holder, []).append(rule)
        return taken

    def write_side_tables(self, writes: TableWrites) -> list[tuple[BulkStatement, BulkStatement]]:
        """The deletes and inserts of the side tables."""
        pairs: list[tuple[Row | None, Row | None]] = [(writes.before[key], None) for key in writes.deletes]
        pairs += [(writes.before[self.table.key_of(row)], row) for row in writes.updates]
        pairs += [(None, row) for row in writes.inserts]
        return [side.bulks(pairs) for side in self.sides]


def _build_side_writers(dialect: Dialect, table: Table) -> Iterable[SideWriter]:
    if table.words is not None:
        yield dialect.words.build_writer(dialect, table)
    for field in list_indexed_fields(table):
        yield SideTableWriter(
            dialect, table, name_properties_table(table, field), PROPERTY_COLUMNS, _build_property_pairs(field)
        )


def _build_property_pairs(field: Field) -> Callable[[Row], Mapping[str, str]]:
    name = field.name
    return lambda row: encode_properties(getattr(row, name))


class Writer:
    """Compiles the writes of a transaction to bulk statements."""

    def __init__(self, dialect: Dialect, catalog: Iterable[Table]) -> None:
        self.tables = {table.name: TableWriter(dialect, table) for table in catalog}
        self.log = dialect.insert_many(EVENTS, EVENT_COLUMNS)

    def bulks(self, events: Sequence[Event], writes: Writes) -> list[BulkStatement]:
        """All statements in order of execution, without empty ones."""
        parts = [(self.tables[table.name], changed) for table, changed in writes.items()]
        bulks = [BulkStatement(EVENTS, self.log, encode_events(events))]
        for step in (TableWriter.parks, TableWriter.updates, TableWriter.deletes):
            bulks += [bulk for writer, changed in parts for bulk in step(writer, changed)]
        beside = [pair for writer, changed in parts for pair in writer.write_side_tables(changed)]
        bulks += [gone for gone, _ in beside]
        bulks += [bulk for writer, changed in parts for bulk in writer.inserts(changed)]
        bulks += [new for _, new in beside]
        return [bulk for bulk in bulks if bulk.columns]
