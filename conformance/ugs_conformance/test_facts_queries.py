"""Reading facts: two clocks, reasons, reports, neighbourhoods, and who may see what."""

from __future__ import annotations

from typing import Any

import pytest

from ugs.errors import Forbidden, InvalidSyntax, UniqueViolation
from ugs.facts.access import AccessScope
from ugs.facts.commands.facts import NoteRef
from ugs.facts.errors import EntityNotFound, FactNotFound, InvalidFact, NoteNotFound, PredicateNotFound
from ugs.facts.graph_view import View, entity_with_facts, view_at
from ugs.facts.model import ENTITIES, FACTS, PREDICATES
from ugs.facts.queries import FactFilter
from ugs.facts.resolution import EntityRef
from ugs.facts.temporal.instants import instant_of
from ugs.graph.model import EDGES, NODES
from ugs.identity import Principal
from ugs.log.at import At
from ugs.reads.plan import Page
from ugs_conformance.support.api_under_test import facts_of
from ugs_conformance.support.facts_kit import ALICE, STRANGER, Know, day, ids, validity_of
from ugs_conformance.support.pytest_plugin import clause
from ugs_conformance.support.store_fixture import StoreUnderTest


@pytest.fixture
def know(world: StoreUnderTest) -> Know:
    return Know(world)


async def position(know: Know) -> At:
    return At(position=(await know.world.events())[-1].position)


@clause("FACT-78", "FACT-88")
async def test_only_what_holds_is_active(know: Know) -> None:
    know.set_clock("2026-01-10T12:00:00Z")
    await know.say("Alice", "is", "active", valid_from="2026-01-10T11:00:00Z")
    await know.say("Alice", "is", "expired", valid_from="2026-01-10T10:00:00Z", valid_to="2026-01-10T11:59:00Z")
    await know.say("Alice", "is", "future", valid_from="2026-01-10T13:00:00Z")
    assert await know.values("Alice") == ["active"]
    assert await know.values("Alice", "2026-01-10T11:30:00Z") == ["active", "expired"]
    assert await know.values("Alice", "2026-01-10T14:00:00Z") == ["active", "future"]
    assert await know.values("Alice", scope="other") == []


