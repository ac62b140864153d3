"""Seed 001, sections 3, 4, 6 and 7: facts, notes and evidence, said once and said again."""

from __future__ import annotations

from typing import Any

import pytest

from ugs.errors import UgsError, UniqueViolation
from ugs.facts.commands.facts import AddFact, NoteRef
from ugs.facts.errors import (
    EvidenceRequired,
    FactConflict,
    FactNotFound,
    InvalidFact,
    NoteExists,
    NoteNotFound,
)
from ugs.facts.model import (
    INVALIDATIONS,
    NOTES,
)
from ugs.facts.normalization import normalize_name
from ugs.facts.queries import FactFilter, fetch_active_facts_for_subject
from ugs.facts.resolution import EntityRef
from ugs.facts.temporal.instants import instant_of
from ugs_conformance.support.facts_kit import Know, day, ids, validity_of
from ugs_conformance.support.pytest_plugin import clause
from ugs_conformance.support.store_fixture import StoreUnderTest, fixture

NOBODY = "00000000-0000-4000-8000-000000000000"


@pytest.fixture
def know(world: StoreUnderTest) -> Know:
    return Know(world)


@pytest.mark.parametrize("check", fixture("fact_reuse_and_active")["checks"], ids=str)
@clause("FACT-51", "FACT-52", "FACT-47", "FACT-46")
async def test_a_fact_has_one_object_and_a_window(know: Know, check: dict[str, Any]) -> None:
    note = await know.note()
    entity = await know.facts.upsert_entity("E")
    has_object = "object_value" in check
    more = {
        "object": entity if check.get("object_entity_id") else None,
        "valid_from": check.get("valid_from"),
        "valid_to": check.get("valid_to"),
    }
    value = check.get("object_value") if has_object else "v"
    if check["ok"]:
        assert (await know.say("Alice", "is", value, notes=[note], **more)).created
    else:
        async with know.world.refuses(InvalidFact):
            await know.say("Alice", "is", value, notes=[note], **more)


@clause("FACT-23", "FACT-44")
async def test_a_fact_keeps_what_was_said_and_what_was_meant(know: Know) -> None:
    predicate = await know.predicate("works_at", cardinality="multi")
    await know.facts.configure_predicate(predicate.predicate_id, add_aliases=["is employed by"])
    one = await know.say("Alice", "Is  employed by", "Initech")
    two = await know.say("Alice", "works_at", "Globex")
    assert (one.fact.predicate, two.fact.predicate) == ("Is  employed by", "works_at")
    three = await know.say("Bob", " Works_At\t", "Globex")
    assert (three.fact.predicate, three.fact.predicate_id) == (" Works_At\t", predicate.predicate_id)
    assert one.fact.predicate_id == two.fact.predicate_id == predicate.predicate_id


@clause("FACT-86", "FACT-87", "FACT-62", "FACT-88", "FACT-85", "FACT-83", "FACT-84", "FACT-82")
async def test_the_call_examples_of_the_seed(know: Know) -> None:
    steps = {step["call"]: step for step in fixture("fact_call_examples")["steps"]}
    assert normalize_name(*steps["normalize_entity_name"]["args"]) == steps["normalize_entity_name"]["expect"]
    tenant, project, name, kind = steps["upsert_entity"]["args"]
    subject = await know.admin.upsert_entity(name, kind, tenant=tenant, project=project)
    await know.admin.add_entity_alias(subject.entity_id, steps["upsert_entity_alias"]["args"][1])
    predicate = await know.admin.resolve_or_register_predicate("connected_to", tenant=tenant, project=project)
    assert (predicate.status, predicate.cardinality) == ("pending", "multi")
    other = await know.admin.upsert_entity("Bob", tenant=tenant, project=project)
    notes = [await know.note("one"), await know.note("two")]
    asserted = await know.admin.add_fact(
        subject, "connected_to", object=other, notes=notes, tenant=tenant, project=project, agent="agent-c"
    )
    now = await know.facts.now()
    async with know.world.system.session() as session:
        found = await fetch_active_facts_for_subject(session, tenant, project, "project_shared", subject.entity_id, now)
    assert [(fact.fact_id, fact.predicate_id) for fact in found] == [(asserted.fact.fact_id, predicate.predicate_id)]
    assert sorted(row.note_id for row in await know.evidence()) == sorted(notes)


