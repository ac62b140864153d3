"""What is counted for rows: how many stand under their keys in the indexes of other tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from itertools import compress
from operator import add, attrgetter
from typing import Any

from backends.memory.arranging import Arrangement
from backends.memory.tables import MemoryTable
from ugs.catalog import Count, Row, Table
from ugs.reads.counting import with_counts
from ugs.reads.plan import Order, Page

Tables = Mapping[str, MemoryTable]


def counted_page(tables: Tables, table: Table, rows: Sequence[Row], arrangement: Arrangement, page: Page) -> list[Row]:
    """The page of these rows as they are seen with their counts; only those that may stand on it are made."""
    numbers = {count.name: _numbers(tables, table, count, rows) for count in table.counted}
    seen: Iterable[tuple[Any, ...]] = zip(rows, *numbers.values(), strict=True)
    leading = numbers.get(arrangement.order[0].field)
    if leading is not None and page.limit is not None and not page.per:
        seen = compress(seen, map(_near(leading, arrangement.order[0], page, page.limit), leading))
    return arrangement.page([with_counts(table, *one) for one in seen], page)


def _numbers(tables: Tables, table: Table, count: Count, rows: Sequence[Row]) -> list[int]:
    """How many there are for each row."""
    columns = []
    for name in count.relations:
        relation, other = table.relations[name], tables[count.of.name]
        columns.append(_sizes(other, relation.remote, map(attrgetter(relation.local), rows)))
    return reduce(lambda one, more: list(map(add, one, more)), columns)


def _sizes(other: MemoryTable, remote: str, ties: Iterable[Any]) -> list[int]:
    """How many rows of a table each value leads to."""
    if other.table.key == (remote,):
        return [tie in other.rows for tie in ties]
    return other.column(remote).sizes(ties)


def _near(numbers: Sequence[int], lead: Order, page: Page, limit: int) -> Callable[[int], bool]:
    """Whether rows with a number may stand on the page: from where it begins up to what fills it."""
    start = None if page.after is None else page.after[0]
    downwards = lead.descending is not page.backward
    sizes, wanted, room = Counter(numbers), {start}, limit
    for number in sorted(sizes, reverse=downwards):
        if room > 0 and (start is None or (number < start if downwards else number > start)):
            wanted.add(number)
            room -= sizes[number]
    return wanted.__contains__