@clause("FACT-88", "FACT-78")
async def test_two_clocks_turn_independently(know: Know) -> None:
    """What was true then, as known then; as known now; and what is true now, as known then."""
    await know.predicate("works_at")
    await know.say("Alice", "works_at", "Initech", valid_from=day(1))
    early = await position(know)
    know.set_clock(day(20))
    await know.say("Alice", "works_at", "Globex", valid_from=day(5))
    late = await position(know)
    know.set_clock(day(25))
    await know.say("Alice", "works_at", "Umbrella", valid_from=day(22))

    async def values_at(valid_at: str | None, at: At | None) -> list[str]:
        return await know.values("Alice", valid_at, at=at)

    assert await values_at(day(6), None) == ["Globex"]
    assert await values_at(day(6), early) == ["Initech"]
    assert await values_at(day(23), late) == ["Globex"]
    assert await values_at(day(23), None) == ["Umbrella"]
    assert await values_at(None, early) == ["Initech"]
    assert await values_at(day(3), None) == ["Initech"]
    assert await values_at(day(6), At(instant=instant_of(day(15)) // 1_000)) == ["Initech"]
    assert await values_at(day(6), At(instant=instant_of(day(21)) // 1_000)) == ["Globex"]


@clause("FACT-88")
async def test_what_was_known_then_stays_what_was_recorded_then(know: Know) -> None:
    recorded: list[tuple[At, list[Any]]] = []
    for number, value in enumerate(["A", "B", "A", "C"], 2):
        await know.say("Alice", "is", value, valid_from=day(number))
        recorded.append((await position(know), await know.facts.timeline("Alice")))
        await know.facts.invalidate_fact(recorded[-1][1][0].fact_id, day(9)) if number == 4 else None
    for at, timeline in recorded:
        assert await know.facts.timeline("Alice", at=at) == timeline


@clause("FACT-53")
async def test_facts_of_one_instant_are_listed_in_the_order_they_were_said(know: Know) -> None:
    """The clock stands still: what was said last is the newest all the same, and the last on a timeline."""
    said = [(await know.say("Alice", "likes", value)).fact for value in ("tea", "jazz", "rain", "code")]
    assert len({fact.valid_from for fact in said}) == 1
    query = FactFilter(subject=said[0].subject_entity_id)
    assert await know.facts.facts(query) == said[::-1]
    assert await know.facts.facts(query, Page(limit=2)) == said[:1:-1]
    assert await know.facts.timeline("Alice") == said


@clause("FACT-53", "FACT-55", "FACT-23")
async def test_facts_are_found_by_subject_object_predicate_scope_and_value(know: Know) -> None:
    one = (await know.say("Alice", "knows", object="Bob", valid_from=day(1))).fact
    two = (await know.say("Carol", "knows", object="Bob", valid_from=day(2), scope="org")).fact
    three = (await know.say("Alice", "is", "tall", valid_from=day(3), valid_to=day(4))).fact
    find = know.facts.facts
    assert ids(await find()) == ids([three, two, one])
    assert ids(await find(FactFilter(subject=one.subject_entity_id))) == ids([three, one])
    assert ids(await find(FactFilter(object=one.object_entity_id))) == ids([two, one])
    assert ids(await find(FactFilter(predicate=one.predicate_id))) == ids([two, one])
    assert ids(await find(FactFilter(scopes=("org",)))) == ids([two])
    assert ids(await find(FactFilter(object_value="tall"))) == ids([three])
    assert ids(await find(FactFilter(valid_at=instant_of(day(5))))) == ids([two, one])
    assert ids(await find(page=Page(limit=1))) == ids([three])


@clause("FACT-65", "FACT-73", "FACT-63")
async def test_why_tells_notes_chain_and_events(know: Know) -> None:
    await know.predicate("works_at")
    facts = [
        (await know.say("Alice", "works_at", value, valid_from=day(number))).fact
        for number, value in ((1, "Initech"), (3, "Globex"), (5, "Umbrella"), (7, "Hooli"))
    ]
    more = await know.note("she said it twice")
    await know.say("Alice", "works_at", "Hooli", notes=[more])

    why = await know.facts.why(facts[1].fact_id)

    assert [fact.object_value for _, fact in why.replaced] == ["Initech"]
    assert [fact.object_value for _, fact in why.replaced_by] == ["Umbrella", "Hooli"]
    assert [link.from_fact_id for link, _ in why.replaced_by] == [facts[1].fact_id, facts[2].fact_id]
    assert [note.text for note in why.notes] == ["somebody said so"]
    assert [event.type for event in why.events] == [
        "FactAdded",
        "EvidenceAdded",
        "FactInvalidated",
        "FactSuperseded",
    ]
    last = await know.facts.why(facts[3].fact_id)
    assert [note.text for note in last.notes] == ["somebody said so", "she said it twice"]
    assert len(last.replaced) == 3


@clause("FACT-60", "FACT-78")
async def test_what_nobody_vouches_for_is_not_answered_but_kept(know: Know) -> None:
    note = await know.note()
    fact = (await know.say("Alice", "is", "tall", notes=[note])).fact
    assert ids((await know.facts.ask("Alice")).facts) == [fact.fact_id]
    await know.facts.delete_note(note)
    assert (await know.facts.ask("Alice")).facts == []
    assert ids(await know.rows(FACTS)) == [fact.fact_id]
    assert ids(await know.facts.active_facts("Alice")) == [fact.fact_id]


@clause("FACT-88", "FACT-35")
async def test_an_answer_says_what_was_cut_and_looked_at(know: Know) -> None:
    for number in (1, 2, 3):
        await know.say("Alice", "is", f"v{number}", valid_from=day(number), scope="p")
    answer = await know.facts.ask("Alice", scopes=["p", "p"], limit=2, predicate="IS")
    assert (answer.truncated, answer.queried, len(answer.facts), answer.scopes) == (True, 3, 2, ["p"])
    assert [fact.object_value for fact in answer.facts] == ["v3", "v2"]
    assert answer.predicate is not None
    for bad in ({"limit": 0}, {"limit": 201}, {"scopes": [" "]}):
        with pytest.raises(InvalidFact):
            await know.facts.ask("Alice", **bad)
    with pytest.raises(InvalidFact):
        await know.facts.ask(" ")
    with pytest.raises(EntityNotFound):
        await know.facts.ask("nobody")
    with pytest.raises(PredicateNotFound):
        await know.facts.ask("Alice", predicate="nothing")


@clause("FACT-63", "FACT-73", "FACT-78")
async def test_a_report_marks_what_can_be_trusted(know: Know) -> None:
    know.set_clock(day(25))
    await know.predicate("works_at")
    await know.say("Alice", "works_at", "Initech", valid_from=day(10))
    await know.say("Alice", "works_at", "Globex", valid_from=day(20))
    await know.say("Alice", "may work at", "Umbrella", valid_from=day(30))

    report = await know.facts.report("Alice", day(25))

    assert [(one.fact.object_value, one.state) for one in report.facts] == [
        ("Initech", "historical"),
        ("Globex", "current"),
        ("Umbrella", "future"),
    ]
    assert [one.markers for one in report.facts] == [
        ["sourced", "stale", "superseded"],
        ["sourced"],
        ["sourced", "inferred"],
    ]
    assert report.counts == {
        "current": 1, "historical": 1, "future": 1, "evidence": 3,
        "sourced": 3, "inferred": 1, "stale": 1, "superseded": 1, "ambiguous": 0,
    }  # fmt: skip
    assert report.facts[0].superseded_by == [report.facts[1].fact.fact_id]
    assert report.facts[1].supersedes == [report.facts[0].fact.fact_id]
    assert (await know.facts.report("Alice", limit=2)).truncated


@clause("FACT-74")
async def test_a_report_calls_ambiguous_what_should_be_single(know: Know) -> None:
    await know.say("Alice", "works_at", "Initech", valid_from=day(1))
    await know.say("Alice", "works_at", "Globex", valid_from=day(2))
    id = (await know.rows(PREDICATES))[0].predicate_id
    await know.facts.configure_predicate(id, status="active", cardinality="single")
    report = await know.facts.report("Alice")
    assert [one.markers for one in report.facts] == [["sourced", "stale", "ambiguous"], ["sourced", "ambiguous"]]
    assert report.counts["ambiguous"] == 2


@clause("FACT-47")
async def test_the_topic_map_of_one_value(know: Know) -> None:
    fact = (await know.say("Alice", "is", "tall")).fact
    report = await know.facts.report("Alice")
    assert report.topics == [f"entity:{fact.subject_entity_id}", "value:tall"]
    assert [(link.target, link.fact_id) for link in report.links] == [("value:tall", fact.fact_id)]
    assert [one.markers for one in report.facts] == [["sourced", "inferred"]]


@clause("FACT-63", "FACT-88")
async def test_the_context_of_a_note_is_current_first(know: Know) -> None:
    note, more = await know.note(), await know.note("more")
    know.set_clock(day(12))
    bob = await know.say("Alice", "mentors", "Bob", valid_from=day(9), valid_to=day(10), notes=[note])
    carol = await know.say("Alice", "mentors", "Carol", valid_from=day(2), notes=[note, more])
    await know.say("Alice", "mentors", "Dave", valid_from=day(30), notes=[note])
    small = await know.facts.relation_context([note], facts=1, evidence=1)
    large = await know.facts.relation_context([note, more], facts=2)
    assert [(fact.fact_id, evidence) for fact, _, evidence in small[note]] == [(carol.fact.fact_id, [note])]
    assert [(fact.object_value, state) for fact, state, _ in large[note]] == [
        ("Carol", "current"),
        ("Bob", "historical"),
    ]
    assert [fact.object_value for fact, _, _ in large[more]] == ["Carol"]
    assert validity_of(bob.fact)[1] == day(10)


@clause("FACT-46", "FACT-55", "FACT-78")
async def test_the_neighbourhood_of_an_entity_at_an_instant(know: Know) -> None:
    await know.say("Alice", "knows", object="Bob", valid_from=day(1))
    await know.say("Carol", "knows", object="Bob", valid_from=day(5))
    await know.say("Dave", "knows", object="Carol", valid_from=day(1), valid_to=day(3))
    await know.say("Alice", "is", "tall", valid_from=day(1))
    alice = await know.facts.entity("Alice")
    assert alice is not None

    async def around(moment: str, depth: int) -> list[tuple[str, int]]:
        found = await know.facts.neighbourhood(alice.entity_id, moment, depth)
        return [(one.entity.canonical, one.depth) for one in found]

    assert await around(day(6), 1) == [("Alice", 0), ("Bob", 1)]
    assert await around(day(6), 3) == [("Alice", 0), ("Bob", 1), ("Carol", 2)]
    assert await around(day(2), 3) == [("Alice", 0), ("Bob", 1)]
    assert await around("2025-01-01T00:00:00Z", 3) == [("Alice", 0)]
    with pytest.raises(InvalidSyntax):
        await around(day(6), 11)


@clause("FACT-46", "FACT-78")
async def test_facts_are_a_graph_that_plans_can_read(know: Know) -> None:
    await know.world.graph.add_node("n")
    await know.world.graph.add_edge("e", "n", "n")
    one = (await know.say("Alice", "knows", object="Bob", valid_from=day(1))).fact
    await know.say("Alice", "is", "tall", valid_from=day(1))
    await know.say("Alice", "knew", object="Carol", valid_from=day(1), valid_to=day(2))
    moment, viewer = instant_of(day(5)), know.facts.viewer
    views = {view: view_at(view, moment, viewer) for view in View}

    assert [read.table for read in views[View.ALL].nodes] == [NODES, ENTITIES]
    assert [one.read.table for one in views[View.ALL].relationships] == [EDGES, FACTS]
    assert [read.table for read in views[View.GRAPH].nodes] == [NODES]
    (relationships,) = views[View.FACTS].relationships
    rows = (await know.world.system.read(relationships.read)).rows
    assert [
        (getattr(row, relationships.source), getattr(row, relationships.type), getattr(row, relationships.target))
        for row in rows
    ] == [(one.subject_entity_id, "knows", one.object_entity_id)]
    names = [row.canonical for row in (await know.world.system.read(views[View.FACTS].nodes[0])).rows]
    assert sorted(names) == ["Alice", "Bob", "Carol"]
    (alice,) = (await know.world.system.read(entity_with_facts([one.subject_entity_id], moment, viewer))).items
    assert sorted(fact.predicate for fact in alice.nest["facts"].rows) == ["is", "knows"]
    assert alice.nest["facts_about"].rows == []


@clause("FACT-6", "FACT-7", "FACT-42", "FACT-13")
async def test_for_another_tenant_nothing_exists(know: Know) -> None:
    note = await know.note()
    fact = (await know.say("Alice", "knows", object="Bob", notes=[note])).fact
    eve = facts_of(know.world.system, STRANGER)
    ours: Any = {"tenant": "tenant-a", "project": "project-b"}

    assert await eve.facts(**ours) == []
    assert await eve.facts(FactFilter(subject=fact.subject_entity_id)) == []
    assert await eve.entity("Alice", **ours) is None
    assert await eve.find_entity(fact.subject_entity_id) is None
    assert await eve.predicates(**ours) == []
    assert await eve.resolve_predicate("knows", **ours) is None
    for act in (eve.find_fact, eve.why):
        with pytest.raises(FactNotFound) as refused:
            await act(fact.fact_id)
        assert refused.value.message == f"There is no fact {fact.fact_id}"
    for asked in (
        eve.active_facts("Alice", **ours),
        eve.ask("Alice", **ours),
        eve.report("Alice", **ours),
        eve.timeline("Alice", **ours),
        eve.neighbourhood(fact.subject_entity_id),
        eve.preview_merge(fact.subject_entity_id, fact.object_entity_id or ""),
    ):
        with pytest.raises(EntityNotFound):
            await asked


@clause("FACT-6", "FACT-7", "FACT-42")
async def test_another_tenant_changes_nothing(know: Know) -> None:
    note = await know.note()
    fact = (await know.say("Alice", "is", "tall", notes=[note])).fact
    eve = facts_of(know.world.system, STRANGER)
    ours: Any = {"tenant": "tenant-a", "project": "project-b"}
    said = NoteRef(text="said")
    for error, act in (
        (FactNotFound, lambda: eve.invalidate_fact(fact.fact_id)),
        (FactNotFound, lambda: eve.delete_fact(fact.fact_id)),
        (NoteNotFound, lambda: eve.delete_note(note)),
        (EntityNotFound, lambda: eve.delete_entity(fact.subject_entity_id, force=True)),
        (EntityNotFound, lambda: eve.add_entity_alias(fact.subject_entity_id, "x")),
        (PredicateNotFound, lambda: eve.delete_predicate(fact.predicate_id or "")),
        (Forbidden, lambda: eve.upsert_entity("Mallory", **ours)),
        (Forbidden, lambda: eve.add_note("x", **ours)),
        (Forbidden, lambda: eve.add_fact("Alice", "is", "x", notes=[note], **ours)),
        (NoteNotFound, lambda: eve.add_fact("Alice", "is", "x", notes=[note])),
        (EntityNotFound, lambda: eve.add_fact(EntityRef(id=fact.subject_entity_id), "is", "x", notes=[said])),
        (Forbidden, lambda: eve.add_note("x", agent="another")),
    ):
        async with know.world.refuses(error):
            await act()


@clause("FACT-42")
async def test_private_facts_are_for_their_own_agent(know: Know) -> None:
    private = (await know.say("Alice", "is", "shy", scope="agent_private")).fact
    said = await know.note()
    await know.say("Alice", "is", "tall", notes=[said])
    colleague = facts_of(know.world.system, Principal("bo", frozenset(), ALICE.tenant, ALICE.project, "agent-d"))

    assert await know.values("Alice", scope="agent_private") == ["shy"]
    assert await colleague.active_facts("Alice", "agent_private") == []
    assert [fact.object_value for fact in await colleague.facts()] == ["tall"]
    assert [one.fact.object_value for one in (await colleague.report("Alice")).facts] == ["tall"]
    for asked in (colleague.why(private.fact_id), colleague.invalidate_fact(private.fact_id)):
        with pytest.raises(FactNotFound):
            await asked
    diary = await know.facts.add_note("dear diary", scope="agent_private")
    for act in (
        lambda: colleague.delete_note(diary.note_id),
        lambda: colleague.add_fact("Alice", "is", "sad", notes=[diary.note_id]),
    ):
        async with know.world.refuses(NoteNotFound):
            await act()
    tall = (await know.say("Alice", "is", "tall", notes=[diary.note_id])).fact
    told = await know.say("Alice", "is", "glad", notes=[diary.note_id])
    assert (await colleague.ask("Alice")).evidence == {tall.fact_id: [said]}
    assert {one.fact.object_value: one.evidence for one in (await colleague.report("Alice")).facts} == {
        "tall": [said],
        "glad": [],
    }
    assert await colleague.relation_context([diary.note_id]) == {diary.note_id: []}
    assert (await know.facts.ask("Alice")).evidence[told.fact.fact_id] == [diary.note_id]
    assert AccessScope.of(ALICE) != AccessScope()
    assert len(await know.admin.facts(tenant=ALICE.tenant, project=ALICE.project)) == 3


@clause("FACT-42")
async def test_equal_private_facts_of_two_agents_are_two_facts(know: Know) -> None:
    colleague = facts_of(know.world.system, Principal("bo", frozenset(), ALICE.tenant, ALICE.project, "agent-d"))
    private: dict[str, Any] = {"scope": "agent_private", "notes": [NoteRef(text="a guess")]}
    for more in ({"value": "Paris"}, {"object": "Bob"}):
        named = {**more, **private}
        own = await know.facts.add_fact("Alice", "likes", **named)
        theirs = await colleague.add_fact("Alice", "likes", **named)
        assert own.created and theirs.created and own.fact.fact_id != theirs.fact.fact_id
        for facts, told in ((know.facts, own), (colleague, theirs)):
            again = await facts.add_fact("Alice", "likes", **named)
            assert not again.created and again.fact.fact_id == told.fact.fact_id
            async with know.world.refuses(UniqueViolation):
                await facts.add_fact("Alice", "likes", reuse=False, **named)
    assert len(await know.facts.facts()) == len(await colleague.facts()) == 2
    assert (await know.world.system.verify()).ok