@clause("FACT-63", "FACT-87", "FACT-59")
async def test_evidence_leads_from_the_note_to_the_fact_and_back(know: Know) -> None:
    notes = [await know.note("one"), await know.note("two")]
    one = await know.say("Alice", "is", "tall", notes=notes)
    two = await know.say("Bob", "is", "tall", notes=notes[:1])
    by_note = await know.facts.facts(FactFilter(note=notes[0]))
    assert sorted(ids(by_note)) == sorted(ids([one.fact, two.fact]))
    assert ids(await know.facts.facts(FactFilter(note=notes[1]))) == [one.fact.fact_id]
    assert [note.note_id for note in (await know.facts.why(one.fact.fact_id)).notes] == notes


@clause("FACT-62")
async def test_a_note_is_evidence_of_a_fact_once(know: Know) -> None:
    note = await know.note()
    await know.say("Alice", "is", "tall", notes=[note, note])
    again = await know.say("Alice", "is", "tall", notes=[note])
    assert (again.created, again.evidence_added, len(await know.evidence())) == (False, 0, 1)
    assert [warning.code for warning in again.warnings] == ["W101"]


@clause("FACT-59", "FACT-67")
async def test_deleting_a_fact_takes_evidence_and_supersessions_along(know: Know) -> None:
    await know.predicate("works_at")
    one = await know.say("Alice", "works_at", "Initech", valid_from=day(1))
    two = await know.say("Alice", "works_at", "Globex", valid_from=day(5))
    await know.facts.delete_fact(one.fact.fact_id)
    assert ids(await know.all_facts()) == [two.fact.fact_id]
    assert [row.fact_id for row in await know.evidence()] == [two.fact.fact_id]
    assert await know.supersessions() == []
    async with know.world.refuses(FactNotFound):
        await know.facts.delete_fact(one.fact.fact_id)


@clause("FACT-60", "FACT-64", "FACT-68")
async def test_deleting_a_note_takes_its_evidence_along_and_leaves_the_facts(know: Know) -> None:
    await know.predicate("works_at")
    await know.say("Alice", "works_at", "Initech", valid_from=day(1))
    note = await know.note("it changed")
    await know.say("Alice", "works_at", "Globex", valid_from=day(5), notes=[note])
    assert len(await know.supersessions()) == 1

    await know.facts.delete_note(note)

    assert len(await know.all_facts()) == 2
    assert len(await know.evidence()) == 1
    assert await know.supersessions() == []
    async with know.world.refuses(NoteNotFound):
        await know.facts.delete_note(note)


@clause("FACT-64")
async def test_a_note_with_an_id_is_the_same_note_when_it_comes_again(know: Know) -> None:
    note = await know.facts.add_note("Alice is tall", "mail", id=NOBODY)
    assert (note.note_id, note.source, note.tenant_id) == (NOBODY, "mail", "tenant-a")
    before = await know.world.everything()
    assert await know.facts.add_note("Alice is tall", "mail", id=NOBODY) == note
    assert await know.world.everything() == before
    async with know.world.refuses(NoteExists, noteId=NOBODY):
        await know.facts.add_note("Alice is small", id=NOBODY)


@clause("FACT-86")
async def test_a_fact_without_evidence_is_refused(know: Know) -> None:
    async with know.world.refuses(EvidenceRequired):
        await know.facts.add_fact("Alice", "is", "tall", notes=[])


