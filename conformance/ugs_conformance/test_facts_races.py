"""Many writers at once (faults F30, F31, F32): one fact holds, and nothing that was said is lost."""

from __future__ import annotations

import asyncio
import os
from contextlib import AsyncExitStack
from itertools import pairwise

import pytest

from ugs.clock import FixedClock
from ugs.connect import storage_for
from ugs.facts.api import Facts
from ugs.facts.commands.facts import NoteRef
from ugs.facts.model import ENTITIES, Fact
from ugs.system import System
from ugs_conformance.support.facts_kit import ALICE, Know
from ugs_conformance.support.harness import Harness
from ugs_conformance.support.pytest_plugin import clause
from ugs_conformance.support.store_fixture import StoreUnderTest

WRITERS = int(os.environ.get("UGS_KIT_WRITERS", "200"))
"""How many write at once; the long runs use a thousand."""


@pytest.fixture
def know(world: StoreUnderTest) -> Know:
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
