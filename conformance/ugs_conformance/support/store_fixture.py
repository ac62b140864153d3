"""What a test holds in its hands: the store under test with a system, a graph and a clock on it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Any

import pytest

from ugs.clock import FixedClock
from ugs.errors import UgsError
from ugs.events import Event, to_line
from ugs.graph.api import Graph
from ugs.storage import EventQuery, Storage
from ugs.system import System
from ugs.values import from_text
from ugs_conformance.support.api_under_test import graph_of
from ugs_conformance.support.harness import Harness

NOW = 1_769_020_454_093
"""When the tests' clock starts: the moment of the seed's examples."""


class StoreUnderTest:
    """One store, one clock, and the system that runs on both now."""

    def __init__(self, harness: Harness) -> None:
        self.harness = harness
        self.clock = FixedClock(NOW)
        self.system: System
        self.graph: Graph

    async def begin(self) -> None:
        """Start on an empty store."""
        await self.harness.fresh()
        await self._open()

    async def _open(self) -> None:
        self.system = await self.harness.system(self.clock)
        self.graph = graph_of(self.system)

    async def end(self) -> None:
        await self.system.close()

    async def restart(self) -> Graph:
        """End the process and begin another on the same data."""
        await self.system.close()
        await self.harness.restart()
        await self._open()
        return self.graph

    @property
    def storage(self) -> Storage:
        return self.system.storage

    async def events(self, query: EventQuery | None = None) -> list[Event]:
        """The log, or a part of it."""
        async with self.system.session() as session:
            return await session.events(query or EventQuery())

    async def lines(self) -> list[bytes]:
        """The log as lines of a file."""
        return [to_line(event) for event in await self.events()]

    async def types(self) -> list[str]:
        """The types of all events, in order."""
        return [event.type for event in await self.events()]

    async def everything(self) -> tuple[str, list[bytes]]:
        """State and log, to see whether anything at all has changed."""
        return await self.system.digest(), await self.lines()

    @asynccontextmanager
    async def unchanged(self) -> AsyncIterator[None]:
        """Expect that whatever happens inside leaves the log as it is, and the state what the log says."""
        before = await self.lines()
        yield
        assert await self.lines() == before
        assert (await self.system.verify()).ok

    @asynccontextmanager
    async def refuses(self, error: type[UgsError], **details: object) -> AsyncIterator[None]:
        """Expect a refusal: this error with these details, and nothing changed."""
        async with self.unchanged():
            with pytest.raises(error) as refused:
                yield
        assert type(refused.value) is error
        assert {name: refused.value.details.get(name) for name in details} == details


def fixture(name: str) -> Any:
    """One of the seeds' fixtures, decoded."""
    return from_text((files("ugs_conformance") / "data" / f"{name}.json").read_bytes())


def ids(items: Sequence[Any]) -> list[str]:
    """The ids of nodes, edges, or of what carries a node."""
    return [getattr(item, "node", item).id for item in items]


async def load(graph: Graph, name: str) -> None:
    """Put a fixture's nodes and edges into the graph."""
    await graph.import_graph(fixture(name))
