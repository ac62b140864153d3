"""openCypher through GraphQL: rows as JSON, plans for people, views, the past, and the caller's rights."""

from __future__ import annotations

from typing import Any

from tests.schema.conftest import Ask
from ugs import System
from ugs.facts.api import Facts
from ugs.identity import Principal
from ugs.values import from_text
from ugs_schema.compiler.executor import OperationExecutor
from ugs_schema.context import RequestContext

ASK = """query($q: String!, $p: JSON, $limit: Int, $view: CypherView! = GRAPH, $at: At) {
  cypher(query: $q, params: $p, limit: $limit, view: $view, at: $at) {
    columns rows truncated explanation plan { operator details depth rows } durationMs } }"""


async def answer(ask: Ask, query: str, **more: Any) -> dict[str, Any]:
    found = await ask(ASK, q=query, **more)
    assert "errors" not in found, found
    return found["data"]["cypher"]  # type: ignore[no-any-return]


async def test_rows_are_lists_of_json_in_the_order_of_the_columns(ask: Ask) -> None:
    found = await answer(
        ask,
        "MATCH (n) WHERE id(n) = $id RETURN n, date($day) AS d, 0.0 / 0 AS x",
        p={"id": "alice", "day": "2024-02-29"},
    )

    assert found["columns"] == ["n", "d", "x"]
    node, day, number = found["rows"][0]
    assert (node["id"], node["labels"], day, number) == ("alice", ["person"], "2024-02-29", "NaN")
    assert found["durationMs"] > 0 and found["plan"] == [] and found["explanation"] is None

    path = (await answer(ask, "MATCH p = (a)-[r]->(b) WHERE id(a) = 'alice' RETURN p, r LIMIT 1"))["rows"][0]
    assert [len(path[0]["nodes"]), len(path[0]["relationships"])] == [2, 1]
    assert path[1]["from"] == "alice" and path[1]["to"] == path[0]["nodes"][1]["id"]


async def test_what_is_found_is_a_graph_too(ask: Ask) -> None:
    query = """{ cypher(query: "MATCH p = (a)-[r]->(b) WHERE id(a) = 'alice' RETURN p, [a, {x: b}] AS both, r") {
      graph { nodes { conceptId label node { id type } } links { fromId toId relationshipType } } } }"""
    graph = (await ask(query))["data"]["cypher"]["graph"]

    ids = {node["conceptId"] for node in graph["nodes"]}
    assert "alice" in ids and len(ids) == len(graph["nodes"]) > 1
    assert all(node["node"]["id"] == node["conceptId"] for node in graph["nodes"])
    assert graph["links"] and all(link["fromId"] == "alice" and link["toId"] in ids for link in graph["links"])
    alone = await ask('{ cypher(query: "MATCH ()-[r]->() RETURN r") { graph { nodes { label } links { toId } } } }')
    assert alone["data"]["cypher"]["graph"] == {"nodes": [], "links": []}


async def test_a_limit_cuts_the_rows_and_says_so(ask: Ask) -> None:
    cut = await answer(ask, "UNWIND range(1, 5) AS x RETURN x", limit=3)
    whole = await answer(ask, "UNWIND range(1, 3) AS x RETURN x", limit=3)

    assert (cut["rows"], cut["truncated"]) == ([[1], [2], [3]], True)
    assert (whole["rows"], whole["truncated"]) == ([[1], [2], [3]], False)
    refused = await ask(ASK, q="RETURN 1", limit=-1)
    assert refused["errors"][0]["extensions"]["code"] == "LIMIT_EXCEEDED"


async def test_plans_are_shown_to_people(ask: Ask) -> None:
    explained = await answer(ask, "EXPLAIN MATCH (n:person) RETURN n")
    profiled = await answer(ask, "PROFILE MATCH (n:person) RETURN n")

    assert explained["rows"] == [] and explained["plan"][0]["operator"] == "NodeScan"
    assert explained["explanation"].startswith("NodeScan")
    assert [step["rows"] for step in explained["plan"]] == [None] * len(explained["plan"])
    assert profiled["plan"][0]["rows"] == len(profiled["rows"]) > 0


