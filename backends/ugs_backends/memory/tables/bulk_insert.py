"""Bulk insert, on which the time to open a store depends.

Works column by column in calls that run in C: each value is looked up once, and rows are created with the texts and
numbers that they share with others. The result is that of inserting row by row (`insert_codegen.compile_put`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from operator import attrgetter, eq, is_
from typing import TYPE_CHECKING, Any

from ugs.catalog import Catalog, Columns
from ugs.tables import Kind, Row, Table
from ugs_backends.memory.tables.insert_codegen import MAX_NUMBERS, MAX_TEXTS, SHORT_TEXT, list_references

if TYPE_CHECKING:
    from ugs_backends.memory.tables.table import MemoryTable

Sharing = Callable[[list[Any]], list[Any]]


class BulkPut:
    """Inserts many rows into one table; they enter the column indexes when the table is settled."""

    def __init__(self, here: MemoryTable, catalog: Catalog) -> None:
        self.here, self.make = here, here.table.row
        names = here.table.names
        self.keys = [names.index(name) for name in here.table.key]
        self.integers = [number for number, field in enumerate(here.table.fields) if field.kind is Kind.INTEGER]
        self.sharing = dict(_list_interned_columns(here))
        for name, (target, key) in list_references(here.table, catalog).items():
            self.sharing[names.index(name)] = partial(_replace_references, here.tables[target], attrgetter(key))
            here.tables[target].is_named = True

    def __call__(self, columns: Columns) -> list[Row]:
        """Insert the rows with these column values and return them."""
        here, keys = self.here, self._keys(columns)
        if here.kept or here.journals or here.unique:
            return self._insert_each(columns)
        self._share(columns)
        rows = list(map(self.make, *columns))
        # One look-up per key, which inserts the row and finds existing or repeated keys.
        held = list(map(here.rows.setdefault, keys, rows))
        if not all(map(is_, held, rows)):
            return self._undo_and_insert(
                [key for key, row, there in zip(keys, rows, held, strict=True) if there is row], columns
            )
        if here.always:
            here.waiting += rows
        if here.is_named:
            here.named.update(zip(keys, keys, strict=True))
        return rows

    def _keys(self, columns: Columns) -> list[Any]:
        key_columns = [columns[number] for number in self.keys]
        return key_columns[0] if len(key_columns) == 1 else list(zip(*key_columns, strict=True))

    def _undo_and_insert(self, stored: list[Any], columns: Columns) -> list[Row]:
        """Some keys exist or repeat: undo the inserts made so far and insert row by row."""
        for key in stored:
            del self.here.rows[key]
        return self._insert_each(columns)

    def _insert_each(self, columns: Columns) -> list[Row]:
        self.here.settle()
        rows, put = list(map(self.make, *columns)), self.here.put
        for row in rows:
            put(row)
        return rows

    def _share(self, columns: Columns) -> None:
        """Intern equal values of the columns."""
        for number, shared in self.sharing.items():
            columns[number] = shared(columns[number])
        if self.integers:
            first, *others = self.integers
            moments: dict[int, int] = {}
            columns[first] = list(map(moments.setdefault, columns[first], columns[first]))
            for number in others:
                columns[number] = _replace_equal(columns[first], columns[number])


def _replace_references(target: MemoryTable, key_of: Callable[[Any], Any], column: list[Any]) -> list[Any]:
    """Replace references by the key objects of the rows they refer to."""
    if len(target.named) == len(target.rows) and None not in (found := list(map(target.named.get, column))):
        return found
    find = target.rows.get
    try:
        return list(map(key_of, map(find, column)))
    except AttributeError:  # some of them refer to nothing
        known: dict[Any, Any] = {}
        return [known.setdefault(at, at) if (row := find(at)) is None else key_of(row) for at in column]


def _replace_equal(first: list[int], other: list[int]) -> list[int]:
    if first == other:
        return first
    return [a if a == b else b for a, b in zip(first, other, strict=True)] if any(map(eq, first, other)) else other


def _list_interned_columns(here: MemoryTable) -> Iterable[tuple[int, Sharing]]:
    """The columns whose values are interned, by number, with the function that does it."""
    table: Table = here.table
    for number, field in enumerate(table.fields):
        if field.kind is Kind.JSON:
            yield number, partial(_intern_texts, here.texts)
        elif field.kind is Kind.REAL:
            yield number, partial(_intern_reals, here.reals)


def _intern_texts(seen: dict[str, str], column: list[Any]) -> list[Any]:
    known = seen.setdefault if len(seen) < MAX_TEXTS else seen.get
    if None not in column and max(map(len, column), default=0) <= SHORT_TEXT:
        return list(map(known, column, column))
    return [text if text is None or len(text) > SHORT_TEXT else known(text, text) for text in column]


def _intern_reals(seen: dict[float, float], column: list[Any]) -> list[Any]:
    """Intern floats, except where equal values differ: 0.0 and -0.0, and whole numbers of mixed type."""
    known = seen.setdefault if len(seen) < MAX_NUMBERS else seen.get
    if set(map(type, column)) == {float} and 0.0 not in column:
        return list(map(known, column, column))
    return [known(number, number) if type(number) is float and number % 1 else number for number in column]
