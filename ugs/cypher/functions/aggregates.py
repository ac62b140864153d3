"""Aggregation: functions that see many rows. Each makes a fresh collector per group, fed value by value."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ugs.cypher.errors import CypherArgumentError
from ugs.cypher.functions.registry import wrong_type
from ugs.cypher.temporal import Duration
from ugs.cypher.values.arithmetic import MAX_LIST, check_int64, is_number
from ugs.cypher.values.comparison import sort_key
from ugs.errors import LimitExceeded

MAX_KEPT_FLOATS = 10_000
"""Number of floats kept before they are reduced to a few with the same sum."""
EXACT_INTEGERS = 2**53
"""Integers up to here are floats, too."""


class Collector:
    """Takes the values of one group; nulls never reach it."""

    gathers = False
    """Whether all values are kept until the end."""
    takes_at_once = False
    """Whether the same value several times over costs no more than once."""

    def take(self, value: Any) -> None:
        raise NotImplementedError

    def take_times(self, value: Any, times: int) -> None:
        """The same value several times over."""
        for _ in range(times):
            self.take(value)

    def result(self) -> Any:
        raise NotImplementedError


class Count(Collector):
    takes_at_once = True

    def __init__(self) -> None:
        self.count = 0

    def take(self, value: Any) -> None:
        self.count += 1

    def take_times(self, value: Any, times: int) -> None:
        self.count += times

    def result(self) -> int:
        return self.count


class Collect(Collector):
    gathers = True

    def __init__(self) -> None:
        self.values: list[Any] = []

    def take(self, value: Any) -> None:
        if len(self.values) >= MAX_LIST:
            raise LimitExceeded(f"collect() gathered more than {MAX_LIST} values", limit=MAX_LIST)
        self.values.append(value)

    def result(self) -> Any:
        return self.values


class Sum(Collector):
    """The exact sum of integers and floats, rounded once at its end, so that the order of the rows changes nothing."""

    def __init__(self) -> None:
        self.whole = 0
        self.floats: list[float] = []
        self.time: Duration | None = None

    def take(self, value: Any) -> None:
        if isinstance(value, Duration) and not self.floats and not self.whole:
            self.time = value if self.time is None else self.time + value
        elif not is_number(value) or self.time is not None:
            raise wrong_type("sum", value)
        elif isinstance(value, int):
            self.whole += value
        else:
            self.floats.append(value)
            if len(self.floats) > MAX_KEPT_FLOATS:
                self.floats = exact_parts(self.floats)

    def total(self) -> Any:
        """The sum so far; an integer may be larger than one can be kept."""
        if self.time is not None:
            return self.time
        return exact_sum(self.floats, self.whole) if self.floats else self.whole

    def result(self) -> Any:
        total = self.total()
        return check_int64(total) if isinstance(total, int) else total


class Average(Sum):
    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def take(self, value: Any) -> None:
        if not isinstance(value, Duration) and not is_number(value):
            raise wrong_type("avg", value)
        self.count += 1
        super().take(value)

    def result(self) -> Any:
        if not self.count:
            return None
        total = self.total()
        if isinstance(total, Duration):
            from fractions import Fraction

            return total.times(Fraction(1, self.count))
        return total / self.count


def exact_parts(numbers: Iterable[float]) -> list[float]:
    """A few floats with exactly the same sum, none of which overlap; what is not finite stays as it is."""
    parts: list[float] = []
    non_finite: list[float] = []
    for number in numbers:
        if not math.isfinite(number):
            non_finite.append(number)
            continue
        count = 0
        high = number
        for part in parts:
            if abs(high) < abs(part):
                high, part = part, high
            total = high + part
            rest = part - (total - high)
            if rest:
                parts[count] = rest
                count += 1
            high = total
        parts[count:] = [high]
    return parts + ([sum(non_finite)] if non_finite else [])


def exact_sum(numbers: Sequence[float], whole: int) -> float:
    """The sum rounded once; of what is not finite, what IEEE 754 says, in any order."""
    non_finite = [number for number in numbers if not math.isfinite(number)]
    if non_finite:
        return math.nan if len(set(map(str, non_finite))) > 1 else non_finite[0]
    try:
        if abs(whole) <= EXACT_INTEGERS:
            return math.fsum((*numbers, float(whole)))
    except OverflowError:
        pass
    from fractions import Fraction

    total = sum(map(Fraction, numbers), Fraction(whole))
    try:
        return float(total)
    except OverflowError:
        return math.inf if total > 0 else -math.inf


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
            raise wrong_type("stDev", value)
        super().take(float(value))

    def result(self) -> float:
        count = len(self.values)
        below = count if self.population else count - 1
        if count < 2 and not (self.population and count):
            return 0.0
        try:
            mean = math.fsum(self.values) / count
            return math.sqrt(math.fsum((value - mean) ** 2 for value in self.values) / below)
        except (OverflowError, ValueError):  # such as 1e308 squared, or infinity less infinity
            return math.nan if not all(map(math.isfinite, self.values)) else math.inf


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
                raise wrong_type("percentile", number)
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
