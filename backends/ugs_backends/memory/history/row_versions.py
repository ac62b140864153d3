"""The versions of a table's rows: what changed at which log position, and the former rows.

A commit only appends to lists: position, key and former row of each change, 32 bytes for a new row. What a read of the
past needs besides (since when each current row holds, the former rows by key and their indexes) is made from these
lists by the first such read and completed by later ones.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Collection, Sequence
from itertools import count, repeat
from operator import itemgetter
from typing import Any

from ugs.catalog import Catalog
from ugs.changes import Step, TableWrites
from ugs.errors import Unavailable
from ugs.storage import RowVersion
from ugs.support.time_slice import TimeSlice
from ugs.tables import Row, Table
from ugs_backends.memory.tables.indexes import Index, KeyCounts
from ugs_backends.memory.tables.min_max_index import MinMaxIndex
from ugs_backends.memory.tables.table import MemoryTable, Name
from ugs_backends.memory.tables.vector_index import VectorIndex

SLICE_CHANGES = 5_000
"""Changes that are taken in between two looks at the clock: some milliseconds."""

ENDED = -1
Version = tuple[int, int, Row]
"""A former row with the first position at which it held and the first at which it did not any more."""
_since = itemgetter(0)


class FormerRows(MemoryTable):
    """The former rows of a table with their indexes. A key may have had several, so they are told apart by identity."""

    def __init__(self, table: Table, catalog: Catalog, tables: dict[str, MemoryTable]) -> None:
        super().__init__(table, catalog, tables)
        self.unique = []
        for index in self.always.values():
            index.key_of = id
        self.serve()

    def _empty(self, name: Name) -> Index | KeyCounts | VectorIndex | MinMaxIndex:
        index = super()._empty(name)
        if isinstance(index, Index):
            index.key_of = id
        return index

    def keep(self, row: Row) -> None:
        """Add a former row."""
        self.replace(id(row), row)


class RowVersions:
    """The versions of one table's rows, from the position on at which the history begins."""

    def __init__(self, current: MemoryTable, catalog: Catalog) -> None:
        self.current, self.catalog = current, catalog
        self.positions: array[int] = array("q")
        self.keys: list[Any] = []
        self.former: list[Row | None] = []
        """The row before each change; None where there was none."""
        self.counts: array[int] = array("q")
        """The number of rows after each change."""
        self.first_count = len(self.current.rows)
        self._forget_derived()

    def _forget_derived(self) -> None:
        self.taken = 0
        """How many of the changes are in `since`, `chains` and `closed`; `ENDED` when others have taken its place."""
        self.since: dict[Any, int] = {}
        """The position from which on the current row of a key holds; a row that is not here held from the beginning."""
        self.chains: dict[Any, list[Version]] = {}
        """The former rows of a key, oldest first."""
        self.closed = FormerRows(self.current.table, self.catalog, self.current.tables)

    # ── recording ────────────────────────────────────────────────────────────

    def record(self, writes: TableWrites) -> None:
        """Record the steps of a commit; must be called before the rows are changed."""
        steps, rows = writes.steps, self.current.rows
        if not (writes.updates or writes.deletes) and len(steps) == len(writes.inserts):
            self._record_inserts(steps)
            return
        pending: dict[Any, Row | None] = {}
        count = self.counts[-1] if self.counts else self.first_count
        for position, key, row in steps:
            before = pending[key] if key in pending else rows.get(key)
            pending[key] = row
            if before is row:
                continue
            count += (row is not None) - (before is not None)
            self.positions.append(position)
            self.keys.append(key)
            self.former.append(before)
            self.counts.append(count)

    def _record_inserts(self, steps: Sequence[Step]) -> None:
        count = self.counts[-1] if self.counts else self.first_count
        if len(steps) == 1:
            position, key, _ = steps[0]
            self.positions.append(position)
            self.keys.append(key)
            self.former.append(None)
            self.counts.append(count + 1)
            return
        self.positions.extend([position for position, _, _ in steps])
        self.keys += [key for _, key, _ in steps]
        self.former += repeat(None, len(steps))
        self.counts.extend(range(count + 1, count + 1 + len(steps)))

    # ── reading ──────────────────────────────────────────────────────────────

    async def catch_up(self) -> None:
        """Take in the recorded changes, with pauses for other tasks."""
        time = TimeSlice()
        while self.taken < len(self.positions):
            self.take(SLICE_CHANGES)
            await time.pause()

    def take(self, most: int | None = None) -> None:
        """Take in recorded changes that are not in the indexes yet."""
        if self.taken == ENDED:
            raise Unavailable("The rows were built anew while the past was read; nothing is wrong, ask again")
        end = len(self.positions) if most is None else min(len(self.positions), self.taken + most)
        since, chains, keep = self.since, self.chains, self.closed.keep
        for place in range(self.taken, end):
            key, position, row = self.keys[place], self.positions[place], self.former[place]
            if row is not None and (start := since.get(key, 0)) < position:
                version = (start, position, row)
                if key in chains:
                    chains[key].append(version)
                else:
                    chains[key] = [version]
                keep(row)
            since[key] = position
        self.taken = end

    def find(self, key: Any, position: int) -> Row | None:
        """The row that held at a position."""
        if self.taken < len(self.positions):
            self.take()
        chain = self.chains.get(key)
        if chain is not None and position < chain[-1][1]:
            number = bisect_right(chain, position, key=_since) - 1
            return chain[number][2] if number >= 0 and position < chain[number][1] else None
        return self.current.rows.get(key) if self.since.get(key, 0) <= position else None

    def count(self, position: int) -> int:
        """The number of rows at a position."""
        place = bisect_right(self.positions, position)
        return self.counts[place - 1] if place else self.first_count

    def changed_after(self, position: int) -> Collection[Any]:
        """The keys of the rows that changed after a position."""
        return dict.fromkeys(self.keys[bisect_right(self.positions, position) :])

    # ── comparing ────────────────────────────────────────────────────────────

    def changes(self, after: int, until: int) -> tuple[array[int], list[Any], list[Row | None]]:
        """The recorded changes in a range of positions, as columns."""
        start, end = bisect_right(self.positions, after), bisect_right(self.positions, until)
        return self.positions[start:end], self.keys[start:end], self.former[start:end]

    def by_key(self, until: int) -> dict[Any, list[RowVersion]]:
        """All versions up to a position, by key, oldest first."""
        if self.taken < len(self.positions):
            self.take()
        found: dict[Any, list[RowVersion]] = {}
        for key, chain in self.chains.items():
            found[key] = [RowVersion(since, end, row) for since, end, row in chain]
        for key, row in self.current.rows.items():
            found.setdefault(key, []).append(RowVersion(self.since.get(key, 0), None, row))
        return {key: cut for key, chain in found.items() if (cut := _cut_chain(chain, until))}

    # ── taking over ──────────────────────────────────────────────────────────

    def prepend(self, other: RowVersions, until: int) -> None:
        """Put another table's changes up to a position before the own ones, which begin there."""
        end = bisect_right(other.positions, until)
        rows, key_of = self.current.rows, self.current.key_of
        self.keys = [key_of(row) if (row := rows.get(key)) is not None else key for key in other.keys[:end]] + self.keys
        self.positions = other.positions[:end] + self.positions
        self.former = other.former[:end] + self.former
        self.counts = other.counts[:end] + self.counts
        self.first_count = 0
        self._forget_derived()


