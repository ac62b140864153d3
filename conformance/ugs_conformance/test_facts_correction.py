"""Corrections of facts: ended, replaced or retracted in one command, with a reason."""

from __future__ import annotations

import pytest

from ugs.facts.api import Facts
from ugs.facts.errors import FactConflict, FactNotFound, InvalidFact
from ugs.identity import Principal
from ugs_conformance.support.event_loop import run_on_loop
from ugs_conformance.support.facts_kit import ALICE, Know, day
from ugs_conformance.support.store_fixture import StoreUnderTest


@run_on_loop
async def test_a_replacement_ends_the_old_fact_of_a_many_valued_predicate_in_the_same_batch(
    world: StoreUnderTest,
) -> None:
    know = Know(world)
    old = (await know.say("Ann", "likes", "tea", valid_from=day(1))).fact

    done = await know.facts.correct_fact(old.fact_id, "replace", "she said coffee", "coffee")

    assert done.fact is not None and done.before is not None
    assert (done.fact.object_value, done.before.valid_to) == ("coffee", done.fact.valid_from)
    assert len({event.tx.id for event in done.events if event.tx}) == 1
    assert await know.values("Ann") == ["coffee"]
    assert [note.text for note in (await know.facts.why(done.fact.fact_id)).notes] == ["she said coffee"]


@run_on_loop
async def test_a_refused_correction_changes_nothing(world: StoreUnderTest) -> None:
    know = Know(world)
    old = (await know.say("Ann", "likes", "tea", valid_from=day(1), valid_to=day(2))).fact
    before = await world.everything()

    async with world.refuses(FactConflict):
        await know.facts.correct_fact(old.fact_id, "end", "it ended", moment=day(5))
    for action, given in (("replace", {}), ("end", {"value": "x"}), ("improve", {}), ("retract", {"moment": day(3)})):
        async with world.refuses(InvalidFact):
            await know.facts.correct_fact(old.fact_id, action, "why not", **given)  # type: ignore[arg-type]
    assert await world.everything() == before


@run_on_loop
@pytest.mark.parametrize("reopen", [True, False])
async def test_a_retraction_offers_to_reopen_what_the_fact_had_ended(world: StoreUnderTest, reopen: bool) -> None:
    know = Know(world)
    await know.predicate("lives in")
    bern = (await know.say("Ann", "lives in", "Bern", valid_from=day(1))).fact
    rome = (await know.say("Ann", "lives in", "Rome", valid_from=day(5))).fact

    done = await know.facts.correct_fact(rome.fact_id, "retract", "a mistake", reopen=reopen, key="once")
    again = await know.facts.correct_fact(rome.fact_id, "retract", "a mistake", reopen=reopen, key="once")

    assert done.before is None
    assert [fact.fact_id for fact in done.reopened] == ([bern.fact_id] if reopen else [])
    assert [event.id for event in again.events] == [event.id for event in done.events]
    assert await know.values("Ann", day(8)) == (["Bern"] if reopen else [])
    assert await know.values("Ann", day(3)) == ["Bern"]


@run_on_loop
async def test_a_private_fact_of_another_agent_is_not_found(world: StoreUnderTest) -> None:
    know = Know(world)
    secret = (await know.say("Ann", "likes", "tea", scope="agent_private")).fact
    colleague = Facts(world.system, Principal("carl", frozenset(), ALICE.tenant, ALICE.project, "agent-d"))

    async with world.refuses(FactNotFound):
        await colleague.correct_fact(secret.fact_id, "retract", "not true")
