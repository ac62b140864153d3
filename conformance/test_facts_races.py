"""Many writers at once (faults F30, F31, F32) and the laws that hold whatever happens."""

from __future__ import annotations

import asyncio
import os
from contextlib import AsyncExitStack
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.harness import Harness
from conformance.knowing import ALICE, Know, day
from conformance.loop import run
from conformance.plugin import clause
from conformance.world import World
from ugs.clock import FixedClock
from ugs.connect import storage_for
from ugs.facts.api import Facts
from ugs.facts.asserting import NoteRef
from ugs.facts.errors import FactConflict
from ugs.facts.instants import instant_of
from ugs.facts.model import ENTITIES, Fact
from ugs.system import System

WRITERS = int(os.environ.get("UGS_KIT_WRITERS", "200"))
"""How many write at once; the long runs use a thousand."""


@pytest.fixture
def know(world: World) -> Know:
    return Know(world)


async def doors(know: Know, harness: Harness, stack: AsyncExitStack) -> list[Facts]:
    """The store through two systems with clocks that differ, where it can be opened twice; else through one."""
    if await harness.lacks("concurrent_writers") is not None:
        return [know.facts]
    clock = FixedClock(know.world.clock.moment - 999)
    second = await stack.enter_async_context(System(storage_for(harness.url), clock, harness.catalog))
    return [know.facts, Facts(second, ALICE)]


def check_chain(facts: list[Fact]) -> None:
    """One open fact, and each of the others ends where the next one begins."""
    ordered = sorted(facts, key=lambda fact: fact.valid_from)
    assert [fact.valid_to for fact in ordered] == [after.valid_from for _, after in pairwise(ordered)] + [None]


@clause("FACT-2", "FACT-70", "FACT-72", "FACT-73", "FACT-79")
async def test_many_writers_of_one_single_valued_fact_leave_one_open_chain(know: Know, harness: Harness) -> None:
    await know.predicate("works_at")
    await know.facts.upsert_entity("alice")
    async with AsyncExitStack() as stack:
        writers = await doors(know, harness, stack)
        done = await asyncio.gather(
            *(
                writers[n % len(writers)].add_fact("alice", "works_at", f"c{n % 150}", notes=[NoteRef(text=f"n{n}")])
                for n in range(WRITERS)
            )
        )
    facts = await know.all_facts()
    created = [one for one in done if one.created]
    check_chain(facts)
    assert len(facts) == len(created)
    assert len(await know.supersessions()) == len(facts) - 1
    assert len(await know.evidence()) == WRITERS
    assert {link.from_fact_id for link in await know.supersessions()} == {f.fact_id for f in facts if f.valid_to}
    assert (await know.world.system.verify()).ok


@clause("FACT-2", "FACT-62", "FACT-80", "FACT-81", "FACT-79")
async def test_many_writers_of_the_same_fact_make_one_row_with_all_evidence(know: Know, harness: Harness) -> None:
    async with AsyncExitStack() as stack:
        writers = await doors(know, harness, stack)
        done = await asyncio.gather(
            *(
                writers[n % len(writers)].add_fact("alice", "likes", "tea", notes=[NoteRef(text=f"n{n}")])
                for n in range(WRITERS)
            )
        )
    assert len({one.fact.fact_id for one in done}) == len(await know.all_facts()) == 1
    assert [one.created for one in done].count(True) == 1
    assert len(await know.evidence()) == WRITERS


@clause("FACT-13", "FACT-15", "FACT-77")
async def test_many_spellings_of_one_name_make_one_entity(know: Know, harness: Harness) -> None:
    spellings = ["Alice Doe", " alice   doe", "ALICE\tDOE ", "aLICE dOE"]
    async with AsyncExitStack() as stack:
        writers = await doors(know, harness, stack)
        done = await asyncio.gather(
            *(writers[n % len(writers)].upsert_entity(spellings[n % 4], f"k{n % 2}") for n in range(WRITERS))
        )
    assert len({entity.entity_id for entity in done}) == len(await know.rows(ENTITIES)) == 1


moments = st.integers(1, 9).map(day)
statements = st.lists(st.tuples(st.sampled_from("ABCD"), moments), min_size=1, max_size=8)


@settings(max_examples=15)
@given(said=statements)
@clause("FACT-2", "FACT-52", "FACT-72", "FACT-76", "FACT-78")
def test_at_most_one_fact_holds_where_one_may(world: World, said: list[tuple[str, str]]) -> None:
    run(check_single(world, said))


async def check_single(world: World, said: list[tuple[str, str]]) -> None:
    """Statements in any order: whatever was not loaded across the past leaves one fact at every instant."""
    await world.end()
    await world.begin()
    know = Know(world)
    await know.predicate("is")
    across = set()
    for value, moment in said:
        try:
            done = await know.say("x", "is", value, valid_from=moment)
        except FactConflict:
            continue
        across |= {done.fact.fact_id} if [w for w in done.warnings if w.code == "W103"] else set()
    facts = await know.all_facts()
    assert len([fact for fact in facts if fact.valid_to is None]) == 1
    for number in range(1, 12):
        instant = instant_of(day(number))
        active = await know.facts.active_facts("x", valid_at=instant)
        assert all(fact.holds_at(instant) for fact in active)
        assert sorted(fact.fact_id for fact in active) == sorted(f.fact_id for f in facts if f.holds_at(instant))
        assert len([fact for fact in active if fact.fact_id not in across]) <= 1


@clause("FACT-1", "FACT-3")
async def test_a_copy_keeps_facts_ids_and_timelines(know: Know, harness: Harness) -> None:
    await know.predicate("works_at")
    for number, value in ((1, "A"), (3, "B"), (2, "C")):
        await know.say("alice", "works_at", value, valid_from=day(number))
    ids = [(await know.facts.upsert_entity(name)).entity_id for name in ("alice", "alicia")]
    await know.facts.merge_entities(*ids)
    copy = storage_for("memory:")
    await copy.open(harness.catalog)
    try:
        assert await know.world.system.copy_to(copy) == await know.world.system.digest()
        other = Facts(System(copy, know.world.clock, harness.catalog), ALICE)
        assert await other.timeline("alicia") == await know.facts.timeline("alice")
        assert await other.find_entity(ids[1]) == await know.facts.find_entity(ids[0])
    finally:
        await copy.close()