class StoreHistory:
    """The row versions of all versioned tables of a store."""

    def __init__(self, tables: dict[str, MemoryTable], catalog: Catalog, begins: int) -> None:
        self.tables = {name: RowVersions(here, catalog) for name, here in tables.items() if here.table.versioned}
        self.begins = begins
        """The least position whose state can be read."""
        self.states = count(1)
        """Numbers of past states: no two of a history share what a renderer has cached for one of them."""
        self.is_behind = False
        """Whether changes were recorded since the last `catch_up`."""

    def restart(self, position: int) -> None:
        """Begin anew with the current rows, since they were written without telling how they came about."""
        for versions in self.tables.values():
            versions.taken = ENDED
        self.tables = {name: RowVersions(old.current, old.catalog) for name, old in self.tables.items()}
        self.begins, self.is_behind = position, False

    def record(self, table: Table, writes: TableWrites) -> bool:
        """Record what a commit changes in a table; False if the writes do not tell it."""
        if writes.steps:
            self.tables[table.name].record(writes)
            self.is_behind = True
            return True
        return not (table.versioned and (writes.inserts or writes.updates or writes.deletes))

    async def catch_up(self) -> None:
        """Take in the recorded changes of all tables."""
        while self.is_behind:
            self.is_behind = False
            for versions in self.tables.values():
                await versions.catch_up()

    async def compare(self, other: StoreHistory, until: int) -> list[str]:
        """Which tables have other changes in a history of the same log, up to a position."""
        problems, time = [], TimeSlice()
        for name, versions in self.tables.items():
            await time.pause()
            ours, theirs = (one.changes(self.begins, until) for one in (versions, other.tables[name]))
            if ours != theirs and (place := _first_difference(ours, theirs)) is not None:
                problems.append(f"the former rows of {name} differ from those of a replay at position {place}")
        return problems

    def take_over(self, other: StoreHistory) -> None:
        """Put the history of a store with the same log before the own one."""
        for name, versions in self.tables.items():
            versions.prepend(other.tables[name], self.begins)
        self.begins, self.is_behind = other.begins, True


def _first_difference(ours: Sequence[Sequence[Any]], theirs: Sequence[Sequence[Any]]) -> int | None:
    """The first position with other changes; changes of one event may be in any order."""
    one, other = (_by_position(*columns) for columns in (ours, theirs))
    return min((place for place in one.keys() | other.keys() if one.get(place) != other.get(place)), default=None)


def _by_position(
    positions: Sequence[int], keys: Sequence[Any], former: Sequence[Any]
) -> dict[int, dict[Any, list[Any]]]:
    found: dict[int, dict[Any, list[Any]]] = {}
    for position, key, row in zip(positions, keys, former, strict=True):
        found.setdefault(position, {}).setdefault(key, []).append(row)
    return found


def _cut_chain(chain: list[RowVersion], until: int) -> list[RowVersion]:
    """The versions of a key as they were known at a position."""
    known = [version for version in chain if version.since <= until]
    return [
        version if version.until is not None and version.until <= until else version._replace(until=None)
        for version in known
    ]
