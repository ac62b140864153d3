"""The writer gives out outcomes when they are durable, and never those of another try."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from ugs import System
from ugs.connect import storage_for
from ugs.errors import Conflict, NodeExists, OutcomeUnknown
from ugs.graph.commands import AddNode
from ugs.identity import LOCAL
from ugs.storage import EventQuery
from ugs_backends.memory.storage import MemoryStorage


class Slow:
    """A store in memory whose commits wait to be let through, and fail as they are told to."""

    def __init__(self, storage: Any) -> None:
        self.storage, self.busy, self.go = storage, asyncio.Event(), asyncio.Event()
        self.failures: list[Exception] = []
        self.lost_answers: list[Exception] = []

    @asynccontextmanager
    async def decision_session(self) -> AsyncIterator[Any]:
        failure = self.failures.pop(0) if self.failures else None
        async with MemoryStorage.decision_session(self.storage) as session:
            yield session
            self.busy.set()
            await self.go.wait()
            if failure is not None:
                raise failure
        if self.lost_answers:
            raise self.lost_answers.pop(0)


@pytest.fixture
async def system() -> AsyncIterator[System]:
    async with System(storage_for("memory:")) as system:
        yield system


@pytest.fixture
def slow(system: System, monkeypatch: pytest.MonkeyPatch) -> Slow:
    slow = Slow(system.storage)
    monkeypatch.setattr(system.storage, "decision_session", slow.decision_session)
    return slow


async def test_an_outcome_is_given_out_when_it_is_durable(system: System, slow: Slow) -> None:
    pending = system.submit(AddNode(id="a"), LOCAL)
    await slow.busy.wait()
    await asyncio.sleep(0)
    assert not pending.done()
    slow.go.set()
    assert [(event.element, event.position) for event in (await pending).events] == [("a", 1)]


async def test_the_outcome_is_that_of_the_try_that_was_stored(system: System, slow: Slow) -> None:
    slow.failures = [Conflict("too late", at_once=True)]
    slow.go.set()
    outcome = await system.submit(AddNode(id="a"), LOCAL)
    async with system.session() as session:
        assert await session.events(EventQuery()) == outcome.events


async def test_a_command_whose_commit_fails_is_refused(system: System, slow: Slow) -> None:
    slow.failures = [ValueError("a bug")]
    slow.go.set()
    with pytest.raises(ValueError, match="a bug"):
        await system.submit(AddNode(id="a"), LOCAL)
    async with asyncio.timeout(10):
        outcome = await system.submit(AddNode(id="b"), LOCAL)
    async with system.session() as session:
        assert await session.events(EventQuery()) == outcome.events, "the next one is done"


async def test_nobody_watches_a_system_that_is_closed() -> None:
    async with System(storage_for("memory:")) as system:
        watching = system._watching
        assert watching is not None and not watching.done()
    assert watching.cancelled()


async def test_a_refusal_is_raised(system: System) -> None:
    await system.execute(AddNode(id="a"))
    with pytest.raises(NodeExists):
        await system.submit(AddNode(id="a"), LOCAL)


async def test_a_command_whose_caller_has_given_up_is_done(system: System, slow: Slow) -> None:
    pending = system.submit(AddNode(id="a"), LOCAL)
    await slow.busy.wait()
    pending.cancel()
    slow.go.set()
    assert (await system.execute(AddNode(id="b"))).events[0].position == 2


async def test_a_commit_whose_outcome_was_unknown_is_answered_once_it_is_known(system: System, slow: Slow) -> None:
    slow.failures = [OutcomeUnknown("the connection broke")]
    slow.go.set()
    outcome = await system.submit(AddNode(id="a"), LOCAL)
    slow.lost_answers = [OutcomeUnknown("the connection broke behind the commit")]
    second = await system.submit(AddNode(id="b"), LOCAL)
    async with system.session() as session:
        assert await session.events(EventQuery()) == [*outcome.events, *second.events]
