"""Executes queries on in-memory tables: rows, counts and whole plans, each from one state.

No function here awaits, so a result never mixes two states. `NotBuilt` is raised when a large index is missing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from operator import attrgetter
from typing import Any

from ugs.reads.filters import EVERYTHING, Compare, Everything, Op, Where
from ugs.reads.level_executor import one_more, without_extra
from ugs.reads.plan import WHOLE, Nested, Order, Page, Read, ResultPage, ResultRow
from ugs.reads.vector_search import Near, Scored
from ugs.support.bounded_cache import BoundedCache
from ugs.tables import Row, Table
from ugs_backends.memory.query.degree_counts import page_by_counts, with_sort_keys
from ugs_backends.memory.query.index_selection import AccessPath, choose_access_path, compile_test, find_related_rows
from ugs_backends.memory.query.row_order import RowOrder
from ugs_backends.memory.tables.table import MemoryTable

SORTED_SCAN_THRESHOLD = 200
"""From this many candidates on, a short page is read from a sorted index instead of sorting the candidates."""
SORTED_SCAN_ROWS = 5_000
"""Number of rows tested along a sorted index. If fewer than one in `MAX_ROWS_PER_MATCH` of them match, `scan` is used
instead."""
MAX_ROWS_PER_MATCH = 10


Filler = Callable[[Row], Any]
"""Converts a row to an item of a page."""


class QueryExecutor:
    """Executes queries on one set of tables."""

    def __init__(self, tables: dict[str, MemoryTable]) -> None:
        self.tables = tables
        self.changes = 0
        """Version of the tables, incremented with every change; caches derived from an older version are invalid."""
        self.arrangements: BoundedCache[tuple[str, tuple[Order, ...]], RowOrder] = BoundedCache(1_000, 1 << 20)

    def arrangement(self, table: Table, order: Sequence[Order]) -> RowOrder:
        name = (table.name, tuple(order))
        found = self.arrangements.get(name)
        if found is None:
            found = RowOrder(table, tuple(order))
            self.arrangements.put(name, found, 1_024)
        return found

    def fetch(
        self, table: Table, where: Where = EVERYTHING, order: Sequence[Order] = (), page: Page = WHOLE
    ) -> list[Row]:
        """The page of rows that meet the condition, in order."""
        here = self.tables[table.name]
        choice = choose_access_path(here, where)
        arrangement = self.arrangement(table, order)
        if page.limit is not None and page.per is None and len(choice.rows) >= SORTED_SCAN_THRESHOLD:
            walked = self._walk_index(here, choice, where, arrangement, page, page.limit)
            if walked is not None:
                return with_sort_keys(table, walked) if table.counted else walked
            if page.after is None and not page.backward and choice.scan is None and not table.counted:
                newest = arrangement.newest(choice.rows, choice.test, page.limit)
                if newest is not None:
                    return newest
        return self._cut(table, choice.found(), arrangement, page)

    def _cut(self, table: Table, rows: list[Row], arrangement: RowOrder, page: Page) -> list[Row]:
        if table.counted:
            return page_by_counts(self.tables, table, rows, arrangement, page)
        return arrangement.page(rows, page)

    def _walk_index(
        self, here: MemoryTable, choice: AccessPath, where: Where, arrangement: RowOrder, page: Page, limit: int
    ) -> list[Row] | None:
        """The page, read from a sorted index if one serves the order; else None."""
        if arrangement.walk is None:
            return None
        field, descending = arrangement.walk
        if not choice.whole and (choice.under is None or field is not None):
            if not _is_widened(here, choice, limit):
                return None
            choice = AccessPath(here.rows.values(), compile_test(here, where), whole=True)
        after = page.after[0] if page.after is not None and field is None else page.after
        found = _scan_first(here.walk(field, choice.under, after, descending, page.backward), choice, limit)
        return found if found is None or not page.backward else found[::-1]

    def count(self, table: Table, where: Where = EVERYTHING) -> int:
        choice = choose_access_path(self.tables[table.name], where)
        if choice.scan is not None:
            return len(choice.scan())
        return len(choice.rows) if choice.test is None else sum(map(bool, map(choice.test, choice.rows)))

    def group(self, table: Table, by: str, where: Where = EVERYTHING) -> dict[Any, int]:
        here = self.tables[table.name]
        if isinstance(where, Everything) and by in here.indexed:
            return {value: len(posting) for value, posting in here.column(by).postings.items()}
        return dict(Counter(map(attrgetter(by), choose_access_path(here, where).found())))

    def keys(self, table: Table, field: str) -> dict[str, int]:
        return dict(self.tables[table.name].key_counts(field).counts)

    def nearest(self, table: Table, near: Near) -> list[Scored]:
        here = self.tables[table.name]
        test = None if isinstance(near.where, Everything) else compile_test(here, near.where)
        return here.vectors(near.field).nearest(near, test)

    # ── plans ────────────────────────────────────────────────────────────────

    def read(self, plan: Read) -> ResultPage:
        """Execute a plan; the result equals that of `execute_by_levels`."""
        found = self.page(plan)
        fill = self._build_filler(plan)
        found.items = [fill(row) for row in found.items]
        return found

    def page(self, plan: Read) -> ResultPage:
        """The page of a plan as rows; nested reads are left to the caller."""
        if is_point(plan):
            row = self.tables[plan.table.name].rows.get(plan.where.value)  # type: ignore[attr-defined]
            return ResultPage([] if row is None else [row])
        rows = self.fetch(plan.table, plan.where, plan.order, one_more(plan.page))
        rows, more = without_extra(rows, plan.page)
        return ResultPage(rows, more, self.count(plan.table, plan.where) if plan.total else None)

    def _build_filler(self, plan: Read) -> Filler:
        """A function that attaches the related rows to a row; built once for all rows of a level."""
        if not plan.nest:
            return lambda row: ResultRow(row, {})
        parts = [
            (name, *self.build_follower(plan.table, nested, self._build_filler(nested.read)))
            for name, nested in plan.nest.items()
        ]
        return lambda row: ResultRow(row, {name: follow(getattr(row, local)) for name, local, follow in parts})

    def build_follower(self, table: Table, nested: Nested, filler: Filler) -> tuple[str, Callable[[Any], ResultPage]]:
        """The local column of a relation, and a memoised function from its value to the page of related rows."""
        find, known = self.build_finder(table, nested), dict[Any, ResultPage]()

        def follow(tie: Any) -> ResultPage:
            answer = known.get(tie)
            if answer is None:
                answer = known[tie] = find(tie)
                answer.items = [filler(row) for row in answer.items]
            return answer

        return table.relations[nested.relation].local, follow

    def build_finder(self, table: Table, nested: Nested) -> Callable[[Any], ResultPage]:
        """A function from the value of a relation's local column to the page of related rows, without nested reads."""
        relation = table.relations[nested.relation]
        read, other = nested.read, self.tables[relation.table]
        related = find_related_rows(other, relation.remote)
        if is_whole(read) and read.table.key == (relation.remote,):
            return lambda tie: ResultPage(list(related(tie)))
        test = None if isinstance(read.where, Everything) else compile_test(other, read.where)
        arrangement = self.arrangement(read.table, read.order)
        page, wanted = read.page, one_more(read.page)
        if wanted.per:
            wanted = Page(wanted.limit, wanted.after, wanted.backward)

        def find(tie: Any) -> ResultPage:
            candidates = () if tie is None else related(tie)
            rows = list(candidates if test is None else filter(test, candidates))
            kept, more = without_extra(self._cut(read.table, rows, arrangement, wanted), page)
            return ResultPage(kept, more, len(rows) if read.total else None)

        return find


