"""Mutations written without the executor: the same answers, refusals included."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from graphql import ExecutionResult

from ugs import Graph, System
from ugs.clock import Clock
from ugs_schema.compiler.executor import OperationExecutor
from ugs_schema.context import RequestContext
from ugs_schema.errors import format_error

EVENT = "event { id eventId seq timestamp type elementId version data by tx { id index size } __typename }"
PAYLOAD = f"{EVENT} warnings {{ code message id }} clientMutationId __typename"
NODE = "node { id type scope properties data created modifiedAt version label __typename }"
EDGE = "edge { id type from to weight properties created }"

CHANGES: list[tuple[str, dict[str, Any]]] = [
    (f'mutation {{ addNode(input: {{id: "n1", type: "t", properties: {{a: [1, "é"]}}, clientMutationId: "c"}}) {{ {NODE} {PAYLOAD} }} }}', {}),
    (f"mutation($i: AddNodeInput!) {{ made: addNode(input: $i) {{ {NODE} {PAYLOAD} }} }}", {"i": {"id": "n2", "data": {"x": None}}}),
    (f"mutation($id: ID!, $p: JSON!) {{ addNode(input: {{id: $id, properties: $p}}) {{ {NODE} }} }}", {"id": "n3", "p": {"name": "Zoë"}}),
    *((f'mutation($v: JSON) {{ addNode(input: {{id: "v{number}", properties: {{x: $v, y: [$v, {{z: $v}}]}}}}) {{ {NODE} }} }}', given)
      for number, given in enumerate(({"v": {"a": [1]}}, {"v": "text"}, {"v": None}, {}))),
    ('mutation { addNode(input: {id: "alice"}) { node { id } } }', {}),
    ('mutation { addNode(input: {id: "no good"}) { node { id } } }', {}),
    ("mutation($p: JSON!) { addNode(input: {properties: $p}) { node { type } } }", {"p": [1]}),
    (f'mutation {{ updateNode(input: {{id: "alice", type: null, removeProperties: ["role"]}}) {{ {NODE} {PAYLOAD} }} }}', {}),
    ('mutation { updateNode(input: {id: "alice", expectedVersion: 9}) { node { id } } }', {}),
    ('mutation { updateNode(input: {id: "bob"}) { node { id version } event { seq } warnings { code } } }', {}),
    (f'mutation {{ upsertEdge(input: {{from: "bob", to: "alice", type: "knows"}}) {{ edge {{ id type }} {PAYLOAD} }} }}', {}),
    (f'mutation {{ upsertNode(input: {{id: "bob", properties: {{k: 1.5}}}}) {{ {NODE} {PAYLOAD} }} }}', {}),
    (f'mutation {{ addEdge(input: {{id: "x1", from: "alice", to: "nobody", weight: 2}}) {{ {EDGE} {PAYLOAD} }} }}', {}),
    ('mutation { addEdge(input: {from: "alice", to: "nobody", endpointPolicy: STRICT}) { edge { id } } }', {}),
    (f'mutation {{ updateEdge(input: {{id: "e1", weight: 0.25}}) {{ {EDGE} {PAYLOAD} }} }}', {}),
    ('mutation { deleteEdge(input: {id: "e1"}) { deletedId deletedEdgeIds events { seq type } clientMutationId } }', {}),
    ('mutation { deleteNode(input: {id: "alice"}) { deletedId deletedEdgeIds warnings { code } events { elementId } } }', {}),
    ('mutation { delete(input: {id: "nothing"}) { deletedId } }', {}),
    ('mutation { applyBatch(operations: [{addNode: {id: "$a"}}, {addEdge: {from: "$a", to: "bob"}}]) { deletedIds events { seq type tx { index size } } } }', {}),
    ('mutation { revertElement(id: "bob", version: 1) { events { type version } deletedIds } }', {}),
    ('mutation { addNode(input: {id: "k1", idempotencyKey: "once"}) { node { id version } event { seq } } }', {}),
    ('mutation { addNode(input: {id: "k1", idempotencyKey: "once"}) { node { id version } event { seq } } }', {}),
    ('mutation { addNode(input: {id: "k2", properties: {a: [1]}}) { node { property(key: "a") label } } }', {}),
]  # fmt: skip


class Ticks(Clock):
    """A clock that two systems agree on."""

    def __init__(self) -> None:
        self.millis = 1_800_000_000_000

    def now(self) -> int:
        self.millis += 1
        return self.millis


def answered(found: Any) -> bytes:
    if isinstance(found, bytes):
        return found
    body = {"data": found.data}
    if found.errors:
        body["errors"] = [format_error(error, lambda id, bug: None) for error in found.errors]
    return msgspec.json.encode(body)


async def test_both_ways_change_alike_and_write_the_same_bytes(
    operations: OperationExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ugs.graph.batches.token_hex", lambda size: "0" * size, raising=False)
    async with System.at_url("memory:", Ticks()) as quick, System.at_url("memory:", Ticks()) as usual:
        for system in (quick, usual):
            await Graph(system).load_demo()
        for query, variables in CHANGES:
            prepared = operations.prepare(query)
            assert not prepared.errors, (query, prepared.errors)
            fast = await operations.answer(prepared, RequestContext(quick), variables)
            slow = await operations.execute(prepared, RequestContext(usual), variables)
            assert prepared.compiled and all(prepared.compiled.values()), query
            if "$a" not in query:
                assert answered(fast) == answered(slow), query
        assert isinstance(fast, bytes)


@pytest.mark.parametrize(
    "query",
    [
        'mutation { addNode(input: {id: "q"}) { node { outgoing { totalCount } } } }',
        'mutation { a: addNode(input: {id: "q"}) { node { id } } b: addNode(input: {id: "r"}) { node { id } } }',
        'mutation { applyBatch(operations: [{addNode: {id: "q"}}]) { elements { ... on GraphNode { id } } } }',
    ],
)
async def test_what_needs_more_is_left_to_the_executor(
    operations: OperationExecutor, system: System, query: str
) -> None:
    found = await operations.answer(operations.prepare(query), RequestContext(system), {})
    assert isinstance(found, ExecutionResult) and not found.errors


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ({"v": {"a": [1]}}, {"x": {"a": [1]}, "y": [{"a": [1]}, {"z": {"a": [1]}}]}),
        ({"v": None}, {"x": None, "y": [None, {"z": None}]}),
        ({}, {"y": [None, {}]}),
    ],
)
async def test_json_written_into_a_document_may_hold_variables(
    operations: OperationExecutor, system: System, given: dict[str, Any], stored: dict[str, Any]
) -> None:
    query = 'mutation($v: JSON) { addNode(input: {id: "v", properties: {x: $v, y: [$v, {z: $v}]}}) { node { id } } }'
    assert isinstance(await operations.answer(operations.prepare(query), RequestContext(system), given), bytes)
    node = await Graph(system).get("v")
    assert node is not None and node.properties == stored
