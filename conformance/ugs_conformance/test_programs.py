"""Seed 002 on a store: programs are kept, found, run, and always give the same result."""

from __future__ import annotations

import time
from collections.abc import Mapping
from itertools import cycle
from typing import Any

import msgspec
import pytest

from ugs.changes import TableWrites
from ugs.errors import DigestMismatch, Forbidden, InvalidSyntax
from ugs.graph.api import Graph
from ugs.identity import Principal
from ugs.log.at import At
from ugs.ontology.commands.ontologies import CreateOntology
from ugs.programs.api import DeckEntry
from ugs.programs.commands import parse_valid
from ugs.programs.errors import ProgramInvalid, ProgramNotFound
from ugs.programs.execution import operations
from ugs.programs.execution.results import ProgramResult
from ugs.programs.model import PROGRAMS
from ugs.programs.text import parse_text
from ugs.programs.validation.limits import Bounds
from ugs_conformance.support.api_under_test import programs_of
from ugs_conformance.support.pytest_plugin import clause
from ugs_conformance.support.store_fixture import StoreUnderTest, fixture
from ugs_conformance.test_programs_language import cypher, program, when_step

ANN, BOB = Principal("ann", frozenset({"writer"})), Principal("bob", frozenset({"writer"}))
ROOT = Principal("root", frozenset({"admin"}))
CONCEPTS: dict[str, dict[str, Any]] = {
    "ml": {"label": "Machine Learning", "grounding_strength": 0.9, "ontology": "ai", "embedding": [0.1]},
    "nn": {"label": "neural networks", "grounding_strength": 0.8, "description": "Layers of units"},
    "svm": {"name": "Support vectors", "grounding_strength": 0.1},
    "gpu": {"title": "Graphics processors"},
    "bare": {},
    "odd": {"concept_id": "concept-7", "label": "organizational learning", "grounding_strength": 0.15},
}
LINKS: list[tuple[str, str, str, str | None, dict[str, Any]]] = [
    ("e1", "ml", "nn", "IMPLIES", {"category": "logical", "confidence": 0.75, "note": "n"}),
    ("e2", "ml", "svm", "SUPPORTS", {"grounding_strength": 0.5}),
    ("e3", "nn", "gpu", "SUPPORTS", {}),
    ("e4", "gpu", "bare", None, {}),
    ("e5", "odd", "ml", "CONTRADICTS", {}),
    ("e6", "nn", "nn", "IMPLIES", {}),
]


async def add_people(graph: Graph) -> None:
    await graph.do(CreateOntology(name="tools", node_types=("Tool",)))
    for id, properties in CONCEPTS.items():
        await graph.add_node(id, "Tool" if id in ("gpu", "bare") else "Concept", properties)
    for id, source, target, type, properties in LINKS:
        await graph.add_edge(id, source, target, type, properties=properties)


async def run_text(
    world: StoreUnderTest, text: str, params: Mapping[str, Any] | None = None, bounds: Bounds | None = None, **more: Any
) -> ProgramResult:
    programs = programs_of(world.system, ANN, bounds or Bounds())
    return await programs.execute(parse_text(text).program, params, **more)


def ids(result: ProgramResult) -> list[str]:
    return result.result.ids


def arcs(result: ProgramResult) -> list[tuple[str, str, str]]:
    return sorted(link.key for link in result.result.links)


