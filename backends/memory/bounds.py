"""The least and the greatest number of a column: enough to see that no row can be below or above a value.

Whether any weight is negative is asked before each search for a path, and nearly always none is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf
from operator import attrgetter

from ugs.catalog import Row
from ugs.reads.where import Op


class Least:
    """The least of some numbers, and how many are equal to it."""

    def __init__(self, values: Sequence[float] = ()) -> None:
        self.value = min(values, default=inf)
        self.count = values.count(self.value)

    def add(self, value: float) -> None:
        if value < self.value:
            self.value, self.count = value, 1
        elif value == self.value:
            self.count += 1

    def remove(self, value: float) -> bool:
        """Whether the last of the least is gone, and which is the least now is not known."""
        self.count -= value == self.value
        return self.count == 0


class Bounds:
    """Between what the numbers of a column lie."""

    def __init__(self, field: str) -> None:
        self.value_of = attrgetter(field)
        self.least, self.negated = Least(), Least()
        self.lost = False
        """A bound went with its last row; only looking at all rows can tell the new one."""

    def fill(self, rows: Iterable[Row]) -> None:
        values = [value for value in map(self.value_of, rows) if value is not None]
        self.least, self.negated = Least(values), Least([-value for value in values])

    def add(self, row: Row) -> None:
        value = self.value_of(row)
        if value is not None:
            self.least.add(value)
            self.negated.add(-value)

    def remove(self, row: Row) -> None:
        value = self.value_of(row)
        if value is not None:
            self.lost |= self.least.remove(value) | self.negated.remove(-value)

    def replace(self, old: Row, new: Row) -> None:
        self.add(new)
        self.remove(old)

    def exclude(self, op: Op, value: float) -> bool:
        """Whether no number compares so with this one."""
        if op in (Op.LT, Op.LE):
            return value < self.least.value or (op is Op.LT and value == self.least.value)
        return -value < self.negated.value or (op is Op.GT and -value == self.negated.value)
