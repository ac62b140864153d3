"""Operators that look at all rows together: aggregation and distinctness."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Hashable, Iterable, Sequence
from typing import Any

from msgspec import Struct

from ugs.cypher.engine.operators.base import BATCH, Operator, evaluate, retry_on_miss
from ugs.cypher.engine.run import Row, Run
from ugs.cypher.engine.slots import Fn
from ugs.cypher.functions.aggregates import Collector
from ugs.cypher.values.comparison import identity

GROUP_BYTES, ITEM_BYTES = 400, 40
"""Approximate size of a group, and of a gathered value."""
REPEAT_PORTION = 4_096
"""Number of repetitions of a value between two checks of the deadline."""


class Aggregation(Struct, frozen=True):
    """One aggregating function of a projection: the slot of its result and its arguments."""

    slot: int
    make: Callable[[], Collector]
    arguments: tuple[Fn, ...]
    """Empty for count(*), two for percentiles."""
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
        """The slot with the multiplicity of a row, if rows may be merged."""
        self.gathering = sum(one.distinct or one.make().gathers for one in aggregations)
        """How many of the functions keep all values that they are fed."""

    def describe(self) -> str:
        return self.words

    def rows(self, run: Run, batch: list[Row]) -> Iterable[Row]:
        groups: dict[Hashable, Group] = {}
        self._feed(run, groups, batch)
        return self._results(run, groups)

    async def flow(self, run: Run, batches: AsyncIterator[list[Row]]) -> AsyncIterator[list[Row]]:
        """Rows are released as soon as they have been aggregated."""
        groups: dict[Hashable, Group] = {}
        before = run.made
        async for batch in batches:
            known = len(groups)
            await self._feed_retrying(run, groups, batch)
            self._account(run, before, batch, len(groups) - known)
            if len(groups) > run.limits.held:
                run.too_much_held()
        results = self._results(run, groups)
        for start in range(0, len(results), BATCH):
            yield results[start : start + BATCH]

    def _account(self, run: Run, before: int, batch: list[Row], new: int) -> None:
        """Account for the memory retained from a batch: new groups and gathered values."""
        fresh = run.made - before if self.gathering or self.keys else 0
        run.keep(new * (run.row_bytes + GROUP_BYTES) + fresh + len(batch) * ITEM_BYTES * self.gathering)

    async def _feed_retrying(self, run: Run, groups: dict[Hashable, Group], batch: list[Row]) -> None:
        values = await retry_on_miss(run, lambda: self._values(batch))
        self._feed_groups(run, groups, batch, values)

    def _feed(self, run: Run, groups: dict[Hashable, Group], batch: list[Row]) -> None:
        self._feed_groups(run, groups, batch, self._values(batch))

    def _values(self, batch: list[Row]) -> list[list[Any]]:
        """For each aggregation the argument value of every row; True for count(*)."""
        return [self._argument_values(aggregation.arguments, batch) for aggregation in self.aggregations]

    def _argument_values(self, arguments: tuple[Fn, ...], batch: list[Row]) -> list[Any]:
        if not arguments:
            return [True] * len(batch)
        columns = [evaluate(batch, argument) for argument in arguments]
        return columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))

    def _feed_groups(self, run: Run, groups: dict[Hashable, Group], batch: list[Row], values: list[list[Any]]) -> None:
        keys, weight = self.keys, self.weight
        run.tick(len(batch))
        for number, row in enumerate(batch):
            times = 1 if weight is None or row[weight] is None else row[weight]
            key = tuple([run.identity(row[slot]) for slot in keys])
            group = groups.get(key)
            if group is None:
                group = groups[key] = Group(row, self.aggregations)
            for place, aggregation in enumerate(self.aggregations):
                value = values[place][number]
                if value is not None:
                    _feed_value(run, group, place, aggregation, value, times)

    def _results(self, run: Run, groups: dict[Hashable, Group]) -> list[Row]:
        if not groups and not self.keys:
            groups[()] = Group(run.template, self.aggregations)
        rows = []
        for group in groups.values():
            row = group.row[:]
            for aggregation, collector in zip(self.aggregations, group.collectors, strict=True):
                row[aggregation.slot] = collector.result()
                run.tick()
            rows.append(row)
        return rows


def _feed_value(run: Run, group: Group, place: int, aggregation: Aggregation, value: Any, times: int) -> None:
    kind = type(value)
    if kind is list or kind is dict:
        run.check_now()
    if aggregation.distinct:
        known = identity(value[0] if isinstance(value, tuple) else value)
        if known in group.seen[place]:
            return
        group.seen[place].add(known)
    elif times != 1:
        collector = group.collectors[place]
        while times > 0:
            portion = times if collector.takes_at_once else min(times, REPEAT_PORTION)
            run.tick(1 if collector.takes_at_once else portion)
            if collector.gathers:
                run.keep(portion * ITEM_BYTES)
            collector.take_times(value, portion)
            times -= portion
        return
    group.collectors[place].take(value)


class Distinct(Operator):
    """Drops rows whose columns have been seen before."""

    title = "Distinct"
    gathers = True

    def __init__(self, slots: Sequence[int]) -> None:
        self.slots = slots

    def rows(self, run: Run, batch: list[Row]) -> Iterable[Row]:
        return self._filter_new(run, batch, set())

    def _filter_new(self, run: Run, batch: list[Row], seen: set[Hashable]) -> list[Row]:
        fresh = []
        identity = run.identity
        for row in batch:
            key = tuple([identity(row[slot]) for slot in self.slots])
            if key not in seen:
                seen.add(key)
                fresh.append(row)
        return fresh

    async def flow(self, run: Run, batches: AsyncIterator[list[Row]]) -> AsyncIterator[list[Row]]:
        seen: set[Hashable] = set()
        before = run.made
        async for batch in batches:
            fresh = self._filter_new(run, batch, seen)
            run.tick(len(batch))
            run.retain(before, fresh)
            if len(seen) > run.limits.held:
                run.too_much_held()
            if fresh:
                yield fresh