@clause(
    *("PROG-1", "PROG-5", "PROG-25", "PROG-36", "PROG-40", "PROG-41", "PROG-42", "PROG-47", "PROG-48", "PROG-49"),
    *("PROG-51", "PROG-59", "PROG-70", "PROG-79", "PROG-80", "PROG-81", "PROG-82", "PROG-105"),
)
async def test_programs_run_over_the_graph(world: StoreUnderTest) -> None:
    await add_people(world.graph)
    before = await world.lines()
    found = await run_text(world, "+ MATCH (c:Concept)-[r]->(n) RETURN c, r, n;")
    shown = found.as_json()["result"]
    blocked = "-- @block limit count=1\n+ MATCH (c:Concept)-[r]->(n) RETURN c, r, n;"
    assert (await run_text(world, blocked)).as_json()["result"] == shown
    nodes = {node["concept_id"]: node for node in shown["nodes"]}
    assert set(nodes) == {"ml", "nn", "svm", "gpu", "concept-7"}
    assert nodes["ml"] == {
        "concept_id": "ml",
        "label": "Machine Learning",
        "ontology": "ai",
        "properties": {"grounding_strength": 0.9},
    }
    assert nodes["nn"]["description"] == "Layers of units"
    assert (nodes["svm"]["label"], nodes["gpu"]["label"]) == ("Support vectors", "Graphics processors")
    assert nodes["gpu"]["ontology"] == "tools" and "ontology" not in nodes["svm"]
    links = {(link["from_id"], link["to_id"]): link for link in shown["links"]}
    assert links["ml", "nn"] == {
        "from_id": "ml",
        "to_id": "nn",
        "relationship_type": "IMPLIES",
        "category": "logical",
        "confidence": 0.75,
        "properties": {"note": "n"},
    }
    assert links["ml", "svm"]["grounding_strength"] == 0.5
    assert links["concept-7", "ml"]["relationship_type"] == "CONTRADICTS"
    assert ("nn", "nn") in links and len(links) == 5

    text = """@param least: number = 0.5
    ! MATCH (c) WHERE c.label = $who RETURN c;
    + MATCH (c)-[r]-(n) WHERE c.concept_id IN $W_IDS RETURN n;
    + MATCH (a)-[r]->(b) WHERE a.concept_id IN $W_IDS AND b.concept_id IN $W_IDS RETURN a, r, b;
    - MATCH (n) WHERE n.grounding_strength < $least RETURN n;
    """.replace("@param least", "@param who: string\n@param least")
    found = await run_text(world, text, {"who": "Machine Learning"})
    assert (ids(found), arcs(found)) == (["ml", "nn"], [("ml", "IMPLIES", "nn"), ("nn", "IMPLIES", "nn")])
    assert [(step.nodes_affected, step.links_affected) for step in found.log] == [(1, 0), (3, 0), (0, 4), (2, 2)]
    assert ids(await run_text(world, text, {"who": "organizational learning", "least": 0.1})) == ["concept-7", "ml"]
    with pytest.raises(ProgramInvalid):
        await run_text(world, text)
    with pytest.raises(ProgramInvalid):
        await run_text(world, text, {"who": 1})
    assert await world.lines() == before


FALLBACKS: list[tuple[str, list[str]]] = [
    ("MATCH (c) WHERE c.label = 'Support vectors' RETURN c", ["svm"]),
    ("MATCH (c) WHERE c.label CONTAINS 'rocess' RETURN c", ["gpu"]),
    ("MATCH (c) WHERE c.label IN ['bare', 'neural networks'] RETURN c ORDER BY c.label", ["bare", "nn"]),
    ("MATCH (c {concept_id: 'concept-7'}) RETURN c", ["concept-7"]),
    ("MATCH (c) WHERE c.concept_id = 'odd' RETURN c", []),
    ("MATCH (c) WHERE c.concept_id STARTS WITH 'n' RETURN c", ["nn"]),
    ("MATCH (c) WHERE c.ontology = 'tools' RETURN c ORDER BY c.concept_id", ["bare", "gpu"]),
    ("MATCH (c) WHERE c.ontology IS NULL RETURN c ORDER BY c.concept_id", ["concept-7", "nn", "svm"]),
    ("MATCH (c:Tool)<-[:SUPPORTS]-(x {label: 'neural networks'}) RETURN x", ["nn"]),
    ("MATCH (c:Concept) RETURN c ORDER BY c.label", ["ml", "svm", "nn", "concept-7"]),
    ("MATCH p = (a {concept_id: 'ml'})-[*..2]->(b:Tool) RETURN p", ["gpu", "ml", "nn"]),
    ("MATCH (a {concept_id: 'gpu'})-[r*1..2]-(n) RETURN [a, [n, {deep: r}]] ORDER BY n.concept_id", ["gpu", "bare"]),
    ("MATCH (c) RETURN count(c), c.label, null", []),
]


