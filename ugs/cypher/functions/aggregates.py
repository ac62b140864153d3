"""Aggregation: functions that see many rows. Each makes a fresh collector per group, fed value by value."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ugs.cypher.errors import CypherArgumentError
from ugs.cypher.functions.registry import wrong
from ugs.cypher.temporal import Duration
from ugs.cypher.values.arithmetic import MAX_LIST, add, is_number
from ugs.cypher.values.comparing import sort_key
from ugs.errors import LimitExceeded


class Collector:
    """Takes the values of one group; nulls never reach it."""

    def take(self, value: Any) -> None:
        raise NotImplementedError

    def take_times(self, value: Any, times: int) -> None:
        """The same value several times over."""
        for _ in range(times):
            self.take(value)

    def result(self) -> Any:
        raise NotImplementedError


class Count(Collector):
    def __init__(self) -> None:
        self.count = 0

    def take(self, value: Any) -> None:
        self.count += 1

    def take_times(self, value: Any, times: int) -> None:
        self.count += times

    def result(self) -> int:
        return self.count


class Collect(Collector):
    def __init__(self) -> None:
        self.values: list[Any] = []

    def take(self, value: Any) -> None:
        if len(self.values) >= MAX_LIST:
            raise LimitExceeded(f"collect() gathered more than {MAX_LIST} values", limit=MAX_LIST)
        self.values.append(value)

    def result(self) -> Any:
        return self.values


class Sum(Collector):
    def __init__(self) -> None:
        self.total: Any = 0

    def take(self, value: Any) -> None:
        if isinstance(value, Duration):
            self.total = value if self.total == 0 else self.total + value
        elif is_number(value) and not isinstance(self.total, Duration):
            self.total = add(self.total, value)
        else:
            raise wrong("sum", value)

    def result(self) -> Any:
        return self.total


class Average(Sum):
    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def take(self, value: Any) -> None:
        if not isinstance(value, Duration) and not is_number(value):
            raise wrong("avg", value)
        self.count += 1
        super().take(float(value) if is_number(value) else value)

    def result(self) -> Any:
        if not self.count:
            return None
        from fractions import Fraction

        if isinstance(self.total, Duration):
            return self.total.times(Fraction(1, self.count))
        return self.total / self.count


class Extreme(Collector):
    """min or max, by the order of all values."""

    def __init__(self, largest: bool) -> None:
        self.largest = largest
        self.best: Any = None
        self.key: Any = None

    def take(self, value: Any) -> None:
        key = sort_key(value)
        if self.key is None or ((key > self.key) == self.largest and key != self.key):
            self.best, self.key = value, key

    def result(self) -> Any:
        return self.best


class Deviation(Collect):
    def __init__(self, population: bool) -> None:
        super().__init__()
        self.population = population

    def take(self, value: Any) -> None:
        if not is_number(value):
            raise wrong("stDev", value)
        super().take(float(value))

    def result(self) -> float:
        count = len(self.values)
        below = count if self.population else count - 1
        if count < 2 and not (self.population and count):
            return 0.0
        mean = math.fsum(self.values) / count
        return math.sqrt(math.fsum((value - mean) ** 2 for value in self.values) / below)


class Percentile(Collect):
    """The value below which a part of the values lie; the part comes with the first value."""

    def __init__(self, continuous: bool) -> None:
        super().__init__()
        self.continuous = continuous
        self.part: float | None = None

    def take(self, value: Any) -> None:
        number, part = value
        if not is_number(part) or not 0 <= part <= 1:
            raise CypherArgumentError("NumberOutOfRange", f"A percentile lies between 0 and 1, not {part}")
        self.part = part
        if number is not None:
            if not is_number(number):
                raise wrong("percentile", number)
            super().take(number)

    def result(self) -> Any:
        if not self.values or self.part is None:
            return None
        values, place = sorted(self.values), self.part * (len(self.values) - 1)
        if not self.continuous:
            return values[max(math.ceil(self.part * len(values)) - 1, 0)]
        low, high = math.floor(place), math.ceil(place)
        if low == high:
            return float(values[low])
        return values[low] * (high - place) + values[high] * (place - low)


AGGREGATES: dict[str, Callable[[], Collector]] = {
    "count": Count,
    "collect": Collect,
    "sum": Sum,
    "avg": Average,
    "min": lambda: Extreme(False),
    "max": lambda: Extreme(True),
    "stdev": lambda: Deviation(False),
    "stdevp": lambda: Deviation(True),
    "percentilecont": lambda: Percentile(True),
    "percentiledisc": lambda: Percentile(False),
}
TWO_ARGUMENTS = frozenset({"percentilecont", "percentiledisc"})
RESULTS = {"count": "integer", "collect": "list", "avg": "any", "stdev": "float", "stdevp": "float"}
