"""Aggregates: counts, sums, averages, minima and maxima of the rows that meet a condition, whole or in groups.

A value is a column or a key of a JSON object column. Booleans, numbers and texts count as values; everything else
(nothing, null, lists and objects) is missing, as in `ugs.reads.sort_keys`, and so all of it is one group. Values are
ordered as sort keys are: booleans, then numbers, then texts by code point.

Sums are exact: each number counts as the decimal that its JSON text is, and only the result is rounded to a float. So
every store gives the same, whatever order it adds in. `Aggregator` is the reference implementation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, Inexact
from fractions import Fraction
from typing import Any

from msgspec import Struct

from ugs.support.time_slice import TimeSlice
from ugs.values import MAX_INT, MIN_INT, from_text

EXACT = Context(prec=5_000, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[Inexact])
"""Adds floats and 64-bit integers without rounding: these have at most 309 digits before the point and 1,074 behind."""
ROWS_PER_PAUSE = 256


class Value(Struct, frozen=True):
    """What is aggregated or grouped by: a column, or a key of a JSON object column."""

    field: str
    key: str | None = None


class Aggregation(Struct, frozen=True):
    """What to compute of the rows that meet a condition."""

    by: tuple[Value, ...] = ()
    """The values that rows of one group have in common; without any there is one group, also of no rows."""
    sums: tuple[Value, ...] = ()
    ranges: tuple[Value, ...] = ()
    """The values whose minimum and maximum are wanted."""
    limit: int | None = None
    """With `by`, at most this many groups: those with the most rows, and of these the ones with the smallest keys."""
    per_first: bool = False
    """The limit applies to each value of the first key separately."""


class Sum(Struct, frozen=True):
    """The sum of the numbers among some values; null without any, or beyond the range of floats."""

    count: int
    sum: float | None
    average: float | None


class Group(Struct, frozen=True):
    """Some rows in short."""

    keys: tuple[Any, ...]
    count: int
    sums: dict[Value, Sum] = {}
    ranges: dict[Value, tuple[Any, Any]] = {}


def build_sum(count: int, total: Decimal | int) -> Sum:
    """The rounded result of an exact sum of so many numbers."""
    if not count:
        return Sum(0, None, None)
    return Sum(count, _to_float(Fraction(total)), _to_float(Fraction(total) / count))


def _to_float(value: Fraction) -> float | None:
    try:
        return float(value)
    except OverflowError:
        return None


def build_empty_group(aggregation: Aggregation) -> Group:
    """The aggregates of no rows."""
    sums = {value: build_sum(0, 0) for value in aggregation.sums}
    return Group((), 0, sums, {value: (None, None) for value in aggregation.ranges})


def normalize_value(value: Any) -> Any:
    """The value with equal numbers in one form; None for what does not count as a value."""
    if isinstance(value, bool | str):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() and MIN_INT <= value <= MAX_INT else value
    return value if isinstance(value, int) else None


def rank_value(value: Any) -> tuple[int, Any]:
    """The place of a normalised value in the order of values; missing ones come first."""
    if value is None:
        return (0, 0)
    if isinstance(value, bool):
        return (1, value)
    return (3, value) if isinstance(value, str) else (2, value)


def sort_groups(groups: Iterable[Group], aggregation: Aggregation) -> list[Group]:
    """The groups in their order, cut to the limit."""
    found = sorted(groups, key=lambda group: (-group.count, tuple(map(rank_value, group.keys))))
    limit = aggregation.limit
    if limit is None or not aggregation.by:
        return found
    if not aggregation.per_first:
        return found[:limit]
    kept: dict[Any, int] = {}
    cut = []
    for group in found:
        number = kept[group.keys[0]] = kept.get(group.keys[0], 0) + 1
        if number <= limit:
            cut.append(group)
    return cut


class _Total:
    """The aggregates of one group so far."""

    __slots__ = ("count", "counts", "floats", "integers", "ranges")

    def __init__(self, sums: int, ranges: int) -> None:
        self.count = 0
        self.counts, self.integers, self.floats = [0] * sums, [0] * sums, [Decimal(0)] * sums
        self.ranges: list[tuple[Any, Any, Any, Any] | None] = [None] * ranges

    def add_number(self, at: int, value: int | float, times: int) -> None:
        self.counts[at] += times
        if isinstance(value, int):
            self.integers[at] += value * times
        else:
            self.floats[at] = EXACT.add(self.floats[at], EXACT.multiply(Decimal(repr(value)), Decimal(times)))

    def widen(self, at: int, value: Any) -> None:
        rank, known = rank_value(value), self.ranges[at]
        if known is None:
            self.ranges[at] = (rank, value, rank, value)
        elif rank < known[0]:
            self.ranges[at] = (rank, value, known[2], known[3])
        elif rank > known[2]:
            self.ranges[at] = (known[0], known[1], rank, value)


class Aggregator:
    """Adds up rows, or combinations of values with how often they occur."""

    def __init__(self, aggregation: Aggregation) -> None:
        self.aggregation = aggregation
        self.values: list[Value] = list(dict.fromkeys((*aggregation.by, *aggregation.sums, *aggregation.ranges)))
        """The values that are needed of each row, in the order in which `add` takes them."""
        at = {value: number for number, value in enumerate(self.values)}
        self._by = [at[value] for value in aggregation.by]
        self._sums = [at[value] for value in aggregation.sums]
        self._ranges = [at[value] for value in aggregation.ranges]
        self._totals: dict[tuple[Any, ...], _Total] = {}

    def add(self, values: Sequence[Any], times: int = 1) -> None:
        """Add so many rows with these values."""
        known = [normalize_value(value) for value in values]
        # True and 1 are the same dictionary key in Python, and different values here.
        key = tuple(rank_value(known[at]) for at in self._by)
        total = self._totals.get(key)
        if total is None:
            total = self._totals[key] = _Total(len(self._sums), len(self._ranges))
        total.count += times
        for number, at in enumerate(self._sums):
            value = known[at]
            if isinstance(value, int | float) and not isinstance(value, bool):
                total.add_number(number, value, times)
        for number, at in enumerate(self._ranges):
            if known[at] is not None:
                total.widen(number, known[at])

    async def add_rows(self, rows: Iterable[Any]) -> None:
        """Add rows, with pauses for other requests."""
        read, turn = build_value_reader(self.values), TimeSlice()
        for number, row in enumerate(rows):
            if not number % ROWS_PER_PAUSE:
                await turn.pause()
            self.add(read(row))

    def groups(self) -> list[Group]:
        """The result."""
        if not self._totals and not self.aggregation.by:
            return [build_empty_group(self.aggregation)]
        return sort_groups((self._finish(key, total) for key, total in self._totals.items()), self.aggregation)

    def _finish(self, key: tuple[Any, ...], total: _Total) -> Group:
        sums = {
            value: build_sum(total.counts[at], EXACT.add(total.floats[at], Decimal(total.integers[at])))
            for at, value in enumerate(self.aggregation.sums)
        }
        ranges = {
            value: (None, None) if (found := total.ranges[at]) is None else (found[1], found[3])
            for at, value in enumerate(self.aggregation.ranges)
        }
        return Group(tuple(None if kind == 0 else value for kind, value in key), total.count, sums, ranges)


def build_value_reader(values: Sequence[Value]) -> Callable[[Any], list[Any]]:
    """A function that gives these values of a row; each JSON column is decoded once."""
    columns = {value.field for value in values if value.key is not None}

    def read(row: Any) -> list[Any]:
        objects = {name: from_text(getattr(row, name) or "{}") for name in columns}
        return [
            getattr(row, value.field) if value.key is None else _get_key(objects[value.field], value.key)
            for value in values
        ]

    return read


def _get_key(found: Any, key: str) -> Any:
    return found.get(key) if isinstance(found, dict) else None
