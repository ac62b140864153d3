"""Base class of operators.

An operator implements `rows(run, batch)`. A streaming operator may be given rows in batches; one that gathers needs
them all. `CacheMiss` may be raised before the first row is produced, never after; the same batch is then given again.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from typing import Any, ClassVar

from ugs.cypher.engine.graph_cache import CacheMiss
from ugs.cypher.engine.run import Row, Run
from ugs.cypher.engine.slots import Fn

BATCH = 1024
SETTLE_INTERVAL_ROWS = 32
"""Number of rows after which temporary memory is measured again."""


class Operator:
    """One step of a plan."""

    gathers: ClassVar[bool] = False
    title: ClassVar[str]

    def rows(self, run: Run, batch: list[Row]) -> Iterable[Row]:
        raise NotImplementedError

    def describe(self) -> str:
        """Details for EXPLAIN."""
        return ""

    def inner(self) -> Sequence[Sequence[Operator]]:
        """Plans inside this operator."""
        return ()

    async def flow(self, run: Run, batches: AsyncIterator[list[Row]]) -> AsyncIterator[list[Row]]:
        """Process a stream of batches."""
        if self.gathers:
            every: list[Row] = []
            before = run.made
            async for batch in batches:
                every.extend(batch)
                run.retain(before, batch)
                run.hold(every)
            async for portion in run_in_portions(run, self, every):
                yield portion
            return
        async for batch in batches:
            async for portion in run_in_portions(run, self, batch):
                yield portion


async def run_in_portions(run: Run, operator: Operator, batch: list[Row]) -> AsyncIterator[list[Row]]:
    """The output of an operator for a batch, in portions of `BATCH` rows."""
    started = run.made
    rows = await retry_on_miss(run, lambda: operator.rows(run, batch))
    lasting = run.made
    portion: list[Row] = []
    for row in rows:
        portion.append(row)
        if len(portion) >= BATCH:
            await run.yield_to_loop()
            run.check()
            yield portion
            # The consumer has accounted for what it retains.
            run.made = lasting
            portion = []
    if portion:
        yield portion
    run.made = started


async def retry_on_miss(run: Run, attempt: Callable[[], Any]) -> Any:
    """Call `attempt`, fetching what the cache misses, until it succeeds."""
    while True:
        try:
            return attempt()
        except CacheMiss:
            await run.graph.load()
            await run.yield_to_loop()
            run.keep_fetched()
            run.check()


def apply_all(run: Run, operators: Sequence[Operator], rows: list[Row]) -> list[Row]:
    """Run the operators of a nested plan over rows."""
    for operator in operators:
        rows = list(operator.rows(run, rows))
        if run.counts is not None:
            run.counts[id(operator)] = run.counts.get(id(operator), 0) + len(rows)
    return rows


def evaluate(rows: list[Row], compute: Fn) -> list[Any]:
    """The values for all rows; all cache misses are recorded before `CacheMiss` is raised."""
    values: list[Any] = []
    missing = False
    for start in range(0, len(rows), SETTLE_INTERVAL_ROWS):
        run: Run = rows[start][0]
        before = run.made
        for row in rows[start : start + SETTLE_INTERVAL_ROWS]:
            try:
                values.append(compute(row))
            except CacheMiss:
                missing = True
        run.settle(before, values[start:])
    if missing:
        raise CacheMiss
    return values


def evaluate_local(rows: list[Row], compute: Fn) -> list[Any]:
    """The values for all rows of an expression that does not read the graph."""
    if len(rows) <= SETTLE_INTERVAL_ROWS:
        return list(map(compute, rows))
    values: list[Any] = []
    for start in range(0, len(rows), SETTLE_INTERVAL_ROWS):
        run: Run = rows[start][0]
        before = run.made
        values += map(compute, rows[start : start + SETTLE_INTERVAL_ROWS])
        run.settle(before, values[start:])
    return values
