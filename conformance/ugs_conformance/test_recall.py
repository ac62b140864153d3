"""Recall: what answers a question, ranked alike on every store, within its budget; never what is another's."""

from __future__ import annotations

import os
import random
from typing import Any

import pytest
from msgspec.json import encode

from ugs.errors import InvalidSyntax, LimitExceeded
from ugs.facts.model import FACTS, NOTES
from ugs.facts.queries import holds_at
from ugs.identity import Principal
from ugs.log.at import At
from ugs.recall.api import MAX_QUERY_CHARS, Recall, RecallRequest
from ugs.recall.model import RecallKind, RecallResult
from ugs.recall.token_budget import estimate_tokens
from ugs_conformance.support.facts_kit import ALICE, STRANGER, Know, day
from ugs_conformance.support.pytest_plugin import clause
from ugs_conformance.support.reference_store import Reference
from ugs_conformance.support.store_fixture import StoreUnderTest

ONLY_FACTS: dict[str, Any] = {"kinds": [RecallKind.FACT]}
COLLEAGUE = Principal("bob", frozenset(), "tenant-a", "project-b", "agent-d")


@pytest.fixture
def know(world: StoreUnderTest) -> Know:
    return Know(world)


def recall_of(know: Know, principal: Principal = ALICE) -> Recall:
    return Recall(know.world.system, principal)


async def texts(know: Know, query: str, principal: Principal = ALICE, **more: Any) -> list[str]:
    found = await recall_of(know, principal).recall(query, **more)
    return [item.text for item in found.items]


async def tell(know: Know, subject: str, predicate: str, value: str, text: str, **more: Any) -> None:
    note = await know.note(text)
    await know.say(subject, predicate, value, notes=[note], **more)


@clause()
async def test_a_fact_is_found_by_its_subject_and_a_word_with_its_evidence(know: Know) -> None:
    await tell(know, "Alice", "prefers", "green tea", "Alice prefers green tea in the morning. It rained.")
    await tell(know, "Alice", "owns", "a bicycle", "Alice has a bicycle.")
    found = await recall_of(know).recall("what tea does Alice like")
    first = found.items[0]
    assert (first.kind, first.text) == (RecallKind.FACT, "Alice prefers green tea")
    assert [quote.text for quote in first.evidence] == ["Alice prefers green tea in the morning."]
    assert set(first.reasons.words) == {"tea", "alice"} and first.reasons.distance == 0
    assert [entity.canonical for entity in found.entities] == ["Alice"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [("log", "Bob has login hunter"), ("preferences", "Ann prefers tea"), ("zurich", "Cy lives in Zürich")],
)
@clause()
async def test_prefixes_stems_and_accents_are_found(know: Know, query: str, expected: str) -> None:
    await know.say("Bob", "has", "login hunter")
    await know.say("Ann", "prefers", "tea")
    await know.say("Cy", "lives in", "Zürich")
    assert expected in await texts(know, "prefers" if query == "preferences" else query)


@clause()
async def test_a_note_is_found_without_any_fact(know: Know) -> None:
    await know.note("The deployment key is kept in the blue safe.")
    assert await texts(know, "where are deployment keys") == ["The deployment key is kept in the blue safe."]


@clause()
async def test_composed_and_decomposed_names_are_one_entity(know: Know) -> None:
    await know.say("Zoë", "plays", "chess")
    for spelling in ("Zoë", "Zoe\u0308", "ZOË"):
        found = await recall_of(know).recall(f"what does {spelling} play?")
        assert [entity.canonical for entity in found.entities] == ["Zoë"]
        assert found.items[0].text == "Zoë plays chess"


@clause()
async def test_what_is_connected_with_the_named_comes_after_it(know: Know) -> None:
    await know.say("Alice", "works at", object="Globex")
    await know.say("Globex", "located in", "Berlin")
    await know.say("Initech", "located in", "Rome")
    found = await recall_of(know).recall("where is Alice located", **ONLY_FACTS)
    assert {item.text: item.reasons.distance for item in found.items[:2]} == {
        "Alice works at Globex": 0,
        "Globex located in Berlin": 1,
    }


