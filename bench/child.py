"""Measurements that need a process of their own: memory, opening, pauses of the collector.

    python -m bench.child <store url> <seconds of service>

opens the store, serves reads and writes for a while, and prints what it saw as one JSON object.
"""

from __future__ import annotations

import asyncio
import gc
import sys
import time
from random import Random

import msgspec
import psutil
from msgspec import Struct

from bench import data
from bench.noise import Stopwatch
from bench.questions import SEARCH_LIMIT
from bench.writes import new_node
from ugs.graph.model import EDGES, NODES
from ugs.graph.text.search import search
from ugs.graph.traversal import Direction, traverse
from ugs.reads.filters import eq
from ugs.system import System


class Seen(Struct, frozen=True):
    """What one process saw of a store."""

    events: int
    nodes: int
    edges: int
    open_seconds: float
    open_cpu: float
    quiet: bool
    """Whether nobody else kept the machine busy while it opened."""
    base_bytes: int
    """Resident before the store was opened."""
    graph_bytes: int
    """Resident after it, with both adjacencies in use."""
    text_bytes: int
    """Resident with the text index too."""
    longest_pause: float
    """Seconds that the collector held everything up at most, while serving."""
    collections: int

    @property
    def fair_seconds(self) -> float:
        """How long opening took; on a busy machine the CPU time, which neighbours hardly move."""
        return self.open_seconds if self.quiet else self.open_cpu


class Pauses:
    """Listens to the garbage collector."""

    def __init__(self) -> None:
        self.longest, self.count, self._start = 0.0, 0, 0.0
        gc.callbacks.append(self._hear)

    def _hear(self, phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            self._start = time.perf_counter()
        else:
            self.count += 1
            self.longest = max(self.longest, time.perf_counter() - self._start)


def resident() -> int:
    return int(psutil.Process().memory_info().rss)


async def measure_store(url: str, seconds: float) -> Seen:
    """Open the store, use it, and tell."""
    base, watch = resident(), Stopwatch()
    async with System.at_url(url) as system:
        opened = watch.read()
        async with system.session() as session:
            events = (await session.head()).position
            nodes, edges = await session.count(NODES), await session.count(EDGES)
            await _touch_adjacency(system, nodes)
            graph = resident()
            await search(session, data.WORDS[30], limit=SEARCH_LIMIT)
            text = resident()
        pauses = Pauses()
        await _serve(system, nodes, seconds)
        cost = (opened.wall, opened.own, opened.is_quiet)
        return Seen(events, nodes, edges, *cost, base, graph, text, pauses.longest, pauses.count)


async def _touch_adjacency(system: System, nodes: int) -> None:
    """Use edges in both directions, so that whatever is built on first use is there."""
    async with system.session() as session:
        for field in ("source", "target"):
            await session.fetch(EDGES, eq(field, data.node_id(0)))
        if nodes:
            await traverse(session, data.node_id(nodes - 1), 2, Direction.BOTH)


async def _serve(system: System, nodes: int, seconds: float) -> None:
    """Reads and writes for a while."""
    random, end = Random(5), time.perf_counter() + seconds
    while nodes and time.perf_counter() < end:
        async with system.session() as session:
            await traverse(session, data.node_id(random.randrange(nodes)), 3)
        await asyncio.gather(*(system.execute(new_node()) for _ in range(20)))


def main() -> None:
    url, seconds = sys.argv[1:]
    seen = asyncio.run(measure_store(url, float(seconds)))
    print(msgspec.json.encode(seen).decode())


if __name__ == "__main__":
    main()
