"""Large groups: commands decided together see each other's work, and refusals leave no trace."""

from __future__ import annotations

import asyncio

from ugs import System
from ugs.facts.api import Facts
from ugs.facts.commands.facts import NoteRef
from ugs.facts.errors import EvidenceRequired
from ugs.facts.model import ENTITIES, FACTS
from ugs.table_overlay import INDEX_THRESHOLD

GROUP_SIZE = INDEX_THRESHOLD * 4


async def test_a_large_group_decides_as_if_one_by_one() -> None:
    """Facts about few subjects, refusals in between, and names that come again: equal to the same, one at a time."""
    told = []
    for together in (True, False):
        async with System.at_url("memory:") as system:
            facts = Facts(system)
            await facts.register_predicate("is", status="active", cardinality="single")
            acts = [one_of(facts, number) for number in range(GROUP_SIZE)]
            if together:
                await asyncio.gather(*acts)
            else:
                for act in acts:
                    await act
            async with system.session() as session:
                rows = await session.fetch(FACTS)
                names = {row.entity_id: row.canonical for row in await session.fetch(ENTITIES)}
            told.append(
                sorted((names[row.subject_entity_id], row.object_value or "", row.valid_to is None) for row in rows)
            )
            assert (await system.verify()).ok
    assert told[0] == told[1]
    assert [entry[2] for entry in told[0]].count(True) == 5


async def one_of(facts: Facts, number: int) -> None:
    subject = f"S{number % 5}" if number % 2 else f" s{number % 5} "
    if number % 7 == 3:
        try:
            await facts.add_fact(subject, "is", "nothing", notes=[])
        except EvidenceRequired:
            return
    await facts.add_fact(subject.upper(), "is", f"v{number % 11}", notes=[NoteRef(text=f"n{number}")])


async def test_what_a_refused_command_staged_is_gone_for_those_behind_it() -> None:
    async with System.at_url("memory:") as system:
        facts = Facts(system)
        kept = [facts.upsert_entity(f"E{number}") for number in range(GROUP_SIZE)]
        # The second entity of each pair is refused after the first was staged in the unit of work.
        refused = [
            facts.add_fact(f"ghost {number}", "knows", object="  ", notes=[NoteRef(text="x")])
            for number in range(GROUP_SIZE)
        ]
        done = await asyncio.gather(
            *(act for pair in zip(kept, refused, strict=True) for act in pair), return_exceptions=True
        )
        assert [getattr(one, "code", "done") for one in done[1::2]] == ["INVALID_FACT"] * GROUP_SIZE
        again = await asyncio.gather(*(facts.upsert_entity(f"ghost {number}") for number in range(GROUP_SIZE)))
        async with system.session() as session:
            assert await session.count(ENTITIES) == 2 * GROUP_SIZE
        assert len({entity.entity_id for entity in again}) == GROUP_SIZE
