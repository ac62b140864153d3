"""Tables as of a log position, for the queries of `memory.query`.

A past table has the interface of a `MemoryTable`: it looks candidates up in the indexes of the current and of the
former rows, and keeps those that held at the position. So a read costs what it costs at present, plus the candidates
that held at another time only.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from operator import gt, itemgetter, lt
from typing import Any

from ugs.catalog import Catalog
from ugs.reads.filters import EVERYTHING, Everything, Op, Where
from ugs.reads.plan import Order, sort_key
from ugs.support.bounded_cache import BoundedCache
from ugs.tables import Row, Table
from ugs_backends.memory.history.row_versions import RowVersions, StoreHistory
from ugs_backends.memory.query.executor import QueryExecutor
from ugs_backends.memory.query.index_selection import choose_access_path
from ugs_backends.memory.query.row_order import RowOrder
from ugs_backends.memory.tables.indexes import Index, KeyCounts, PropertyIndex, contains_row
from ugs_backends.memory.tables.sorted_index import KeyOrder, make_value_getter
from ugs_backends.memory.tables.table import MemoryTable, make_tables

Rows = Collection[Row]


class RowsAt(Collection[Row]):
    """Those of some current and former rows that held at a position; its length is an upper bound."""

    __slots__ = ("current", "former", "position", "versions")

    def __init__(self, versions: RowVersions, position: int, current: Rows, former: Rows) -> None:
        self.versions, self.position, self.current, self.former = versions, position, current, former

    def __iter__(self) -> Iterator[Row]:
        versions, position = self.versions, self.position
        if versions.taken < len(versions.positions):
            versions.take()
        since, key_of, find = versions.since.get, versions.current.key_of, versions.find
        for row in self.current:
            if since(key_of(row), 0) <= position:
                yield row
        for row in self.former:
            if find(key_of(row), position) is row:
                yield row

    def __len__(self) -> int:
        return len(self.current) + len(self.former)

    def __bool__(self) -> bool:
        return any(True for _ in self)

    def __contains__(self, row: object) -> bool:
        return any(one is row for one in self)


class AllRowsAt(RowsAt):
    """All rows of a table that held at a position; their number is known."""

    def __len__(self) -> int:
        return self.versions.count(self.position)


class RowsByKey(Mapping[Any, Row]):
    """The rows that held at a position, by key."""

    __slots__ = ("position", "versions")

    def __init__(self, versions: RowVersions, position: int) -> None:
        self.versions, self.position = versions, position

    def get(self, key: Any, default: Any = None) -> Any:
        row = self.versions.find(key, self.position)
        return default if row is None else row

    def __getitem__(self, key: Any) -> Row:
        row = self.versions.find(key, self.position)
        if row is None:
            raise KeyError(key)
        return row

    def __contains__(self, key: object) -> bool:
        return self.versions.find(key, self.position) is not None

    def __iter__(self) -> Iterator[Any]:
        return map(self.versions.current.key_of, self.values())

    def values(self) -> AllRowsAt:  # type: ignore[override]
        versions = self.versions
        return AllRowsAt(versions, self.position, versions.current.rows.values(), versions.closed.rows.values())

    def __len__(self) -> int:
        return self.versions.count(self.position)


class IndexAt:
    """An index as of a position."""

    def __init__(self, versions: RowVersions, position: int, current: Index, former: Index) -> None:
        self.versions, self.position, self.current, self.former = versions, position, current, former

    def rows(self, value: Any) -> RowsAt:
        return RowsAt(self.versions, self.position, self.current.rows(value), self.former.rows(value))

    def compile_test(self, value: Any) -> Callable[[Row], bool]:
        return contains_row(self.rows(value))

    def sizes(self, values: Iterable[Any]) -> list[int]:
        return [0 if value is None else sum(1 for _ in self.rows(value)) for value in values]


class PropertyIndexAt(IndexAt):
    """An index of a property as of a position."""

    current: PropertyIndex
    former: PropertyIndex

    def between(self, op: Op, value: tuple[str, Any]) -> list[tuple[str, Any]]:
        return list(dict.fromkeys([*self.current.between(op, value), *self.former.between(op, value)]))


class BoundsAt:
    """Bounds of a column that hold at every position."""

    def __init__(self, here: MemoryTable, former: MemoryTable, field: str) -> None:
        self.bounds = here.bounds(field), former.bounds(field)

    def exclude(self, op: Op, value: float) -> bool:
        return all(bounds.exclude(op, value) for bounds in self.bounds)


class OrderAt:
    """A sort order as of a position: the orders of the current and of the former rows, merged."""

    def __init__(self, here: PastTable, field: str | None, of: tuple[str, Any] | None) -> None:
        self.here, self.field, self.of = here, field, of
        self.current: KeyOrder = here.versions.current.order(field, of)
        self.former: KeyOrder = here.versions.closed.order(field, of)
        self.value_of = None if field is None else make_value_getter(field)

    def keys(self, after: Any, descending: bool, backward: bool) -> Iterator[Any]:
        """As `KeyOrder.keys`, of the rows that held at the position."""
        versions, position = self.here.versions, self.here.position
        if versions.taken < len(versions.positions):
            versions.take()
        since, current = versions.since.get, self.current.entries(after, descending, backward)
        if self.field is None:
            keys: Iterator[Any] = (key for key in current if since(key, 0) <= position)
            if not self.former.places:
                return keys
            before = gt if descending != backward else lt
            return _merge(keys, self._former_entries(after, descending, backward), before)
        entries: Iterator[Any] = (entry for entry in current if since(entry[1], 0) <= position)
        if self.former.places:
            before = _compare_places(descending, backward)
            entries = _merge(entries, self._former_entries(after, descending, backward), before)
        return map(itemgetter(1), entries)

    def _former_entries(self, after: Any, descending: bool, backward: bool) -> Iterator[Any]:
        """The entries of the former rows that held at the position."""
        find, position, field, of = self.here.versions.find, self.here.position, self.field, self.of
        value_of = self.value_of
        since, last = self.here.versions.since.get, None
        for entry in self.former.entries(after, descending, backward):
            key = entry if field is None else entry[1]
            if entry == last or since(key, 0) <= position:
                continue  # another version with the same place, or the current row holds
            last, row = entry, find(key, position)
            if row is None or (of is not None and getattr(row, of[0]) != of[1]):
                continue
            if value_of is None or sort_key(value_of(row)) == entry[0]:
                yield entry


def _merge(one: Iterator[Any], other: Iterator[Any], before: Callable[[Any, Any], bool]) -> Iterator[Any]:
    """Two sorted iterators as one; the second one is usually short."""
    waiting = next(other, None)
    for entry in one:
        while waiting is not None and before(waiting, entry):
            yield waiting
            waiting = next(other, None)
        yield entry
    if waiting is not None:
        yield waiting
        yield from other


def _compare_places(descending: bool, backward: bool) -> Callable[[Any, Any], bool]:
    """Whether an entry of value and key comes before another one: keys ascend in both directions of the values."""
    if not descending:
        return gt if backward else lt

    def before(one: Any, other: Any) -> bool:
        if one[0] != other[0]:
            return bool(one[0] > other[0]) is not backward
        return bool(one[1] < other[1]) is not backward

    return before


class PastTable(MemoryTable):
    """A table as of a position; nothing can be written to it."""

    def __init__(self, versions: RowVersions, position: int, tables: dict[str, MemoryTable]) -> None:
        current = versions.current
        self.versions, self.position, self.tables = versions, position, tables
        self.table, self.key_of = current.table, current.key_of
        self.indexed, self.numbers, self.unique = current.indexed, current.numbers, []
        self.rows = RowsByKey(versions, position)  # type: ignore[assignment]
        self._keys: dict[str, KeyCounts] = {}

    def _at(self, index_of: Callable[[MemoryTable], Index]) -> Any:
        versions = self.versions
        return IndexAt(versions, self.position, index_of(versions.current), index_of(versions.closed))

    def column(self, field: str) -> Any:
        return self._at(lambda table: table.column(field))

    def property(self, field: str, key: str) -> Any:
        versions = self.versions
        some = [table.property(field, key) for table in (versions.current, versions.closed)]
        return PropertyIndexAt(versions, self.position, *some)

    def words(self) -> Any:
        return self._at(lambda table: table.words())

    def bounds(self, field: str) -> Any:
        return BoundsAt(self.versions.current, self.versions.closed, field)

    def order(self, field: str | None, of: tuple[str, Any] | None = None) -> Any:
        return OrderAt(self, field, of)

    def walk(
        self, field: str | None, of: tuple[str, Any] | None, after: Any, descending: bool, backward: bool
    ) -> Iterator[Row]:
        versions, position = self.versions, self.position
        since, current, former = versions.since.get, versions.current.rows, versions.find
        for key in OrderAt(self, field, of).keys(after, descending, backward):
            yield current[key] if since(key, 0) <= position else former(key, position)

    def key_counts(self, field: str) -> KeyCounts:
        """The counts of now, corrected by the rows that changed since."""
        found = self._keys.get(field)
        if found is None:
            found = KeyCounts(field)
            found.counts = dict(self.versions.current.key_counts(field).counts)
            for now, then in self.changed_rows():
                if now is not None:
                    found.remove(now)
                if then is not None:
                    found.add(then)
            self._keys[field] = found
        return found

    def changed_rows(self) -> Iterator[tuple[Row | None, Row | None]]:
        """The rows that are not now what they were at the position: as they are, and as they were."""
        now, then = self.versions.current.rows.get, self.rows.get
        for key in self.versions.changed_after(self.position):
            before, after = then(key), now(key)
            if before is not after:
                yield after, before


class PastTables(dict[str, MemoryTable]):
    """The tables as of a position, each made on first use; those without a history are empty, and can be written."""

    def __init__(self, history: StoreHistory, catalog: Catalog, position: int) -> None:
        super().__init__()
        self.versions, self.catalog, self.position = history.tables, catalog, position

    def __missing__(self, name: str) -> MemoryTable:
        versions = self.versions.get(name)
        if versions is not None:
            self[name] = PastTable(versions, self.position, self)
            return self[name]
        for table in make_tables(self.catalog).values():
            if not table.table.versioned:
                table.tables = self
                table.serve()
                self.setdefault(table.table.name, table)
        return self[name]


class PastExecutor(QueryExecutor):
    """Executes queries on tables as of a position, where the lengths of index entries are upper bounds."""

    def __init__(
        self,
        tables: dict[str, MemoryTable],
        arrangements: BoundedCache[tuple[str, tuple[Order, ...]], RowOrder],
        changes: int,
    ) -> None:
        self.tables, self.arrangements, self.changes = tables, arrangements, changes

    def count(self, table: Table, where: Where = EVERYTHING) -> int:
        choice = choose_access_path(self.tables[table.name], where)
        if choice.scan is None and choice.test is None and not choice.whole:
            return sum(1 for _ in choice.rows)
        return super().count(table, where)

    def group(self, table: Table, by: str, where: Where = EVERYTHING) -> dict[Any, int]:
        here = self.tables[table.name]
        if not (isinstance(where, Everything) and by in here.indexed and isinstance(here, PastTable)):
            return super().group(table, by, where)
        found = {value: len(rows) for value, rows in here.versions.current.column(by).postings.items()}
        for now, then in here.changed_rows():
            for row, change in ((now, -1), (then, 1)):
                if row is not None:
                    value = getattr(row, by)
                    found[value] = found.get(value, 0) + change
        return {value: count for value, count in found.items() if count}