@clause("PROG-49", "PROG-79", "PROG-80", "PROG-25", "PROG-23")
async def test_concepts_are_known_by_what_they_have(world: StoreUnderTest) -> None:
    await add_people(world.graph)
    for query, expected in FALLBACKS:
        found = await run_text(world, f"+ {query};")
        assert found.aborted is None, (query, found.aborted)
        assert ids(found)[: len(expected)] == expected if "*" in query else ids(found) == expected, query
    assert len(ids(await run_text(world, "+ MATCH (c) RETURN c LIMIT 2;"))) == 2
    limited = {"type": "cypher", "query": "MATCH (c) WHERE c.x = 'no limit' OR true RETURN c;", "limit": 3}
    programs = programs_of(world.system)
    whole = {"version": 1, "statements": [{"op": "+", "operation": limited}]}
    assert len((await programs.execute(whole)).result.nodes) == 3
    limited["query"] = "MATCH (c) RETURN c LIMIT 1"
    assert len((await programs.execute(whole)).result.nodes) == 1
    anything = await run_text(world, "+ MATCH (c:Concept) RETURN c;", bounds=Bounds(any_is_concept=True))
    assert len(ids(anything)) == 6


@clause("PROG-7", "PROG-8", "PROG-9", "PROG-53", "PROG-73", "PROG-85", "PROG-120", "PROG-121", "PROG-122")
async def test_steps_branches_aborts_and_deadlines(world: StoreUnderTest) -> None:
    await add_people(world.graph)
    found = await run_text(
        world,
        """+ MATCH (c:Concept)-[r]->(n) RETURN c, r, n;
        - MATCH (n) WHERE n.grounding_strength < 0.2 RETURN n;
        ? IF has_relationship 'SUPPORTS' THEN {
            & MATCH (a)-[:SUPPORTS]->(b) RETURN a, b;
        } ELSE { + MATCH (n:Nothing) RETURN n; };
        ? MATCH (n:Nobody) RETURN n;
        ! MATCH (n:Nobody) RETURN n;
        + MATCH (n) RETURN n;""",
    )
    assert [(step.path, step.w_size.nodes, step.w_size.links) for step in found.log] == [
        ("0", 5, 5),
        ("1", 3, 3),
        ("2.then.0", 3, 3),
        ("2", 3, 3),
        ("3", 3, 3),
    ]
    assert found.as_json()["aborted"] == {"statement": 4, "reason": "assertion failed: empty result"}
    failed = await run_text(world, "+ MATCH (n:Tool) RETURN n;\n+ MATCH (n) WHERE n.label / 2 > 1 RETURN n;")
    assert len(ids(failed)) == 2 and failed.aborted is not None
    assert failed.aborted.reason.startswith("Execution error: ") and failed.aborted.statement == 1
    large = await run_text(world, "+ MATCH (n) RETURN n;", bounds=Bounds(nodes=3))
    assert large.aborted is not None and "more than 3" in large.aborted.reason and ids(large) == []

    began = time.monotonic()
    wild = "MATCH (a), (b), (c), (d), (e), (f), (g), (h), (i), (j), (k), (l) RETURN count(*)"
    late = await run_text(
        world, f"+ MATCH (n:Tool) RETURN n;\n+ {wild};\n+ MATCH (n) RETURN n;", bounds=Bounds(seconds=2)
    )
    assert late.as_json()["aborted"] == {"statement": 1, "reason": "Program execution timed out"}
    assert len(ids(late)) == 2 and len(late.log) == 1
    assert time.monotonic() - began < 20
    assert len(ids(await run_text(world, "+ MATCH (n) RETURN n;"))) == 6


TAKING = [
    "MATCH (n) WHERE n.grounding_strength < 0.5 RETURN n",
    "MATCH (n:Concept) WHERE n.label CONTAINS 'e' RETURN n.label, n ORDER BY n.label",
    "MATCH (c)-[r:SUPPORTS]->(d) RETURN c, r, d",
    "MATCH (c)-[r]-(d:Tool) RETURN *",
    "MATCH p = (a)-[]->(b)-[:SUPPORTS]->(c) WHERE a.concept_id <> 'x' RETURN p",
    "MATCH (a)-[*1..2]->(b) WHERE b.concept_id = 'bare' RETURN DISTINCT a",
    "MATCH (a)-->(b) MATCH (b)-[:SUPPORTS]->(c) RETURN a, b",
    "MATCH (n) WHERE n.concept_id IN ['ml', 'concept-7'] RETURN n",
    "MATCH (n) RETURN n ORDER BY n.concept_id LIMIT 2",
    "MATCH (a)-->(b) WITH b, count(a) AS many WHERE many > 1 RETURN b",
    "MATCH (a)-[*1..2]->(b:Tool) RETURN [a, b]",
    "MATCH ()-[r]->() RETURN r",
]
"""Queries of all kinds, behind operators that take something away."""


