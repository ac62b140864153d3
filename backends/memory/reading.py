"""Reading tables in memory: rows, counts and whole plans, each answered in one go from one state.

Nothing here waits, so an answer never mixes two states. `NotBuilt` passes through when a large index is missing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from operator import attrgetter
from typing import Any

from backends.memory.arranging import Arrangement
from backends.memory.choosing import Choice, choose, compile_test, related_rows
from backends.memory.counting import counted_page
from backends.memory.tables import MemoryTable
from ugs.catalog import Row, Table
from ugs.reads.levels import one_more, without_extra
from ugs.reads.near import Near, Scored
from ugs.reads.plan import WHOLE, Found, Nested, Order, Page, Read, Rows
from ugs.reads.where import EVERYTHING, Compare, Everything, Op, Where

WORTH_WALKING = 200
"""From so many candidates on, a short page is read from a kept order instead of sorting them."""
PATIENCE = 5_000
"""So many rows are tested on such a walk; where less than one in `RARE` of them meets the condition, the quicker way to
all that do is taken."""
RARE = 10


Filler = Callable[[Row], Any]
"""Makes of a row what a page shall hold."""


class Reader:
    """Answers questions about one set of tables."""

    def __init__(self, tables: dict[str, MemoryTable]) -> None:
        self.tables = tables
        self.changes = 0
        """How often the tables have changed; what was made of them before is worth nothing after."""
        self.arrangements: dict[tuple[str, tuple[Order, ...]], Arrangement] = {}

    def arrangement(self, table: Table, order: Sequence[Order]) -> Arrangement:
        name = (table.name, tuple(order))
        found = self.arrangements.get(name)
        if found is None:
            if len(self.arrangements) > 1_000:
                self.arrangements.clear()
            found = self.arrangements[name] = Arrangement(table, tuple(order))
        return found

    def fetch(
        self, table: Table, where: Where = EVERYTHING, order: Sequence[Order] = (), page: Page = WHOLE
    ) -> list[Row]:
        """The rows that meet the condition, ordered and cut."""
        here = self.tables[table.name]
        choice = choose(here, where)
        arrangement = self.arrangement(table, order)
        if page.limit is not None and page.per is None and len(choice.rows) >= WORTH_WALKING and not table.counted:
            walked = self._walked(here, choice, where, arrangement, page, page.limit)
            if walked is not None:
                return walked
        return self._cut(table, choice.found(), arrangement, page)

    def _cut(self, table: Table, rows: list[Row], arrangement: Arrangement, page: Page) -> list[Row]:
        if table.counted:
            return counted_page(self.tables, table, rows, arrangement, page)
        return arrangement.page(rows, page)

    def _walked(
        self, here: MemoryTable, choice: Choice, where: Where, arrangement: Arrangement, page: Page, limit: int
    ) -> list[Row] | None:
        """The page by walking along a kept order, if one fits."""
        if arrangement.walk is None:
            return None
        field, descending = arrangement.walk
        if not choice.whole and (choice.under is None or field is not None):
            if not _is_widened(here, choice, limit):
                return None
            choice = Choice(here.rows.values(), compile_test(here, where), whole=True)
        after = page.after[0] if page.after is not None and field is None else page.after
        keys = here.order(field, choice.under).keys(after, descending, page.backward)
        rows: Iterator[Row] = map(here.rows.__getitem__, keys)
        found = _first(rows, choice, limit)
        return found if found is None or not page.backward else found[::-1]

    def count(self, table: Table, where: Where = EVERYTHING) -> int:
        choice = choose(self.tables[table.name], where)
        if choice.scan is not None:
            return len(choice.scan())
        return len(choice.rows) if choice.test is None else sum(map(bool, map(choice.test, choice.rows)))

    def group(self, table: Table, by: str, where: Where = EVERYTHING) -> dict[Any, int]:
        here = self.tables[table.name]
        if isinstance(where, Everything) and by in here.indexed:
            return {value: len(posting) for value, posting in here.column(by).postings.items()}
        return dict(Counter(map(attrgetter(by), choose(here, where).found())))

    def keys(self, table: Table, field: str) -> dict[str, int]:
        return dict(self.tables[table.name].key_counts(field).counts)

    def nearest(self, table: Table, near: Near) -> list[Scored]:
        here = self.tables[table.name]
        test = None if isinstance(near.where, Everything) else compile_test(here, near.where)
        return here.vectors(near.field).nearest(near, test)

    # ── plans ────────────────────────────────────────────────────────────────

    def read(self, plan: Read) -> Rows:
        """The answer to a plan, equal to that of `execute_by_levels`."""
        found = self.page(plan)
        fill = self._filler(plan)
        found.items = [fill(row) for row in found.items]
        return found

    def page(self, plan: Read) -> Rows:
        """The page of a plan as bare rows; what is related is left to the caller."""
        if is_point(plan):
            row = self.tables[plan.table.name].rows.get(plan.where.value)  # type: ignore[attr-defined]
            return Rows([] if row is None else [row])
        rows = self.fetch(plan.table, plan.where, plan.order, one_more(plan.page))
        rows, more = without_extra(rows, plan.page)
        return Rows(rows, more, self.count(plan.table, plan.where) if plan.total else None)

    def _filler(self, plan: Read) -> Filler:
        """A function that hangs the related rows on a row; compiled once for all rows of a level."""
        if not plan.nest:
            return lambda row: Found(row, {})
        parts = [
            (name, *self.follower(plan.table, nested, self._filler(nested.read))) for name, nested in plan.nest.items()
        ]
        return lambda row: Found(row, {name: follow(getattr(row, local)) for name, local, follow in parts})

    def follower(self, table: Table, nested: Nested, filler: Filler) -> tuple[str, Callable[[Any], Rows]]:
        """The column a relation starts from, and a function from its value to the related rows, filled."""
        find, known = self.finder(table, nested), dict[Any, Rows]()

        def follow(tie: Any) -> Rows:
            answer = known.get(tie)
            if answer is None:
                answer = known[tie] = find(tie)
                answer.items = [filler(row) for row in answer.items]
            return answer

        return table.relations[nested.relation].local, follow

    def finder(self, table: Table, nested: Nested) -> Callable[[Any], Rows]:
        """A function from the value that a relation starts from to the related rows as they are."""
        relation = table.relations[nested.relation]
        read, other = nested.read, self.tables[relation.table]
        related = related_rows(other, relation.remote)
        if is_whole(read) and read.table.key == (relation.remote,):
            return lambda tie: Rows(list(related(tie)))
        test = None if isinstance(read.where, Everything) else compile_test(other, read.where)
        arrangement = self.arrangement(read.table, read.order)
        page, wanted = read.page, one_more(read.page)
        if wanted.per:
            wanted = Page(wanted.limit, wanted.after, wanted.backward)

        def find(tie: Any) -> Rows:
            candidates = () if tie is None else related(tie)
            rows = list(candidates if test is None else filter(test, candidates))
            kept, more = without_extra(self._cut(read.table, rows, arrangement, wanted), page)
            return Rows(kept, more, len(rows) if read.total else None)

        return find


def is_whole(read: Read) -> bool:
    """Whether all related rows are asked for, as they are."""
    return read.page is WHOLE and read.where is EVERYTHING and not read.total and not read.table.counted


def _is_widened(here: MemoryTable, choice: Choice, limit: int) -> bool:
    """Whether a page is found along the order of all rows sooner than those of the choice, a great many, are sorted."""
    return choice.test is None and limit * len(here.rows) * 2 <= len(choice.rows) ** 2


def _first(rows: Iterator[Row], choice: Choice, limit: int) -> list[Row] | None:
    """The first rows that meet the condition; None where they are so rare that there is a quicker way to all."""
    if choice.scan is None:
        return list(islice(rows if choice.test is None else filter(choice.test, rows), limit))
    found = list(islice(filter(choice.test, islice(rows, PATIENCE)), limit))
    if len(found) < limit and len(choice.rows) > PATIENCE:
        if len(found) * RARE < PATIENCE:
            return None
        found += islice(filter(choice.test, rows), limit - len(found))
    return found


def is_point(plan: Read) -> bool:
    """Whether the plan asks for the one row with a certain key."""
    where = plan.where
    return (
        type(where) is Compare
        and where.op is Op.EQ
        and plan.table.key == (where.field,)
        and plan.page is WHOLE
        and not plan.total
        and not plan.table.counted
    )
