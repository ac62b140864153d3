"""Programs over GraphQL: the same as over REST, and text, blocks and steps as they happen."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from ugs import Graph, System
from ugs.identity import Principal
from ugs_conformance.support.store_fixture import fixture
from ugs_schema import build_schema
from ugs_schema.compiler.executor import OperationExecutor
from ugs_schema.context import RequestContext

Ask = Callable[..., Awaitable[Any]]
ANN, BOB = Principal("ann", frozenset({"writer"})), Principal("bob", frozenset({"reader"}))
ADMIN = Principal("root", frozenset({"admin"}))
DSL = """-- Exploration: People of alice
-- Author: human

@param who: string = "Alice Johnson"

-- Step 1: Alice
! MATCH (p) WHERE p.label = $who RETURN p;

-- Step 2: her neighbours
+ MATCH (a)-[r]-(b) WHERE a.concept_id IN $W_IDS RETURN b, r;

? IF count_gte 2 THEN {
  - MATCH (n) WHERE n.label = 'Bob Smith' RETURN n;
};
"""


@pytest.fixture(scope="module")
def operations() -> OperationExecutor:
    return OperationExecutor(build_schema())


@pytest.fixture
async def system() -> AsyncIterator[System]:
    async with System.at_url("memory:") as system:
        await Graph(system).load_demo()
        yield system


@pytest.fixture
def ask(operations: OperationExecutor, system: System) -> Ask:
    async def asked(query: str, who: Principal = ANN, **variables: Any) -> Any:
        found: Any = await operations.execute(operations.prepare(query), RequestContext(system, who), variables)
        if found.errors:
            return found.errors[0].original_error or found.errors[0]
        return found.data

    return asked


RUN = """query ($program: JSON, $dsl: String, $id: Int, $params: JSON, $at: At) {
  executeProgram(program: $program, dsl: $dsl, programId: $id, params: $params, at: $at) {
    result { nodes { conceptId label ontology description properties node { id type } }
             links { fromId toId relationshipType category confidence groundingStrength properties } }
    log { statement path op operationType branchTaken nodesAffected linksAffected wSize { nodes links } durationMs }
    aborted { program statement reason } } }"""
SAVE = """mutation ($input: SaveProgramInput!) { saveProgram(input: $input) {
  program { id programId name description ownerId statementCount operationCount dsl program sha256 createdAt updatedAt }
  validation { valid operationCount errors { ruleId severity statement field message } warnings { ruleId } } } }"""


async def test_a_program_goes_from_text_to_a_result_and_back(ask: Ask) -> None:
    tree = (await ask("query ($t: String!) { parseProgram(dsl: $t) }", t=DSL))["parseProgram"]
    assert (await ask("query ($p: JSON!) { printProgram(program: $p) }", p=tree))["printProgram"] == DSL
    found = (await ask(RUN, program=tree))["executeProgram"]
    assert [step["path"] for step in found["log"]] == ["0", "1", "2.then.0", "2"]
    assert [step["operationType"] for step in found["log"]] == ["CYPHER", "CYPHER", "CYPHER", "CONDITIONAL"]
    assert found["log"][-1]["branchTaken"] == "THEN" and found["aborted"] is None
    nodes = {node["conceptId"]: node for node in found["result"]["nodes"]}
    assert "alice" in nodes and nodes["alice"]["node"]["id"] == "alice" and "bob" not in nodes
    assert (await ask(RUN, dsl=DSL, params={"who": "Nobody"}))["executeProgram"]["aborted"] == {
        "program": None,
        "statement": 0,
        "reason": "assertion failed: empty result",
    }
    past = (await ask(RUN, dsl=DSL, at={"position": 0}))["executeProgram"]
    assert past["aborted"]["reason"] == "assertion failed: empty result"
    assert "exactly one" in (await ask(RUN, dsl=DSL, program=tree)).message


async def test_programs_are_kept_listed_changed_and_deleted(ask: Ask) -> None:
    saved = (await ask(SAVE, input={"dsl": DSL, "idempotencyKey": "k"}))["saveProgram"]
    assert (saved["program"]["name"], saved["program"]["ownerId"]) == ("People of alice", "ann")
    assert (saved["program"]["operationCount"], saved["validation"]["operationCount"]) == (3, 3)
    number = saved["program"]["programId"]
    again = (await ask(SAVE, input={"dsl": DSL, "idempotencyKey": "k"}))["saveProgram"]
    assert again["program"]["programId"] == number
    bad = {"program": {"version": 1, "statements": []}}
    refused = (await ask(SAVE, input=bad))["saveProgram"]
    assert refused["program"] is None
    assert [issue["ruleId"] for issue in refused["validation"]["errors"]] == ["V000", "V002"]
    assert (await ask(SAVE, who=ADMIN, input={"dsl": DSL, "name": "For all", "system": True}))["saveProgram"]["program"]
    assert (await ask(SAVE, input={"dsl": DSL, "system": True})).code == "FORBIDDEN"

    install = "mutation { installReadyPrograms { name ownerId } }"
    assert (await ask(install)).code == "FORBIDDEN"

    listing = "query ($after: String) { programs(first: 1, after: $after) { nodes { name } pageInfo { hasNextPage endCursor } totalCount } }"
    page = (await ask(listing))["programs"]
    assert page["nodes"] == [{"name": "For all"}] and page["totalCount"] == 2
    rest = (await ask(listing, after=page["pageInfo"]["endCursor"]))["programs"]
    assert (rest["nodes"], rest["pageInfo"]["hasNextPage"]) == ([{"name": "People of alice"}], False)
    assert (await ask(listing, who=BOB))["programs"]["totalCount"] == 1

    assert (await ask(RUN, id=number))["executeProgram"]["aborted"] is None
    assert (await ask(RUN, who=BOB, id=number)).code == "FORBIDDEN"
    assert (await ask(RUN, id=999)).code == "PROGRAM_NOT_FOUND"
    assert (await ask("query ($id: Int!) { program(id: $id) { name } }", id=999))["program"] is None
    by_id = "query ($id: ID!) { node(id: $id) { ... on Program { name } } }"
    assert (await ask(by_id, id=f"program/{number}"))["node"] == {"name": "People of alice"}
    assert (await ask(by_id, who=BOB, id=f"program/{number}"))["node"] is None
    update = "mutation ($id: Int!, $input: SaveProgramInput!) { updateProgram(id: $id, input: $input) { program { name } validation { valid } } }"
    changed = (await ask(update, id=number, input={"name": "Renamed"}))["updateProgram"]
    assert changed == {"program": {"name": "Renamed"}, "validation": {"valid": True}}
    assert (await ask(update, id=number, input=bad))["updateProgram"]["program"] is None
    assert (await ask("mutation ($id: Int!) { deleteProgram(id: $id) }", who=BOB, id=number)).code == "FORBIDDEN"
    assert (await ask("mutation ($id: Int!) { deleteProgram(id: $id) }", id=number)) == {"deleteProgram": True}


async def test_decks_validation_blocks_and_explorations(ask: Ask) -> None:
    deck = """query ($deck: [DeckEntryInput!]!) { executeDeck(deck: $deck) {
      result { nodes { conceptId } } programs { result { nodes { conceptId } } } aborted { program statement reason } } }"""
    everything, nobody = "+ MATCH (n) RETURN n;", "! MATCH (n:Nobody) RETURN n;"
    found = (await ask(deck, deck=[{"dsl": everything}, {"dsl": nobody}, {"dsl": everything}]))["executeDeck"]
    assert found["aborted"] == {"program": 1, "statement": 0, "reason": "assertion failed: empty result"}
    assert len(found["programs"]) == 2 and len(found["result"]["nodes"]) == 8
    assert (await ask(deck, deck=[{"dsl": everything}, {"dsl": "+ MATCH (n) DELETE n;"}])).entry == 1

    check = "query ($p: JSON, $d: String) { validateProgram(program: $p, dsl: $d) { valid errors { ruleId statement field severity } warnings { ruleId } } }"
    assert (await ask(check, p=fixture("prog_quick_example")["program"]))["validateProgram"]["valid"]
    assert (await ask(check, d="+ MATCH (n) SET n.x = 1;"))["validateProgram"]["errors"] == [
        {"ruleId": "V011", "statement": 0, "field": "operation.query", "severity": "ERROR"}
    ]
    assert (await ask(check, d="? IF"))["validateProgram"]["errors"][0]["field"] == "dsl"

    blocks = [{"blockType": "search", "params": {"query": "ali"}}, {"blockType": "limit", "params": {"count": 3}}]
    made = (await ask("query ($b: JSON!) { compileBlocks(blocks: $b) }", b=blocks))["compileBlocks"]
    assert (await ask("query ($p: JSON!) { programBlocks(program: $p) }", p=made))["programBlocks"] == blocks
    assert [node["conceptId"] for node in (await ask(RUN, program=made))["executeProgram"]["result"]["nodes"]] == [
        "alice"
    ]
    old = {"statements": [{"op": "+", "cypher": "MATCH (n) RETURN n"}]}
    new = (await ask("query ($e: JSON!) { migrateExploration(exploration: $e) }", e=old))["migrateExploration"]
    assert (await ask(check, p=new))["validateProgram"]["valid"]


async def test_each_step_brings_the_working_graph_that_it_left_where_that_is_asked_for(
    operations: OperationExecutor, system: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    dsl = "+ MATCH (p) WHERE p.role = 'engineer' RETURN p;\n+ MATCH (a)-[r]->(b) RETURN a, r, b;\n"
    shown = "step { wSize { nodes links } } ...Shown"
    fragment = "fragment Shown on ProgramRunUpdate { graph { nodes { conceptId } links { fromId } } }"
    words = f"subscription ($d: String!) {{ programRun(dsl: $d) {{ {shown} }} }} {fragment}"

    async def sizes() -> list[tuple[Any, Any]]:
        stream: Any = await operations.subscribe(operations.prepare(words), RequestContext(system, ANN), {"d": dsl})
        news = [one.data["programRun"] async for one in stream]
        assert news[-1] == {"step": None, "graph": None}
        graphs = [one["graph"] for one in news[:-1]]
        drawn = [graph and {"nodes": len(graph["nodes"]), "links": len(graph["links"])} for graph in graphs]
        return [(one["step"]["wSize"], graph) for one, graph in zip(news[:-1], drawn, strict=True)]

    found = await sizes()
    assert len(found) == 2 and found[0] != found[1]
    assert all(told == graph for told, graph in found)
    monkeypatch.setattr("ugs.programs.api.MAX_WAITING_ELEMENTS", 0)
    assert [graph for _, graph in await sizes()] == [None, None]


async def test_steps_are_told_as_they_happen_and_a_listener_who_leaves_stops_the_run(
    operations: OperationExecutor, system: System
) -> None:
    words = "subscription ($d: String!) { programRun(dsl: $d) { step { path } result { aborted { reason } log { path } } } }"
    stream: Any = await operations.subscribe(operations.prepare(words), RequestContext(system, ANN), {"d": DSL})
    news = [one.data["programRun"] async for one in stream]
    assert [one["step"]["path"] for one in news[:-1]] == ["0", "1", "2.then.0", "2"]
    assert news[-1]["step"] is None and news[-1]["result"]["aborted"] is None
    stream = await operations.subscribe(operations.prepare(words), RequestContext(system, ANN), {"d": DSL})
    await anext(stream)
    await stream.aclose()
    await asyncio.sleep(0)
    assert not [task for task in asyncio.all_tasks() if "Programs.run" in repr(task.get_coro())]
