"""ORDER BY, SKIP and LIMIT."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from heapq import merge, nsmallest
from itertools import islice
from typing import Any

from ugs.cypher.engine.operators.base import Operator, evaluate, retry_on_miss
from ugs.cypher.engine.run import STRIDE, Row, Run
from ugs.cypher.engine.slots import Fn
from ugs.cypher.errors import RUNTIME, CypherSyntaxError
from ugs.cypher.values.comparison import sort_key

CONTAINERS = frozenset((list, dict))
SORT_RUN_ROWS = 16_384
"""Number of rows sorted in one call."""
KEY_BYTES = 150
"""Approximate size of the sort key of a row."""


class Descending:
    """A key that compares the other way round."""

    __slots__ = ("key",)

    def __init__(self, key: Any) -> None:
        self.key = key

    def __lt__(self, other: Descending) -> bool:
        return bool(other.key < self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Descending) and bool(other.key == self.key)


class Sort(Operator):
    """Sorts all rows; with a limit, only the first of them are retained."""

    title = "Sort"
    gathers = True

    def __init__(self, keys: Sequence[tuple[Fn, bool]], words: str, limit: Fn | None = None) -> None:
        self.keys = keys
        self.words = words
        self.limit = limit

    def describe(self) -> str:
        return self.words

    def rows(self, run: Run, batch: list[Row]) -> Iterable[Row]:
        columns = []
        for compute, descending in self.keys:
            keys = _sort_keys(run, evaluate(batch, compute))
            columns.append([Descending(key) for key in keys] if descending else keys)
        run.tick(len(batch))
        run.spend(len(batch) * len(self.keys) * KEY_BYTES)
        keyed_rows = list(zip(*columns, range(len(batch)), strict=True))
        max_rows = None if self.limit is None else self.limit(run.template)
        if max_rows is not None and max_rows <= len(keyed_rows) // 4 and len(keyed_rows) <= 2 * SORT_RUN_ROWS:
            chosen = nsmallest(max_rows, keyed_rows)
        else:
            chosen = sort_in_runs(run, keyed_rows)[:max_rows]
        return [batch[place[-1]] for place in chosen]

    async def flow(self, run: Run, batches: AsyncIterator[list[Row]]) -> AsyncIterator[list[Row]]:
        if self.limit is None:
            async for batch in super().flow(run, batches):
                yield batch
            return
        best: list[Row] = []
        max_rows = self.limit(run.template)
        before, held = run.made, run.held
        async for batch in batches:
            best.extend(batch)
            run.retain(before, batch)
            if len(best) > 4 * max_rows + 4096:
                best = await self._select_best(run, best)
                run.held = held
                run.retain(before, best)
        yield await self._select_best(run, best)

    async def _select_best(self, run: Run, rows: list[Row]) -> list[Row]:
        return list(await retry_on_miss(run, lambda: self.rows(run, rows)))


def _sort_keys(run: Run, values: list[Any]) -> list[Any]:
    keys: list[Any] = []
    for start in range(0, len(values), STRIDE):
        portion = values[start : start + STRIDE]
        if CONTAINERS.isdisjoint(map(type, portion)):
            keys += map(sort_key, portion)
        else:
            for value in portion:
                keys.append(sort_key(value))
                run.check_now()
        run.tick(len(portion))
    return keys


def sort_in_runs(run: Run, keyed_rows: list[Any]) -> list[Any]:
    """Sort in runs that are then merged, so that no single call takes long."""
    if len(keyed_rows) <= SORT_RUN_ROWS:
        return sorted(keyed_rows)
    runs = []
    for start in range(0, len(keyed_rows), SORT_RUN_ROWS):
        runs.append(sorted(keyed_rows[start : start + SORT_RUN_ROWS]))
        run.check_now()
    found: list[Any] = []
    merged = merge(*runs)
    while portion := list(islice(merged, STRIDE)):
        found += portion
        run.tick(len(portion))
    return found


def parse_row_count(value: Any, name: str) -> int:
    """Validate the value of SKIP or LIMIT."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise CypherSyntaxError("InvalidArgumentType", f"{name} takes a whole number", phase=RUNTIME)
    if value < 0:
        raise CypherSyntaxError("NegativeIntegerArgument", f"{name} takes no negative number", phase=RUNTIME)
    return value


def compile_row_limit(skip: Fn | None, limit: Fn | None) -> Fn | None:
    """A function for the number of rows that SKIP and LIMIT need together; None without LIMIT."""
    if limit is None:
        return None
    max_rows: Fn = limit

    def count(row: Row) -> int:
        return parse_row_count(max_rows(row), "LIMIT") + (0 if skip is None else parse_row_count(skip(row), "SKIP"))

    return count


class Skip(Operator):
    """Drops the first rows."""

    title = "Skip"
    gathers = True

    def __init__(self, count: Fn) -> None:
        self.count = count

    def rows(self, run: Run, batch: list[Row]) -> Iterable[Row]:
        return batch[parse_row_count(self.count(run.template), "SKIP") :]

    async def flow(self, run: Run, batches: AsyncIterator[list[Row]]) -> AsyncIterator[list[Row]]:
        left = parse_row_count(self.count(run.template), "SKIP")
        async for batch in batches:
            best, left = batch[left:], max(left - len(batch), 0)
            if best:
                yield best


class Limit(Operator):
    """Ends the stream after the given number of rows."""

    title = "Limit"
    gathers = True

    def __init__(self, count: Fn) -> None:
        self.count = count

    def rows(self, run: Run, batch: list[Row]) -> Iterable[Row]:
        return batch[: parse_row_count(self.count(run.template), "LIMIT")]

    async def flow(self, run: Run, batches: AsyncIterator[list[Row]]) -> AsyncIterator[list[Row]]:
        left = parse_row_count(self.count(run.template), "LIMIT")
        if left == 0:
            return
        async for batch in batches:
            yield batch[:left]
            left -= len(batch)
            if left <= 0:
                return
