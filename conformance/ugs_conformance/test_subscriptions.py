"""Events as they happen: in order, none lost, none twice, resumable, also from another process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from ugs.connect import storage_for
from ugs.events import Event
from ugs.graph.api import Graph
from ugs.graph.commands import AddNode
from ugs.system import System
from ugs_conformance.support.harness import Harness
from ugs_conformance.support.pytest_plugin import clause, needs
from ugs_conformance.support.store_fixture import StoreUnderTest

TIMEOUT_SECONDS = 15


async def take(events: AsyncIterator[Event], many: int) -> list[Event]:
    """The next events, within reason."""
    async with asyncio.timeout(TIMEOUT_SECONDS):
        return [await anext(events) for _ in range(many)]


@clause("UGS-3", "UGS-73")
async def test_a_subscriber_hears_everything_from_now_on(world: StoreUnderTest) -> None:
    await world.graph.add_node("before")
    events = world.system.subscribe()

    heard = asyncio.create_task(take(events, 3))
    await asyncio.sleep(0)
    await world.graph.batch([AddNode(id="a"), AddNode(id="b")])
    await world.graph.delete("a")

    assert await heard == (await world.events())[1:]


@clause("UGS-3", "UGS-75")
async def test_a_subscriber_resumes_after_any_position(world: StoreUnderTest) -> None:
    await asyncio.gather(*(world.graph.add_node(f"n{n}") for n in range(20)))
    log = await world.events()

    for after in (0, 7, 19):
        assert await take(world.system.subscribe(after), 20 - after) == log[after:]


@clause("UGS-3", "UGS-75")
async def test_nothing_is_lost_or_doubled_while_writing_goes_on(world: StoreUnderTest) -> None:
    await world.graph.add_node("first")
    slow = asyncio.create_task(take(world.system.subscribe(0), 41))
    fast = asyncio.create_task(take(world.system.subscribe(0), 41))
    for round in range(4):
        await asyncio.gather(*(world.graph.add_node(f"n{round}_{n}") for n in range(10)))

    assert await slow == await fast == await world.events()


@needs("durable")
@clause("UGS-207", "UGS-3")
async def test_a_subscriber_resumes_over_a_restart(world: StoreUnderTest) -> None:
    for n in range(3):
        await world.graph.add_node(f"n{n}")
    graph = await world.restart()
    events = world.system.subscribe(1)
    await graph.add_node("later")

    assert [event.element for event in await take(events, 3)] == ["n1", "n2", "later"]


@needs("concurrent_writers")
@clause("UGS-3", "UGS-75")
async def test_a_second_process_hears_the_first(world: StoreUnderTest, harness: Harness) -> None:
    async with System(storage_for(harness.url), world.clock, harness.catalog) as second:
        heard = asyncio.create_task(take(second.subscribe(0), 3))
        await world.graph.add_node("ours")
        await Graph(second).add_node("theirs")
        await world.graph.add_node("ours_too")

        assert [event.element for event in await heard] == ["ours", "theirs", "ours_too"]


@clause("UGS-58", "UGS-3")
async def test_the_store_tells_where_its_log_ends(world: StoreUnderTest) -> None:
    await world.graph.add_node("a")
    positions = world.storage.watch(0)
    async with asyncio.timeout(TIMEOUT_SECONDS):
        first = await anext(positions)
        later = asyncio.ensure_future(anext(positions))
        await world.graph.add_node("b")
        second = await later

    assert (first, second) == (1, 2)
