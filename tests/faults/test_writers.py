"""F33, F40, F42, F44: many writers at once, in one process and in several, and each change counts exactly once."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from tests.faults.children import child
from tests.faults.figures import Figures
from tests.faults.stores import DURABLE, SHARED, fresh_url
from tests.faults.workers import INCREMENTS, increment
from ugs.errors import IdempotencyConflict, UgsError
from ugs.graph.api import Graph
from ugs.graph.commands import Update
from ugs.system import System

RIVALS = 8
PROCESSES = 8
STORM = 100
ALL_RIVALS = 600.0
"""Seconds until all of many processes have finished, however slow they make each other."""


@asynccontextmanager
async def emptied(url: str) -> AsyncIterator[Graph]:
    """An empty graph on the store."""
    async with System.at_url(url) as system:
        await system.storage.wipe()
        yield Graph(system)


@asynccontextmanager
async def gateways(name: str, folder: Path) -> AsyncIterator[list[Graph]]:
    """The same empty store behind two systems, or one where only one may open it."""
    with fresh_url(name, folder) as url:
        async with AsyncExitStack() as stack:
            async with emptied(url):
                pass
            count = 2 if name in SHARED else 1
            yield [Graph(await stack.enter_async_context(System.at_url(url))) for _ in range(count)]


@pytest.mark.parametrize("name", DURABLE)
async def test_f33_each_version_has_exactly_one_winner(name: str, tmp_path: Path, full: bool, figures: Figures) -> None:
    rounds = 100 if full else 8
    winners: Counter[int] = Counter()
    refused: Counter[str] = Counter()
    async with gateways(name, tmp_path) as graphs:
        await graphs[0].add_node("prize")
        for version in range(1, rounds + 1):
            claims = [claim(graphs[rival % len(graphs)], version, rival) for rival in range(RIVALS)]
            for won in await asyncio.gather(*claims):
                winners[version] += won == "won"
                refused[won] += won != "won"
        final = await graphs[0].get("prize")
    figures.add(f"F33 expectedVersion, {name}", versions=rounds, winners=winners.total(), refused=refused.total())
    assert set(winners.values()) == {1}
    assert set(refused - Counter()) == {"VERSION_CONFLICT"}
    assert final is not None and final.version == rounds + 1


async def claim(graph: Graph, version: int, rival: int) -> str:
    """Try to be the one who changes this version."""
    try:
        await graph.update("prize", {"by": rival}, expected_version=version)
    except UgsError as error:
        return error.code
    return "won"


@pytest.mark.parametrize("name", DURABLE)
async def test_f44_a_key_sent_a_hundred_times_has_one_effect_also_after_a_restart(
    name: str, tmp_path: Path, figures: Figures
) -> None:
    effects: set[str] = set()
    with fresh_url(name, tmp_path) as url:
        async with emptied(url) as graph:
            storm = await asyncio.gather(*(graph.add_edge(None, "a", "b", key="same") for _ in range(STORM)))
            effects |= {changed.edge.id for changed in storm}
        async with System.at_url(url) as system:
            graph = Graph(system)
            again = await asyncio.gather(*(graph.add_edge(None, "a", "b", key="same") for _ in range(STORM)))
            effects |= {changed.edge.id for changed in again}
            with pytest.raises(IdempotencyConflict):
                await graph.add_edge(None, "a", "c", key="same")
            stats = await graph.stats()
            position = (await graph.history())[-1].position
    figures.add(f"F44 idempotency storm, {name}", requests=2 * STORM + 1, effects=stats.edges)
    assert len(effects) == 1
    assert (stats.edges, position) == (1, 1)
    assert [changed.repeated for changed in storm].count(False) == 1
    assert all(changed.repeated and changed.warnings == storm[0].warnings for changed in again)


@pytest.mark.parametrize("name", SHARED)
def test_f40_increments_of_many_processes_all_count(name: str, tmp_path: Path, full: bool, figures: Figures) -> None:
    if name == "neo4j" and not full:
        pytest.skip("full tier only (make faults): processes that start and compete take a while on Neo4j")
    processes = PROCESSES if full or name == "sqlite" else 2
    with fresh_url(name, tmp_path) as url, figures.timed(f"F40 increments, {name}"):
        asyncio.run(make_counter(url))
        done = run_all(url, processes)
        value, version = asyncio.run(counted(url))
    wanted = processes * INCREMENTS
    figures.add(f"F40 increments, {name}", processes=processes, increments=value, wanted=wanted)
    assert done == ["done"] * processes
    assert (value, version) == (wanted, wanted + 1)


async def make_counter(url: str) -> None:
    async with emptied(url) as graph:
        await graph.add_node("counter", properties={"value": 0})


async def counted(url: str) -> tuple[int, int]:
    async with System.at_url(url) as system:
        node = await Graph(system).get("counter")
        assert node is not None
        assert (await system.verify()).ok
        return node.properties["value"], node.version


def run_all(url: str, processes: int) -> list[object]:
    if processes == 0:
        return []
    with child(increment, url) as process:
        return [*run_all(url, processes - 1), *process.rest(ALL_RIVALS)]


@pytest.mark.parametrize("name", SHARED)
async def test_f42_writers_in_opposite_order_all_finish(
    name: str, tmp_path: Path, full: bool, figures: Figures
) -> None:
    pairs = 500 if full else 10
    async with gateways(name, tmp_path) as graphs:
        for id in ("a", "b"):
            await graphs[0].add_node(id, properties={"n": 0})
        with figures.timed(f"F42 opposite orders, {name}"):
            for pair in range(pairs):
                forth, back = [touch(id, pair) for id in "ab"], [touch(id, pair) for id in "ba"]
                await asyncio.gather(graphs[0].batch(forth), graphs[1].batch(back))
        versions = [element.version for id in ("a", "b") if (element := await graphs[0].get(id)) is not None]
    figures.add(f"F42 opposite orders, {name}", pairs=pairs, failed=0)
    assert versions == [1 + 2 * pairs] * 2


def touch(id: str, number: int) -> Update:
    return Update(id=id, properties={"n": number})


@pytest.mark.parametrize("name", DURABLE)
async def test_verifying_while_others_write_raises_no_false_alarm(name: str, tmp_path: Path) -> None:
    async with gateways(name, tmp_path) as graphs:
        writing = asyncio.create_task(keep_adding(graphs[-1]))
        verified = [await graphs[0].system.verify() for _ in range(3)]
        writing.cancel()
    assert all(each.ok for each in verified)


async def keep_adding(graph: Graph) -> None:
    while True:
        await graph.add_node(None)
