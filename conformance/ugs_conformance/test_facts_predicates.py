"""Seed 001, sections 2 and 5: a vocabulary that grows by itself, and facts that take each other's place."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from ugs.errors import Forbidden
from ugs.facts.errors import (
    EvidenceRequired,
    FactConflict,
    InvalidFact,
    PredicateConflict,
    PredicateInUse,
    PredicateNotFound,
)
from ugs.facts.model import PREDICATE_ALIASES, PREDICATES
from ugs.facts.resolution import EntityRef
from ugs.facts.temporal.instants import instant_of, instant_text
from ugs.identity import Principal
from ugs_conformance.support.api_under_test import facts_of
from ugs_conformance.support.facts_kit import Know, day, validity_of
from ugs_conformance.support.pytest_plugin import clause
from ugs_conformance.support.store_fixture import StoreUnderTest, fixture

RESOLUTION = fixture("fact_predicate_resolution")
SUPERSESSION = fixture("fact_supersession")
ERRORS = {"FACT_CONFLICT": FactConflict, "EVIDENCE_REQUIRED": EvidenceRequired}


@pytest.fixture
def know(world: StoreUnderTest) -> Know:
    return Know(world)


async def register(know: Know, scope_key: str, alias: str) -> str:
    """A predicate under a scope key, by the level that gives this key."""
    level, tenant, project = "tenant_project", "tenant-a", "project-b"
    if scope_key == "__global__":
        level = "global"
    elif scope_key.startswith("__project__:"):
        level, project = "project", scope_key.partition(":")[2]
    else:
        tenant, _, project = scope_key.partition(":")
    done = await know.admin.register_predicate(alias, level, tenant=tenant, project=project)
    assert done.predicate.scope_key == scope_key
    return done.predicate.predicate_id


@pytest.mark.parametrize("case", RESOLUTION["cases"], ids=lambda case: case["name"])
@clause("FACT-22", "FACT-35", "FACT-36", "FACT-37", "FACT-38", "FACT-39", "FACT-85")
async def test_predicates_resolve_by_alias_nearest_scope_first(know: Know, case: dict[str, Any]) -> None:
    known = {row["predicate"]: await register(know, row["scope_key"], row["alias"]) for row in case["registry"]}
    alias = case.get("resolve") or case["resolve_twice"]
    space = {"tenant": RESOLUTION["tenant"], "project": RESOLUTION["project"]}

    found = await know.admin.resolve_or_register_predicate(alias, **space)

    if case["expect"] in known:
        assert found.predicate_id == known[case["expect"]]
    else:
        assert found.predicate_id not in known.values()
        assert (found.scope_key, found.status, found.cardinality) == ("tenant-a:project-b", "pending", "multi")
    for name, value in case.get("registered", {}).items():
        assert getattr(found, name) == value
    assert await know.admin.resolve_or_register_predicate(alias, **space) == found


@clause("FACT-22", "FACT-37", "FACT-38", "FACT-39", "FACT-40")
async def test_an_unknown_predicate_registers_itself_with_its_surface_as_first_alias(know: Know) -> None:
    fact = (await know.say("Alice", " Works  At ", "Initech")).fact
    (predicate,) = await know.rows(PREDICATES)
    (alias,) = await know.rows(PREDICATE_ALIASES)
    assert (predicate.predicate_id, predicate.canonical, predicate.status) == (
        fact.predicate_id,
        "Works At",
        "pending",
    )
    assert (alias.predicate_id, alias.alias_norm, alias.scope_key) == (
        predicate.predicate_id,
        "works at",
        predicate.scope_key,
    )
    assert await know.facts.resolve_predicate("unknown") is None
    assert len(await know.rows(PREDICATES)) == 1


@clause("FACT-31", "FACT-32", "FACT-33", "FACT-45")
async def test_deleting_a_predicate_deletes_its_aliases_unless_facts_need_it(know: Know) -> None:
    unused = await know.predicate("unused")
    used = (await know.say("Alice", "used", "x")).fact.predicate_id or ""
    await know.facts.configure_predicate(unused.predicate_id, add_aliases=["idle"])
    async with know.world.refuses(PredicateInUse, facts=1):
        await know.facts.delete_predicate(used)

    await know.facts.delete_predicate(unused.predicate_id)

    assert [alias.alias for alias in await know.rows(PREDICATE_ALIASES)] == ["used"]
    async with know.world.refuses(PredicateNotFound):
        await know.facts.delete_predicate(unused.predicate_id)


@clause("FACT-40", "FACT-29")
async def test_status_goes_forward_only_and_deprecated_is_frozen(know: Know) -> None:
    predicate = await know.predicate("works_at", "pending", "multi")
    change = know.facts.configure_predicate
    id = predicate.predicate_id
    assert (await change(id, status="pending")).predicate == predicate
    assert (await change(id, status="active", cardinality="single")).predicate.cardinality == "single"
    async with know.world.refuses(PredicateConflict, current="active"):
        await change(id, status="pending")
    assert (await change(id, status="deprecated")).predicate.status == "deprecated"
    for changes in (
        {"status": "active"},
        {"status": "pending"},
        {"cardinality": "multi"},
        {"add_aliases": ["x"]},
        {"canonical": "x"},
    ):
        async with know.world.refuses(PredicateConflict, current="deprecated"):
            await change(id, **changes)


@clause("FACT-28", "FACT-29", "FACT-40")
async def test_settings_are_checked(know: Know) -> None:
    predicate = await know.predicate("works_at")
    for changes in ({"status": "on"}, {"cardinality": "many"}, {}, {"add_aliases": [" "]}):
        async with know.world.refuses(InvalidFact):
            await know.facts.configure_predicate(predicate.predicate_id, **changes)
    for bad in ({"status": "on"}, {"cardinality": "many"}, {"level": "planet"}):
        async with know.world.refuses(InvalidFact):
            await know.facts.register_predicate("x", **bad)


@clause("FACT-40")
async def test_a_guarded_change_with_a_stale_expectation_is_a_conflict(know: Know) -> None:
    id = (await know.predicate("works_at", "pending", "multi")).predicate_id
    await know.facts.configure_predicate(id, status="active", expected_status="pending")
    await know.facts.configure_predicate(id, status="deprecated", expected_status="active")
    async with know.world.refuses(PredicateConflict, expected="active", current="deprecated"):
        await know.facts.configure_predicate(id, status="deprecated", expected_status="active")
    assert (await know.rows(PREDICATES))[0].status == "deprecated"


@clause("FACT-33", "FACT-35")
async def test_an_alias_belongs_to_one_predicate_of_a_scope(know: Know) -> None:
    one, two = await know.predicate("works_at"), await know.predicate("likes")
    await know.facts.configure_predicate(one.predicate_id, add_aliases=["employed by"])
    async with know.world.refuses(PredicateConflict, alias="Employed By", predicateId=one.predicate_id):
        await know.facts.configure_predicate(two.predicate_id, add_aliases=["Employed By"])
    await know.facts.configure_predicate(one.predicate_id, add_aliases=["Employed  BY"])
    assert sorted(alias.alias for alias in await know.rows(PREDICATE_ALIASES)) == [
        "Employed BY",
        "likes",
        "works_at",
    ]
    renamed = await know.facts.configure_predicate(one.predicate_id, canonical="has job at")
    assert (renamed.predicate.canonical, await know.facts.resolve_predicate("HAS job at")) == (
        "has job at",
        renamed.predicate,
    )
    async with know.world.refuses(PredicateConflict):
        await know.facts.configure_predicate(one.predicate_id, canonical="Likes")


@clause("FACT-40", "FACT-72")
async def test_conflicts_of_a_new_single_predicate_are_listed_and_left_alone(know: Know) -> None:
    for value, number in (("Initech", 1), ("Globex", 5), ("Umbrella", 7)):
        await know.say("Alice", "works_at", value, valid_from=day(number))
    await know.say("Bob", "works_at", "Hooli")
    id = (await know.rows(PREDICATES))[0].predicate_id

    done = await know.facts.configure_predicate(id, status="active", cardinality="single")

    assert [fact.object_value for fact in done.conflicts] == ["Initech", "Globex", "Umbrella"]
    assert await know.supersessions() == []
    assert [fact.valid_to for fact in await know.all_facts()] == [None] * 4
    assert await know.values("Alice") == ["Umbrella"]
    assert await know.values("Alice", day(6)) == ["Globex"]
    await know.say("Alice", "works_at", "Weyland", valid_from=day(9))
    assert await know.values("Alice") == ["Weyland"]
    assert len(await know.supersessions()) == 3


@clause("FACT-40")
async def test_conflicts_are_resolved_to_the_latest_when_asked(know: Know) -> None:
    for value, number in (("Initech", 1), ("Globex", 5), ("Umbrella", 7)):
        await know.say("Alice", "works_at", value, valid_from=day(number))
    id = (await know.rows(PREDICATES))[0].predicate_id
    done = await know.facts.configure_predicate(id, status="active", cardinality="single", keep_latest=True)
    assert done.conflicts == []
    assert [validity_of(fact) for fact in await know.all_facts()] == [
        (day(1), day(5)),
        (day(5), day(7)),
        (day(7), None),
    ]
    assert len(await know.supersessions()) == 2


@clause("FACT-26", "FACT-36")
async def test_shared_predicates_need_an_administrator(know: Know) -> None:
    shared = (await know.admin.register_predicate("global_one", "global")).predicate
    project = (await know.admin.register_predicate("p_one", "project", tenant="t", project="project-b")).predicate
    for predicate in (shared, project):
        async with know.world.refuses(Forbidden):
            await know.facts.configure_predicate(predicate.predicate_id, status="active")
    async with know.world.refuses(Forbidden):
        await know.facts.register_predicate("mine", "global")
    assert (await know.admin.configure_predicate(shared.predicate_id, status="active")).predicate.status == "active"
    other = facts_of(know.world.system, Principal("eve", frozenset(), "tenant-x", "project-x", "a"))
    mine = await know.predicate("mine")
    async with know.world.refuses(PredicateNotFound):
        await other.configure_predicate(mine.predicate_id, status="deprecated")


@clause("FACT-22", "FACT-36")
async def test_the_vocabulary_of_a_project_lists_its_own_predicates_first(know: Know) -> None:
    await register(know, "__global__", "a")
    await register(know, "__project__:project-b", "b")
    await register(know, "tenant-a:project-b", "c")
    await register(know, "tenant-x:project-b", "d")
    assert [row.canonical for row in await know.facts.predicates()] == ["c", "b", "a"]
    assert [row.canonical for row in await know.facts.predicates("active")] == []


@pytest.mark.parametrize("case", SUPERSESSION["cases"], ids=lambda case: case["name"])
@clause("FACT-70", "FACT-71", "FACT-72", "FACT-73", "FACT-74", "FACT-75", "FACT-76", "FACT-40")
async def test_supersession(know: Know, case: dict[str, Any]) -> None:
    know.set_clock(SUPERSESSION["now"])
    settings = case["predicate"]
    alias = settings["alias"]
    predicate = await know.predicate(alias, "pending", "multi")
    names: dict[str, str] = {}
    for fact in case["existing"]:
        done = await know.say(
            "alice",
            alias,
            fact["object_value"],
            valid_from=fact["valid_from"],
            valid_to=fact["valid_to"],
            scope=fact.get("scope", "project_shared"),
        )
        names[fact["id"]] = done.fact.fact_id
    await configure(know, predicate.predicate_id, settings)
    new, expect = case["insert"], case["expect"]
    notes = {name: await know.note(name) for name in new["notes"]}

    async def insert() -> str:
        done = await know.facts.add_fact(
            "alice",
            alias,
            new["object_value"],
            valid_from=new["valid_from"],
            valid_to=new["valid_to"],
            notes=list(notes.values()),
        )
        return done.fact.fact_id

    if "error" in expect:
        async with know.world.refuses(ERRORS[expect["error"]]):
            await insert()
    else:
        names[new["id"]] = await insert()
    await check_expectations(know, expect, names, notes)


async def configure(know: Know, id: str, settings: dict[str, str]) -> None:
    """Bring a predicate to a status by the allowed steps."""
    await know.facts.configure_predicate(id, cardinality=settings["cardinality"])
    if settings["status"] != "pending":
        await know.facts.configure_predicate(id, status=settings["status"])


async def check_expectations(know: Know, expect: dict[str, Any], names: dict[str, str], notes: dict[str, str]) -> None:
    facts = {fact.fact_id: fact for fact in await know.all_facts()}
    links = await know.supersessions()
    back = {id: name for name, id in names.items()}
    for key, value in expect.items():
        name, dot, _ = key.partition(".valid_to")
        if dot:
            end = facts[names[name]].valid_to
            assert (None if end is None else instant_text(end)) == value
    if "supersessions" in expect:
        told = {id: name for name, id in notes.items()}
        assert [
            {
                "from_fact": back[link.from_fact_id],
                "to_fact": back[link.to_fact_id],
                "note": told[link.note_id],
                "effective_at": instant_text(link.effective_at),
            }
            for link in links
        ] == expect["supersessions"]
    if "supersessions_count" in expect:
        assert len(links) == expect["supersessions_count"]
        assert {link.note_id for link in links} == {notes[expect["supersession_note"]]}
    for key, moment in (("active_at_now", SUPERSESSION["now"]), ("active_at_2026-01-03", day(3))):
        if key in expect:
            found = await know.facts.active_facts("alice", valid_at=moment)
            assert sorted(back[fact.fact_id] for fact in found) == sorted(expect[key])


@clause("FACT-76", "FACT-72")
async def test_facts_about_other_things_are_untouched(know: Know) -> None:
    await know.predicate("works_at")
    await know.predicate("lives_in")
    for tenant, project in (("t1", "project-b"), ("tenant-a", "p2")):
        note = await know.admin.add_note("x", tenant=tenant, project=project)
        space: Any = {"tenant": tenant, "project": project}
        await know.admin.register_predicate("works_at", status="active", cardinality="single", **space)
        await know.admin.add_fact("alice", "works_at", "A", notes=[note.note_id], valid_from=day(1), **space)
    await know.say("bob", "works_at", "A", valid_from=day(1))
    await know.say("alice", "lives_in", "A", valid_from=day(1))
    await know.say("alice", "works_at", "A", valid_from=day(1), scope="agent_private")

    await know.say("alice", "works_at", "B", valid_from=day(5))

    assert [fact.valid_to for fact in await know.all_facts()] == [None] * 6
    assert await know.supersessions() == []


@clause("FACT-76", "FACT-72")
async def test_private_facts_of_each_agent_are_a_timeline_of_their_own(know: Know) -> None:
    await know.predicate("works_at")
    note = (await know.admin.add_note("x", tenant="tenant-a", project="project-b")).note_id
    space: Any = {"tenant": "tenant-a", "project": "project-b", "scope": "agent_private", "notes": [note]}
    told = (("agent-c", "A", 1), ("agent-d", "B", 2), ("agent-c", "C", 5))
    await asyncio.gather(
        *(
            know.admin.add_fact("alice", "works_at", value, valid_from=day(number), agent=agent, **space)
            for agent, value, number in told
        )
    )

    ends = {fact.object_value: fact.valid_to for fact in await know.all_facts()}
    assert ends == {"A": instant_of(day(5)), "B": None, "C": None}


@clause("FACT-72", "FACT-76")
async def test_every_open_fact_of_the_same_scope_ends_when_the_subject_is_named_by_its_id(know: Know) -> None:
    predicate = await know.predicate("works_at", "active", "multi")
    alice = await know.facts.upsert_entity("alice")
    subject = EntityRef(id=alice.entity_id)
    for value, more in (("A", {}), ("B", {}), ("C", {"scope": "agent_private"}), ("D", {"valid_to": day(9)})):
        await know.say(subject, "works_at", value, valid_from=day(1), **more)
    await know.facts.configure_predicate(predicate.predicate_id, cardinality="single", keep_latest=False)

    new = await know.say(subject, "works_at", "N", valid_from=day(5))

    ends = {fact.object_value: fact.valid_to for fact in await know.all_facts()}
    start = instant_of(day(5))
    assert ends == {"A": start, "B": start, "C": None, "D": instant_of(day(9)), "N": None}
    assert {link.to_fact_id for link in await know.supersessions()} == {new.fact.fact_id}
    assert len(await know.supersessions()) == 2


@clause("FACT-68", "FACT-73", "FACT-80")
async def test_saying_an_active_fact_again_supersedes_nothing(know: Know) -> None:
    await know.say("alice", "works_at", "A", valid_from=day(1))
    await know.say("alice", "works_at", "B", valid_from=day(2))
    id = (await know.rows(PREDICATES))[0].predicate_id
    await know.facts.configure_predicate(id, status="active", cardinality="single")
    again = await know.say("alice", "works_at", "A")
    assert (again.created, await know.values("alice"), await know.supersessions()) == (False, ["B"], [])


@clause("FACT-71", "FACT-72", "FACT-52")
async def test_changes_within_one_millisecond_follow_each_other(know: Know) -> None:
    await know.predicate("works_at")
    for value in ("A", "B", "C"):
        await know.say("alice", "works_at", value)
    facts = await know.all_facts()
    assert [fact.object_value for fact in facts] == ["A", "B", "C"]
    assert [fact.valid_to for fact in facts] == [facts[1].valid_from, facts[2].valid_from, None]
    assert await know.values("alice") == ["C"]


@clause("FACT-72", "FACT-52")
async def test_history_finds_its_place_between_what_is_known(know: Know) -> None:
    await know.predicate("works_at")
    await know.say("alice", "works_at", "A", valid_from=day(3))
    await know.say("alice", "works_at", "B", valid_from=day(6))
    first = await know.say("alice", "works_at", "0", valid_from=day(1))
    inside = await know.say("alice", "works_at", "X", valid_from=day(4))
    assert validity_of(first.fact) == (day(1), day(3))
    assert first.warnings == []
    assert validity_of(inside.fact) == (day(4), day(6))
    assert inside.warnings == []
    assert await know.values("alice") == ["B"]
    windows = [(fact.object_value, *validity_of(fact)) for fact in await know.all_facts()]
    assert windows == [
        ("0", day(1), day(3)), ("A", day(3), day(4)), ("X", day(4), day(6)), ("B", day(6), None)
    ]  # fmt: skip
    assert await chain_of(know) == [("0", "A"), ("A", "X"), ("X", "B")]


@clause("FACT-81", "FACT-72", "FACT-52")
async def test_history_said_again_is_known_already(know: Know) -> None:
    await know.predicate("works_at")
    told = (await know.say("alice", "works_at", "A", valid_from=day(2))).fact
    await know.say("alice", "works_at", "B", valid_from=day(6))
    for number in (2, 4):
        again = await know.say("alice", "works_at", "A", valid_from=day(number))
        assert (again.created, again.evidence_added, again.fact.fact_id) == (False, 1, told.fact_id)
    before = await know.say("alice", "works_at", "A", valid_from=day(1))
    assert (before.created, before.fact.fact_id, validity_of(before.fact)) == (False, told.fact_id, (day(1), day(6)))
    assert [(warning.code, warning.id) for warning in before.warnings] == [("W104", told.fact_id)]
    assert [validity_of(fact) for fact in await know.all_facts()] == [(day(1), day(6)), (day(6), None)]
    assert [len((await know.facts.why(fact.fact_id)).notes) for fact in await know.all_facts()] == [4, 1]


async def chain_of(know: Know) -> list[tuple[str | None, str | None]]:
    """What took the place of what, by value, in the order it did."""
    facts = {fact.fact_id: fact.object_value for fact in await know.all_facts()}
    links = sorted(await know.supersessions(), key=lambda link: link.effective_at)
    return [(facts[link.from_fact_id], facts[link.to_fact_id]) for link in links]


@clause("FACT-70", "FACT-72", "FACT-73", "FACT-76", "FACT-86")
async def test_a_fact_about_a_subject_by_id_ends_those_of_its_own_scope_only(know: Know) -> None:
    """The call form of the specification: the subject by its id."""
    await know.predicate("works_at")
    alice = await know.facts.upsert_entity("alice")
    other = await know.say(alice, "works_at", "A", valid_from=day(1), scope="other")
    first = await know.say(alice, "works_at", "A", valid_from=day(1))
    second = await know.say(alice, "works_at", "B", valid_from=day(5))
    assert [fact.fact_id for fact in second.superseded] == [first.fact.fact_id]
    ends = {fact.fact_id: validity_of(fact)[1] for fact in await know.all_facts()}
    assert ends == {other.fact.fact_id: None, first.fact.fact_id: day(5), second.fact.fact_id: None}
    (link,) = await know.supersessions()
    assert (link.from_fact_id, link.to_fact_id) == (first.fact.fact_id, second.fact.fact_id)
    assert await know.values(alice, scope="other") == ["A"]
    assert await know.values(alice) == ["B"]


@clause("FACT-71", "FACT-75", "FACT-78")
async def test_a_scheduled_fact_leaves_the_rows_and_replaces_the_present_when_it_begins(know: Know) -> None:
    await know.predicate("works_at")
    await know.say("alice", "works_at", "A", valid_from=day(1))
    later = await know.say("alice", "works_at", "B", valid_from=day(20))
    assert [fact.valid_to for fact in await know.all_facts()] == [None, None]
    assert await know.supersessions() == []
    assert [await know.values("alice", day(number)) for number in (5, 19, 20, 25)] == [["A"], ["A"], ["B"], ["B"]]
    know.set_clock(day(21))
    assert await know.values("alice") == ["B"]
    report = await know.facts.report("alice")
    assert [one.state for one in report.facts] == ["historical", "current"]
    await know.facts.delete_fact(later.fact.fact_id)
    assert await know.values("alice") == ["A"]


@clause("FACT-71", "FACT-72", "FACT-78")
async def test_the_present_goes_on_changing_while_a_fact_is_scheduled(know: Know) -> None:
    await know.predicate("works_at")
    await know.say("alice", "works_at", "S", valid_from=day(20))
    for value, number in (("A", 1), ("B", 5), ("C", 9)):
        await know.say("alice", "works_at", value, valid_from=day(number))
    windows = [validity_of(fact) for fact in await know.all_facts()]
    assert windows == [(day(1), day(5)), (day(5), day(9)), (day(9), day(20)), (day(20), None)]
    assert await chain_of(know) == [("A", "B"), ("B", "C"), ("C", "S")]
    assert await know.values("alice") == ["C"]
    note = await know.note()
    async with know.world.refuses(FactConflict):
        await know.say("alice", "works_at", "T", valid_from=day(20), notes=[note])


@clause("FACT-75", "FACT-78")
async def test_a_fact_with_an_end_interrupts_what_holds_for_readers_only(know: Know) -> None:
    await know.predicate("works_at")
    await know.say("alice", "works_at", "A", valid_from=day(1))
    await know.say("alice", "works_at", "B", valid_from=day(5), valid_to=day(7))
    assert [validity_of(fact) for fact in await know.all_facts()] == [(day(1), None), (day(5), day(7))]
    assert await know.supersessions() == []
    assert [await know.values("alice", day(n)) for n in (4, 5, 6, 7)] == [["A"], ["B"], ["B"], ["A"]]


@clause("FACT-72", "FACT-78")
async def test_what_was_interrupted_holds_again_from_where_the_interruption_ends_early(know: Know) -> None:
    await know.predicate("works_at")
    await know.say("alice", "works_at", "A", valid_from=day(1))
    short = (await know.say("alice", "works_at", "B", valid_from=day(5), valid_to=day(10))).fact
    assert [await know.values("alice", day(number)) for number in (4, 5, 8, 10)] == [["A"], ["B"], ["B"], ["A"]]

    await know.facts.invalidate_fact(short.fact_id, day(7))

    assert [await know.values("alice", day(number)) for number in (4, 5, 6, 7, 8)] == [
        ["A"],
        ["B"],
        ["B"],
        ["A"],
        ["A"],
    ]


@clause("FACT-80", "FACT-81")
async def test_an_earlier_beginning_of_a_known_fact_extends_it(know: Know) -> None:
    known = await know.say("alice", "likes", "tea", valid_from=day(5))
    note = await know.note()
    again = await know.say("alice", "likes", "tea", valid_from=day(2), notes=[note])
    assert (again.created, again.fact.fact_id, validity_of(again.fact)) == (False, known.fact.fact_id, (day(2), None))
    assert [warning.code for warning in again.warnings] == ["W104"]
    later = await know.say("alice", "likes", "tea", valid_from=day(4), notes=[note])
    assert (validity_of(later.fact), [w.code for w in later.warnings]) == ((day(2), None), ["W101"])
    earlier = await know.say("alice", "likes", "tea", valid_from=day(1), notes=[note])
    assert (validity_of(earlier.fact), [w.code for w in earlier.warnings]) == ((day(1), None), ["W104"])
    await know.predicate("works_at")
    await know.say("alice", "works_at", "A", valid_from=day(1))
    await know.say("alice", "works_at", "B", valid_from=day(6))
    extended = await know.say("alice", "works_at", "B", valid_from=day(4))
    assert (extended.created, validity_of(extended.fact)) == (False, (day(4), None))
    assert [fact.object_value for fact in extended.superseded] == ["A"]
    assert [validity_of(fact)[1] for fact in await know.all_facts() if fact.object_value == "A"] == [day(4)]
    (link,) = await know.supersessions()
    assert instant_text(link.effective_at) == day(4)


@clause("FACT-67", "FACT-72")
async def test_deleting_a_fact_lets_what_it_had_ended_go_on(know: Know) -> None:
    await know.predicate("works_at")
    said = (("A", 1), ("B", 4), ("C", 7))
    made = [await know.say("alice", "works_at", value, valid_from=day(n)) for value, n in said]
    await know.facts.delete_fact(made[1].fact.fact_id)
    assert [validity_of(fact) for fact in await know.all_facts()] == [(day(1), day(7)), (day(7), None)]
    assert await chain_of(know) == [("A", "C")]
    await know.facts.delete_fact(made[2].fact.fact_id)
    assert [validity_of(fact) for fact in await know.all_facts()] == [(day(1), None)]
    assert await know.supersessions() == []
    assert (await know.world.system.verify()).ok


@clause("FACT-72")
async def test_deleting_one_of_two_that_began_together_changes_no_end(know: Know) -> None:
    predicate = await know.predicate("works_at", "active", "multi")
    told = [(await know.say("alice", "works_at", value, valid_from=day(number))).fact for value, number in TOGETHER]
    await know.facts.configure_predicate(predicate.predicate_id, cardinality="single", keep_latest=True)

    await know.facts.delete_fact(told[1].fact_id)

    ends = {fact.object_value: fact.valid_to for fact in await know.all_facts()}
    assert ends == {"A": instant_of(day(3)), "C": None}


TOGETHER = (("A", 1), ("B", 3), ("C", 3))


@clause("FACT-40")
async def test_a_predicate_is_configured_by_name(know: Know) -> None:
    await know.say("alice", "works at", "A")
    done = await know.facts.configure_predicate(name=" Works  AT", status="active", cardinality="single")
    assert (done.predicate.canonical, done.predicate.status, done.predicate.cardinality) == (
        "works at",
        "active",
        "single",
    )
    async with know.world.refuses(PredicateNotFound):
        await know.facts.configure_predicate(name="lives in", status="active")
    for named in ({}, {"predicate_id": done.predicate.predicate_id, "name": "works at"}):
        async with know.world.refuses(InvalidFact):
            await know.facts.configure_predicate(**named, status="active")


@clause("FACT-40", "FACT-78")
async def test_several_values_hold_again_when_several_may(know: Know) -> None:
    for value, number in (("A", 1), ("B", 5)):
        await know.say("alice", "works_at", value, valid_from=day(number))
    await know.facts.configure_predicate(name="works_at", status="active", cardinality="single")
    assert await know.values("alice") == ["B"]
    await know.facts.configure_predicate(name="works_at", cardinality="multi")
    assert await know.values("alice") == ["A", "B"]


@clause("FACT-78")
async def test_entities_that_become_one_have_one_timeline(know: Know) -> None:
    await know.predicate("works_at")
    await know.say("alice", "works_at", "A", valid_from=day(1))
    await know.say("al", "works_at", "B", valid_from=day(5))
    keep, merge = [await know.facts.entity(name) for name in ("alice", "al")]
    assert keep is not None
    assert merge is not None
    await know.facts.merge_entities(keep.entity_id, merge.entity_id)
    assert [await know.values("alice", day(n)) for n in (4, 6)] == [["A"], ["B"]]


@clause("FACT-74")
async def test_a_deprecated_predicate_still_means_what_it_meant_with_a_warning(know: Know) -> None:
    predicate = await know.predicate("works_at", "deprecated", "single")
    await know.say("alice", "works_at", "A", valid_from=day(1))
    done = await know.say("alice", "works_at", "B")
    assert done.fact.predicate_id == predicate.predicate_id
    assert [(warning.code, warning.id) for warning in done.warnings] == [("W102", predicate.predicate_id)]
    assert await know.values("alice") == ["A", "B"]