@pytest.mark.parametrize("case", fixture("fact_reuse_and_active")["reuse"], ids=lambda case: case["name"])
@clause("FACT-2", "FACT-80", "FACT-81")
async def test_saying_it_again_adds_evidence_and_no_fact(know: Know, case: dict[str, Any]) -> None:
    aliases = case.get("aliases")
    if aliases:
        predicate = await know.predicate(aliases[0], "pending", "multi")
        await know.facts.configure_predicate(predicate.predicate_id, add_aliases=aliases[1:])
    notes = {name: await know.note(name) for name in ("N1", "N2")}

    async def say(fact: dict[str, Any]) -> str:
        given = [notes[name] for name in fact["notes"]]
        bob = fact["object_entity"]
        done = await know.say("alice", fact["predicate"], object=bob, valid_from=fact["valid_from"], notes=given)
        return done.fact.fact_id

    assert await say(case["first"]) == await say(case["again"])
    assert len(await know.all_facts()) == case["expect"]["facts"]
    wanted = case["expect"].get("evidence_notes", ["N1", "N2"])
    assert sorted(row.note_id for row in await know.evidence()) == sorted(notes[name] for name in wanted)
    assert validity_of((await know.all_facts())[0]) == (case["first"]["valid_from"], None)


@clause("FACT-2", "FACT-56", "FACT-57", "FACT-79")
async def test_the_store_itself_refuses_a_second_open_fact(know: Know) -> None:
    note = await know.note()
    for object in ({"value": "tall"}, {"object": "Bob"}):
        await know.say("Alice", "is", notes=[note], reuse=False, **object)
        async with know.world.refuses(UniqueViolation):
            await know.say("Alice", "is", notes=[note], reuse=False, **object)
    bounded = {"valid_from": day(1), "valid_to": day(2), "reuse": False, "notes": [note]}
    for _ in range(2):
        assert (await know.say("Alice", "is", "tall", **bounded)).created
    assert (await know.say("Alice", "is", "tall", notes=[note], reuse=False, scope="other")).created


@clause("FACT-2", "FACT-81", "FACT-61")
async def test_a_bounded_fact_that_is_active_is_reused_and_history_is_its_own_row(know: Know) -> None:
    one = await know.say("Alice", "is", "tall", valid_from=day(1), valid_to=day(20))
    assert not (await know.say("Alice", "is", "tall")).created
    assert not (await know.say("Alice", "is", "tall", valid_from=day(9), valid_to=day(30))).created
    history = {"valid_from": day(1), "valid_to": day(2)}
    assert (await know.say("Alice", "is", "tall", **history)).created
    assert not (await know.say("Alice", "is", "tall", **history)).created
    future = await know.say("Alice", "is", "old", valid_from=day(20))
    assert (await know.say("Alice", "is", "old")).fact.fact_id == future.fact.fact_id
    assert len(await know.evidence()) == 7
    assert validity_of(one.fact) == (day(1), day(20))


@pytest.mark.parametrize("case", fixture("fact_reuse_and_active")["active"], ids=str)
@clause("FACT-78", "FACT-88")
async def test_active_means_begun_and_not_ended(know: Know, case: dict[str, Any]) -> None:
    know.set_clock(fixture("fact_reuse_and_active")["now"])
    await know.say("Alice", "is", "tall", valid_from=case["valid_from"], valid_to=case["valid_to"])
    now = fixture("fact_reuse_and_active")["now"]
    assert (await know.values("Alice", now) == ["tall"]) is case["active"]
    fact = (await know.all_facts())[0]
    assert fact.holds_at(instant_of(now)) is case["active"]


@clause("FACT-48", "FACT-49", "FACT-78")
async def test_instants_are_exact_to_the_microsecond(know: Know) -> None:
    start, end = "2026-01-05T12:00:00.000001Z", "2026-01-05T12:00:00.000003Z"
    done = await know.say("Alice", "is", "here", valid_from="2026-01-05T14:00:00.000001+02:00", valid_to=end)
    assert validity_of(done.fact) == (start, end)
    held = [await know.values("Alice", f"2026-01-05T12:00:00.00000{n}Z") for n in range(5)]
    assert held == [[], ["here"], ["here"], [], []]
    early = await know.say(
        "Alice", "was", "ancient", valid_from="0001-01-01T00:00:00Z", valid_to="9999-12-31T23:59:59Z"
    )
    assert validity_of(early.fact) == ("0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z")


@clause("FACT-4")
async def test_words_of_any_language_are_kept_as_they_are(know: Know) -> None:
    """The seed's header says English only, which describes its own texts; nothing here depends on a language."""
    done = await know.say("Zoë ☃", "mag", "Grünkohl 😀")
    entity = await know.facts.entity("ZOË ☃")
    assert entity is not None
    assert (done.fact.object_value, entity.canonical) == ("Grünkohl 😀", "Zoë ☃")


