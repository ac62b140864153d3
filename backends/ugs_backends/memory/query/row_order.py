"""Sorting and paging of rows in memory: `ugs.reads.plan.paged`, precompiled per order."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from heapq import nlargest, nsmallest
from itertools import islice, pairwise, starmap
from operator import attrgetter, le, lt
from typing import Any

from ugs.reads.plan import Order, Page, full_order, is_after, is_before, sort_key, sorted_rows
from ugs.tables import Row, Table
from ugs_backends.memory.tables.sorted_index import find_sorted_index

HEAP_SELECT_RATIO = 8
"""A page smaller than one in this many rows is selected with a heap, a larger one by sorting."""


class RowOrder:
    """A total order of a table's rows."""

    def __init__(self, table: Table, order: tuple[Order, ...]) -> None:
        self.table = table
        self.order = full_order(table, order)
        self.walk = find_sorted_index(table, self.order)
        directions = {part.descending for part in self.order}
        self.descending = directions == {True}
        self.rank: Callable[[Row], Any] | None = _rank(table, self.order) if len(directions) == 1 else None
        first = self.order[0].field
        rises = directions == {False} and not table.field(first).nullable
        self._leading = attrgetter(first) if rises else None
        falls = directions == {True} and not table.field(first).nullable
        self._falling = attrgetter(first) if falls else None

    @cached_property
    def rest(self) -> RowOrder:
        """The order of rows that are equal in the leading column."""
        return RowOrder(self.table, self.order[1:])

    def is_sorted(self, rows: Sequence[Row]) -> bool:
        """Whether rows are already sorted, as a node's edges are by insertion order; checks the leading column only."""
        if self._leading is None:
            return False
        values = list(map(self._leading, rows))
        return all(map(lt, values, islice(values, 1, None)))

    def sorted(self, rows: Sequence[Row]) -> list[Row]:
        if self.is_sorted(rows):
            return list(rows)
        if self.rank is None:
            return sorted_rows(list(rows), self.order)
        return sorted(rows, key=self.rank, reverse=self.descending)

    def page(self, rows: list[Row], page: Page) -> list[Row]:
        """The page of these rows."""
        if page.after is not None:
            beyond, after = (is_before if page.backward else is_after), page.after
            rows = [row for row in rows if beyond(row, after, self.order)]
        if page.limit is None:
            return self.sorted(rows) if len(rows) > 1 else rows
        if page.per:
            return self._cut_per_group(self.sorted(rows), page, page.per)
        return self.first(rows, page.limit, page.backward)

    def newest(self, rows: Collection[Row], test: Callable[[Row], bool] | None, limit: int) -> list[Row] | None:
        """The first rows of a falling order that meet a condition, if the rows rise in the leading column, as those of
        an index do in the order of insertion; else None. Few rows are tested: those at the end.
        """
        if self._falling is None or self.rank is None:
            return None
        value_of = self._falling
        if not all(starmap(le, pairwise(map(value_of, rows)))):
            return None
        found: list[Row] = []
        for row in reversed(list(rows)):
            # Rows that are equal in the leading column are sorted by the rest.
            if found and len(found) >= limit and value_of(row) != value_of(found[-1]):
                break
            if test is None or test(row):
                found.append(row)
        return sorted(found, key=self.rank, reverse=True)[:limit]

    def first(self, rows: list[Row], limit: int, backward: bool) -> list[Row]:
        """At most `limit` rows from the start, or from the end, in forward order."""
        if self.is_sorted(rows):
            return _cut(rows, limit, backward)
        if self.rank is not None and limit * HEAP_SELECT_RATIO < len(rows):
            smallest = self.descending == backward
            found = (nsmallest if smallest else nlargest)(limit, rows, key=self.rank)
            return found[::-1] if backward else found
        return _cut(self.sorted(rows), limit, backward)

    def _cut_per_group(self, rows: list[Row], page: Page, per: str) -> list[Row]:
        value_of, limit = attrgetter(per), page.limit or 0
        counts: dict[Any, int] = {}
        kept = []
        for row in reversed(rows) if page.backward else rows:
            value = value_of(row)
            count = counts.get(value, 0)
            if count < limit:
                counts[value] = count + 1
                kept.append(row)
        return kept[::-1] if page.backward else kept


def _cut(rows: list[Row], limit: int, backward: bool) -> list[Row]:
    if not backward:
        return rows[:limit]
    return rows[-limit:] if limit else []


def _rank(table: Table, order: tuple[Order, ...]) -> Callable[[Row], Any]:
    """The sort key of rows, for orders in which all columns have one direction."""
    names = [part.field for part in order]
    if not any(table.field(name).nullable for name in names):
        return attrgetter(*names)
    return lambda row: [sort_key(getattr(row, name)) for name in names]
