"""Changing the graph through GraphQL."""

from __future__ import annotations

from typing import Any

import pytest

from tests.schema.conftest import Ask
from ugs import System

ADD = 'mutation($key: String, $id: ID = "n") { addNode(input: {id: $id, properties: {a: 1}, idempotencyKey: $key}) '
ADD += "{ node { id version properties } event { seq type } } }"


async def test_a_node_lives_changes_and_dies(ask: Ask) -> None:
    added = await ask(
        'mutation { addNode(input: {id: "n", type: "t", properties: {tags: ["x"]}}) { node { version } } }'
    )
    changed = await ask(
        """mutation { updateNode(input: {id: "n", type: null, properties: {a: 1}, appendProperties: {tags: "y"},
             expectedVersion: 1, clientMutationId: "c1"}) { node { type properties version } event { type } clientMutationId } }"""
    )
    cleared = await ask(
        'mutation { updateNode(input: {id: "n", removeProperties: ["a"], data: {deep: [1]}}) { node { properties data } } }'
    )
    assert added["data"]["addNode"] == {"node": {"version": 1}}
    assert changed["data"]["updateNode"] == {
        "node": {"type": None, "properties": {"a": 1, "tags": ["x", "y"]}, "version": 2},
        "event": {"type": "NodeUpdated"},
        "clientMutationId": "c1",
    }
    assert cleared["data"]["updateNode"]["node"] == {"properties": {"tags": ["x", "y"]}, "data": {"deep": [1]}}
    ended = await ask('mutation { delete(input: {id: "n"}) { deletedId events { type } } }')
    assert ended["data"]["delete"] == {"deletedId": "n", "events": [{"type": "NodeDeleted"}]}
    assert (await ask('{ graphNode(id: "n") { id } }'))["data"] == {"graphNode": None}


async def test_an_edge_without_its_nodes_is_a_warning_or_an_error(ask: Ask) -> None:
    soft = await ask(
        'mutation { addEdge(input: {from: "alice", to: "zed"}) { edge { id dangling toNode { id } } warnings { code id } } }'
    )
    strict = await ask(
        'mutation { addEdge(input: {from: "alice", to: "zed", endpointPolicy: STRICT}) { edge { id } } }'
    )
    assert soft["data"]["addEdge"] == {
        "edge": {"id": "edge_1", "dangling": True, "toNode": None},
        "warnings": [{"code": "W001", "id": "zed"}],
    }
    assert strict["errors"][0]["extensions"]["code"] == "ENDPOINT_MISSING"


async def test_a_batch_is_all_or_nothing_and_knows_temporary_ids(ask: Ask, system: System) -> None:
    done = await ask(
        """mutation { applyBatch(operations: [{addNode: {id: "$a", type: "t"}}, {addNode: {id: "b", properties: {to: "@($a)"}}},
             {addEdge: {from: "$a", to: "b"}}]) { elements { ... on GraphNode { id } ... on GraphEdge { from to } } } }"""
    )
    assert done["data"]["applyBatch"]["elements"] == [{"id": "node_1"}, {"id": "b"}, {"from": "node_1", "to": "b"}]
    before = await system.digest()
    refused = await ask(
        'mutation { applyBatch(operations: [{addNode: {id: "c"}}, {deleteNode: {id: "nobody"}}]) { deletedIds } }'
    )
    assert refused["errors"][0]["extensions"]["code"] == "E002"
    assert refused["errors"][0]["extensions"]["details"]["operation"] == 1
    assert await system.digest() == before


async def test_the_same_key_gives_the_same_answer_and_another_body_is_refused(ask: Ask) -> None:
    first = await ask(ADD, key="k")
    again = await ask(ADD, key="k")
    other = await ask(ADD, key="k", id="m")
    assert first == again
    assert other["errors"][0]["extensions"]["code"] == "IDEMPOTENCY_CONFLICT"


