"""What is told of a command: written while the store is busy, given out when it is durable, and never of another try."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from backends.memory.storage import MemoryStorage
from ugs import System
from ugs.connect import storage_for
from ugs.errors import Conflict, NodeExists, OutcomeUnknown
from ugs.graph.commands import AddNode
from ugs.identity import LOCAL
from ugs.writer import Outcome


class Slow:
    """A store in memory whose commits wait to be let through, and fail as they are told to."""

    def __init__(self, storage: Any) -> None:
        self.storage, self.busy, self.go = storage, asyncio.Event(), asyncio.Event()
        self.failures: list[Exception] = []

    @asynccontextmanager
    async def deciding(self) -> AsyncIterator[Any]:
        failure = self.failures.pop(0) if self.failures else None
        async with MemoryStorage.deciding(self.storage) as session:
            yield session
            self.busy.set()
            await self.go.wait()
            if failure is not None:
                raise failure


@pytest.fixture
async def system() -> AsyncIterator[System]:
    async with System(storage_for("memory:")) as system:
        yield system


@pytest.fixture
def slow(system: System, monkeypatch: pytest.MonkeyPatch) -> Slow:
    slow = Slow(system.storage)
    monkeypatch.setattr(system.storage, "deciding", slow.deciding)
    return slow


class Told:
    """Remembers what it was asked to tell of."""

    def __init__(self) -> None:
        self.of: list[Outcome] = []

    def __call__(self, outcome: Outcome) -> str:
        self.of.append(outcome)
        return f"{outcome.events[0].element} at {outcome.events[0].position}"


async def test_an_answer_is_written_while_the_store_is_busy_and_given_out_when_it_is_done(
    system: System, slow: Slow
) -> None:
    told = Told()
    going = system.begin(AddNode(id="a"), LOCAL, told)
    await slow.busy.wait()
    await asyncio.sleep(0)
    assert len(told.of) == 1
    assert not going.done()
    slow.go.set()
    assert await going == "a at 1"
    assert len(told.of) == 1


async def test_what_was_told_of_a_failed_try_is_not_given_out(system: System, slow: Slow) -> None:
    slow.failures = [Conflict("too late", at_once=True)]
    slow.go.set()
    tries: list[Outcome] = []

    def tell(outcome: Outcome) -> Outcome:
        tries.append(outcome)
        return outcome

    given = await system.begin(AddNode(id="a"), LOCAL, tell)
    assert len(tries) == 2
    assert given is tries[1]


async def test_a_change_that_is_not_done_is_refused_whatever_was_told(system: System, slow: Slow) -> None:
    slow.failures, told = [ValueError("a bug")], Told()
    slow.go.set()
    with pytest.raises(ValueError, match="a bug"):
        await system.begin(AddNode(id="a"), LOCAL, told)


async def test_a_refusal_is_told_to_nobody(system: System) -> None:
    await system.execute(AddNode(id="a"))
    told = Told()
    with pytest.raises(NodeExists):
        await system.begin(AddNode(id="a"), LOCAL, told)
    assert told.of == []


async def test_what_goes_wrong_in_telling_is_the_askers_own_and_nobody_elses(system: System) -> None:
    def fail(outcome: Outcome) -> str:
        raise KeyError("asker")

    bad, good = system.begin(AddNode(id="a"), LOCAL, fail), system.begin(AddNode(id="b"), LOCAL, Told())
    with pytest.raises(KeyError, match="asker"):
        await bad
    assert await good == "b at 2"


async def test_whoever_has_given_up_is_told_nothing_and_the_change_is_made(system: System, slow: Slow) -> None:
    told = Told()
    going = system.begin(AddNode(id="a"), LOCAL, told)
    await slow.busy.wait()
    going.cancel()
    slow.go.set()
    assert (await system.execute(AddNode(id="b"))).events[0].position == 2
    assert len(told.of) <= 1


async def test_a_commit_whose_outcome_was_unknown_is_told_once_it_is_known(system: System, slow: Slow) -> None:
    slow.failures, told = [OutcomeUnknown("the connection broke")], Told()
    slow.go.set()
    assert await system.begin(AddNode(id="a"), LOCAL, told) == "a at 1"
