"""Count columns: the number of related rows, taken from the sizes of index postings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from itertools import compress
from operator import add, attrgetter
from typing import Any

from ugs.reads.count_columns import with_counts
from ugs.reads.plan import Order, Page
from ugs.reads.sort_keys import SortKey
from ugs.tables import Count, Row, Table
from ugs_backends.memory.query.row_order import RowOrder
from ugs_backends.memory.tables.table import MemoryTable

Tables = Mapping[str, MemoryTable]


def page_by_counts(tables: Tables, table: Table, rows: Sequence[Row], arrangement: RowOrder, page: Page) -> list[Row]:
    """The page of these rows with their counts; only rows that can be on the page are materialised."""
    numbers = {count.name: _compute(tables, table, count, rows) for count in table.counted}
    seen: Iterable[tuple[Any, ...]] = zip(rows, *numbers.values(), strict=True)
    leading = numbers.get(arrangement.order[0].field)
    if leading is not None and page.limit is not None and not page.per:
        near, last, room = _compile_count_test(leading, arrangement.order[0], page, page.limit)
        seen = compress(seen, map(near, leading))
        if last is not None and not any(part.field in numbers for part in arrangement.order[1:]):
            # Of the rows that share the last count, usually very many, only the first ones fit on the page.
            tied = arrangement.rest.first(list(compress(rows, map(last.__eq__, leading))), room, page.backward)
            place, kept = list(numbers).index(arrangement.order[0].field) + 1, set(map(table.key_of, tied))
            seen = (one for one in seen if one[place] != last or table.key_of(one[0]) in kept)
    return arrangement.page([with_counts(table, *one) for one in seen], page)


def with_sort_keys(table: Table, rows: Sequence[Row]) -> list[Row]:
    """Rows with their sort keys, for a table that counts nothing."""
    keys = [column for column in table.counted if isinstance(column, SortKey)]
    return [with_counts(table, row, *(key.of(getattr(row, key.field)) for key in keys)) for row in rows]


def _compute(tables: Tables, table: Table, column: Count | SortKey, rows: Sequence[Row]) -> list[Any]:
    """The sort key or the count of each row."""
    if isinstance(column, SortKey):
        return list(map(column.of, map(attrgetter(column.field), rows)))
    return _sum_counts(tables, table, column, rows)


def _sum_counts(tables: Tables, table: Table, count: Count, rows: Sequence[Row]) -> list[int]:
    """The count for each row, summed over the relations."""
    columns = []
    for name in count.relations:
        relation, other = table.relations[name], tables[count.of.name]
        columns.append(_count_related(other, relation.remote, map(attrgetter(relation.local), rows)))
    return reduce(lambda one, more: list(map(add, one, more)), columns)


def _count_related(other: MemoryTable, remote: str, ties: Iterable[Any]) -> list[int]:
    """The number of related rows for each value."""
    if other.table.key == (remote,):
        return [tie in other.rows for tie in ties]
    return other.column(remote).sizes(ties)


def _compile_count_test(
    numbers: Sequence[Any], lead: Order, page: Page, limit: int
) -> tuple[Callable[[Any], bool], Any, int]:
    """A test for the counts that can be on the page: from its cursor up to the count that fills it; that last count,
    if more rows have it than fit, and how many do."""
    start = None if page.after is None else page.after[0]
    downwards = lead.descending is not page.backward
    sizes, wanted, room = Counter(numbers), {start}, limit
    for number in sorted(sizes, reverse=downwards):
        if room > 0 and (start is None or (number < start if downwards else number > start)):
            wanted.add(number)
            if sizes[number] > room:
                return wanted.__contains__, number, room
            room -= sizes[number]
    return wanted.__contains__, None, 0
