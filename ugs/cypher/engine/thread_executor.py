"""Execution in a worker thread, for queries that block the event loop for too long.

The coroutines of the operators run to the end in the thread; store sessions live on the event loop, so fetches are
submitted there while the thread waits.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Coroutine, Sequence
from concurrent.futures import CancelledError as FutureCancelled
from concurrent.futures import Future
from typing import Any, TypeVar

from ugs.cypher.engine.run import QueryCancelled, Run
from ugs.cypher.engine.view import GraphView, Wanted
from ugs.cypher.values.entities import Node, Relationship
from ugs.reads.pattern import Match, Pattern, PreparedPattern
from ugs.support.worker_threads import TURNS, Slice, compute_in_thread

Result = TypeVar("Result")


class GraphChanged(Exception):
    """Another transaction committed between two fetches from a store whose sessions see commits."""


class RemoteView:
    """A graph view for a worker thread: each call runs on the event loop while the thread waits."""

    def __init__(self, view: GraphView, loop: asyncio.AbstractEventLoop, position: int) -> None:
        self.view = view
        self.loop = loop
        self.first_position = position
        self.pending: Future[Any] | None = None
        self.joins, self.matches_single_nodes = view.joins, view.matches_single_nodes
        self.supports_unless, self.max_matches = view.supports_unless, view.max_matches

    def stop(self) -> None:
        """Cancel the pending call."""
        if self.pending is not None:
            self.pending.cancel()

    def _call(self, call: Callable[[], Awaitable[Result]]) -> Result:
        async def answer() -> Result:
            found = await call()
            if await self.view.position() != self.first_position:
                raise GraphChanged
            return found

        self.pending = asyncio.run_coroutine_threadsafe(answer(), self.loop)
        TURNS.end()
        try:
            return self.pending.result()  # type: ignore[no-any-return]
        except FutureCancelled:
            raise QueryCancelled from None
        finally:
            TURNS.begin()
            self.pending = None

    async def nodes(self, wanted: Wanted) -> list[Node]:
        return self._call(lambda: self.view.nodes(wanted))

    async def pages(self, wanted: Wanted) -> AsyncIterator[list[Node]]:
        pages = self.view.pages(wanted)
        while (page := self._call(lambda: _next_page(pages))) is not None:
            yield page

    async def nodes_by_id(self, ids: Collection[str]) -> list[Node]:
        return self._call(lambda: self.view.nodes_by_id(ids))

    async def relationships(
        self, ids: Collection[str], outgoing: bool, types: Sequence[str] | None
    ) -> list[Relationship]:
        return self._call(lambda: self.view.relationships(ids, outgoing, types))

    async def count(self, wanted: Wanted) -> int:
        return self._call(lambda: self.view.count(wanted))

    async def position(self) -> int:
        return self._call(self.view.position)

    async def match(self, call: PreparedPattern, texts: Sequence[str]) -> list[Match] | None:
        return self._call(lambda: self.view.match(call, texts))

    def explain_match(self, pattern: Pattern) -> list[str]:
        return self.view.explain_match(pattern)

    async def labels_are_types(self) -> bool:
        return self._call(self.view.labels_are_types)


async def _next_page(pages: AsyncIterator[list[Node]]) -> list[Node] | None:
    return await anext(pages, None)


async def run_in_thread(run: Run, work: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
    """Run a coroutine in a worker thread; it may await nothing but the graph."""
    remote = RemoteView(run.graph.view, asyncio.get_running_loop(), await run.graph.view.position())
    run.graph.view = remote

    def compute() -> Result:
        run.slice = Slice()
        return finish(work())

    def stop() -> None:
        run.stopped = True
        remote.stop()

    return await compute_in_thread(compute, stop)


def finish(work: Coroutine[Any, Any, Result]) -> Result:
    """The result of a coroutine that never suspends."""
    try:
        work.send(None)
    except StopIteration as ended:
        return ended.value  # type: ignore[no-any-return]
    work.close()
    raise RuntimeError("A query waited in a thread for something other than the graph")
