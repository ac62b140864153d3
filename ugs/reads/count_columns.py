"""Reads of tables with computed columns (`Table.counting`), for stores without native support.

All matching rows are fetched and counted with one grouped query per relation; sort keys are computed from the rows.
Order and page are applied in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import astuple

from ugs.reads.filters import EVERYTHING, Everything, Where, in_
from ugs.reads.plan import Order, Page, paged
from ugs.reads.sort_keys import SortKey
from ugs.tables import Count, Row, Table

if TYPE_CHECKING:
    from ugs.reads.level_executor import Fetcher


async def fetch_counting(session: Fetcher, table: Table, where: Where, order: Sequence[Order], page: Page) -> list[Row]:
    """As `fetch`, also for a table with computed columns."""
    if not table.counted:
        return await session.fetch(table, where, order, page)
    rows = await session.fetch(table.stored, where)
    whole = isinstance(where, Everything)
    numbers = [
        [one.of(getattr(row, one.field)) for row in rows]
        if isinstance(one, SortKey)
        else await _numbers(session, one, table, rows, whole)
        for one in table.counted
    ]
    return paged([with_counts(table, *row) for row in zip(rows, *numbers, strict=True)], table, tuple(order), page)


async def _numbers(session: Fetcher, count: Count, table: Table, rows: Sequence[Row], whole: bool) -> list[int]:
    """The count of each row."""
    numbers = [0] * len(rows)
    for name in count.relations:
        relation = table.relations[name]
        ties = [getattr(row, relation.local) for row in rows]
        among = EVERYTHING if whole else in_(relation.remote, dict.fromkeys(tie for tie in ties if tie is not None))
        found = await session.group(count.of, relation.remote, among)
        numbers = [
            number + (0 if tie is None else found.get(tie, 0)) for number, tie in zip(numbers, ties, strict=True)
        ]
    return numbers


def with_counts(table: Table, row: Row, *numbers: int | str) -> Row:
    """A stored row extended by its counts and sort keys."""
    return table.row(*astuple(row), *numbers)
