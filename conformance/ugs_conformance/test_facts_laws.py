"""Laws of facts, whatever was said in whatever order: one truth at a time, and a past that stays as it was."""

from __future__ import annotations

from contextlib import suppress
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct

from ugs.facts.errors import FactConflict
from ugs.facts.model import Fact
from ugs.facts.queries import Answer
from ugs.facts.temporal.instants import instant_of
from ugs.log.at import At
from ugs_conformance.support.event_loop import run
from ugs_conformance.support.facts_kit import Know, day, validity_of
from ugs_conformance.support.pytest_plugin import clause
from ugs_conformance.support.store_fixture import StoreUnderTest

moments = st.integers(1, 9).map(day)
statements = st.lists(st.tuples(st.sampled_from("ABCD"), moments), min_size=1, max_size=8)
MIDDLE = day(5)


class Recorded(Struct, frozen=True):
    """What a reader was told at a time, and where in the log that was."""

    at: At
    timeline: list[Fact]
    active: list[Fact]
    answer: Answer


async def read_facts(know: Know, at: At | None = None) -> Recorded:
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
def test_one_fact_holds_where_one_may_and_what_was_known_stays_known(
    world: StoreUnderTest, said: list[tuple[str, str]]
) -> None:
    run(check_laws(world, said))


async def check_laws(world: StoreUnderTest, said: list[tuple[str, str]]) -> None:
    await world.end()
    await world.begin()
    know = Know(world)
    await know.predicate("is")
    half = len(said) // 2
    await assert_all(know, said[: half + 1])
    recorded = await read_facts(know)
    await assert_all(know, said[half + 1 :])
    await check_single(know)
    assert await read_facts(know, recorded.at) == recorded


orders = st.lists(st.integers(1, 14), min_size=2, max_size=6, unique=True).flatmap(
    lambda days: st.tuples(st.just(tuple(zip("ABCDEF", days, strict=False))), st.permutations(range(len(days))))
)
"""Facts with values and beginnings of their own, and an order in which they arrive; the tenth is today."""


@settings(max_examples=25)
@given(case=orders)
@clause("FACT-72", "FACT-73", "FACT-78", "FACT-88")
def test_the_timeline_does_not_depend_on_the_order_of_arrival(
    world: StoreUnderTest, case: tuple[tuple[tuple[str, int], ...], list[int]]
) -> None:
    run(check_order(world, *case))


async def check_order(world: StoreUnderTest, facts: tuple[tuple[str, int], ...], order: list[int]) -> None:
    await world.end()
    await world.begin()
    know = Know(world)
    await know.predicate("is")
    for index in order:
        value, number = facts[index]
        await know.say("x", "is", value, valid_from=day(number))
    timeline = sorted(facts, key=lambda fact: fact[1])
    for number in range(1, 16):
        begun = [value for value, begins in timeline if begins <= number]
        assert await know.values("x", day(number)) == begun[-1:]
    if timeline[-1][1] <= 10:
        rows = await know.all_facts()
        ends = [*(day(begins) for _, begins in timeline[1:]), None]
        assert [validity_of(row) for row in rows] == [
            (day(begins), end) for (_, begins), end in zip(timeline, ends, strict=True)
        ]
        links = {(link.from_fact_id, link.to_fact_id) for link in await know.supersessions()}
        assert links == {(one.fact_id, other.fact_id) for one, other in pairwise(rows)}
    assert (await world.system.verify()).ok


async def assert_all(know: Know, said: list[tuple[str, str]]) -> None:
    """Say it all; what would begin together with another value is refused."""
    for value, moment in said:
        with suppress(FactConflict):
            await know.say("x", "is", value, valid_from=moment)


async def check_single(know: Know) -> None:
    """One fact holds at every instant, and nothing holds outside its validity_of."""
    facts = await know.all_facts()
    assert len([fact for fact in facts if fact.valid_to is None]) == 1
    for number in range(1, 12):
        instant = instant_of(day(number))
        active = await know.facts.active_facts("x", valid_at=instant)
        assert all(fact.holds_at(instant) for fact in active)
        assert [fact.fact_id for fact in active] == [f.fact_id for f in facts if f.holds_at(instant)]
        assert len(active) <= 1
