"""What changed in facts, entities, notes, predicates and ontologies, and the reversal of it: examples and laws."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from ugs.clock import FixedClock
from ugs.errors import UgsError, UndoConflict
from ugs.facts.api import Facts
from ugs.facts.commands.facts import NoteRef
from ugs.facts.errors import InvalidFact
from ugs.facts.model import ENTITIES, FACTS, NOTES, Fact
from ugs.feature_registry import RECORDS
from ugs.graph.api import Graph
from ugs.graph.changes import ChangeFilter, ChangeKind, ChangePage
from ugs.graph.undo import Undo
from ugs.identity import Principal
from ugs.log.at import At
from ugs.ontology.api import Memory
from ugs.ontology.model import Enforcement
from ugs.system import System
from ugs.values import to_text
from ugs_conformance.support.event_loop import run_on_loop
from ugs_conformance.support.facts_kit import ALICE, STRANGER, Know, day
from ugs_conformance.support.harness import Harness
from ugs_conformance.support.store_fixture import NOW, StoreUnderTest

MAX_EXAMPLES = max(settings().max_examples // 4, 5)
NAMES = ["Ann", "Bob", "Cy"]
Rows = dict[tuple[str, str], Any]
Step = tuple[str, int, int, int]

steps = st.lists(
    st.tuples(
        st.sampled_from(
            [
                *("say", "say", "say", "value", "value", "alias", "rename", "end", "delete_fact", "delete_note"),
                *("merge", "delete_entity", "configure", "configure", "apart", "ontology", "type"),
            ]
        ),
        *[st.integers(0, 2)] * 3,
    ),
    min_size=1,
    max_size=10,
)


async def entity_id(facts: Facts, name: str) -> str:
    found = await facts.entity(name)
    return "" if found is None else found.entity_id


async def some_id(system: System, table: Any, key: str, number: int) -> str:
    async with system.session() as session:
        ids = sorted(getattr(row, key) for row in await session.fetch(table))
    return ids[number % len(ids)] if ids else ""


async def take_step(system: System, clock: FixedClock, step: Step) -> None:
    """One change by somebody; what is refused changes nothing."""
    action, one, two, three = step
    facts, memory = Facts(system), Memory(system, ontology=f"o{one}")
    clock.moment += 1_000
    name, other = NAMES[one], NAMES[two]
    note = [NoteRef(text=f"note {two} {three}")]

    async def merge() -> None:
        await facts.merge_entities(await entity_id(facts, name), await entity_id(facts, other))

    async def apart() -> None:
        await facts.keep_apart(await entity_id(facts, name), await entity_id(facts, other))

    async def configure() -> None:
        cardinality = "single" if two else "multi"
        await facts.register_predicate("likes")
        await facts.configure_predicate(name="likes", status="active", cardinality=cardinality)

    async def rename() -> None:
        await facts.rename_entity(await entity_id(facts, name), f"{name} {three}")

    actions: dict[str, Callable[[], Awaitable[Any]]] = {
        "say": lambda: facts.add_fact(name, "likes", object=other, notes=note),
        "value": lambda: facts.add_fact(name, "likes", f"v{three}", notes=note, valid_from=day(1 + two)),
        "alias": lambda: facts.upsert_entity(name, aliases=[f"alias {two}"]),
        "rename": rename,
        "end": lambda: end_fact(system, facts, two + three),
        "delete_fact": lambda: delete_fact(system, facts, two + three),
        "delete_note": lambda: delete_note(system, facts, two + three),
        "merge": merge,
        "delete_entity": lambda: delete_entity(facts, name),
        "configure": configure,
        "apart": apart,
        "ontology": lambda: memory.create_ontology([f"T{two}"]),
        "type": lambda: memory.add_node_type(f"T{three}"),
    }
    with suppress(UgsError):
        await actions[action]()


async def end_fact(system: System, facts: Facts, number: int) -> None:
    await facts.invalidate_fact(await some_id(system, FACTS, "fact_id", number), reason="said so")


async def delete_fact(system: System, facts: Facts, number: int) -> None:
    await facts.delete_fact(await some_id(system, FACTS, "fact_id", number))


async def delete_note(system: System, facts: Facts, number: int) -> None:
    await facts.delete_note(await some_id(system, NOTES, "note_id", number))


async def delete_entity(facts: Facts, name: str) -> None:
    await facts.delete_entity(await entity_id(facts, name), force=True)


async def records_at(system: System, position: int | None = None) -> Rows:
    """Every record by its kind and id, read from the tables of a past state."""
    found: Rows = {}
    async with system.session_at(None if position is None else At(position=position)) as session:
        for kind in RECORDS:
            main, *others = kind.parts
            for row in await session.fetch(main.table):
                found[kind.name, getattr(row, main.owner)] = {"": row}
            for part in others:
                for row in await session.fetch(part.table):
                    record = found.get((kind.name, getattr(row, part.owner)))
                    if record is not None and part.is_shown:
                        record.setdefault(part.name, set()).add(row)
    return found


async def all_rows(system: System) -> dict[str, set[Any]]:
    async with system.session() as session:
        tables = [part.table for kind in RECORDS for part in kind.parts]
        return {table.name: set(await session.fetch(table)) for table in tables}


async def end_of(system: System) -> int:
    async with system.session() as session:
        return (await session.head()).position


async def all_changes(graph: Graph, start: int, end: int, first: int = 500) -> ChangePage:
    page = await graph.changes(At(position=start), At(position=end), first=first)
    found = list(page.changes)
    while page.has_more:
        page = await graph.changes(At(position=start), At(position=end), first=first, after=page.changes[-1].cursor)
        found += page.changes
    return ChangePage(found, False, start, end)


@run_on_loop
@settings(max_examples=MAX_EXAMPLES)
@given(steps, st.data())
async def test_changes_of_records_are_the_difference_of_two_pasts(
    harness: Harness, history: list[Step], data: st.DataObject
) -> None:
    await harness.fresh()
    system = await harness.system(clock := FixedClock(NOW))
    try:
        for step in history:
            await take_step(system, clock, step)
        end = await end_of(system)
        start, until = sorted((data.draw(st.integers(0, end)), data.draw(st.integers(0, end))))
        before, after = await records_at(system, start), await records_at(system, until)
        page = await all_changes(Graph(system), start, until, data.draw(st.sampled_from([1, 2, 500])))
    finally:
        await system.close()

    told = {(change.element_kind, change.id): change.kind for change in page.changes}
    assert len(told) == len(page.changes)
    assert told == {
        key: ChangeKind.ADDED if key not in before else ChangeKind.REMOVED if key not in after else ChangeKind.CHANGED
        for key in before.keys() | after.keys()
        if before.get(key) != after.get(key)
    }, (start, until)


@run_on_loop
@settings(max_examples=MAX_EXAMPLES)
@given(steps, steps)
async def test_an_undo_of_records_restores_every_row_and_can_be_undone(
    harness: Harness, first: list[Step], second: list[Step]
) -> None:
    await harness.fresh()
    system = await harness.system(clock := FixedClock(NOW))
    try:
        graph = Graph(system)
        for step in first:
            await take_step(system, clock, step)
        start, before = await end_of(system), await all_rows(system)
        for step in second:
            await take_step(system, clock, step)
        end, after = await end_of(system), await all_rows(system)

        plan = await graph.preview_undo(Undo(after=start))
        assert not plan.conflicts
        assert (await end_of(system), await all_rows(system)) == (end, after)
        await graph.undo(Undo(after=start, until=end))
        assert await all_rows(system) == before, (first, second)

        await graph.undo(Undo(after=end))
        assert await all_rows(system) == after, (first, second)
        await graph.undo(Undo(after=0))
        assert not any((await all_rows(system)).values())
        assert (await system.verify()).ok
    finally:
        await system.close()


async def merged(know: Know) -> tuple[str, str]:
    """Bob and Bobby, who were merged: one fact moved, one was folded into its equal."""
    keep = (await know.facts.upsert_entity("Bob")).entity_id
    gone = (await know.facts.upsert_entity("Bobby", aliases=["Robert"])).entity_id
    for name in ("Bob", "Bobby"):
        await know.say(name, "knows", object="Ann", valid_from=day(1))
    await know.say("Bobby", "is", "tall", valid_from=day(2))
    await know.facts.merge_entities(keep, gone)
    return keep, gone


@run_on_loop
async def test_a_merge_is_taken_back_with_names_facts_and_evidence(world: StoreUnderTest) -> None:
    know = Know(world)
    keep, gone = await merged(know)
    await know.say("Bob", "likes", "tea")
    await know.facts.unmerge_entity(gone)

    found = await know.facts.entity("Robert")
    assert found is not None and (found.entity_id, found.canonical) == (gone, "Bobby")
    bob = await know.facts.entity("Bob")
    assert bob is not None and bob.entity_id == keep
    told = [(fact.subject_entity_id, fact.predicate) for fact in await know.all_facts()]
    assert sorted(told) == sorted([(keep, "knows"), (gone, "knows"), (gone, "is"), (keep, "likes")])
    assert len(await know.evidence()) == 4
    async with world.refuses(InvalidFact, field="entityId"):
        await know.facts.unmerge_entity(gone)


@run_on_loop
async def test_a_merge_is_not_taken_back_where_a_moved_fact_changed_since(world: StoreUnderTest) -> None:
    know = Know(world)
    _, gone = await merged(know)
    fact = next(fact for fact in await know.all_facts() if fact.predicate == "is")
    await know.facts.invalidate_fact(fact.fact_id, day(9))

    async with world.refuses(UndoConflict):
        await know.facts.unmerge_entity(gone)


@run_on_loop
async def test_a_rejected_duplicate_is_not_suggested_again(world: StoreUnderTest) -> None:
    know = Know(world)
    one = (await know.facts.upsert_entity("Miller")).entity_id
    other = (await know.facts.upsert_entity("Müller")).entity_id
    assert len(await know.facts.suggest_duplicates()) == 1

    await know.facts.keep_apart(other, one)
    assert await know.facts.suggest_duplicates() == []
    assert (await know.facts.keep_apart(one, other)).events == []
    async with world.refuses(InvalidFact, field="otherId"):
        await know.facts.keep_apart(one, one)

    position = await end_of(world.system)
    await Graph(world.system).undo(Undo(positions=(position,)))
    assert len(await know.facts.suggest_duplicates()) == 1


@run_on_loop
async def test_a_deleted_note_comes_back_as_evidence(world: StoreUnderTest) -> None:
    know = Know(world)
    note = await know.note("Ann is tall")
    await know.say("Ann", "is", "tall", notes=[note])
    await know.facts.delete_note(note)
    assert await know.evidence() == []

    await Graph(world.system).undo(Undo(transaction=await end_of(world.system)))
    assert [row.note_id for row in await know.evidence()] == [note]


@run_on_loop
async def test_what_others_need_is_not_undone(world: StoreUnderTest) -> None:
    know, graph = Know(world), Graph(world.system)
    note = await know.note("Ann is tall")
    position = await end_of(world.system)
    await know.say("Ann", "is", "tall", notes=[note])

    plan = await graph.preview_undo(Undo(positions=(position,)))
    assert [(one.element, "used by what came later" in one.reason) for one in plan.conflicts] == [(note, True)]
    async with world.refuses(UndoConflict):
        await graph.undo(Undo(positions=(position,)))

    memory = Memory(world.system, ontology="plants")
    await memory.create_ontology(["Tree"])
    position = await end_of(world.system)
    await memory.set_enforcement(Enforcement.STRICT)
    await graph.add_node("oak", "Tree")
    async with world.refuses(UndoConflict):
        await graph.undo(Undo(positions=(position,)))


@run_on_loop
async def test_a_name_that_was_given_again_stands_in_the_way(world: StoreUnderTest) -> None:
    know, graph = Know(world), Graph(world.system)
    ann = await know.facts.upsert_entity("Ann")
    await know.facts.delete_entity(ann.entity_id)
    position = await end_of(world.system)
    await know.facts.upsert_entity("Ann")

    plan = await graph.preview_undo(Undo(positions=(position,)))
    assert ["repeat" in one.reason for one in plan.conflicts] == [True]
    assert len(await know.rows(ENTITIES)) == 1


@run_on_loop
async def test_nobody_sees_or_undoes_what_belongs_to_others(world: StoreUnderTest) -> None:
    know = Know(world)
    await know.say("Ann", "is", "tall")
    mine, theirs = Graph(world.system, ALICE), Graph(world.system, STRANGER)
    end = await end_of(world.system)

    assert (await theirs.changes(At(position=0))).changes == []
    seen = await mine.changes(At(position=0), wanted=ChangeFilter(element="fact"))
    assert [change.element_kind for change in seen.changes] == ["fact"]
    plan = await theirs.preview_undo(Undo(after=0))
    assert len(plan.conflicts) == end and plan.changes == []
    assert {one.element for one in plan.conflicts} == {None}
    async with world.refuses(UndoConflict):
        await theirs.undo(Undo(after=0))
    await mine.undo(Undo(after=0))
    assert await know.all_facts() == []


@run_on_loop
async def test_private_evidence_of_another_agent_is_not_shown(world: StoreUnderTest) -> None:
    know = Know(world)
    colleague = Principal("carl", frozenset(), ALICE.tenant, ALICE.project, "agent-d")
    private = Facts(world.system, colleague)
    note = await private.add_note("a secret", scope="agent_private")
    await know.say("Ann", "is", "tall", valid_from=day(1))
    await private.add_fact("Ann", "is", "tall", notes=[note.note_id], valid_from=day(1))

    seen = await Graph(world.system, ALICE).changes(At(position=0), wanted=ChangeFilter(element="fact"))
    assert note.note_id not in to_text([change.after.as_json() for change in seen.changes if change.after])
    assert all(
        change.id != note.note_id for change in (await Graph(world.system, ALICE).changes(At(position=0))).changes
    )


@run_on_loop
async def test_an_undone_fact_gives_its_place_back(world: StoreUnderTest) -> None:
    know = Know(world)
    await know.predicate("lives in")
    await know.say("Ann", "lives in", "Bern", valid_from=day(1))
    await know.say("Ann", "lives in", "Rome", valid_from=day(5))
    assert await know.values("Ann", day(8)) == ["Rome"]

    await Graph(world.system).undo(Undo(transaction=await end_of(world.system)))

    assert await know.values("Ann", day(8)) == ["Bern"]
    facts: list[Fact] = await know.all_facts()
    assert [fact.valid_to for fact in facts] == [None]