@clause("PROG-60", "PROG-62", "PROG-64", "PROG-66")
async def test_what_is_taken_away_does_not_depend_on_how_it_is_asked(
    world: StoreUnderTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    await add_people(world.graph)
    for op, query in zip(cycle("-&"), TAKING, strict=False):
        text = f"+ MATCH (a)-[r]->(b) WHERE a.grounding_strength > 0 RETURN a, r, b;\n{op} {query};"
        narrow = await run_text(world, text)
        assert narrow.aborted is None, (query, narrow.aborted)
        with monkeypatch.context() as patch:
            patch.setattr(operations, "MAX_BOUND_NODES", -1)
            whole = await run_text(world, text)
        assert narrow.result == whole.result, (op, query)


@clause("PROG-118", "PROG-119", "PROG-123", "PROG-84")
async def test_decks_hand_the_working_graph_on(world: StoreUnderTest) -> None:
    await add_people(world.graph)
    programs = programs_of(world.system, ANN)

    def entry(text: str, **params: Any) -> DeckEntry:
        return DeckEntry(program=parse_text(text).program, params=params)

    stored = await programs.save(parse_text("& MATCH (n:Tool) RETURN n;").program)
    many, none = (
        entry("@param t: string\n+ MATCH (n) WHERE n.label <> $t RETURN n;", t="bare"),
        entry("! MATCH (n:X) RETURN n;"),
    )
    found = await programs.execute_deck([many, DeckEntry(program_id=stored.id), none, many])
    assert [len(one.result.nodes) for one in found.programs] == [5, 1, 1]
    assert found.as_json()["aborted"] == {"program": 2, "statement": 0, "reason": "assertion failed: empty result"}
    assert found.result.ids == ["gpu"]
    expand = entry("+ MATCH (a)-[]-(b) WHERE a.concept_id IN $W_IDS RETURN b;")
    threaded = await programs.execute_deck([entry("+ MATCH (n {concept_id: 'gpu'}) RETURN n;"), expand])
    assert (threaded.result.ids, threaded.aborted) == (["gpu", "bare", "nn"], None)
    with pytest.raises(ProgramInvalid) as refused:
        await programs.execute_deck([many, entry("+ MATCH (n) DELETE n;")])
    assert refused.value.entry == 1
    for wrong in ([], [many] * 11, [DeckEntry()], [DeckEntry(1, many.program)]):
        with pytest.raises(InvalidSyntax):
            await programs.execute_deck(wrong)


@clause(
    *("PROG-14", "PROG-18", "PROG-83", "PROG-109", "PROG-111", "PROG-113", "PROG-114", "PROG-115", "PROG-117"),
    *("PROG-124", "PROG-125"),
)
async def test_programs_are_notarised(world: StoreUnderTest) -> None:
    ann, bob, root = (programs_of(world.system, who) for who in (ANN, BOB, ROOT))
    raw = fixture("prog_storage_record")["record"]["definition"]
    row = await ann.save(raw, key="first")
    assert (row.id, row.name, row.owner_id, row.statement_count) == (1, "Example Program", "ann", 1)
    assert await ann.save(raw, key="first") == row
    record = row.record()
    created = record["definition"]["metadata"].pop("created")
    assert record == fixture("prog_storage_record")["record"] and created == "2026-01-21T18:34:14.093Z"
    plain = {"version": 1, "statements": raw["statements"]}
    mine = await bob.save(plain, "Bob's own Ünïcode")
    ours = await root.save(plain, system=True)
    assert (mine.id, ours.id, ours.owner_id, ours.name) == (2, 3, None, "Untitled program")

    assert [one.id for one in await ann.list()] == [3, 1]
    assert [one.id for one in await bob.list(limit=1)] == [3]
    assert [one.id for one in await root.list()] == [3, 2, 1]
    assert [one.id for one in await bob.list("ÜNÏ")] == [2]
    assert await ann.list("own") == [] and await ann.list("a\x00b") == []
    assert (await bob.get(3)).id == 3 and (await root.get(1)).id == 1
    async with world.refuses(Forbidden):
        await bob.get(1)
    async with world.refuses(Forbidden):
        await bob.execute(1)
    async with world.refuses(Forbidden):
        await ann.save(plain, system=True)
    async with world.refuses(ProgramNotFound, program_id=9):
        await root.get(9)
    async with world.refuses(ProgramInvalid):
        await ann.save({"version": 1, "statements": []})
    async with world.refuses(InvalidSyntax):
        await ann.save(plain, "")

    world.clock.moment += 1_000
    changed = await ann.update(1, parse_text("+ MATCH (n) RETURN n;\n\n- MATCH (m) RETURN m;").program, "New")
    assert (changed.name, changed.statement_count, changed.created_at) == ("New", 2, row.created_at)
    assert changed.updated_at == row.updated_at + 1_000 and changed.sha256 != row.sha256
    for refused in (bob.update(1, name="x"), bob.delete(1), bob.update(3, name="x")):
        with pytest.raises(Forbidden):
            await refused
    async with world.refuses(ProgramInvalid):
        await ann.update(1, {"version": 1, "statements": []})
    position = world.system.bus.position
    await ann.delete(1)
    await root.delete(2)
    assert (await root.get(1, At(position=position))).name == "New"
    assert [one.id for one in await root.list()] == [3]
    assert (await ann.save(plain)).id == 4
    assert (await world.system.verify()).ok


@clause("PROG-84", "PROG-124")
async def test_a_program_changed_behind_our_back_is_refused(world: StoreUnderTest) -> None:
    programs = programs_of(world.system, ANN)
    row = await programs.save(parse_text("+ MATCH (n) RETURN n LIMIT 1;").program)
    text = row.definition_text.replace("LIMIT 1", "").replace('"limit":1', '"limit":9')
    forged = msgspec.structs.replace(row, definition_text=type(row.definition_text)(text))
    async with world.system.storage.session(write=True) as session:
        await session.append((), {PROGRAMS: TableWrites(updates=[forged], before={row.id: row})})
    for attempt in (programs.execute(row.id), programs.get(row.id)):
        with pytest.raises(DigestMismatch):
            await attempt
    await world.system.rebuild()
    assert (await programs.execute(row.id)).aborted is None


@clause("PROG-5", "PROG-70")
async def test_programs_read_with_the_callers_eyes_and_in_the_past(world: StoreUnderTest) -> None:
    await add_people(world.graph)
    position = world.system.bus.position
    await world.graph.delete("gpu")
    text = "+ MATCH (n:Tool) RETURN n;"
    assert ids(await run_text(world, text)) == ["bare"]
    assert ids(await run_text(world, text, at=At(position=position))) == ["bare", "gpu"]
    with pytest.raises(Forbidden):
        await programs_of(world.system, Principal("eve", frozenset())).execute(parse_text(text).program)


NOBODY, LEARNING = "MATCH (n:Nobody) RETURN n", "MATCH (c {label: 'Machine Learning'}) RETURN c"


@clause("PROG-6", "PROG-10", "PROG-11", "PROG-68", "PROG-69", "PROG-71", "PROG-72", "PROG-73", "PROG-75", "PROG-76")
async def test_branches_logs_and_aborts(world: StoreUnderTest) -> None:
    await add_people(world.graph)
    programs = programs_of(world.system, ANN)
    nested = when_step(
        {"test": "has_results"},
        cypher(NOBODY),
        when_step({"test": "empty"}, cypher(LEARNING), **{"else": [cypher(NOBODY, "!")]}),
        cypher(LEARNING),
    )
    steps = program(cypher(NOBODY, "?"), cypher(LEARNING), nested, cypher("MATCH (n) RETURN n"))
    found = await programs.execute(parse_valid(steps, Bounds()))
    assert [entry.path for entry in found.log] == ["0", "1", "2.then.0"]
    assert [(entry.nodes_affected, entry.w_size.nodes) for entry in found.log] == [(0, 0), (1, 1), (0, 1)]
    assert found.as_json()["aborted"] == {"statement": 2, "reason": "assertion failed: empty result"}
    assert ids(found) == ["ml"]
    done = await programs.execute(
        parse_valid(program(when_step({"test": "has_results"}, cypher(LEARNING)), cypher(LEARNING, "!")), Bounds())
    )
    assert [(entry.path, entry.branch_taken) for entry in done.log] == [("0", "else"), ("1", None)]
    assert ids(done) == ["ml"] and "aborted" not in done.as_json()
    failing = program(cypher(LEARNING), cypher("MATCH (n) WHERE 1 / 0 = 1 RETURN n"), cypher("MATCH (n) RETURN n"))
    failed = (await programs.execute(parse_valid(failing, Bounds()))).as_json()
    assert failed["aborted"]["statement"] == 1 and failed["aborted"]["reason"].startswith("Execution error: ")
    assert [node["concept_id"] for node in failed["result"]["nodes"]] == ["ml"]


@clause("PROG-72", "PROG-59")
async def test_each_statement_goes_through_all_its_steps_before_the_next(world: StoreUnderTest) -> None:
    """Parameters, condition, query, mapping, operator, log: each statement sees what the one before has left in W."""
    await add_people(world.graph)
    text = """@param who: string
        + MATCH (c) WHERE c.label = $who RETURN c;
        ? IF has_results THEN { + MATCH (a)-[r]->(b) WHERE a.concept_id IN $W_IDS RETURN r, b; };
        - MATCH (c) WHERE c.label = $who RETURN c;
        + MATCH (a)-[]->(b) WHERE a.concept_id IN $W_IDS AND b.label / 2 > 1 RETURN b;
        + MATCH (n) RETURN n;"""
    found = await run_text(world, text, {"who": "Machine Learning"})

    assert [(step.path, step.op.value, step.operation_type, step.branch_taken) for step in found.log] == [
        ("0", "+", "cypher", None),
        ("1.then.0", "+", "cypher", None),
        ("1", "?", "conditional", "then"),
        ("2", "-", "cypher", None),
    ]
    assert [step.w_size.nodes for step in found.log] == [1, 3, 3, 2]
    assert sorted(ids(found)) == ["nn", "svm"]
    assert found.aborted is not None and found.aborted.statement == 3
    assert all(step.duration_ms >= 0 for step in found.log)


READY: list[tuple[str, dict[str, Any], list[str]]] = [
    ("Neighbourhood", {"id": "gpu"}, ["gpu", "bare", "ml", "nn"]),
    ("Path", {"from": "svm", "to": "gpu"}, ["gpu", "ml", "nn", "svm"]),
    ("Common ground", {"one": "svm", "other": "nn"}, ["ml", "nn", "svm"]),
    ("Weakly grounded", {"below": 0.2}, ["concept-7", "svm"]),
    ("Contradictions", {}, ["concept-7", "ml"]),
    ("Search and expand", {"query": "neural networks", "limit": 1}, ["nn", "gpu", "ml"]),
    ("Orphans", {}, ["alone"]),
    ("Hubs", {}, ["bare", "concept-7", "gpu", "ml", "nn", "svm"]),
]


@clause("PROG-1", "PROG-115", "PROG-124")
async def test_the_ready_made_programs_answer_what_they_promise(world: StoreUnderTest) -> None:
    await add_people(world.graph)
    await world.graph.add_node("alone", "Concept")
    root = programs_of(world.system, ROOT)
    stored = {row.name: row for row in await root.install_ready_made()}
    assert list(stored) == [name for name, _, _ in READY]
    assert [row.id for row in await root.install_ready_made()] == [row.id for row in stored.values()]
    with pytest.raises(Forbidden):
        await programs_of(world.system, ANN).install_ready_made()
    for name, params, expected in READY:
        found = await programs_of(world.system, BOB).execute(stored[name].id, params)
        assert (found.result.ids, found.aborted) == (expected, None), name
    nobody = await programs_of(world.system, BOB).execute(stored["Path"].id, {"from": "svm", "to": "alone"})
    assert nobody.as_json()["aborted"] == {"statement": 0, "reason": "assertion failed: empty result"}
