"""Ingestion: a note with what was read out of it, all or nothing, with errors that name the part at fault."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from ugs.facts.commands.ingestion import Mention, NoteToIngest, Object, Stated
from ugs.facts.errors import EntityAmbiguous, InvalidFact, StructuredInvalid
from ugs.facts.model import ENTITIES, ENTITY_ALIASES, NOTES, PREDICATES
from ugs.facts.temporal.instants import instant_of
from ugs_conformance.support.event_loop import run_on_loop
from ugs_conformance.support.facts_kit import Know, day, validity_of
from ugs_conformance.support.pytest_plugin import clause
from ugs_conformance.support.store_fixture import StoreUnderTest


@pytest.fixture
def know(world: StoreUnderTest) -> Know:
    return Know(world)


def relation(subject: str, predicate: str, value: str | None = None, entity: str | None = None, **more: Any) -> Stated:
    return Stated(subject, predicate, Object(entity, value), **more)


MENTORS = NoteToIngest("Alice mentors Bob", relations=(relation("Alice", "mentors", "Bob"),))


@clause("FACT-1", "FACT-22", "FACT-80")
async def test_a_note_brings_entities_aliases_predicates_and_facts_in_one_batch(know: Know) -> None:
    note = NoteToIngest(
        "Alice Doe (Al) mentors Bob and works at Initech.",
        source="mail",
        entities=(Mention("Alice Doe", "person", ("Al",)), Mention("Bob", "person")),
        relations=(relation("Al", "mentors", entity="Bob"), relation("Alice Doe", "works at", "Initech")),
    )
    done = await know.facts.ingest(note)
    assert (done.created, len(done.facts), [one.source for one in done.notes]) == (2, 2, ["mail"])
    assert sorted(entity.canonical for entity in await know.rows(ENTITIES)) == ["Alice Doe", "Bob"]
    assert [alias.alias for alias in await know.rows(ENTITY_ALIASES)] == ["Al"]
    assert {event.tx.id for event in done.events if event.tx} == {done.events[0].id}
    starts = [fact.valid_from for fact in done.facts]
    assert starts[1] - starts[0] == 1


@clause("FACT-62", "FACT-80", "FACT-81")
async def test_two_notes_that_state_the_same_give_one_fact_with_two_pieces_of_evidence(know: Know) -> None:
    done = await know.facts.ingest(MENTORS, MENTORS)
    assert (len(await know.all_facts()), done.created) == (1, 1)
    assert sorted(row.note_id for row in await know.evidence()) == sorted(note.note_id for note in done.notes)


@run_on_loop
async def test_a_note_that_was_ingested_before_is_left_out_with_all_that_it_states(know: Know) -> None:
    await know.facts.ingest(MENTORS, skip_known=True)
    (fact,) = await know.all_facts()
    await know.facts.invalidate_fact(fact.fact_id, reason="no longer")
    again = await know.facts.ingest(MENTORS, MENTORS, skip_known=True)
    assert (again.events, again.facts, again.notes) == ([], [], [])
    # Another text, source or scope is another note; so is one that was kept without being asked about.
    other = msgspec.structs.replace(MENTORS, source="mail")
    assert len((await know.facts.ingest(other, skip_known=True)).notes) == 1
    assert len((await know.facts.ingest(MENTORS, skip_known=True, scope="agent_private")).notes) == 1
    assert len((await know.facts.ingest(MENTORS)).notes) == 1


@clause("FACT-1", "FACT-87")
async def test_one_note_gives_one_fact_with_one_piece_of_evidence(know: Know) -> None:
    await know.facts.ingest(MENTORS)
    assert (len(await know.all_facts()), len(await know.evidence()), len(await know.rows(NOTES))) == (1, 1, 1)


@clause("FACT-80", "FACT-81")
async def test_ingesting_is_idempotent_by_key(know: Know) -> None:
    first = await know.facts.ingest(MENTORS, key="k")
    again = await know.facts.ingest(MENTORS, key="k")
    assert (first.events, first.facts) == (again.events, again.facts)
    assert len(await know.rows(NOTES)) == 1


def with_relation(**changes: Any) -> NoteToIngest:
    changed = msgspec.structs.replace(MENTORS.relations[0], **changes)
    return msgspec.structs.replace(MENTORS, relations=(changed,))


many_entities = tuple(Mention(f"E{n}") for n in range(33))
R = "structured.relations[0]"
BAD: list[tuple[NoteToIngest, str]] = [
    (with_relation(predicate=""), f"{R}.predicate"),
    (with_relation(subject=" "), f"{R}.subject"),
    (with_relation(object=Object()), f"{R}.object"),
    (with_relation(object=Object("Bob", "Bob")), f"{R}.object"),
    (with_relation(object=Object(value=" ")), f"{R}.object.value"),
    (with_relation(valid_from=5, valid_to=5), f"{R}.valid_to"),
    (with_relation(subject="Carol"), f"{R}.subject"),
    (with_relation(predicate="hates"), f"{R}.predicate"),
    (with_relation(object=Object(value="Carol")), f"{R}.object.value"),
    (with_relation(object=Object(entity="Carol")), f"{R}.object.entity"),
    (with_relation(object=Object(value="x" * 1_001)), f"{R}.object.value"),
    (msgspec.structs.replace(MENTORS, entities=many_entities), "structured.entities"),
    (msgspec.structs.replace(MENTORS, relations=MENTORS.relations * 65), "structured.relations"),
    (
        msgspec.structs.replace(MENTORS, entities=(Mention("A", aliases=tuple("abcdefghijklmnopq")),)),
        "structured.entities[0].aliases",
    ),
    (
        msgspec.structs.replace(MENTORS, entities=(Mention("A", aliases=("ok", " ")),)),
        "structured.entities[0].aliases[1]",
    ),
    (msgspec.structs.replace(MENTORS, entities=(Mention(""),)), "structured.entities[0].canonical"),
]


@pytest.mark.parametrize(("note", "path"), BAD, ids=lambda one: one if isinstance(one, str) else "")
@clause("FACT-51", "FACT-52", "FACT-8", "FACT-44")
async def test_what_cannot_be_used_is_refused_with_its_path(know: Know, note: NoteToIngest, path: str) -> None:
    async with know.world.refuses(StructuredInvalid, path=path):
        await know.facts.ingest(note)
    async with know.world.refuses(StructuredInvalid, path=f"notes[1].{path}"):
        await know.facts.ingest(MENTORS, note)


@clause("FACT-44")
async def test_quotes_support_what_the_note_does_not_say(know: Know) -> None:
    bare = msgspec.structs.replace(MENTORS, text="They met.")
    async with know.world.refuses(StructuredInvalid, path=f"{R}.subject"):
        await know.facts.ingest(bare)
    assert (await know.facts.ingest(msgspec.structs.replace(bare, quotes=("ALICE  mentors bob",)))).created == 1
    assert (await know.facts.ingest(with_relation(predicate="teaches"), supported=False)).created == 1


@clause("FACT-74")
async def test_a_deprecated_predicate_is_rejected(know: Know) -> None:
    await know.predicate("mentors", "deprecated")
    async with know.world.refuses(StructuredInvalid, path=f"{R}.predicate"):
        await know.facts.ingest(MENTORS)


@clause("FACT-52", "FACT-64")
async def test_errors_deeper_down_carry_the_path_too(know: Know) -> None:
    past = with_relation(valid_to=instant_of(day(1)))
    async with know.world.refuses(InvalidFact, path=R):
        await know.facts.ingest(past)
    async with know.world.refuses(InvalidFact, path="text"):
        await know.facts.ingest(NoteToIngest(" "))
    for name in ("Alice Doe", "Alice Roe"):
        await know.facts.upsert_entity(name, aliases=["Alice"])
    async with know.world.refuses(EntityAmbiguous, path=R):
        await know.facts.ingest(MENTORS)


@clause("FACT-70", "FACT-72", "FACT-73", "FACT-88")
async def test_a_job_changes_and_both_jobs_stay_known(know: Know) -> None:
    first = await know.facts.ingest(note_about("Initech"))
    predicate = (await know.rows(PREDICATES))[0]
    await know.facts.configure_predicate(predicate.predicate_id, status="active", cardinality="single")
    know.set_clock(day(11))
    second = await know.facts.ingest(note_about("Globex"))
    initech, globex = await know.all_facts()
    assert validity_of(initech)[1] == validity_of(globex)[0] == day(11)
    assert await know.values("Alice", "2026-01-10T23:59:59.999999Z") == ["Initech"]
    assert await know.values("Alice", "2026-01-11T00:00:00.000001Z") == ["Globex"]
    before = await know.facts.ask("Alice", "2026-01-10T23:59:59.999999Z")
    after = await know.facts.ask("Alice")
    assert [f.state_at(await know.facts.now()) for f in before.facts] == ["historical"]
    assert before.evidence == {initech.fact_id: [first.notes[0].note_id]}
    assert [f.state_at(await know.facts.now()) for f in after.facts] == ["current"]
    assert after.evidence == {globex.fact_id: [second.notes[0].note_id]}
    assert len(await know.supersessions()) == 1


def note_about(company: str) -> NoteToIngest:
    return NoteToIngest(f"Alice works at {company}.", relations=(relation("Alice", "works at", company),))
