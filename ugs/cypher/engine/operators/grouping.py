"""Operators that look at all rows together: aggregation and distinctness."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Hashable, Iterable, Sequence
from typing import Any

from msgspec import Struct

from ugs.cypher.engine.env import Fn
from ugs.cypher.engine.operators.base import BATCH, Operator, evaluated, settled
from ugs.cypher.engine.run import Row, Run
from ugs.cypher.functions.aggregates import Collector
from ugs.cypher.values.comparing import identity


class Aggregation(Struct, frozen=True):
    """One aggregating function of a projection: where its result goes and what it is fed."""

    slot: int
    make: Callable[[], Collector]
    arguments: tuple[Fn, ...]
    """None for count(*), two for percentiles."""
    distinct: bool


class Group:
    """The collectors of one group, and the first row that fell into it."""

    __slots__ = ("collectors", "row", "seen")

    def __init__(self, row: Row, aggregations: Sequence[Aggregation]) -> None:
        self.row = row
        self.collectors = [aggregation.make() for aggregation in aggregations]
        self.seen: list[set[Hashable]] = [set() for _ in aggregations]


class Aggregate(Operator):
    """Groups rows by key slots and feeds the aggregating functions."""

    title = "Aggregate"
    gathers = True

    def __init__(
        self, keys: Sequence[int], aggregations: Sequence[Aggregation], words: str, weight: int | None = None
    ) -> None:
        self.keys = keys
        self.aggregations = aggregations
        self.words = words
        self.weight = weight
        """The slot that says for how many equal rows a row stands, where rows may do so."""

    def describe(self) -> str:
        return self.words

    def rows(self, run: Run, batch: list[Row]) -> Iterable[Row]:
        groups: dict[Hashable, Group] = {}
        self._feed(run, groups, batch)
        return self._results(run, groups)

    async def flow(self, run: Run, batches: AsyncIterator[list[Row]]) -> AsyncIterator[list[Row]]:
        """Rows are let go as soon as they have been counted."""
        groups: dict[Hashable, Group] = {}
        async for batch in batches:
            await self._feed_settled(run, groups, batch)
            if len(groups) > run.limits.held:
                run.too_much_held()
        results = self._results(run, groups)
        for start in range(0, len(results), BATCH):
            yield results[start : start + BATCH]

    async def _feed_settled(self, run: Run, groups: dict[Hashable, Group], batch: list[Row]) -> None:
        values = await settled(run, lambda: self._values(batch))
        self._take(run, groups, batch, values)

    def _feed(self, run: Run, groups: dict[Hashable, Group], batch: list[Row]) -> None:
        self._take(run, groups, batch, self._values(batch))

    def _values(self, batch: list[Row]) -> list[list[Any]]:
        """For each aggregation what every row feeds it; count(*) is fed True."""
        return [self._fed(aggregation.arguments, batch) for aggregation in self.aggregations]

    def _fed(self, arguments: tuple[Fn, ...], batch: list[Row]) -> list[Any]:
        if not arguments:
            return [True] * len(batch)
        columns = [evaluated(batch, argument) for argument in arguments]
        return columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))

    def _take(self, run: Run, groups: dict[Hashable, Group], batch: list[Row], values: list[list[Any]]) -> None:
        keys, weight = self.keys, self.weight
        run.tick(len(batch))
        for number, row in enumerate(batch):
            times = 1 if weight is None or row[weight] is None else row[weight]
            key = tuple([identity(row[slot]) for slot in keys])
            group = groups.get(key)
            if group is None:
                group = groups[key] = Group(row, self.aggregations)
            for place, aggregation in enumerate(self.aggregations):
                value = values[place][number]
                if value is not None:
                    _feed_one(group, place, aggregation, value, times)

    def _results(self, run: Run, groups: dict[Hashable, Group]) -> list[Row]:
        if not groups and not self.keys:
            groups[()] = Group(run.template, self.aggregations)
        made = []
        for group in groups.values():
            row = group.row[:]
            for aggregation, collector in zip(self.aggregations, group.collectors, strict=True):
                row[aggregation.slot] = collector.result()
            made.append(row)
        return made


def _feed_one(group: Group, place: int, aggregation: Aggregation, value: Any, times: int) -> None:
    if aggregation.distinct:
        known = identity(value[0] if isinstance(value, tuple) else value)
        if known in group.seen[place]:
            return
        group.seen[place].add(known)
    elif times != 1:
        group.collectors[place].take_times(value, times)
        return
    group.collectors[place].take(value)


class Distinct(Operator):
    """Drops rows whose columns have been seen before."""

    title = "Distinct"
    gathers = True

    def __init__(self, slots: Sequence[int]) -> None:
        self.slots = slots

    def rows(self, run: Run, batch: list[Row]) -> Iterable[Row]:
        return self._fresh(batch, set())

    def _fresh(self, batch: list[Row], seen: set[Hashable]) -> list[Row]:
        fresh = []
        for row in batch:
            key = tuple([identity(row[slot]) for slot in self.slots])
            if key not in seen:
                seen.add(key)
                fresh.append(row)
        return fresh

    async def flow(self, run: Run, batches: AsyncIterator[list[Row]]) -> AsyncIterator[list[Row]]:
        seen: set[Hashable] = set()
        async for batch in batches:
            fresh = self._fresh(batch, seen)
            run.tick(len(batch))
            if len(seen) > run.limits.held:
                run.too_much_held()
            if fresh:
                yield fresh
