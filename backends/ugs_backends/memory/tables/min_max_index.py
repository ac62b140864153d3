"""Minimum and maximum of a numeric column, which show that a range condition matches no row.

Shortest-path searches first check for negative weights, and usually there are none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf
from operator import attrgetter

from ugs.reads.filters import Op
from ugs.tables import Row


class MinimumTracker:
    """The minimum of some numbers, and how many are equal to it."""

    def __init__(self, values: Sequence[float] = ()) -> None:
        self.value = min(values, default=inf)
        self.count = values.count(self.value)

    def add(self, value: float) -> None:
        if value < self.value:
            self.value, self.count = value, 1
        elif value == self.value:
            self.count += 1

    def remove(self, value: float) -> bool:
        """Remove a number; True if it was the last one equal to the minimum, so that the new minimum is unknown."""
        self.count -= value == self.value
        return self.count == 0


class MinMaxIndex:
    """The minimum and maximum of a column; the maximum is kept as the minimum of the negated values."""

    def __init__(self, field: str) -> None:
        self.value_of = attrgetter(field)
        self.least, self.negated = MinimumTracker(), MinimumTracker()
        self.lost = False
        """The last row at a bound was removed: the bounds must be rebuilt from all rows."""

    def fill(self, rows: Iterable[Row]) -> None:
        values = [value for value in map(self.value_of, rows) if value is not None]
        self.least, self.negated = MinimumTracker(values), MinimumTracker([-value for value in values])

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
        # In this order, so that replacing the only row at a bound by an equal one does not lose the bound.
        self.add(new)
        self.remove(old)

    def exclude(self, op: Op, value: float) -> bool:
        """Whether no number of the column satisfies `op` against the value."""
        if op in (Op.LT, Op.LE):
            return value < self.least.value or (op is Op.LT and value == self.least.value)
        return -value < self.negated.value or (op is Op.GT and -value == self.negated.value)