@clause("FACT-49")
async def test_a_fact_is_ended_by_hand_with_a_reason(know: Know) -> None:
    done = await know.say("Alice", "is", "tall", valid_from=day(1))
    ended = await know.facts.invalidate_fact(done.fact.fact_id, day(5), "measured again")
    assert validity_of(ended) == (day(1), day(5))
    assert [row.reason for row in await know.rows(INVALIDATIONS)] == ["measured again"]
    assert (await know.facts.why(done.fact.fact_id)).invalidation is not None
    async with know.world.refuses(FactConflict, factId=done.fact.fact_id):
        await know.facts.invalidate_fact(done.fact.fact_id, day(6))
    async with know.world.refuses(InvalidFact):
        await know.facts.invalidate_fact(done.fact.fact_id, day(1))
    earlier = await know.facts.invalidate_fact(done.fact.fact_id, day(3))
    assert validity_of(earlier) == (day(1), day(3))
    now = await know.say("Alice", "is", "small")
    await know.facts.invalidate_fact(now.fact.fact_id)
    assert await know.values("Alice") == []


BAD_NAMES = {"blank": "  \t ", "long": "x" * 10_000, "nul": "a\x00b", "bytes": "😀" * 900}


@pytest.mark.parametrize("name", BAD_NAMES.values(), ids=BAD_NAMES)
@clause("FACT-8", "FACT-18", "FACT-27", "FACT-47")
async def test_unusable_names_are_refused_everywhere(know: Know, name: str) -> None:
    note = await know.note()
    entity = await know.facts.upsert_entity("Alice")
    for act in (
        lambda: know.facts.upsert_entity(name),
        lambda: know.facts.add_entity_alias(entity.entity_id, name),
        lambda: know.facts.register_predicate(name),
        lambda: know.say(name, "is", "x", notes=[note]),
        lambda: know.say("Alice", name, "x", notes=[note]),
        lambda: know.say("Alice", "is", name, notes=[note]),
        lambda: know.say("Alice", "is", object=name, notes=[note]),
        lambda: know.say("Alice", "is", "x", notes=[note], scope=name),
    ):
        before = await know.world.everything()
        with pytest.raises(UgsError) as refused:
            await act()
        assert refused.value.code in ("INVALID_FACT", "E006")
        assert await know.world.everything() == before


@pytest.mark.parametrize("bad", ["a:b", "__project__", "__global__", "", " x", "x" * 200])
@clause("FACT-35", "FACT-25")
async def test_tenants_and_projects_cannot_forge_a_scope_key(know: Know, bad: str) -> None:
    base: Any = {"tenant_id": "t", "project_id": "p", "agent_id": "a", "scope": "s"}
    for field in ("tenant_id", "project_id"):
        command = AddFact(
            **{**base, field: bad}, subject=EntityRef(name="A"), predicate="is", object_value="x",
            notes=(NoteRef(text="said"),),
        )  # fmt: skip
        async with know.world.refuses(InvalidFact):
            await know.admin.do(command)


@pytest.mark.parametrize("bad", ["2026-01-01T00:00:00", "yesterday", "2026-13-01T00:00:00Z"])
@clause("FACT-48")
async def test_a_time_without_zone_or_sense_is_refused(know: Know, bad: str) -> None:
    note = await know.note()
    async with know.world.refuses(InvalidFact, field="validFrom"):
        await know.say("Alice", "is", "x", valid_from=bad, notes=[note])


@clause("FACT-80", "FACT-81")
async def test_a_retry_with_a_key_has_one_effect(know: Know) -> None:
    first = await know.facts.add_fact("Alice", "is", "tall", notes=[NoteRef(text="said")], key="k")
    again = await know.facts.add_fact("Alice", "is", "tall", notes=[NoteRef(text="said")], key="k")
    assert (again.fact, again.events, again.created) == (first.fact, first.events, True)
    assert len(await know.rows(NOTES)) == 1
