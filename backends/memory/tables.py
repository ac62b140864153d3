"""Tables in memory: rows by key, and everything derived from them, always in step.

What a query needs for speed (an index, an order) is made on first use. A small table makes it at once; for a
large one `NotBuilt` says what is missing, so that the session can build it in a thread while others go on reading.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

from backends.memory.bounds import Bounds
from backends.memory.bulk import BulkPut
from backends.memory.indexes import ColumnIndex, Index, Kept, KeyCounts, PropertyIndex, WordIndex
from backends.memory.likeness import VectorIndex
from backends.memory.sorting import FieldOrder, KeyOrder, PartOrder
from backends.memory.storing import compile_put
from backends.memory.uniqueness import UniqueRule
from ugs.catalog import Catalog, Columns, Kind, Row, Table, Vertex
from ugs.changes import TableWrites

Name = tuple[Any, ...]
"""What is kept: ("column", field), ("property", field, key), ("words",), ("keys", field),
("vectors", field), ("bounds", field), ("order", field), and ("order", "", column, value) for the keys of the rows
under one value."""

AT_ONCE = 10_000
"""Up to this many rows an index is built on the spot: a few milliseconds."""
LONG_AT_ONCE = 100
"""The same for rows with texts in which parts are looked for: a text may be very long."""

MOST_OF_A_KIND = 64
MANY_CHANGES = 1_000
"""From here on it is cheaper to sort again than to keep an order in step."""


class NotBuilt(Exception):
    """An index is missing and too large to build on the spot."""

    def __init__(self, table: MemoryTable, name: Name) -> None:
        super().__init__(name)
        self.table, self.name = table, name


class MemoryTable:
    """The rows of one table of the catalog."""

    put: Callable[[Row], None]
    """Stores a row, in place of one with the same key."""
    put_many: Callable[[Columns], list[Row]]
    """Stores many rows, and answers with them."""

    def __init__(self, table: Table, catalog: Catalog, tables: dict[str, MemoryTable]) -> None:
        self.table = table
        self.tables = tables
        self.key_of = table.key_of
        self.rows: dict[Any, Row] = {}
        self.kept: dict[Name, Kept] = {}
        self.journals: dict[Name, list[tuple[Row | None, Row | None]]] = {}
        self.unique = [UniqueRule(table, rule) for rule in table.unique]
        self.indexed = indexed_fields(table, catalog)
        self.numbers = frozenset(name for name in self.indexed if table.field(name).kind in (Kind.INTEGER, Kind.REAL))
        """Indexed columns whose bounds are kept."""
        self.always = {field: ColumnIndex(table, field) for field in always_indexed(table, catalog)}
        self.waiting: list[Row] = []
        """Rows that were stored together and are under no value of a column yet; see `settle`."""
        self.texts: dict[str, str] = {}
        """Short texts that many rows may have, and below numbers; each is one object for all of them."""
        self.reals: dict[float, float] = {}
        self.is_named = False
        """Whether rows of other tables have keys of this one."""
        self.named: dict[Any, Any] = {}
        """Keys of rows that were stored together, to be found without the rows; until the table settles."""
        self.at_once = sys.maxsize
        """Until the table is in service nobody waits, so any index is built on the spot."""

    # ── what is kept beside the rows ─────────────────────────────────────────

    def column(self, field: str) -> ColumnIndex:
        """Rows by a column."""
        found = self.always.get(field) or self.kept.get(("column", field))
        return found or self._make(("column", field))  # type: ignore[return-value]

    def property(self, field: str, key: str) -> PropertyIndex:
        """Rows by the value of a property."""
        found = self.kept.get(("property", field, key))
        return found or self._make(("property", field, key))  # type: ignore[return-value]

    def words(self) -> Index:
        """Rows by their words."""
        return self.kept.get(("words",)) or self._make(("words",))  # type: ignore[return-value]

    def key_counts(self, field: str) -> KeyCounts:
        """How often the keys of a JSON column occur."""
        return self.kept.get(("keys", field)) or self._make(("keys", field))  # type: ignore[return-value]

    def vectors(self, field: str) -> VectorIndex:
        """The vectors of a column as a matrix."""
        return self.kept.get(("vectors", field)) or self._make(("vectors", field))  # type: ignore[return-value]

    def bounds(self, field: str) -> Bounds:
        """Between what the numbers of a column lie."""
        found: Bounds | None = self.kept.get(("bounds", field))  # type: ignore[assignment]
        return self._make(("bounds", field)) if found is None or found.lost else found  # type: ignore[return-value]

    def order(self, field: str | None, of: tuple[str, Any] | None = None) -> KeyOrder:
        """Keys in order of a column, or of the key itself; of all rows, or of those under a column's value."""
        name: Name = ("order", field or "", *(of or ()))
        return self.kept.get(name) or self._make(name)  # type: ignore[return-value]

    def _make(self, name: Name) -> Kept:
        if len(self.rows) > self.at_once:
            raise NotBuilt(self, name)
        self.publish(name, self.build(name, list(self.rows.values())), ())
        return self.kept[name]

    def build(self, name: Name, rows: Collection[Row]) -> Kept:
        """Make an index from rows that no one changes meanwhile; safe in a thread."""
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

    def _empty(self, name: Name) -> Index | KeyCounts | VectorIndex | Bounds:
        match name:
            case ("column", field):
                return ColumnIndex(self.table, field)
            case ("property", field, key):
                return PropertyIndex(self.table, field, key)
            case ("keys", field):
                return KeyCounts(field)
            case ("bounds", field):
                return Bounds(field)
            case ("vectors", field):
                return VectorIndex(self.table, field)
        return WordIndex(self.table)

    def publish(self, name: Name, kept: Kept, journal: Iterable[tuple[Row | None, Row | None]]) -> None:
        """Put an index into service, after the changes made while it was being built."""
        for old, new in journal:
            _tell(kept, old, new)
        self._make_room(name[0])
        self.kept[name] = kept

    def _make_room(self, kind: str) -> None:
        """Anybody may ask for any property key, so the number of indexes is bounded; the oldest goes."""
        same = [name for name in self.kept if name[0] == kind]
        if len(same) >= MOST_OF_A_KIND:
            del self.kept[same[0]]

    # ── changes ──────────────────────────────────────────────────────────────

    def apply(self, writes: TableWrites) -> None:
        """Store the net effect of a transaction."""
        if len(writes.inserts) + len(writes.updates) + len(writes.deletes) > MANY_CHANGES:
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
        """The row is gone; answers with what it was."""
        row = self.rows.pop(key, None)
        if row is not None:
            self._tell(row, None)
        return row

    def replace(self, key: Any, row: Row) -> None:
        """Store a row where more than the usual is to be done: there was one before, or more is kept."""
        self._tell(self.rows.get(key), row)
        self.rows[key] = row

    def _tell(self, old: Row | None, new: Row | None) -> None:
        """Keep everything beside the rows in step with a change."""
        for index in self.always.values():
            _tell(index, old, new)
        for rule in self.unique:
            _tell(rule, old, new)
        for kept in self.kept.values():
            _tell(kept, old, new)
        for journal in self.journals.values():
            journal.append((old, new))

    def clear(self) -> None:
        """No rows."""
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
        """Put rows that were stored together under the values of their columns, before anybody looks there.

        All at once, after the rows: what is needed only for a while then lies beside what stays, and is given back.
        """
        self.named = {}
        if self.waiting:
            rows, self.waiting = self.waiting, []
            for index in self.always.values():
                index.fill(rows)

    def serve(self) -> None:
        """From now on somebody may be waiting, so large indexes are built in a thread."""
        self.at_once = LONG_AT_ONCE if any(field.searched for field in self.table.fields) else AT_ONCE

    def check(self, writes: TableWrites) -> None:
        """Refuse what a uniqueness rule forbids, before anything is written."""
        for rule in self.unique:
            rule.check(self.rows, writes)


