"""The bus: whoever waits hears of everything that concerns them, once and in order, whoever wrote it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from ugs import Graph, System
from ugs.bus import EVERYTHING, Bus, Interest
from ugs.events import Event
from ugs.storage import EventQuery

ELEMENTS = ("a", "b", "c", "d")


@pytest.fixture
async def written() -> AsyncIterator[tuple[Bus, list[Event]]]:
    """A bus that has heard of nothing yet, and the events of its log."""
    async with System.at_url("memory:") as system:
        for id in ELEMENTS:
            await Graph(system).add_node(id)
        async with system.session() as session:
            yield Bus(system.storage), list(await session.events(EventQuery()))


def hearing(bus: Bus, many: int, interest: Interest = EVERYTHING) -> asyncio.Task[list[str | None]]:
    async def take() -> list[str | None]:
        events = bus.follow(0, interest)
        async with asyncio.timeout(10):
            return [(await anext(events)).element for _ in range(many)]

    return asyncio.create_task(take())


async def test_what_others_wrote_before_our_own_event_is_heard_first(written: tuple[Bus, list[Event]]) -> None:
    bus, events = written
    heard = hearing(bus, 4)
    await asyncio.sleep(0)
    bus.publish(events[1:2])  # the first one is another process's, and no watcher has told of it
    await asyncio.sleep(0)
    bus.publish(events[3:])
    assert await heard == list(ELEMENTS)


async def test_ours_and_theirs_in_any_order_are_told_once(written: tuple[Bus, list[Event]]) -> None:
    bus, events = written
    heard = hearing(bus, 4)
    await asyncio.sleep(0)
    bus.note_commit(2)
    bus.publish(events[1:2])
    bus.note_commit(4)
    bus.publish(events[2:3])
    assert await heard == list(ELEMENTS)


async def test_only_those_are_woken_whom_an_event_concerns(written: tuple[Bus, list[Event]]) -> None:
    bus, events = written
    one, other = hearing(bus, 1, Interest(element="b")), hearing(bus, 1, Interest(element="zz"))
    await asyncio.sleep(0)
    for event in events:
        bus.publish([event])
    assert await one == ["b"]
    assert not other.done()
    other.cancel()


async def test_a_gap_in_what_is_published_is_read_from_the_log(written: tuple[Bus, list[Event]]) -> None:
    bus, events = written
    bus.note_commit(4)
    bus.publish(events[1:2])
    bus.publish(events[3:])
    found, reached = await bus.read(1)
    assert ([event.element for event in found], reached) == (["b", "c", "d"], 4)


async def test_what_was_published_in_order_is_kept_at_hand(written: tuple[Bus, list[Event]]) -> None:
    bus, events = written
    bus.publish(events[:2])
    bus.publish(events[2:3])
    bus.note_commit(3)
    assert list(bus._tail) == events[:3]
    bus.note_commit(4)
    assert not bus._tail


async def test_whoever_waits_for_a_position_waits_until_the_log_is_beyond(written: tuple[Bus, list[Event]]) -> None:
    bus, events = written
    waiting = asyncio.create_task(bus.wait_beyond(2))
    bus.publish(events[:2])
    await asyncio.sleep(0.01)
    assert not waiting.done()
    bus.publish(events[2:3])
    async with asyncio.timeout(10):
        await waiting
        await bus.wait_beyond(2)


async def test_what_is_kept_at_hand_is_told_by_interest(written: tuple[Bus, list[Event]]) -> None:
    bus, events = written
    bus.publish(events)
    for interest, told in (
        (Interest(types=frozenset({"NodeAdded"})), list(ELEMENTS)),
        (Interest(types=frozenset({"EdgeAdded"})), []),
        (Interest(element="c"), ["c"]),
        (Interest("c", frozenset({"EdgeAdded"})), []),
    ):
        found, reached = await bus.read(0, interest)
        assert ([event.element for event in found], reached) == (told, 4)
