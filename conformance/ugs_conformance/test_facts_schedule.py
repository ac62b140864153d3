"""Scheduled facts: they take over at their instant, and break nothing before."""

from __future__ import annotations

from itertools import permutations

import pytest

from ugs_conformance.support.event_loop import run_on_loop
from ugs_conformance.support.facts_kit import Know, day
from ugs_conformance.support.store_fixture import StoreUnderTest

MOVES = {"Bern": day(1), "Rome": day(9), "Oslo": day(10), "Mars": day(20, 4)}


@run_on_loop
@pytest.mark.parametrize("order", [("Bern", "Mars", "Rome", "Oslo"), *list(permutations(MOVES))[5::6]], ids="-".join)
async def test_a_scheduled_fact_breaks_nothing_before_its_day(world: StoreUnderTest, order: tuple[str, ...]) -> None:
    """Bern is past, Mars is in a hundred days, Rome and Oslo are said now: Oslo alone holds now."""
    know = Know(world)
    await know.predicate("lives in")
    for place in order:
        await know.say("Ann", "lives in", place, valid_from=MOVES[place])

    assert await know.values("Ann", day(5)) == ["Bern"]
    assert await know.values("Ann", day(9)) == ["Rome"]
    assert await know.values("Ann") == ["Oslo"]
    assert await know.values("Ann", day(19, 4)) == ["Oslo"]
    assert await know.values("Ann", day(20, 4)) == ["Mars"]
    rows = {fact.object_value: fact for fact in await know.all_facts()}
    links = {(link.from_fact_id, link.to_fact_id) for link in await know.supersessions()}
    assert (rows["Rome"].fact_id, rows["Oslo"].fact_id) in links


@run_on_loop
async def test_when_a_scheduled_fact_begins_the_older_one_is_closed_for_every_reader(world: StoreUnderTest) -> None:
    know = Know(world)
    await know.predicate("lives in")
    await know.say("Ann", "lives in", "Oslo", valid_from=day(1))
    await know.say("Ann", "lives in", "Mars", valid_from=day(20))

    know.set_clock(day(21))

    assert await know.values("Ann") == ["Mars"]
    answer = await know.facts.ask("Ann")
    assert [fact.object_value for fact in answer.facts] == ["Mars"]
    report = await know.facts.report("Ann")
    assert [(one.fact.object_value, one.state) for one in report.facts] == [("Oslo", "historical"), ("Mars", "current")]


@run_on_loop
async def test_other_spellings_mean_the_same_entity_and_do_not_rename_it(world: StoreUnderTest) -> None:
    know = Know(world)
    first = await know.facts.upsert_entity("Zo\u00eb Smith")
    for spelling in ("ZO\u00cb SMITH", "zoe\u0308  smith", "Zoe\u0308 Smith"):
        again = await know.facts.upsert_entity(spelling)
        assert (again.entity_id, again.canonical) == (first.entity_id, "Zo\u00eb Smith")
