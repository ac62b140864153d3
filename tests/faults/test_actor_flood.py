"""A flood of messages: every node gets all of its own in order, and memory does not grow with what is done."""

from __future__ import annotations

import asyncio
import gc
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.faults.figures import Figures
from tests.faults.stores import DURABLE, fresh_url
from ugs.actors import Actor, MessageContext, handles
from ugs.actors.api import ActorGraph
from ugs.actors.registry import behaviours
from ugs.graph.api import Graph
from ugs.graph.commands import AddNode
from ugs.system import System

BURST = 10
"""So many messages to one node are under way at once."""
GROWTH = 64 << 20
"""So much may a process grow while the second half of the flood is handled; SQLite's page cache is in it."""


class Counting(Actor):
    """Takes messages with numbers, and remembers whether they came in order."""

    @handles("number")
    async def number(self, context: MessageContext, payload: dict[str, Any]) -> None:
        count = context.properties.get("count", 0)
        context.update(count=count + 1, ordered=context.properties.get("ordered", True) and payload["n"] == count)


@pytest.mark.clause("ACT-4", "ACT-17", "ACT-52")
@pytest.mark.parametrize("store", DURABLE)
async def test_a_flood_arrives_whole_and_in_order(
    store: str, tmp_path: Path, full: bool, figures: Figures, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not full and store != "sqlite":
        pytest.skip("full tier only (make faults): the order is kept above the stores")
    nodes, each = (1_000, 100) if full else (50, 20)
    monkeypatch.setitem(behaviours(), "counting", Counting())
    with fresh_url(store, tmp_path) as url:
        async with System.at_url(url) as system:
            await system.storage.wipe()
            await Graph(system).batch([AddNode(id=f"n{n}", type="counting") for n in range(nodes)])
            begun = time.monotonic()
            half = await flood(system, nodes, 0, each // 2)
            end = await flood(system, nodes, each // 2, each)
            seconds = time.monotonic() - begun
            found = await Graph(system).list_nodes("counting")
            assert [node.properties for node in found] == [{"count": each, "ordered": True}] * nodes
            assert len(ActorGraph(system).actors._mailboxes) == 0
            if not full:
                assert (await system.verify()).ok
    figures.add(
        f"actor flood {store}",
        messages=nodes * each,
        per_s=round(nodes * each / seconds),
        grown_mb=(end - half) >> 20,
    )
    assert end - half < GROWTH


async def flood(system: System, nodes: int, start: int, stop: int) -> int:
    """Send the numbers to every node, some at once; answers how large the process is then."""
    graph = ActorGraph(system)

    async def feed(id: str) -> None:
        for first in range(start, stop, BURST):
            await asyncio.gather(*(graph.send(id, "number", {"n": n}) for n in range(first, min(first + BURST, stop))))

    await asyncio.gather(*(feed(f"n{n}") for n in range(nodes)))
    gc.collect()
    return psutil.Process().memory_info().rss