async def test_a_stale_version_is_refused_with_the_current_one(ask: Ask) -> None:
    refused = await ask('mutation { updateNode(input: {id: "alice", type: "x", expectedVersion: 7}) { node { id } } }')
    assert refused["data"] is None
    now = (await ask('{ graphNode(id: "alice") { id type properties data created modified version } }'))["data"]
    alice = now["graphNode"]
    assert refused["errors"][0]["extensions"] == {
        "code": "VERSION_CONFLICT",
        "name": "VersionConflict",
        "details": {"id": "alice", "expected": 7, "current": 1, "element": alice},
        "retryable": False,
    }


async def test_upsert_adds_then_changes(ask: Ask) -> None:
    upsert = 'mutation($p: JSON) { upsertNode(input: {id: "u", properties: $p}) { node { properties version } } }'
    assert (await ask(upsert, p={"a": 1}))["data"]["upsertNode"]["node"] == {"properties": {"a": 1}, "version": 1}
    assert (await ask(upsert, p={"b": 2}))["data"]["upsertNode"]["node"] == {
        "properties": {"a": 1, "b": 2},
        "version": 2,
    }


async def test_a_large_element_is_left_out_of_a_conflict(ask: Ask) -> None:
    await ask('mutation($d: JSON) { updateNode(input: {id: "alice", data: $d}) { node { id } } }', d="x" * 20_000)
    refused = await ask('mutation { deleteNode(input: {id: "alice", expectedVersion: 7}) { deletedId } }')
    assert refused["errors"][0]["extensions"]["details"]["element"] is None


UPSERT_EDGE = "mutation($in: UpsertEdgeInput!) { upsertEdge(input: $in) { edge { id from to type weight version properties } event { type } clientMutationId } }"


async def test_an_upserted_edge_is_found_by_its_ends_or_its_id(ask: Ask) -> None:
    async def upsert(**given: Any) -> Any:
        return await ask(UPSERT_EDGE, **{"in": {"from": "alice", "to": "bob", "type": "knows", **given}})

    first = (await upsert(properties={"a": 1}))["data"]["upsertEdge"]
    again = (await upsert(properties={"b": 2}, weight=2.5, clientMutationId="c"))["data"]["upsertEdge"]
    assert (first["event"]["type"], again["event"]["type"], again["clientMutationId"]) == (
        "EdgeAdded",
        "EdgeUpdated",
        "c",
    )
    assert first["edge"]["weight"] == 1 and again["edge"] == {
        **first["edge"], "version": 2, "weight": 2.5, "properties": {"a": 1, "b": 2}
    }  # fmt: skip
    same = (await upsert())["data"]["upsertEdge"]
    assert same["event"] is None and same["edge"] == again["edge"]
    other = (await upsert(type="likes"))["data"]["upsertEdge"]
    assert other["event"]["type"] == "EdgeAdded" and other["edge"]["id"] != first["edge"]["id"]
    named = (await upsert(id="named"))["data"]["upsertEdge"]
    assert named["event"]["type"] == "EdgeAdded" and named["edge"]["id"] == "named"
    moved = await upsert(id="named", to="charlie")
    assert moved["errors"][0]["extensions"]["code"] == "E003"
    stale = await upsert(id="named", weight=3, expectedVersion=5)
    assert stale["errors"][0]["extensions"]["code"] == "VERSION_CONFLICT"
    strict = await upsert(to="nobody", endpointPolicy="STRICT")
    assert strict["errors"][0]["extensions"]["code"] == "ENDPOINT_MISSING"


