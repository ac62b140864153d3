"""The state of one execution: parameters, graph cache, clock and budget."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Hashable, Iterable, Iterator, Mapping
from functools import cached_property
from itertools import islice
from typing import Any

from ugs.cypher.engine.graph_cache import GraphCache
from ugs.cypher.engine.limits import Limits
from ugs.cypher.engine.value_size import RetainedSize
from ugs.cypher.errors import CypherParameterMissing
from ugs.cypher.values.comparison import identity
from ugs.errors import DeadlineExceeded, LimitExceeded
from ugs.support.budget import current_budget
from ugs.support.worker_threads import Slice

Row = list[Any]
"""Slot 0 is the run, then one slot for each variable of the whole query."""
STRIDE = 256
PAUSE_INTERVAL_SECONDS = 0.02
FREE_BYTES = 256 << 10
"""Memory that a query may use before reserving any."""
STEP_BYTES = 1 << 20
"""Memory is reserved in steps of this size."""
MAX_LOOP_BYTES = 4 << 20
"""A query that needs more moves to a worker thread: filling so much memory takes long."""
ROW_BYTES, SLOT_BYTES = 80, 8


class LoopTimeExceeded(Exception):
    """The query has blocked the event loop for too long and must continue in a worker thread."""


class QueryCancelled(Exception):
    """Cancel the pending call."""


class Run:
    """What all operators and expressions of one execution share."""

    def __init__(
        self, graph: GraphCache, parameters: Mapping[str, Any], limits: Limits, now_ns: int | None = None
    ) -> None:
        self.graph = graph
        self.parameters = parameters
        self.limits = limits
        self.now_ns = time.time_ns() if now_ns is None else now_ns
        self.budget = current_budget()
        self.last_pause = time.monotonic()
        self.started = self.last_pause
        self.deadline = min(self.last_pause + limits.seconds, self.budget.deadline)
        self.yields = True
        """Whether the query may yield to the event loop, so that others may commit."""
        self.single_statement = False
        """Whether only a single statement may be sent to the store."""
        self.slice: Slice | None = None
        """The time slice of the worker thread; None on the event loop."""
        self.pause_seconds = PAUSE_INTERVAL_SECONDS
        """Maximum time on the event loop without a pause."""
        self.stopped = False
        """Whether the query has been cancelled."""
        self.closed = False
        self.made = 0
        """Bytes of temporary values."""
        self.held = 0
        """Bytes of retained values: rows to be sorted, groups, the result."""
        self.granted = FREE_BYTES
        self.row_bytes = ROW_BYTES
        self.answer_bytes = 0
        """Length of the result as text so far."""
        self._retained = RetainedSize()
        self.work = 0
        self.template: Row = []
        """The outer row of a subquery, or the initial row."""
        self.counts: dict[int, int] | None = None
        """Rows that left each operator, when the query is profiled."""

    @cached_property
    def random(self) -> random.Random:
        """Random generator, created on first use since seeding is expensive."""
        return random.Random()

    def check(self) -> None:
        """Raise if a limit is exceeded or the query is cancelled; pass on the time slice."""
        now = time.monotonic()
        if self.stopped:
            raise QueryCancelled
        if now > self.deadline:
            raise DeadlineExceeded(f"The query took longer than {self.seconds:g} seconds")
        if self.work > self.limits.work:
            message = f"The query looked at more than {self.limits.work} rows: narrow its patterns"
            raise LimitExceeded(message, limit=self.limits.work)
        if self.graph.held > self.limits.held:
            self.too_much_held()
        if self.slice is not None:
            self.slice.hand_over(now)
        elif now - self.last_pause > self.pause_seconds:
            raise LoopTimeExceeded

    @property
    def seconds(self) -> float:
        """How long the query may take, by its own limit and the request's."""
        return min(self.limits.seconds, self.budget.seconds)

    def too_much_held(self) -> None:
        message = f"The query needs more than {self.limits.held} values at a time: narrow its patterns"
        raise LimitExceeded(message, limit=self.limits.held)

    def tick(self, count: int = 1) -> None:
        """Count work, and check the limits every `STRIDE` units."""
        before = self.work
        self.work = before + count
        if before // STRIDE != self.work // STRIDE:
            self.check()

    async def yield_to_loop(self) -> None:
        """Yield to the event loop if the query has run for `PAUSE_INTERVAL_SECONDS`."""
        if self.slice is None and self.yields and time.monotonic() - self.last_pause > PAUSE_INTERVAL_SECONDS:
            await asyncio.sleep(0)
            self.last_pause = time.monotonic()

    def check_now(self) -> None:
        """Check the limits after an operation that may have taken long."""
        self.work += 1
        self.check()

    def spend(self, size: int) -> None:
        """Account for a temporary value."""
        self.made += size
        if self.made + self.held > self.granted:
            self._reserve()

    def require(self, size: int) -> None:
        """Check that memory is available for a value before it is built; the caller accounts for it afterwards."""
        self.spend(size)
        self.made -= size

    def keep(self, size: int) -> None:
        """Account for retained bytes; a negative size releases them."""
        self.held += size
        if self.made + self.held > self.granted:
            self._reserve()

    def _reserve(self) -> None:
        if self.slice is None and self.yields and self.made + self.held > MAX_LOOP_BYTES:
            raise LoopTimeExceeded
        size = max(self.made + self.held - self.granted, STEP_BYTES)
        self.budget.reserve(size)
        with self.budget.pool.lock:
            closed = self.closed
            self.granted += 0 if closed else size
        if closed:
            self.budget.release(size)
            raise QueryCancelled
        self.check()

    def close(self) -> None:
        """Release all memory; a worker thread that still runs gets no more."""
        with self.budget.pool.lock:
            self.closed = self.stopped = True
            size, self.granted = self.granted - FREE_BYTES, FREE_BYTES
        self.template = []  # its first slot is this run: with it the fetched graph would wait for a garbage collection
        self.budget.release(size)

    def settle(self, before: int, values: Iterable[Any]) -> None:
        """Of everything built since `made` was `before`, only these values remain."""
        if self.made - before > STEP_BYTES:
            self.made = before + min(self.made - before, RetainedSize().add_all(values))

    def retain(self, before: int, rows: list[Row]) -> None:
        """Account for retained rows, with the values built for them since `made` was `before`."""
        fresh = self.made - before
        if fresh > FREE_BYTES:
            fresh = min(fresh, self._retained.add_rows(rows))
        self.keep(len(rows) * self.row_bytes + fresh)

    def identity(self, value: Any) -> Hashable:
        """The equivalence key of a value."""
        if type(value) is list or type(value) is dict:
            found = identity(value)
            self.check_now()
            return found
        return identity(value)

    def keep_fetched(self) -> None:
        """Account for what has been fetched since the last call."""
        size, self.graph.fresh_bytes = self.graph.fresh_bytes, 0
        self.keep(size)

    def start_from(self, width: int) -> None:
        """Create the initial row with the given number of slots."""
        self.template = [self] + [None] * (width - 1)
        self.row_bytes = ROW_BYTES + SLOT_BYTES * width

    def metered(self, rows: Iterable[Row]) -> Iterator[Row]:
        """Rows, with work and memory accounted in portions of `STRIDE`."""
        waiting = iter(rows)
        while portion := list(islice(waiting, STRIDE)):
            self.tick(len(portion))
            self.spend(len(portion) * self.row_bytes)
            yield from portion

    def hold(self, rows: list[Row]) -> list[Row]:
        """Check the number of rows that are retained together."""
        if len(rows) > self.limits.held:
            self.too_much_held()
        return rows

    def parameter(self, name: str) -> Any:
        if name not in self.parameters:
            raise CypherParameterMissing("MissingParameter", f"The parameter ${name} was not given")
        return self.parameters[name]