@clause()
async def test_superseded_and_future_facts_are_never_recalled(know: Know) -> None:
    await know.predicate("lives in")
    await know.say("Alice", "lives in", "Bern", valid_from=day(1))
    know.set_clock(day(20))
    await know.say("Alice", "lives in", "Rome", valid_from=day(15))
    await know.say("Alice", "studies", "Mars", valid_from=day(28))
    assert await texts(know, "Alice", **ONLY_FACTS) == ["Alice lives in Rome"]
    assert await texts(know, "Bern Mars", **ONLY_FACTS) == []
    assert await texts(know, "Alice", as_of=day(5), **ONLY_FACTS) == ["Alice lives in Bern"]
    assert sorted(await texts(know, "Alice", as_of=day(29), **ONLY_FACTS)) == [
        "Alice lives in Rome",
        "Alice studies Mars",
    ]


@clause()
async def test_the_past_state_of_the_log_is_recalled_as_it_was(know: Know) -> None:
    await know.say("Alice", "likes", "tea")
    position = At(position=(await know.world.events())[-1].position)
    await know.say("Alice", "likes", "coffee")
    assert sorted(await texts(know, "Alice", **ONLY_FACTS)) == ["Alice likes coffee", "Alice likes tea"]
    assert await texts(know, "Alice", at=position, **ONLY_FACTS) == ["Alice likes tea"]


@clause()
async def test_nobody_recalls_what_is_not_theirs(know: Know) -> None:
    await know.say("Alice", "likes", "tea", notes=[await know.note("Alice likes tea")])
    private = await know.facts.add_note("Alice fears spiders", scope="agent_private")
    await know.say("Alice", "fears", "spiders", notes=[private.note_id], scope="agent_private")
    assert "Alice fears spiders" in await texts(know, "Alice fears")
    assert not any("spiders" in text for text in await texts(know, "Alice fears spiders", COLLEAGUE))
    assert await texts(know, "Alice", STRANGER) == []


@clause()
async def test_scopes_and_kinds_narrow_the_items(know: Know) -> None:
    await tell(know, "Alice", "likes", "tea", "Alice likes tea and more.", scope="project_shared")
    await know.facts.add_fact("Alice", "likes", "rum", notes=[await know.note("rum!")], scope="team")
    assert await texts(know, "Alice", scopes=["team"], kinds=[RecallKind.FACT]) == ["Alice likes rum"]
    found = await recall_of(know).recall("Alice tea", kinds=[RecallKind.NOTE])
    assert {item.kind for item in found.items} == {RecallKind.NOTE}
    assert (await recall_of(know).recall("Alice", kinds=[])).items == []


@clause()
async def test_nodes_and_passages_are_recalled(world: StoreUnderTest) -> None:
    from ugs_conformance.support.api_under_test import graph_of

    graph = graph_of(world.system)
    await graph.add_node("memo", "Memo", {"title": "Quarterly revenue report"})
    found = await Recall(world.system).recall("revenues of the quarter", kinds=[RecallKind.NODE])
    assert [(item.kind, item.id) for item in found.items] == [(RecallKind.NODE, "memo")]


@clause()
async def test_a_note_of_facts_that_have_ended_is_marked(know: Know) -> None:
    await know.predicate("lives in")
    await tell(know, "Alice", "lives in", "Bern", "Alice moved to Bern for good.", valid_from=day(1))
    await tell(know, "Alice", "lives in", "Rome", "Alice moved to Rome for good.", valid_from=day(2))
    found = await recall_of(know).recall("where did Alice move for good", kinds=[RecallKind.NOTE])
    assert [(item.text, item.reasons.outdated) for item in found.items] == [
        ("Alice moved to Rome for good.", False),
        ("Alice moved to Bern for good.", True),
    ]


@clause()
async def test_what_is_left_out_is_said(know: Know) -> None:
    for number in range(12):
        await know.say("Alice", "likes", f"thing {number}")
    whole = await recall_of(know).recall("Alice", **ONLY_FACTS)
    assert (len(whole.items), whole.omitted) == (12, 0)
    few = await recall_of(know).recall("Alice", first=5, **ONLY_FACTS)
    assert (few.items, few.omitted) == (whole.items[:5], 7)
    small = await recall_of(know).recall("Alice", budget_tokens=100, **ONLY_FACTS)
    assert small.tokens <= 100 and len(small.items) + small.omitted == 12