def is_whole(read: Read) -> bool:
    """Whether a nested read has no condition, page, total or computed counts."""
    return read.page is WHOLE and read.where is EVERYTHING and not read.total and not read.table.counted


def _is_widened(here: MemoryTable, choice: AccessPath, limit: int) -> bool:
    """Whether reading the page from a sorted index of all rows is estimated cheaper than sorting the candidates."""
    return choice.test is None and limit * len(here.rows) * 2 <= len(choice.rows) ** 2


def _scan_first(rows: Iterator[Row], choice: AccessPath, limit: int) -> list[Row] | None:
    """The first rows that meet the condition; None if matches are so rare that `choice.scan` is cheaper."""
    if choice.scan is None:
        return list(islice(rows if choice.test is None else filter(choice.test, rows), limit))
    found = list(islice(filter(choice.test, islice(rows, SORTED_SCAN_ROWS)), limit))
    if len(found) < limit and len(choice.rows) > SORTED_SCAN_ROWS:
        if len(found) * MAX_ROWS_PER_MATCH < SORTED_SCAN_ROWS:
            return None
        found += islice(filter(choice.test, rows), limit - len(found))
    return found


def is_point(plan: Read) -> bool:
    """Whether the plan is a look-up of one row by key."""
    where = plan.where
    return (
        type(where) is Compare
        and where.op is Op.EQ
        and plan.table.key == (where.field,)
        and plan.page is WHOLE
        and not plan.total
        and not plan.table.counted
    )
