"""Storing many rows at once, which is what opening a store consists of.

Memory is slow and rows are many, so everything goes column by column, in calls that stay out of the interpreter: each
value is looked for once, and rows come into being with the texts and numbers that they share with others. What one
call stores is what storing row by row would store (`storing.compile_put`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from operator import attrgetter, eq, is_
from typing import TYPE_CHECKING, Any

from backends.memory.storing import MOST_NUMBERS, MOST_TEXTS, SHORT_TEXT, references
from ugs.catalog import Catalog, Columns, Kind, Row, Table

if TYPE_CHECKING:
    from backends.memory.tables import MemoryTable

Sharing = Callable[[list[Any]], list[Any]]


class BulkPut:
    """Stores many rows of one table; they come under the values of columns when the table settles."""

    def __init__(self, here: MemoryTable, catalog: Catalog) -> None:
        self.here, self.make = here, here.table.row
        names = here.table.names
        self.keys = [names.index(name) for name in here.table.key]
        self.integers = [number for number, field in enumerate(here.table.fields) if field.kind is Kind.INTEGER]
        self.sharing = dict(_sharing(here))
        for name, (target, key) in references(here.table, catalog).items():
            self.sharing[names.index(name)] = partial(_named, here.tables[target], attrgetter(key))
            here.tables[target].is_named = True

    def __call__(self, columns: Columns) -> list[Row]:
        """Store the rows with these values; answers with them."""
        here, keys = self.here, self._keys(columns)
        if here.kept or here.journals or here.unique:
            return self._one_by_one(columns)
        self._share(columns)
        rows = list(map(self.make, *columns))
        # A look for each key, which also tells whether somebody has it.
        held = list(map(here.rows.setdefault, keys, rows))
        if not all(map(is_, held, rows)):
            return self._again([key for key, row, there in zip(keys, rows, held, strict=True) if there is row], columns)
        if here.always:
            here.waiting += rows
        if here.is_named:
            here.named.update(zip(keys, keys, strict=True))
        return rows

    def _keys(self, columns: Columns) -> list[Any]:
        key_columns = [columns[number] for number in self.keys]
        return key_columns[0] if len(key_columns) == 1 else list(zip(*key_columns, strict=True))

    def _again(self, stored: list[Any], columns: Columns) -> list[Row]:
        """Some of the rows are others' successors: those that were stored go again, and one follows the other."""
        for key in stored:
            del self.here.rows[key]
        return self._one_by_one(columns)

    def _one_by_one(self, columns: Columns) -> list[Row]:
        self.here.settle()
        rows, put = list(map(self.make, *columns)), self.here.put
        for row in rows:
            put(row)
        return rows

    def _share(self, columns: Columns) -> None:
        """Let equal values be one object."""
        for number, shared in self.sharing.items():
            columns[number] = shared(columns[number])
        if self.integers:
            first, *others = self.integers
            moments: dict[int, int] = {}
            columns[first] = list(map(moments.setdefault, columns[first], columns[first]))
            for number in others:
                columns[number] = _same_where_equal(columns[first], columns[number])


def _named(target: MemoryTable, key_of: Callable[[Any], Any], column: list[Any]) -> list[Any]:
    """The texts of the rows that values refer to."""
    if len(target.named) == len(target.rows) and None not in (found := list(map(target.named.get, column))):
        return found
    find = target.rows.get
    try:
        return list(map(key_of, map(find, column)))
    except AttributeError:  # some of them refer to nothing
        known: dict[Any, Any] = {}
        return [known.setdefault(at, at) if (row := find(at)) is None else key_of(row) for at in column]


def _same_where_equal(first: list[int], other: list[int]) -> list[int]:
    if first == other:
        return first
    return [a if a == b else b for a, b in zip(first, other, strict=True)] if any(map(eq, first, other)) else other


def _sharing(here: MemoryTable) -> Iterable[tuple[int, Sharing]]:
    """How columns whose values are often those of other rows find these."""
    table: Table = here.table
    for number, field in enumerate(table.fields):
        if field.kind is Kind.JSON:
            yield number, partial(_shared_texts, here.texts)
        elif field.kind is Kind.REAL:
            yield number, partial(_shared_reals, here.reals)


def _shared_texts(seen: dict[str, str], column: list[Any]) -> list[Any]:
    known = seen.setdefault if len(seen) < MOST_TEXTS else seen.get
    if None not in column and max(map(len, column), default=0) <= SHORT_TEXT:
        return list(map(known, column, column))
    return [text if text is None or len(text) > SHORT_TEXT else known(text, text) for text in column]


def _shared_reals(seen: dict[float, float], column: list[Any]) -> list[Any]:
    """Zero has two signs, and whole numbers may be of either type: these are equal, and not the same."""
    known = seen.setdefault if len(seen) < MOST_NUMBERS else seen.get
    if set(map(type, column)) == {float} and 0.0 not in column:
        return list(map(known, column, column))
    return [known(number, number) if type(number) is float and number % 1 else number for number in column]
