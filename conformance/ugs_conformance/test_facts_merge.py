"""Merging entities: looked at first, done in one batch, and both ids still lead somewhere."""

from __future__ import annotations

import pytest

from ugs.facts.commands.facts import NoteRef
from ugs.facts.errors import EntityNotFound, InvalidFact
from ugs.facts.model import ENTITIES, ENTITY_ALIASES, ENTITY_NODES
from ugs.identity import Principal
from ugs_conformance.support.api_under_test import facts_of
from ugs_conformance.support.facts_kit import ALICE, Know, day
from ugs_conformance.support.pytest_plugin import clause
from ugs_conformance.support.store_fixture import StoreUnderTest


@pytest.fixture
def know(world: StoreUnderTest) -> Know:
    return Know(world)


async def make_two_alices(know: Know) -> tuple[str, str]:
    """Alice and A. Doe, who are one: both know Bob, one is tall, one is known by Carol."""
    for name in ("Alice Doe", "A. Doe"):
        await know.say(name, "knows", object="Bob", valid_from=day(1))
    await know.say("A. Doe", "is", "tall", valid_from=day(2))
    await know.say("Carol", "knows", object="A. Doe", valid_from=day(3))
    keep, merge = await know.facts.upsert_entity("Alice Doe"), await know.facts.upsert_entity("A. Doe", aliases=["Al"])
    return keep.entity_id, merge.entity_id


@clause("FACT-15", "FACT-56")
async def test_a_merge_is_shown_before_it_is_done(know: Know) -> None:
    keep, merge = await make_two_alices(know)
    before = await know.world.everything()
    plan = await know.facts.preview_merge(keep, merge)
    assert sorted(fact.predicate for fact in plan.moved) == ["is", "knows"]
    assert len(plan.folded) == 1
    assert (plan.aliases, plan.conflicts) == (["A. Doe", "Al"], [])
    assert await know.world.everything() == before


@clause("FACT-2", "FACT-15", "FACT-17", "FACT-62")
async def test_both_ids_and_names_lead_to_the_entity_that_stays(know: Know) -> None:
    keep, merge = await make_two_alices(know)

    done = await know.facts.merge_entities(keep, merge)

    assert {event.tx.id for event in done.events if event.tx} == {done.events[0].id}
    kept = await know.facts.find_entity(keep)
    assert kept is not None and await know.facts.find_entity(merge) == kept
    assert [await know.facts.entity(name) for name in ("a. doe", "Al", "alice doe")] == [kept] * 3
    assert (await know.facts.upsert_entity("A. DOE")).entity_id == keep
    assert sorted(entity.canonical for entity in await know.rows(ENTITIES)) == ["Alice Doe", "Bob", "Carol"]
    facts = await know.all_facts()
    assert [(fact.predicate, fact.subject_entity_id == keep) for fact in facts] == [
        ("knows", True),
        ("is", True),
        ("knows", False),
    ]
    assert len([row for row in await know.evidence() if row.fact_id == facts[0].fact_id]) == 2
    assert sorted(alias.alias for alias in await know.rows(ENTITY_ALIASES)) == ["A. Doe", "Al"]
    assert (await know.world.system.verify()).ok


@clause("FACT-15")
async def test_the_entity_that_stays_takes_over_the_link_to_the_graph(know: Know) -> None:
    for own in (None, "mine"):
        keep = (await know.facts.upsert_entity(f"keep {own}", node_id=own)).entity_id
        merge = (await know.facts.upsert_entity(f"merge {own}", node_id="theirs")).entity_id
        await know.facts.merge_entities(keep, merge)
        links = {link.entity_id: link.node_id for link in await know.rows(ENTITY_NODES)}
        assert links.get(keep) == (own or "theirs") and merge not in links


@clause("FACT-72")
async def test_a_merge_lists_facts_that_would_exclude_each_other(know: Know) -> None:
    await know.predicate("works_at")
    for name, value in (("Alice", "Initech"), ("Alicia", "Globex")):
        await know.say(name, "works_at", value)
    ids = [(await know.facts.upsert_entity(name)).entity_id for name in ("Alice", "Alicia")]
    plan = await know.facts.preview_merge(*ids)
    assert [sorted(fact.object_value or "" for fact in group) for group in plan.conflicts] == [["Globex", "Initech"]]


@clause("FACT-13")
async def test_what_cannot_be_merged_is_refused(know: Know) -> None:
    here = await know.facts.upsert_entity("Alice")
    there = await know.admin.upsert_entity("Alice", tenant="t", project="p")
    async with know.world.refuses(InvalidFact):
        await know.facts.merge_entities(here.entity_id, here.entity_id)
    async with know.world.refuses(InvalidFact):
        await know.admin.merge_entities(here.entity_id, there.entity_id)
    async with know.world.refuses(EntityNotFound):
        await know.facts.merge_entities(here.entity_id, there.entity_id)


@clause("FACT-77")
async def test_likely_duplicates_are_suggested_with_a_reason(know: Know) -> None:
    for name, aliases in (
        ("Alice Doe", []),
        ("Doe, Alice", []),
        ("Robert", ["Bob Smith"]),
        ("Bob Smith", []),
        ("Globex Corp", []),
        ("Gloebx Corp", []),
        ("Initech", []),
        ("Ann", []),
        ("Amn", []),
    ):
        await know.facts.upsert_entity(name, aliases=aliases)
    found = await know.facts.suggest_duplicates()
    assert [({one.first.canonical, one.second.canonical}, one.reason) for one in found] == [
        ({"Alice Doe", "Doe, Alice"}, "normal form"),
        ({"Robert", "Bob Smith"}, "alias"),
        ({"Globex Corp", "Gloebx Corp"}, "edit distance"),
    ]
    assert len(await know.facts.suggest_duplicates(limit=1)) == 1


@clause("FACT-42")
async def test_a_merge_leaves_private_facts_of_other_agents_apart(know: Know) -> None:
    colleague = facts_of(know.world.system, Principal("bo", frozenset(), ALICE.tenant, ALICE.project, "agent-d"))
    await know.predicate("works_at")
    for predicate, values in (("likes", ("tea", "tea")), ("works_at", ("Initech", "Globex"))):
        for facts, name, value in zip((know.facts, colleague), ("Alice Doe", "A. Doe"), values, strict=True):
            said = NoteRef(text=f"a diary of {name}")
            await facts.add_fact(name, predicate, value, scope="agent_private", notes=[said])
    keep, merge = [(await know.facts.upsert_entity(name)).entity_id for name in ("Alice Doe", "A. Doe")]
    plan = await know.admin.preview_merge(keep, merge)
    assert (plan.folded, plan.conflicts) == ([], [])

    await know.facts.merge_entities(keep, merge)

    for facts, work in ((know.facts, "Initech"), (colleague, "Globex")):
        report = await facts.report("Alice Doe")
        assert sorted((one.fact.object_value or "", len(one.evidence)) for one in report.facts) == sorted(
            [("tea", 1), (work, 1)]
        )
    whole = await know.admin.report("Alice Doe", tenant=ALICE.tenant, project=ALICE.project)
    assert len(whole.facts) == 4 and whole.counts["ambiguous"] == 0
    assert (await know.world.system.verify()).ok