async def test_errors_keep_their_code_and_their_place(ask: Ask) -> None:
    wrong = await ask(ASK, q="MATCH (n)\nRETURN m")
    write = await ask(ASK, q="MATCH (n) DELETE n")

    told = wrong["errors"][0]["extensions"]
    assert (told["code"], told["details"]["line"], told["details"]["column"]) == ("CYPHER_SYNTAX", 2, 8)
    assert write["errors"][0]["extensions"]["code"] == "CYPHER_REFUSED"


async def test_the_past_is_asked_as_everywhere(ask: Ask) -> None:
    count = "MATCH (n) RETURN count(n)"
    now = (await answer(ask, count))["rows"]
    first = (await answer(ask, count, at={"position": 1}))["rows"]

    assert first == [[1]] and now != first


async def test_facts_are_seen_with_the_rights_of_the_caller(operations: OperationExecutor, system: System) -> None:
    alice = Principal("alice", frozenset(), "default", "default", "one")
    facts = Facts(system, alice)
    for scope in ("project_shared", "agent_private"):
        await facts.add_fact("Ann", "knows", scope=scope, object="Bob", notes=[(await facts.add_note("said")).note_id])

    async def seen(principal: Principal) -> Any:
        document = operations.prepare(ASK)
        variables = {"q": "MATCH (a)-[r:knows]->(b) RETURN a.name, r.scope, b.name ORDER BY r.scope", "view": "FACTS"}
        found: Any = await operations.answer(document, RequestContext(system, principal), variables)
        return (from_text(found)["data"] if isinstance(found, bytes) else found.data)["cypher"]["rows"]

    both = [["Ann", "agent_private", "Bob"], ["Ann", "project_shared", "Bob"]]
    assert await seen(alice) == both
    assert await seen(Principal("eve", frozenset(), "default", "default", "two")) == both[1:]
    assert await seen(Principal("mallory", frozenset(), "other", "default", "one")) == []


async def test_points_are_parameters_and_answers(ask: Ask) -> None:
    query = "RETURN $p AS p, [point($m)] AS ps, $p < point({x: 2, y: 3}) AS less, $p.crs AS crs"
    found = await answer(
        ask, query, p={"p": {"@point": {"x": 1, "y": 2}}, "m": {"longitude": 190, "latitude": 1, "height": 2}}
    )
    wrong = await ask(ASK, q="RETURN $p", p={"p": {"@point": {"latitude": 100, "longitude": 0}}})
    nowhere = await ask(ASK, q="RETURN\n point({x: 1, y: 2}).height")

    flat = {"type": "Point", "coordinates": [1.0, 2.0], "crs": "cartesian"}
    world = {"type": "Point", "coordinates": [-170.0, 1.0, 2.0], "crs": "wgs-84-3d"}
    assert found["rows"] == [[flat, [world], None, "cartesian"]]
    assert wrong["errors"][0]["extensions"]["code"] == "CYPHER_ARGUMENT" and "$p" in wrong["errors"][0]["message"]
    told = nowhere["errors"][0]["extensions"]
    assert (told["code"], told["details"]["line"], told["details"]["column"]) == ("CYPHER_ARGUMENT", 2, 21)


async def test_an_answer_carries_remarks_about_its_query(ask: Ask) -> None:
    query = (
        """{ cypher(query: "MATCH (a), (b) RETURN count(*) AS n") { notifications { code message line column } } }"""
    )
    (remark,) = (await ask(query))["data"]["cypher"]["notifications"]

    assert (remark["code"], remark["line"], remark["column"]) == ("CARTESIAN_PRODUCT", 1, 1)
    assert "cartesian" in remark["message"]
