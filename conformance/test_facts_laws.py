"""Laws of facts, whatever was said in whatever order: one truth at a time, and a past that stays as it was."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct

from conformance.knowing import Know, day
from conformance.loop import run
from conformance.plugin import clause
from conformance.world import World
from ugs.facts.errors import FactConflict
from ugs.facts.instants import instant_of
from ugs.facts.model import Fact
from ugs.facts.queries import Answer
from ugs.moments import At

moments = st.integers(1, 9).map(day)
statements = st.lists(st.tuples(st.sampled_from("ABCD"), moments), min_size=1, max_size=8)
MIDDLE = day(5)


class Recorded(Struct, frozen=True):
    """What a reader was told at a time, and where in the log that was."""

    at: At
    timeline: list[Fact]
    active: list[Fact]
    answer: Answer


async def told(know: Know, at: At | None = None) -> Recorded:
    """What a reader is told now, or would be told of what was known then."""
    here = at or At(position=(await know.world.events())[-1].position)
    return Recorded(
        here,
        await know.facts.timeline("x", at=at),
        await know.facts.active_facts("x", valid_at=MIDDLE, at=at),
        await know.facts.ask("x", MIDDLE, at=at),
    )


@settings(max_examples=15)
@given(said=statements)
@clause("FACT-2", "FACT-52", "FACT-72", "FACT-76", "FACT-78", "FACT-88")
def test_one_fact_holds_where_one_may_and_what_was_known_stays_known(world: World, said: list[tuple[str, str]]) -> None:
    run(check_laws(world, said))


async def check_laws(world: World, said: list[tuple[str, str]]) -> None:
    await world.end()
    await world.begin()
    know = Know(world)
    await know.predicate("is")
    half = len(said) // 2
    across = await say_all(know, said[: half + 1])
    recorded = await told(know)
    across |= await say_all(know, said[half + 1 :])
    await check_single(know, across)
    assert await told(know, recorded.at) == recorded


async def say_all(know: Know, said: list[tuple[str, str]]) -> set[str]:
    """Say it all; answers the facts that were loaded across the past, with a warning."""
    across = set()
    for value, moment in said:
        try:
            done = await know.say("x", "is", value, valid_from=moment)
        except FactConflict:
            continue
        across |= {done.fact.fact_id} if [w for w in done.warnings if w.code == "W103"] else set()
    return across


async def check_single(know: Know, across: set[str]) -> None:
    """What was not loaded across the past leaves one fact at every instant, and nothing holds outside its window."""
    facts = await know.all_facts()
    assert len([fact for fact in facts if fact.valid_to is None]) == 1
    for number in range(1, 12):
        instant = instant_of(day(number))
        active = await know.facts.active_facts("x", valid_at=instant)
        assert all(fact.holds_at(instant) for fact in active)
        assert sorted(fact.fact_id for fact in active) == sorted(f.fact_id for f in facts if f.holds_at(instant))
        assert len([fact for fact in active if fact.fact_id not in across]) <= 1
