"""What is counted for rows: how many stand under their keys in the indexes of other tables."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from operator import attrgetter
from typing import Any

from backends.memory.choosing import related_rows
from backends.memory.tables import MemoryTable
from ugs.catalog import Count, Row, Table
from ugs.reads.counting import with_counts

Tables = Mapping[str, MemoryTable]


def counted(tables: Tables, table: Table, rows: Iterable[Row]) -> list[Row]:
    """The rows as they are seen with their counts."""
    numbers = [_number(tables, table, count) for count in table.counted]
    return [with_counts(table, row, *[number(row) for number in numbers]) for row in rows]


def _number(tables: Tables, table: Table, count: Count) -> Callable[[Row], int]:
    relations = [table.relations[name] for name in count.relations]
    ends = [(attrgetter(one.local), related_rows(tables[count.of.name], one.remote)) for one in relations]
    return lambda row: sum([_size(rows, tie(row)) for tie, rows in ends])


def _size(rows: Callable[[Any], Collection[Row]], tie: Any) -> int:
    return 0 if tie is None else len(rows(tie))
