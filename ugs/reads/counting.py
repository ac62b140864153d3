"""Reads of tables seen with counts (`Table.counting`), for stores that only know the rows they keep.

The counts of all rows in question are asked for together, one question per relation, and order and page are made here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import astuple

from ugs.catalog import Count, Row, Table
from ugs.reads.plan import Order, Page, paged
from ugs.reads.where import EVERYTHING, Everything, Where, in_

if TYPE_CHECKING:
    from ugs.reads.levels import Fetcher


async def fetch_counting(session: Fetcher, table: Table, where: Where, order: Sequence[Order], page: Page) -> list[Row]:
    """As `fetch`, also of a table that is seen with counts."""
    if not table.counted:
        return await session.fetch(table, where, order, page)
    rows = await session.fetch(table.stored, where)
    whole = isinstance(where, Everything)
    numbers = [await _numbers(session, count, table, rows, whole) for count in table.counted]
    return paged([with_counts(table, *row) for row in zip(rows, *numbers, strict=True)], table, tuple(order), page)


async def _numbers(session: Fetcher, count: Count, table: Table, rows: Sequence[Row], whole: bool) -> list[int]:
    """How many there are for each row."""
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


def with_counts(table: Table, row: Row, *numbers: int) -> Row:
    """A stored row as it is seen with its counts."""
    return table.row(*astuple(row), *numbers)
