"""Sorted indexes, which give the first rows of many without sorting all.

Built on first use, updated by binary search. An entry is the key, or the pair of a column's value and the key; one list
serves both directions.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter, itemgetter
from typing import Any

from ugs.reads.plan import Order, sort_key
from ugs.reads.sort_keys import SortKey, parse_sort_key
from ugs.tables import Row, Table

_first = itemgetter(0)


class KeyOrder:
    """The keys of some rows, ascending."""

    def __init__(self, place_of: Callable[[Row], Any], rows: Iterable[Row]) -> None:
        self.place_of = place_of
        self.places = sorted(map(place_of, rows))

    def add(self, row: Row) -> None:
        insort(self.places, self.place_of(row))

    def remove(self, row: Row) -> None:
        place = self.place_of(row)
        at = bisect_left(self.places, place)
        assert self.places[at] == place
        del self.places[at]

    def replace(self, old: Row, new: Row) -> None:
        if self.place_of(old) != self.place_of(new):
            self.remove(old)
            self.add(new)

    def keys(self, after: Any, descending: bool, backward: bool) -> Iterator[Any]:
        """Keys strictly beyond an entry (None: from the end of the list), nearest first."""
        return self.entries(after, descending, backward)

    def entries(self, after: Any, descending: bool, backward: bool) -> Iterator[Any]:
        """As `keys`, the entries themselves."""
        places = self.places
        if descending != backward:
            end = len(places) if after is None else bisect_left(places, after)
            return map(places.__getitem__, range(end - 1, -1, -1))
        start = 0 if after is None else bisect_right(places, after)
        return map(places.__getitem__, range(start, len(places)))


class FieldOrder(KeyOrder):
    """Rows by a column's value or a sort key, and then by key, both ascending; also read with the first descending."""

    def __init__(self, table: Table, field: str, rows: Iterable[Row]) -> None:
        self.value_of = value_of = make_value_getter(field)
        key_of = table.key_of
        super().__init__(lambda row: (sort_key(value_of(row)), key_of(row)), rows)

    def keys(self, after: Any, descending: bool, backward: bool) -> Iterator[Any]:
        return (found[1] for found in self.entries(after, descending, backward))

    def entries(self, after: Any, descending: bool, backward: bool) -> Iterator[Any]:
        place = None if after is None else (sort_key(after[0]), after[1])
        if not descending:
            return super().entries(place, False, backward)
        walk = self._iterate_ascending if backward else self._iterate_descending
        return walk(place)

    def _iterate_descending(self, after: Any) -> Iterator[Any]:
        """Values descending, keys ascending within each value."""
        places = self.places
        low = len(places)
        if after is not None:
            low, high = self._group(after[0])
            yield from map(places.__getitem__, range(bisect_right(places, after), high))
        while low > 0:
            high = low
            low = bisect_left(places, places[high - 1][0], 0, high, key=_first)
            yield from map(places.__getitem__, range(low, high))

    def _iterate_ascending(self, after: Any) -> Iterator[Any]:
        """Values ascending, keys descending within each value."""
        places = self.places
        high = 0
        if after is not None:
            low, high = self._group(after[0])
            yield from map(places.__getitem__, range(bisect_left(places, after) - 1, low - 1, -1))
        while high < len(places):
            low = high
            high = bisect_right(places, places[low][0], low, key=_first)
            yield from map(places.__getitem__, range(high - 1, low - 1, -1))

    def _group(self, value: Any) -> tuple[int, int]:
        places = self.places
        return bisect_left(places, value, key=_first), bisect_right(places, value, key=_first)


def make_value_getter(field: str) -> Callable[[Row], Any]:
    """A function that gives a row's value in a column, or its sort key."""
    key = parse_sort_key(field)
    if key is None:
        return attrgetter(field)
    text_of, sort_text_of = attrgetter(key.field), key.of
    return lambda row: sort_text_of(text_of(row))


class PartOrder(KeyOrder):
    """The keys of the rows with one value in a column, ascending."""

    def __init__(self, table: Table, column: str, value: Any, rows: Iterable[Row]) -> None:
        self.value_of, self.value = attrgetter(column), value
        super().__init__(table.key_of, filter(self.has, rows))

    def has(self, row: Row) -> bool:
        return bool(self.value_of(row) == self.value)

    def add(self, row: Row) -> None:
        if self.has(row):
            super().add(row)

    def remove(self, row: Row) -> None:
        if self.has(row):
            super().remove(row)

    def replace(self, old: Row, new: Row) -> None:
        if self.has(old) != self.has(new):
            self.remove(old)
            self.add(new)


def find_sorted_index(table: Table, order: Sequence[Order]) -> tuple[str | None, bool] | None:
    """The sorted index that serves an order, if any: its leading column (None: the key) and whether descending."""
    if len(table.key) != 1 or not all(isinstance(one, SortKey) for one in table.counted):
        return None
    if len(order) == 1:
        return None, order[0].descending
    if len(order) == 2 and order[1].field == table.key[0] and not order[1].descending:
        return order[0].field, order[0].descending
    return None
