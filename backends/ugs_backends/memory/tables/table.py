"""In-memory tables: rows by key, with indexes and constraints that every change updates.

Indexes and sort orders are built on first use. A small table builds them immediately; for a large one `NotBuilt` names
the missing index, so that the session can build it in a thread while other reads continue.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

from ugs.catalog import Catalog, Columns
from ugs.changes import TableWrites
from ugs.tables import Kind, Row, Table, Vertex
from ugs_backends.memory.tables.bulk_insert import BulkPut
from ugs_backends.memory.tables.indexes import ColumnIndex, Index, Kept, KeyCounts, PropertyIndex, WordIndex
from ugs_backends.memory.tables.insert_codegen import compile_put
from ugs_backends.memory.tables.min_max_index import MinMaxIndex
from ugs_backends.memory.tables.sorted_index import FieldOrder, KeyOrder, PartOrder
from ugs_backends.memory.tables.unique_constraints import UniqueRule
from ugs_backends.memory.tables.vector_index import VectorIndex

Name = tuple[Any, ...]
"""The name of an index: ("column", field), ("property", field, key), ("words",), ("keys", field), ("vectors", field),
("bounds", field), ("order", field), and ("order", "", column, value) for the keys of the rows with one column value.
"""

SYNC_BUILD_ROWS = 10_000
"""Up to this many rows an index is built synchronously: a few milliseconds."""
SYNC_BUILD_LONG_ROWS = 100
"""The same for tables with searchable text columns, whose values may be very long."""

MAX_INDEXES_PER_KIND = 64
MAX_ORDER_CHANGES = 1_000
"""Above this many changes in one transaction, rebuilding a sort order is cheaper than updating it."""


class NotBuilt(Exception):
    """An index is missing and the table is too large to build it synchronously."""

    def __init__(self, table: MemoryTable, name: Name) -> None:
        super().__init__(name)
        self.table, self.name = table, name


class MemoryTable:
    """The rows of one table of the catalog."""

    put: Callable[[Row], None]
    """Inserts a row, or replaces the one with the same key."""
    put_many: Callable[[Columns], list[Row]]
    """Inserts or replaces many rows and returns them."""

    def __init__(self, table: Table, catalog: Catalog, tables: dict[str, MemoryTable]) -> None:
        self.table = table
        self.tables = tables
        self.key_of = table.key_of
        self.rows: dict[Any, Row] = {}
        self.kept: dict[Name, Kept] = {}
        self.journals: dict[Name, list[tuple[Row | None, Row | None]]] = {}
        self.unique = [UniqueRule(table, rule) for rule in table.unique]
        self.indexed = list_indexed_fields(table, catalog)
        self.numbers = frozenset(name for name in self.indexed if table.field(name).kind in (Kind.INTEGER, Kind.REAL))
        """Indexed numeric columns, for which minimum and maximum are kept."""
        self.always = {field: ColumnIndex(table, field) for field in list_permanent_indexes(table, catalog)}
        self.waiting: list[Row] = []
        """Rows of bulk inserts that are not in the column indexes yet; see `settle`."""
        self.texts: dict[str, str] = {}
        """Interned short texts (and, below, numbers): equal values of many rows share one object."""
        self.reals: dict[float, float] = {}
        self.is_named = False
        """Whether rows of other tables refer to rows of this one by key."""
        self.named: dict[Any, Any] = {}
        """Keys of bulk inserts, to intern references without touching the rows; emptied by `settle`."""
        self.at_once = sys.maxsize
        """Row limit for building an index synchronously; unlimited until `serve`, since no reader waits before that."""

    # ── indexes ──────────────────────────────────────────────────────────────

    def column(self, field: str) -> ColumnIndex:
        """The index of a column."""
        found = self.always.get(field) or self.kept.get(("column", field))
        return found or self._make(("column", field))  # type: ignore[return-value]

    def property(self, field: str, key: str) -> PropertyIndex:
        """The index of a property of a JSON column."""
        found = self.kept.get(("property", field, key))
        return found or self._make(("property", field, key))  # type: ignore[return-value]

    def words(self) -> Index:
        """The full-text index."""
        return self.kept.get(("words",)) or self._make(("words",))  # type: ignore[return-value]

    def key_counts(self, field: str) -> KeyCounts:
        """The number of rows per key of a JSON column."""
        return self.kept.get(("keys", field)) or self._make(("keys", field))  # type: ignore[return-value]

    def vectors(self, field: str) -> VectorIndex:
        """The vectors of a column as a matrix."""
        return self.kept.get(("vectors", field)) or self._make(("vectors", field))  # type: ignore[return-value]

    def bounds(self, field: str) -> MinMaxIndex:
        """The minimum and maximum of a numeric column."""
        found: MinMaxIndex | None = self.kept.get(("bounds", field))  # type: ignore[assignment]
        return self._make(("bounds", field)) if found is None or found.lost else found  # type: ignore[return-value]

    def order(self, field: str | None, of: tuple[str, Any] | None = None) -> KeyOrder:
        """Keys sorted by a column, or by the key itself; of all rows, or of those with one value in a column."""
        name: Name = ("order", field or "", *(of or ()))
        return self.kept.get(name) or self._make(name)  # type: ignore[return-value]

    def walk(
        self, field: str | None, of: tuple[str, Any] | None, after: Any, descending: bool, backward: bool
    ) -> Iterator[Row]:
        """The rows of `order` from an entry on."""
        return map(self.rows.__getitem__, self.order(field, of).keys(after, descending, backward))

    def _make(self, name: Name) -> Kept:
        if len(self.rows) > self.at_once:
            raise NotBuilt(self, name)
        self.publish(name, self.build(name, list(self.rows.values())), ())
        return self.kept[name]

    def build(self, name: Name, rows: Collection[Row]) -> Kept:
        """Build an index from a list of rows; safe in a thread, as rows are immutable."""
        match name:
            case ("order", ""):
                return KeyOrder(self.key_of, rows)
            case ("order", "", column, value):
                return PartOrder(self.table, column, value, rows)
            case ("order", field):
                return FieldOrder(self.table, field, rows)
        index = self._empty(name)
        index.fill(rows)
        return index

    def _empty(self, name: Name) -> Index | KeyCounts | VectorIndex | MinMaxIndex:
        match name:
            case ("column", field):
                return ColumnIndex(self.table, field)
            case ("property", field, key):
                return PropertyIndex(self.table, field, key)
            case ("keys", field):
                return KeyCounts(field)
            case ("bounds", field):
                return MinMaxIndex(field)
            case ("vectors", field):
                return VectorIndex(self.table, field)
        return WordIndex(self.table)

    def publish(self, name: Name, kept: Kept, journal: Iterable[tuple[Row | None, Row | None]]) -> None:
        """Apply the changes made while the index was being built, then make it available."""
        for old, new in journal:
            _notify(kept, old, new)
        self._make_room(name[0])
        self.kept[name] = kept

    def _make_room(self, kind: str) -> None:
        """Evict the oldest index of a kind at the limit, since queries may name any number of property keys."""
        same = [name for name in self.kept if name[0] == kind]
        if len(same) >= MAX_INDEXES_PER_KIND:
            del self.kept[same[0]]

    # ── changes ──────────────────────────────────────────────────────────────

    def apply(self, writes: TableWrites) -> None:
        """Apply the net effect of a transaction."""
        if len(writes.inserts) + len(writes.updates) + len(writes.deletes) > MAX_ORDER_CHANGES:
            self._forget_orders()
        for key in writes.deletes:
            self.drop(key)
        for row in writes.updates:
            self.put(row)
        for row in writes.inserts:
            self.put(row)

    def _forget_orders(self) -> None:
        for name in [name for name in self.kept if name[0] == "order"]:
            del self.kept[name]

    def drop(self, key: Any) -> Row | None:
        """Delete a row and return it."""
        row = self.rows.pop(key, None)
        if row is not None:
            self._notify_all(row, None)
        return row

    def replace(self, key: Any, row: Row) -> None:
        """The general form of `put`, for a key that exists or a table with more than its fixed indexes."""
        self._notify_all(self.rows.get(key), row)
        self.rows[key] = row

    def _notify_all(self, old: Row | None, new: Row | None) -> None:
        """Update all indexes, constraints and journals for a change."""
        for index in self.always.values():
            _notify(index, old, new)
        for rule in self.unique:
            _notify(rule, old, new)
        for kept in self.kept.values():
            _notify(kept, old, new)
        for journal in self.journals.values():
            journal.append((old, new))

    def clear(self) -> None:
        """Delete all rows; indexes are rebuilt on next use."""
        for journal in self.journals.values():
            journal.extend((row, None) for row in self.rows.values())
        self.rows.clear()
        self.waiting.clear()
        self.kept.clear()
        for index in self.always.values():
            index.postings.clear()
        for rule in self.unique:
            rule.clear()

    def settle(self) -> None:
        """Add the rows of bulk inserts to the column indexes; must run before anything reads these.

        All at once and after the rows: temporary memory is then allocated apart from what stays, and can be released.
        """
        self.named = {}
        if self.waiting:
            rows, self.waiting = self.waiting, []
            for index in self.always.values():
                index.fill(rows)

    def serve(self) -> None:
        """Start serving readers: from now on large indexes are built in a thread."""
        self.at_once = SYNC_BUILD_LONG_ROWS if any(field.searched for field in self.table.fields) else SYNC_BUILD_ROWS

    def check(self, writes: TableWrites) -> None:
        """Raise `UniqueViolation` if the writes would break a uniqueness constraint; changes nothing."""
        for rule in self.unique:
            rule.check(self.rows, writes)


def _notify(kept: Kept, old: Row | None, new: Row | None) -> None:
    if old is None:
        kept.add(new)
    elif new is None:
        kept.remove(old)
    else:
        kept.replace(old, new)


def list_indexed_fields(table: Table, catalog: Catalog) -> frozenset[str]:
    """The columns that may be indexed: relation targets, and the first of each declared index, constraint and key."""
    leading = {index.fields[0] for index in table.indexes} | {rule.fields[0] for rule in table.unique}
    wanted = leading | set(list_remote_columns(table, catalog)) | {table.key[0]}
    return frozenset(wanted - set(table.key if len(table.key) == 1 else ()))


def list_remote_columns(table: Table, catalog: Catalog) -> Iterator[str]:
    """The columns of this table that relations of other tables point to."""
    for other in catalog:
        for relation in other.relations.values():
            if relation.table == table.name:
                yield relation.remote


def list_permanent_indexes(table: Table, catalog: Catalog) -> list[str]:
    """The columns that are indexed from the start: relation targets, and the label of vertices."""
    labels = [table.shape.label] if isinstance(table.shape, Vertex) else []
    keys = table.key if len(table.key) == 1 else ()
    return [field for field in dict.fromkeys([*labels, *list_remote_columns(table, catalog)]) if field not in keys]


def make_tables(catalog: Catalog) -> dict[str, MemoryTable]:
    """Create the empty tables of a catalog."""
    tables: dict[str, MemoryTable] = {}
    for table in catalog:
        tables[table.name] = MemoryTable(table, catalog, tables)
    for here in tables.values():
        here.put = compile_put(here, catalog)
        here.put_many = BulkPut(here, catalog)
    return tables


def copy_tables(tables: dict[str, MemoryTable], catalog: Catalog) -> dict[str, MemoryTable]:
    """Independent tables with the same rows; costs an insert per row."""
    copies = make_tables(catalog)
    for name, table in tables.items():
        put = copies[name].put
        for row in table.rows.values():
            put(row)
    return copies