async def test_batches_upsert_and_name_what_they_find(ask: Ask) -> None:
    batch = "mutation($o: [BatchOperation!]!) { applyBatch(operations: $o) { elements { ... on GraphNode { id version } ... on GraphEdge { id version properties } } } }"
    steps = [
        {"upsertNode": {"id": "new", "properties": {"a": 1}}},
        {"upsertEdge": {"id": "$e", "from": "new", "to": "alice", "type": "knows"}},
        {"upsertNode": {"id": "new", "properties": {"edge": "@($e)"}}},
    ]
    first = (await ask(batch, o=steps))["data"]["applyBatch"]["elements"]
    again = (await ask(batch, o=[*steps[1:], {"updateEdge": {"id": "$e", "properties": {"x": 1}}}]))["data"][
        "applyBatch"
    ]
    edge = next(one["id"] for one in first if one["id"] != "new")
    assert [(one["id"], one["version"]) for one in first if one["id"] == "new"] == [("new", 2)]
    assert {"id": edge, "version": 2, "properties": {"x": 1}} in again["elements"]


async def test_going_back_to_a_version_is_a_new_version(ask: Ask) -> None:
    await ask('mutation { updateNode(input: {id: "bob", properties: {role: "boss"}}) { node { id } } }')
    back = await ask(
        'mutation { revertElement(id: "bob", version: 1) { elements { ... on GraphNode { version properties } } } }'
    )
    assert back["data"]["revertElement"]["elements"] == [
        {"version": 3, "properties": {"name": "Bob Smith", "role": "manager"}}
    ]
    life = await ask('{ versions(id: "bob") { version deleted value } resolve(address: "@(bob:2)") { version } }')
    assert [state["version"] for state in life["data"]["versions"]] == [1, 2, 3]
    assert life["data"]["resolve"] == {"version": 2}


async def test_scopes_are_cleared_and_graphs_imported(ask: Ask) -> None:
    graph = {"nodes": [{"id": "scratch:a"}, {"id": "scratch:b"}], "edges": [{"from": "scratch:a", "to": "bob"}]}
    done = await ask("mutation($g: JSON!) { importGraph(graph: $g) { nodes edges events } }", g=graph)
    assert done["data"]["importGraph"] == {"nodes": 2, "edges": 1, "events": 3}
    cleared = await ask("mutation { clearScope(scope: SCRATCH) { deletedNodeIds deletedEdgeIds } }")
    assert cleared["data"]["clearScope"] == {
        "deletedNodeIds": ["scratch:a", "scratch:b"],
        "deletedEdgeIds": ["edge_1"],
    }
    refused = await ask("mutation { clearScope(scope: DEFAULT) { scope } }")
    assert refused["errors"][0]["extensions"]["code"] == "E005"


@pytest.mark.parametrize(
    ("mutation", "code"),
    [
        ('addNode(input: {id: "alice"}) { node { id } }', "E001"),
        ('addNode(input: {id: "e1"}) { node { id } }', "E003"),
        ('addNode(input: {id: "no good"}) { node { id } }', "E005"),
        ('addNode(input: {id: "x", properties: [1]}) { node { id } }', "E005"),
        ('addEdge(input: {id: "e1", from: "a", to: "b"}) { edge { id } }', "E003"),
        ('updateEdge(input: {id: "nope", weight: 2}) { edge { id } }', "E004"),
        ('updateNode(input: {id: "nope"}) { node { id } }', "E002"),
        ('deleteEdge(input: {id: "nope"}) { deletedId }', "E004"),
        ('delete(input: {id: "nope"}) { deletedId }', "E002"),
        ("loadDemo { nodes }", "E001"),
        ("importGraph(graph: {nodes: 1}) { nodes }", "E005"),
        ('revertElement(id: "alice", version: 9) { deletedIds }', "VERSION_NOT_FOUND"),
        ('applyBatch(operations: [{addEdge: {from: "$x", to: "bob"}}]) { deletedIds }', "E005"),
    ],
)
async def test_refused_changes_change_nothing(ask: Ask, system: System, mutation: str, code: str) -> None:
    before = await system.digest()
    answer = await ask(f"mutation {{ {mutation} }}")
    assert answer["errors"][0]["extensions"]["code"] == code
    assert await system.digest() == before
