"""What operators have in common.

An operator answers `rows(run, batch)`. One that only streams may be given rows in portions; one that gathers needs
them all. `Miss` may be raised before the first row comes out, never after: then the same batch is given again.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from typing import Any, ClassVar

from ugs.cypher.engine.env import Fn
from ugs.cypher.engine.reader import Miss
from ugs.cypher.engine.run import Row, Run

BATCH = 1024


class Operator:
    """One step of a plan."""

    gathers: ClassVar[bool] = False
    title: ClassVar[str]

    def rows(self, run: Run, batch: list[Row]) -> Iterable[Row]:
        raise NotImplementedError

    def describe(self) -> str:
        """What it does, for EXPLAIN."""
        return ""

    def inner(self) -> Sequence[Sequence[Operator]]:
        """Plans inside this operator."""
        return ()

    async def flow(self, run: Run, batches: AsyncIterator[list[Row]]) -> AsyncIterator[list[Row]]:
        """The operator at work in the main line of a query."""
        if self.gathers:
            every: list[Row] = []
            async for batch in batches:
                every.extend(batch)
                run.hold(every)
            async for portion in portions(run, self, every):
                yield portion
            return
        async for batch in batches:
            async for portion in portions(run, self, batch):
                yield portion


async def portions(run: Run, operator: Operator, batch: list[Row]) -> AsyncIterator[list[Row]]:
    """The rows an operator makes of a batch, a portion at a time."""
    rows = await settled(run, lambda: operator.rows(run, batch))
    portion: list[Row] = []
    for row in rows:
        portion.append(row)
        if len(portion) >= BATCH:
            run.check()
            await run.breathe()
            yield portion
            portion = []
    if portion:
        yield portion


async def settled(run: Run, attempt: Callable[[], Any]) -> Any:
    """The result of an attempt, after fetching what it misses as often as it takes."""
    while True:
        try:
            return attempt()
        except Miss:
            await run.graph.load()
            run.check()


def apply_all(run: Run, operators: Sequence[Operator], rows: list[Row]) -> list[Row]:
    """A plan inside another, run at once."""
    for operator in operators:
        rows = list(operator.rows(run, rows))
        if run.counts is not None:
            run.counts[id(operator)] = run.counts.get(id(operator), 0) + len(rows)
    return rows


def evaluated(rows: list[Row], compute: Fn) -> list[Any]:
    """The values for all rows; what they all miss is noted before giving up."""
    values, missing = [], False
    for row in rows:
        try:
            values.append(compute(row))
        except Miss:
            missing = True
    if missing:
        raise Miss
    return values
