"""F01, F41, F59, F60: a process that is killed at any moment loses nothing it has acknowledged and repeats nothing."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from msgspec import Struct, field

from tests.faults.children import child
from tests.faults.figures import Figures
from tests.faults.load import (
    WRITERS,
    Audit,
    audit,
    audit_at,
    rebuild_past,
    write_and_look_back,
    write_many,
    write_until_killed,
)
from tests.faults.stores import EMBEDDED, fresh_url, with_options
from ugs.log.at import At
from ugs.system import System
from ugs_conformance.test_row_versions import replayed, state_of

LONGEST_LIFE = {"file": 0.030, "sqlite": 0.100}
CYCLES_A_STORE = 100


class Killed(Struct):
    """What many short lives did to one store."""

    acknowledged: set[int] = field(default_factory=set)
    refused: list[str] = field(default_factory=list)
    next: list[int] = field(default_factory=lambda: list(range(WRITERS)))
    """Where each writer goes on: with the first number that it was not told about."""

    def hear(self, said: list[object]) -> None:
        for word in said:
            if isinstance(word, int):
                self.acknowledged.add(word)
                self.next[word % WRITERS] = word + WRITERS
            elif word != "ready":
                self.refused.append(str(word))


def live_and_die(url: str, told: Killed, life: float, work: Callable[..., None] = write_until_killed) -> None:
    """One life: open, write, be killed."""
    with child(work, url, told.next) as process:
        told.hear([process.tell()])
        time.sleep(life)
        told.hear(process.kill())


def kill_loop(url: str, cycles: int, chance: Random) -> tuple[Killed, Audit]:
    told, longest = Killed(), LONGEST_LIFE[url.partition(":")[0]]
    for _ in range(cycles):
        live_and_die(url, told, chance.uniform(0, longest))
    return told, asyncio.run(audit_at(url, told.acknowledged))


def count(fault: str, figures: Figures, cycles: int, rounds: list[tuple[Killed, Audit]]) -> None:
    figures.add(
        fault,
        cycles=cycles,
        acknowledged=sum(len(told.acknowledged) for told, _ in rounds),
        lost=sum(audit.lost for _, audit in rounds),
        duplicated=sum(audit.duplicated for _, audit in rounds),
        refused_starts=sum(len(told.refused) for told, _ in rounds),
    )


def test_f01_kill_9_loses_and_doubles_nothing_in_a_data_folder(
    tmp_path: Path, full: bool, figures: Figures, chance: Random
) -> None:
    cycles = 1000 if full else 50
    rounds = []
    with figures.timed("F01 kill -9, file"):
        for start in range(0, cycles, CYCLES_A_STORE):
            # A snapshot every 40 events: kills fall into snapshots as well.
            url = with_options(f"file:{tmp_path}/{start}", snapshot_every=40)
            rounds.append(kill_loop(url, min(CYCLES_A_STORE, cycles), chance))
    count("F01 kill -9, file", figures, cycles, rounds)
    assert all(told.refused == [] for told, _ in rounds)
    assert all(audit.clean for _, audit in rounds), rounds
    assert any(told.acknowledged for told, _ in rounds)


def test_f41_kill_9_loses_and_doubles_nothing_in_sqlite(
    tmp_path: Path, full: bool, figures: Figures, chance: Random
) -> None:
    cycles = 300 if full else 15
    with figures.timed("F41 kill -9, sqlite"):
        told, audit = kill_loop(f"sqlite:///{tmp_path}/data.sqlite", cycles, chance)
    count("F41 kill -9, sqlite", figures, cycles, [(told, audit)])
    assert told.refused == []
    assert audit.clean, audit
    assert told.acknowledged
    with sqlite3.connect(tmp_path / "data.sqlite") as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


async def audit_with_past(url: str, acknowledged: set[int], chance: Random) -> Audit:
    """Audit the store after it was asked for the past, and compare some of the past with a replay."""
    async with System.at_url(url) as system:
        end = system.bus.position
        for position in {0, end, *(chance.randint(0, end) for _ in range(3))}:
            past = await system.moments.store_at(At(position=position))
            async with replayed(system.storage, system.catalog, position) as expected:
                assert await state_of(past, system.catalog) == await state_of(expected, system.catalog), position
        return await audit(system, acknowledged)


@pytest.mark.parametrize("name", EMBEDDED)
def test_f59_kill_9_while_the_past_is_read_leaves_present_and_past_whole(
    name: str, tmp_path: Path, full: bool, figures: Figures, chance: Random
) -> None:
    cycles, told = 200 if full else 5, Killed()
    fault = f"F59 kill -9 while the past is read, {name}"
    with fresh_url(name, tmp_path) as url, figures.timed(fault):
        for _ in range(cycles):
            live_and_die(url, told, chance.uniform(0, 0.3), write_and_look_back)
        audited = asyncio.run(audit_with_past(url, told.acknowledged, chance))
    count(fault, figures, cycles, [(told, audited)])
    assert told.refused == []
    assert audited.clean, audited
    assert told.acknowledged


def test_f60_a_rebuild_of_the_history_that_is_killed_goes_on_where_it_ended(
    tmp_path: Path, full: bool, figures: Figures, chance: Random
) -> None:
    events, reached = 60_000 if full else 6_000, [0]
    fault = "F60 kill -9 while the history is rebuilt, sqlite"
    url = f"sqlite:///{tmp_path}/data.sqlite"
    with figures.timed(fault):
        asyncio.run(write_many(url, events))
        while reached[-1] < events:
            with child(rebuild_past, url, []) as process:
                first = process.tell()
                # Where the one before was killed: it may have told less than it had stored, never more.
                assert isinstance(first, int) and first >= reached[-1], (first, reached)
                time.sleep(chance.uniform(0, 0.5))
                told = [word for word in process.kill() if isinstance(word, int)]
            assert told == sorted(told)
            reached.append(max([first, *told]))
        found = asyncio.run(verify(url))
    figures.add(fault, lives=len(reached) - 1, events=events)
    assert len(reached) > 2, "nothing was interrupted"
    assert found, "the versions differ from those of a replay"


async def verify(url: str) -> bool:
    async with System.at_url(url) as system:
        return (await system.verify()).ok and await system.storage.history_end() == system.bus.position
