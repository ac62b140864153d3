"""Seed 001, section 1 and the tables of all sections: entities, aliases, and how everything is kept."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import msgspec
import pytest

from ugs.facts.commands.entities import AddEntityAlias
from ugs.facts.errors import (
    EntityAmbiguous,
    EntityInUse,
    EntityNameTaken,
    EntityNotFound,
    FactNotFound,
    NoteNotFound,
)
from ugs.facts.model import (
    ENTITIES,
    ENTITY_ALIASES,
    ENTITY_NODES,
    EVIDENCE,
    FACTS,
    NOTES,
    PREDICATE_ALIASES,
    PREDICATES,
    SUPERSESSIONS,
)
from ugs.facts.normalization import normalize_name
from ugs.facts.resolution import EntityRef
from ugs.facts.temporal.instants import instant_of
from ugs.feature_registry import CATALOG
from ugs.log.at import At
from ugs.reads.filters import matcher
from ugs.tables import Format, Kind, Table
from ugs_conformance.support.facts_kit import STRANGER, Know, day
from ugs_conformance.support.pytest_plugin import clause
from ugs_conformance.support.store_fixture import StoreUnderTest, fixture

NOBODY = "00000000-0000-4000-8000-000000000000"


@pytest.fixture
def know(world: StoreUnderTest) -> Know:
    return Know(world)


COLUMNS = {
    ENTITIES: "entity_id tenant_id project_id canonical canonical_norm kind? created_at updated_at",
    ENTITY_ALIASES: "alias_id entity_id alias alias_norm created_at",
    PREDICATES: "predicate_id scope_key tenant_id? project_id? canonical canonical_norm cardinality status created_at"
    " updated_at",
    PREDICATE_ALIASES: "alias_id predicate_id scope_key alias alias_norm created_at",
    FACTS: "fact_id tenant_id project_id agent_id scope subject_entity_id predicate predicate_id? object_entity_id?"
    " object_value? valid_from valid_to? created_at updated_at",
    EVIDENCE: "evidence_id fact_id note_id created_at",
    SUPERSESSIONS: "supersession_id tenant_id project_id from_fact_id to_fact_id note_id effective_at created_at",
}
NAMES = (
    "graph_entities graph_entity_aliases graph_predicates graph_predicate_aliases graph_facts graph_fact_evidence"
    " graph_fact_supersessions"
)


@clause("FACT-1", "FACT-3")
async def test_the_seven_tables_have_the_seeds_names(know: Know) -> None:
    assert [table.name for table in COLUMNS] == NAMES.split()
    assert {*NAMES.split(), "memory_notes"} <= CATALOG.tables.keys()


def table_case(table: Table, *clauses: str) -> Any:
    """A table as a case of its own, with the clauses that speak of its columns."""
    return pytest.param(table, id=table.name, marks=pytest.mark.clause(*clauses))


@pytest.mark.parametrize(
    "table",
    [
        table_case(ENTITIES, "FACT-5", "FACT-6", "FACT-7", "FACT-8", "FACT-9", "FACT-10", "FACT-11", "FACT-12"),
        table_case(ENTITY_ALIASES, "FACT-16", "FACT-17", "FACT-18", "FACT-19"),
        table_case(PREDICATES, "FACT-24", "FACT-25", "FACT-26", "FACT-27", "FACT-28", "FACT-29", "FACT-30"),
        table_case(PREDICATE_ALIASES, "FACT-31", "FACT-32", "FACT-33", "FACT-34"),
        table_case(
            FACTS, "FACT-41", "FACT-42", "FACT-43", "FACT-44", "FACT-45", "FACT-46", "FACT-47", "FACT-48", "FACT-49",
            "FACT-50",
        ),
        table_case(EVIDENCE, "FACT-58", "FACT-59", "FACT-60", "FACT-61"),
        table_case(SUPERSESSIONS, "FACT-65", "FACT-66", "FACT-67", "FACT-68", "FACT-69"),
    ],
)  # fmt: skip
@clause("FACT-3")
async def test_every_column_is_kept_as_it_was_given(know: Know, table: Table) -> None:
    await know.predicate("works_at")
    await know.facts.upsert_entity("Ann", "person", aliases=["A."])
    await know.say("Ann", "works_at", "Initech", valid_from=day(1))
    await know.say("Ann", "works_at", object="Globex", valid_from=day(5))

    names = COLUMNS[table].split()
    rows = await know.rows(table)

    assert [f"{field.name}{'?' if field.nullable else ''}" for field in table.fields] == names
    assert rows
    told = [event.payload for event in await know.world.events() if event.element]
    for row in rows:
        kept = {name: value for name, value in msgspec.structs.asdict(row).items() if value is not None}
        events = [data for data in told if data.get(table.key[0]) == getattr(row, table.key[0])]
        said = {name: value for data in events for name, value in data.items() if name in table.names}
        instants = {field.name for field in table.fields if field.kind is Kind.INTEGER}
        heard = {k: instant_of(v) if k in instants and v else v for k, v in said.items()}
        assert kept == {name: value for name, value in heard.items() if value is not None}


@clause("FACT-5", "FACT-16", "FACT-24", "FACT-31", "FACT-41", "FACT-58", "FACT-65", "FACT-46", "FACT-49")
async def test_keys_are_uuids_that_no_two_rows_share(know: Know) -> None:
    await know.predicate("works_at")
    await know.facts.upsert_entity("Ann", aliases=["A."])
    await know.say("Ann", "works_at", "Initech", valid_from=day(1))
    await know.say("Ann", "works_at", object="Globex", valid_from=day(5))

    entities = {entity.entity_id for entity in await know.rows(ENTITIES)}
    for table in COLUMNS:
        rows = await know.rows(table)
        keys = [getattr(row, table.key[0]) for row in rows]
        assert len(table.key) == 1 and rows
        assert [str(UUID(key)) for key in keys] == keys and len(set(keys)) == len(keys)
    told = sorted((await know.rows(FACTS)), key=lambda fact: fact.valid_from)
    assert told[0].object_entity_id is None and told[1].object_entity_id in entities
    assert (told[0].valid_to, told[1].valid_to) == (told[1].valid_from, None)


@clause("FACT-11", "FACT-12", "FACT-19", "FACT-30", "FACT-34", "FACT-50", "FACT-61", "FACT-69")
async def test_records_are_stamped_with_the_time_of_the_command(know: Know) -> None:
    know.set_clock(day(11))
    await know.predicate("is")
    await know.facts.upsert_entity("Ann", aliases=["A."])
    await know.say("Ann", "is", "old", valid_from=day(1))
    await know.say("Ann", "is", "young", valid_from=day(2))

    for table in (*COLUMNS, NOTES):
        rows = await know.rows(table)
        assert rows, table
        assert {row.created_at for row in rows} == {instant_of(day(11))}


@pytest.mark.parametrize("case", fixture("fact_normalize")["cases"], ids=lambda case: repr(case["input"]))
@clause("FACT-14", "FACT-77", "FACT-82")
async def test_names_are_normalised_alike_everywhere(know: Know, case: dict[str, str]) -> None:
    assert normalize_name(case["input"]) == case["output"]
    entity = await know.facts.upsert_entity(case["input"])
    assert entity.canonical_norm == case["output"]
    assert normalize_name(entity.canonical_norm) == entity.canonical_norm


@clause("FACT-15", "FACT-83")
async def test_the_same_name_with_other_spaces_and_case_is_the_same_entity(know: Know) -> None:
    first = await know.facts.upsert_entity("  Alice   Doe ", "person")
    again = await know.facts.upsert_entity("ALICE\tdoe")

    assert again.entity_id == first.entity_id
    assert (first.canonical, again.canonical, again.kind) == ("Alice Doe", "Alice Doe", "person")
    assert len(await know.rows(ENTITIES)) == 1
    assert [row.alias for row in await know.rows(ENTITY_ALIASES)] == ["ALICE doe"]


@clause("FACT-15", "FACT-77", "FACT-83")
async def test_the_first_spelling_stays_whoever_writes_it_otherwise(know: Know) -> None:
    first = await know.facts.upsert_entity("Zoë")
    for spelling in ("ZOË", "Zoe\u0308", "zoë"):
        assert (await know.facts.upsert_entity(spelling)).entity_id == first.entity_id
        assert (await know.say(spelling, "is", "here")).fact.subject_entity_id == first.entity_id
    (entity,) = await know.rows(ENTITIES)
    assert (entity.canonical, entity.canonical_norm) == ("Zoë", "zoë")
    assert [row.alias for row in await know.rows(ENTITY_ALIASES)] == ["ZOË"]
    assert normalize_name("E\u0301") == normalize_name("\u00c9") == "\u00e9"


@clause("FACT-13", "FACT-84")
async def test_renaming_is_a_command_of_its_own_and_keeps_the_former_name(know: Know) -> None:
    alice = await know.facts.upsert_entity("Alice Doe")
    bob = await know.facts.upsert_entity("Bob")
    renamed = await know.facts.rename_entity(alice.entity_id, " Alice  Smith ")
    assert (renamed.entity_id, renamed.canonical, renamed.canonical_norm) == (
        alice.entity_id,
        "Alice Smith",
        "alice smith",
    )
    for name in ("alice doe", "ALICE SMITH"):
        found = await know.facts.entity(name)
        assert found is not None
        assert found.entity_id == alice.entity_id
    async with know.world.refuses(EntityNameTaken, entityId=bob.entity_id):
        await know.facts.rename_entity(alice.entity_id, "BOB")
    before = await know.world.everything()
    assert (await know.facts.rename_entity(alice.entity_id, "Alice Smith")).canonical == "Alice Smith"
    assert await know.world.everything() == before
    recased = await know.facts.rename_entity(alice.entity_id, "ALICE SMITH")
    assert recased.canonical == "ALICE SMITH"
    stranger = Know(know.world, STRANGER)
    async with know.world.refuses(EntityNotFound):
        await stranger.facts.rename_entity(alice.entity_id, "Mine")


@clause("FACT-15", "FACT-83")
async def test_an_upsert_that_changes_nothing_writes_nothing(know: Know) -> None:
    await know.facts.upsert_entity("Alice", "person", ["A."])
    before = await know.world.everything()
    await know.facts.upsert_entity(" Alice ", None, ["A."])
    assert await know.world.everything() == before


@clause("FACT-13", "FACT-6", "FACT-7")
async def test_the_same_name_may_exist_in_another_tenant_or_project(know: Know) -> None:
    spaces = [("t1", "p1"), ("t1", "p2"), ("t2", "p1")]
    found = [await know.admin.upsert_entity("Alice", tenant=tenant, project=project) for tenant, project in spaces]
    assert len({entity.entity_id for entity in found}) == 3


@clause("FACT-20", "FACT-16", "FACT-18", "FACT-84")
async def test_the_same_alias_twice_is_one_row_with_the_newest_spelling(know: Know) -> None:
    entity = await know.facts.upsert_entity("Alice Example")
    await know.facts.add_entity_alias(entity.entity_id, "A. Example")
    await know.facts.add_entity_alias(entity.entity_id, " a.  example ")
    (alias,) = await know.rows(ENTITY_ALIASES)
    assert (alias.alias, alias.alias_norm, alias.entity_id) == ("a. example", "a. example", entity.entity_id)


@clause("FACT-21", "FACT-84")
async def test_entities_are_found_by_name_first_then_by_alias(know: Know) -> None:
    alice = await know.facts.upsert_entity("Alice", aliases=["Al", "Bob"])
    bob = await know.facts.upsert_entity("Bob")
    assert await know.facts.entity("AL") == alice
    assert await know.facts.entity("bob") == bob
    assert await know.facts.entity("nobody") is None


@clause("FACT-21")
async def test_an_alias_of_several_entities_is_a_conflict_that_names_them(know: Know) -> None:
    found = [await know.facts.upsert_entity(name, aliases=["Al"]) for name in ("Alice", "Albert")]
    candidates = sorted(entity.entity_id for entity in found)
    async with know.world.refuses(EntityAmbiguous, candidates=candidates):
        await know.facts.entity("al")
    note = await know.note()
    async with know.world.refuses(EntityAmbiguous, candidates=candidates):
        await know.say("Al", "is", "tall", notes=[note])


@clause("FACT-17")
async def test_deleting_an_entity_deletes_its_aliases_and_its_link_to_the_graph(know: Know) -> None:
    await know.world.graph.add_node("alice")
    entity = await know.facts.upsert_entity("Alice", aliases=["Al"], node_id="alice")
    await know.facts.upsert_entity("Bob", aliases=["B"])
    assert [link.node_id for link in await know.rows(ENTITY_NODES)] == ["alice"]

    await know.facts.delete_entity(entity.entity_id)

    assert [alias.alias for alias in await know.rows(ENTITY_ALIASES)] == ["B"]
    assert await know.rows(ENTITY_NODES) == []
    assert await know.world.graph.get("alice") is not None


@clause("FACT-43", "FACT-46")
async def test_an_entity_that_facts_refer_to_stays_unless_forced(know: Know) -> None:
    asserted = await know.say("Alice", "knows", object="Bob")
    ends = [asserted.fact.subject_entity_id, asserted.fact.object_entity_id or ""]
    for end in ends:
        async with know.world.refuses(EntityInUse, facts=1):
            await know.facts.delete_entity(end)

    await know.facts.delete_entity(ends[1], force=True)

    assert (await know.rows(FACTS), await know.rows(EVIDENCE)) == ([], [])
    assert [entity.canonical for entity in await know.rows(ENTITIES)] == ["Alice"]


@clause("FACT-43", "FACT-45", "FACT-46", "FACT-60", "FACT-17")
async def test_what_does_not_exist_cannot_be_referred_to(know: Know) -> None:
    note = await know.note()
    nobody = EntityRef(id=NOBODY)
    async with know.world.refuses(EntityNotFound):
        await know.facts.add_fact(nobody, "is", "x", notes=[note])
    async with know.world.refuses(EntityNotFound):
        await know.facts.add_fact("Alice", "knows", object=nobody, notes=[note])
    async with know.world.refuses(NoteNotFound, noteId=NOBODY):
        await know.facts.add_fact("Alice", "is", "x", notes=[NOBODY])
    async with know.world.refuses(EntityNotFound):
        await know.facts.do(AddEntityAlias(entity_id=NOBODY, alias="x"))
    async with know.world.refuses(FactNotFound, factId=NOBODY):
        await know.facts.invalidate_fact(NOBODY)


@clause("FACT-53", "FACT-54", "FACT-55", "FACT-63", "FACT-21", "FACT-13", "FACT-20", "FACT-56", "FACT-57", "FACT-62")
async def test_the_indexes_of_the_seed_are_declared(know: Know) -> None:
    def indexes(table: Table) -> set[tuple[str, ...]]:
        return {index.fields for index in table.indexes}

    def rules(table: Table) -> set[tuple[str, ...]]:
        return {rule.fields for rule in table.unique}

    space = ("tenant_id", "project_id")
    assert {
        (*space, "subject_entity_id", "predicate_id"),
        (*space, "valid_to"),
        (*space, "object_entity_id"),
    } <= indexes(FACTS)
    (of_objects,) = [index.where for index in FACTS.indexes if index.fields == (*space, "object_entity_id")]
    valued, related = [(await know.say("Eve", "is", **object)).fact for object in ({"value": "x"}, {"object": "Bob"})]
    assert (matcher(of_objects)(valued), matcher(of_objects)(related)) == (False, True)
    assert {("note_id",), ("fact_id",)} <= indexes(EVIDENCE)
    assert ("alias_norm",) in indexes(ENTITY_ALIASES)
    assert rules(ENTITIES) == {(*space, "canonical_norm")}
    assert rules(ENTITY_ALIASES) == {("entity_id", "alias_norm")}
    assert rules(EVIDENCE) == {("fact_id", "note_id")}
    same = (*space, "scope", "subject_entity_id", "predicate_id")
    objects = ("object_entity_id", "object_value")
    shared, private = {(*same, object) for object in objects}, {(*same, "agent_id", object) for object in objects}
    assert rules(FACTS) == shared | private
    for rule in FACTS.unique:
        scope = "agent_private" if "agent_id" in rule.fields else "project_shared"
        fact = (await know.say("Alice", f"p{rule.name}", "v", scope=scope)).fact
        meets = matcher(rule.when)
        assert meets(fact) is (rule.fields[-1] == "object_value")
        assert not meets(msgspec.structs.replace(fact, valid_to=fact.valid_from + 1))
        other = "project_shared" if scope == "agent_private" else "agent_private"
        assert not meets(msgspec.structs.replace(fact, scope=other))


@clause("FACT-17", "FACT-32", "FACT-43", "FACT-45", "FACT-46", "FACT-59", "FACT-60", "FACT-67", "FACT-68")
def test_the_references_of_the_seed_are_declared() -> None:
    """For stores that can guard them; the kernel keeps them on all."""
    told = [
        (table.name, reference.field, reference.table, reference.cascade)
        for table in COLUMNS
        for reference in table.references
    ]
    assert told == [
        ("graph_entity_aliases", "entity_id", "graph_entities", True),
        ("graph_predicate_aliases", "predicate_id", "graph_predicates", True),
        ("graph_facts", "subject_entity_id", "graph_entities", False),
        ("graph_facts", "predicate_id", "graph_predicates", False),
        ("graph_facts", "object_entity_id", "graph_entities", False),
        ("graph_fact_evidence", "fact_id", "graph_facts", True),
        ("graph_fact_evidence", "note_id", "memory_notes", True),
        ("graph_fact_supersessions", "from_fact_id", "graph_facts", True),
        ("graph_fact_supersessions", "to_fact_id", "graph_facts", True),
        ("graph_fact_supersessions", "note_id", "memory_notes", True),
    ]
    for table in [*COLUMNS, NOTES]:
        ids = {field.name for field in table.fields if field.format is Format.UUID}
        instants = {field.name for field in table.fields if field.format is Format.INSTANT}
        assert ids == {name for name in table.names if name.endswith("_id")} - {"tenant_id", "project_id", "agent_id"}
        assert instants == {field.name for field in table.fields if field.kind is Kind.INTEGER}


@clause("FACT-1", "FACT-3")
async def test_the_log_alone_rebuilds_everything(know: Know) -> None:
    await know.predicate("works_at")
    await know.say("Alice", "works_at", "Initech", valid_from=day(1))
    await know.say("Alice", "works_at", "Globex", valid_from=day(5))
    ended = await know.say("Alice", "is", "tall", valid_from=day(1))
    await know.facts.invalidate_fact(ended.fact.fact_id, reason="wrong")
    position = (await know.world.events())[-1].position
    before = await know.all_facts()
    await know.facts.delete_entity(before[0].subject_entity_id, force=True)

    assert (await know.world.system.verify()).ok
    async with know.world.system.session_at(At(position=position)) as past:
        assert sorted(await past.fetch(FACTS), key=lambda fact: fact.valid_from) == before
    await know.world.system.rebuild()
    assert await know.all_facts() == []


@clause("FACT-7", "FACT-6", "FACT-42")
async def test_facts_of_other_projects_stand_apart(know: Know) -> None:
    for tenant, project in (("t1", "p1"), ("t1", "p2"), ("t2", "p1")):
        note = await know.admin.add_note("x", tenant=tenant, project=project)
        await know.admin.add_fact("Alice", "is", "x", notes=[note.note_id], tenant=tenant, project=project)
    assert len(await know.all_facts()) == 3
    assert len(await know.rows(PREDICATES)) == 3
