"""The bus: whom an event concerns is woken, everybody else sleeps on, and nothing is lost, doubled or out of order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from ugs.bus import CHUNK, TAIL, Interest
from ugs.events import Event
from ugs.graph.commands import AddNode, Update
from ugs.system import System


@pytest.fixture
async def system() -> AsyncIterator[System]:
    async with System.at_url("memory:") as system:
        yield system


async def add(system: System, *ids: str) -> None:
    for id in ids:
        await system.execute(AddNode(id=id))


async def take(events: AsyncIterator[Event], many: int) -> list[str | None]:
    async with asyncio.timeout(20):
        return [(await anext(events)).element for _ in range(many)]


async def test_only_those_whom_an_event_concerns_are_woken(system: System) -> None:
    idle = [asyncio.create_task(take(system.subscribe(0, Interest(element=f"never{n}")), 1)) for n in range(100)]
    wanted = asyncio.create_task(take(system.subscribe(0, Interest(element="b")), 2))
    await asyncio.sleep(0)
    waiting = system.bus._waiting
    await asyncio.sleep(0)
    before = {mark: list(waiters) for mark, waiters in waiting.items() if mark[1].startswith("never")}
    await add(system, "a", "b", "c")
    await system.execute(Update(id="b", properties={"n": 1}))
    assert await wanted == ["b", "b"]
    assert len(before) == 100
    assert {mark: list(waiters) for mark, waiters in waiting.items() if mark in before} == before
    for task in idle:
        task.cancel()
    await asyncio.wait(idle)
    assert not waiting


async def test_types_are_an_interest_too(system: System) -> None:
    updates = asyncio.create_task(take(system.subscribe(0, Interest(types=frozenset({"NodeUpdated"}))), 1))
    await add(system, "a", "b")
    await system.execute(Update(id="b", properties={"n": 1}))
    assert await updates == ["b"]


async def test_who_comes_late_finds_everything_in_the_log(system: System) -> None:
    many = [f"n{number}" for number in range(CHUNK + 20)]
    await add(system, *many)
    system.bus._tail.clear()
    assert await take(system.subscribe(0), len(many)) == many
    assert await take(system.subscribe(0, Interest(element="n7")), 1) == ["n7"]
    assert await take(system.subscribe(CHUNK), 20) == many[CHUNK:]


async def test_a_slow_subscriber_hears_all_the_same(system: System) -> None:
    heard = system.subscribe(0)
    await add(system, "first")
    assert await take(heard, 1) == ["first"]
    await asyncio.gather(*(system.execute(AddNode(id=f"n{number}")) for number in range(TAIL + 100)))
    assert len(set(await take(heard, TAIL + 100))) == TAIL + 100


async def test_what_another_process_wrote_is_read_from_the_log(system: System) -> None:
    heard = asyncio.create_task(take(system.subscribe(0, Interest(element="theirs")), 1))
    await asyncio.sleep(0)
    system._writer._publish = lambda events: None  # as if the commit had been another's
    await add(system, "theirs")
    assert not heard.done()
    system.bus.heard(1)
    assert await heard == ["theirs"]