def _tell(kept: Kept, old: Row | None, new: Row | None) -> None:
    if old is None:
        kept.add(new)
    elif new is None:
        kept.remove(old)
    else:
        kept.replace(old, new)


def indexed_fields(table: Table, catalog: Catalog) -> frozenset[str]:
    """The columns worth an index: those that lead a declared one or a key, and those relations arrive at."""
    leading = {index.fields[0] for index in table.indexes} | {rule.fields[0] for rule in table.unique}
    wanted = leading | set(remotes(table, catalog)) | {table.key[0]}
    return frozenset(wanted - set(table.key if len(table.key) == 1 else ()))


def remotes(table: Table, catalog: Catalog) -> Iterator[str]:
    """The columns by which other tables reach this one."""
    for other in catalog:
        for relation in other.relations.values():
            if relation.table == table.name:
                yield relation.remote


def always_indexed(table: Table, catalog: Catalog) -> list[str]:
    """The columns whose index is there from the beginning: where relations arrive, and what vertices are called."""
    labels = [table.shape.label] if isinstance(table.shape, Vertex) else []
    keys = table.key if len(table.key) == 1 else ()
    return [field for field in dict.fromkeys([*labels, *remotes(table, catalog)]) if field not in keys]


def make_tables(catalog: Catalog) -> dict[str, MemoryTable]:
    """Empty tables for a catalog."""
    tables: dict[str, MemoryTable] = {}
    for table in catalog:
        tables[table.name] = MemoryTable(table, catalog, tables)
    for here in tables.values():
        here.put = compile_put(here, catalog)
        here.put_many = BulkPut(here, catalog)
    return tables


def copy_tables(tables: dict[str, MemoryTable], catalog: Catalog) -> dict[str, MemoryTable]:
    """Tables of their own with the same rows."""
    copies = make_tables(catalog)
    for name, table in tables.items():
        put = copies[name].put
        for row in table.rows.values():
            put(row)
    return copies