@pytest.mark.parametrize(
    ("error", "given"),
    [
        (InvalidSyntax, {"query": " "}),
        (LimitExceeded, {"query": "x" * (MAX_QUERY_CHARS + 1)}),
        (LimitExceeded, {"query": "x", "budget_tokens": 0}),
        (LimitExceeded, {"query": "x", "first": 1_000}),
        (LimitExceeded, {"query": "x", "scopes": ["s"] * 50}),
    ],
)
@clause()
async def test_bad_arguments_are_refused(know: Know, error: type[Exception], given: dict[str, Any]) -> None:
    with pytest.raises(error):
        await recall_of(know).recall(**given)


PEOPLE = ("Ann Lee", "Bo", "Cy Young", "Zoë", "Dr. No", "Eve-Marie")
PREDICATES = ("lives in", "likes", "works at", "fears", "studies")
VALUES = ("tea", "green tea", "Bern", "old books", "logins", "login pages", "chess", "Zürich")
QUESTIONS = ("what does Ann like", "tea", "log", "who lives in Bern?", "Bo and Cy", "chess books", "Zoë fears", "study")


async def build_history(know: Know, seed: int, length: int) -> None:
    """A random history of facts of several agents and times."""
    chance = random.Random(seed)
    for number in range(length):
        who = Know(know.world, chance.choice((ALICE, ALICE, COLLEAGUE)))
        scope = chance.choice(("project_shared", "project_shared", "agent_private"))
        subject, predicate, value = (chance.choice(some) for some in (PEOPLE, PREDICATES, VALUES))
        note = await who.facts.add_note(f"{subject} {predicate} {value}, noted as {number}.", scope=scope)
        begin = f"2026-01-{chance.randint(1, 28):02}T12:{number:02}:00Z"
        await who.say(subject, predicate, value, notes=[note.note_id], scope=scope, valid_from=begin)


HISTORIES = int(os.environ.get("UGS_RECALL_HISTORIES", "4"))
"""How many random histories are recalled from, each by 24 requests with random budgets; a night has time for 1,000."""


@pytest.mark.parametrize("seed", range(HISTORIES))
@clause()
async def test_random_histories_recall_alike_on_the_reference_store(world: StoreUnderTest, seed: int) -> None:
    """The same rows give the same bytes on every store; what is recalled holds, and is the reader's."""
    know = Know(world)
    await know.predicate("lives in")
    await build_history(know, seed, 40)
    know.set_clock(day(14))
    chance = random.Random(seed)
    async with world.system.session() as session:
        reference = Reference(world.system.catalog)
        for table in world.system.catalog:
            reference.tables[table.name] = {table.key_of(row): row for row in await session.fetch(table)}
        for question in QUESTIONS:
            for principal in (ALICE, COLLEAGUE, STRANGER):
                recall = Recall(world.system, principal)
                now = await recall.facts.now()
                request = RecallRequest(question, chance.randint(1, 1_500), now, first=chance.randint(1, 30))
                found = await recall.recall_in(session, request)
                assert encode(found) == encode(await recall.recall_in(reference, request))
                assert estimate_tokens(found.text) <= found.tokens <= request.budget_tokens
                await check_items(know, found, principal)


async def check_items(know: Know, found: RecallResult, principal: Principal) -> None:
    """Every fact holds and every item is the reader's."""
    rows = {row.fact_id: row for row in await know.rows(FACTS, holds_at(found.as_of))}
    notes = {row.note_id: row for row in await know.rows(NOTES)}
    for item in found.items:
        row = rows[item.id] if item.kind is RecallKind.FACT else notes[item.id]
        assert (row.tenant_id, row.project_id) == (principal.tenant, principal.project)
        assert row.scope != "agent_private" or row.agent_id == principal.agent
        for quote in item.evidence:
            note = notes[quote.note_id]
            assert quote.text in note.text and (note.scope != "agent_private" or note.agent_id == principal.agent)
