"""One execution: parameters, the graph seen so far, the clock, and the budget."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import islice
from typing import Any

from ugs.cypher.engine.limits import Limits
from ugs.cypher.engine.reader import Reader
from ugs.cypher.errors import CypherParameterMissing
from ugs.errors import DeadlineExceeded, LimitExceeded

Row = list[Any]
"""Slot 0 is the run, then one slot for each variable of the whole query."""
STRIDE = 256
BREATH = 0.02


class Run:
    """What all operators and expressions of one execution share."""

    def __init__(self, graph: Reader, parameters: Mapping[str, Any], limits: Limits, now_ns: int | None = None) -> None:
        self.graph = graph
        self.parameters = parameters
        self.limits = limits
        self.now_ns = time.time_ns() if now_ns is None else now_ns
        self.deadline = time.monotonic() + limits.seconds
        self.breath = time.monotonic()
        self.yields = True
        """Whether others may have the event loop in between, and so perhaps commit."""
        self.at_once = False
        """Whether the store may be asked a single time only."""
        self.work = 0
        self.template: Row = []
        """A row to start from where there is no other: the row around a subquery, or the first of all."""
        self.counts: dict[int, int] | None = None
        """Rows that left each operator, when the query is profiled."""

    @cached_property
    def random(self) -> random.Random:
        """Chance, for the few queries that leave something to it: seeding costs more than many a query."""
        return random.Random()

    def check(self) -> None:
        """Stop when the time is over or too much has been looked at."""
        if time.monotonic() > self.deadline:
            raise DeadlineExceeded(f"The query took longer than {self.limits.seconds:g} seconds")
        if self.work > self.limits.work:
            message = f"The query looked at more than {self.limits.work} rows: narrow its patterns"
            raise LimitExceeded(message, limit=self.limits.work)
        if self.graph.held > self.limits.held:
            self.too_much_held()

    def too_much_held(self) -> None:
        message = f"The query needs more than {self.limits.held} values at a time: narrow its patterns"
        raise LimitExceeded(message, limit=self.limits.held)

    def tick(self, count: int = 1) -> None:
        """Count work; now and then look at the clock."""
        before = self.work
        self.work = before + count
        if before // STRIDE != self.work // STRIDE:
            self.check()

    async def breathe(self) -> None:
        """Let others have the event loop for a moment, when this query has kept it for long enough."""
        if self.yields and time.monotonic() - self.breath > BREATH:
            await asyncio.sleep(0)
            self.breath = time.monotonic()

    def metered(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Rows counted as they are made, in small portions."""
        waiting = iter(rows)
        while portion := list(islice(waiting, STRIDE)):
            self.tick(len(portion))
            yield from portion

    def hold(self, rows: list[Row]) -> list[Row]:
        """Rows that must all be kept at once."""
        if len(rows) > self.limits.held:
            self.too_much_held()
        return rows

    def parameter(self, name: str) -> Any:
        if name not in self.parameters:
            raise CypherParameterMissing("MissingParameter", f"The parameter ${name} was not given")
        return self.parameters[name]
