"""Operators that put rows in order and cut them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from heapq import nsmallest
from typing import Any

from ugs.cypher.engine.env import Fn
from ugs.cypher.engine.operators.base import Operator, evaluated, settled
from ugs.cypher.engine.run import Row, Run
from ugs.cypher.errors import RUNTIME, CypherSyntaxError
from ugs.cypher.values.comparing import sort_key


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
    """All rows in order; with a limit, only the first of them are kept on the way."""

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
            keys = [sort_key(value) for value in evaluated(batch, compute)]
            columns.append([Descending(key) for key in keys] if descending else keys)
        run.tick(len(batch))
        places = list(zip(*columns, range(len(batch)), strict=True))
        most = None if self.limit is None else self.limit(run.template)
        chosen = sorted(places) if most is None or most > len(places) // 4 else nsmallest(most, places)
        return [batch[place[-1]] for place in chosen]

    async def flow(self, run: Run, batches: AsyncIterator[list[Row]]) -> AsyncIterator[list[Row]]:
        if self.limit is None:
            async for batch in super().flow(run, batches):
                yield batch
            return
        kept: list[Row] = []
        most = self.limit(run.template)
        async for batch in batches:
            kept.extend(batch)
            if len(kept) > 4 * most + 4096:
                kept = await self._best(run, kept)
        yield await self._best(run, kept)

    async def _best(self, run: Run, rows: list[Row]) -> list[Row]:
        return list(await settled(run, lambda: self.rows(run, rows)))


def amount(value: Any, name: str) -> int:
    """What SKIP and LIMIT were told."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise CypherSyntaxError("InvalidArgumentType", f"{name} takes a whole number", phase=RUNTIME)
    if value < 0:
        raise CypherSyntaxError("NegativeIntegerArgument", f"{name} takes no negative number", phase=RUNTIME)
    return value


def enough_rows(skip: Fn | None, limit: Fn | None) -> Fn | None:
    """How many rows a cut lets through, and leaves out before."""
    if limit is None:
        return None
    most: Fn = limit

    def count(row: Row) -> int:
        return amount(most(row), "LIMIT") + (0 if skip is None else amount(skip(row), "SKIP"))

    return count


class Skip(Operator):
    """Leaves the first rows out."""

    title = "Skip"
    gathers = True

    def __init__(self, count: Fn) -> None:
        self.count = count

    def rows(self, run: Run, batch: list[Row]) -> Iterable[Row]:
        return batch[amount(self.count(run.template), "SKIP") :]

    async def flow(self, run: Run, batches: AsyncIterator[list[Row]]) -> AsyncIterator[list[Row]]:
        left = amount(self.count(run.template), "SKIP")
        async for batch in batches:
            kept, left = batch[left:], max(left - len(batch), 0)
            if kept:
                yield kept


class Limit(Operator):
    """Ends after so many rows, and lets nothing before it go on."""

    title = "Limit"
    gathers = True

    def __init__(self, count: Fn) -> None:
        self.count = count

    def rows(self, run: Run, batch: list[Row]) -> Iterable[Row]:
        return batch[: amount(self.count(run.template), "LIMIT")]

    async def flow(self, run: Run, batches: AsyncIterator[list[Row]]) -> AsyncIterator[list[Row]]:
        left = amount(self.count(run.template), "LIMIT")
        if left == 0:
            return
        async for batch in batches:
            yield batch[:left]
            left -= len(batch)
            if left <= 0:
                return
