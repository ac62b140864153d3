"""Actors through GraphQL."""

from uuid import UUID

import pytest

from tests.schema.conftest import Ask
from ugs.actors.registry import actor_types
from ugs.graph.api import Graph
from ugs.system import System

SEND = "mutation S($in: SendMessageInput!) { sendMessage(input: $in) { messageId success error payload node { id version outgoing(first: 2) { nodes { id toNode { id } } } } clientMutationId } }"


@pytest.mark.clause("ACT-15", "ACT-16", "ACT-54", "ACT-64")
async def test_a_message_is_answered_and_leaves_ordinary_events(ask: Ask, system: System) -> None:
    given = {"nodeId": "alice", "type": "link", "payload": {"toId": "bob", "edgeType": "references"}}
    keyed = {**given, "idempotencyKey": "k", "clientMutationId": "c"}
    said = (await ask(SEND, **{"in": keyed}))["data"]["sendMessage"]
    edge = said["payload"]["edgeId"]
    assert UUID(said["messageId"]).version == 4 and said["success"] is True and said["error"] is None
    assert said["clientMutationId"] == "c" and said["payload"]["toId"] == "bob" and said["node"]["id"] == "alice"
    again = (await ask(SEND, **{"in": keyed}))["data"]["sendMessage"]
    assert again["payload"] == said["payload"] and again["messageId"] != said["messageId"]
    assert [event.element for event in await Graph(system).history(1)] == [edge]
    refused = (await ask(SEND, **{"in": {"nodeId": "alice", "type": "fly"}}))["data"]["sendMessage"]
    assert (refused["success"], refused["error"]) == (False, "Unknown message type: fly")
    assert refused["payload"] == {"success": False, "error": "Unknown message type: fly"}
    gone = (await ask(SEND, **{"in": {"nodeId": "alice", "type": "delete"}}))["data"]["sendMessage"]
    assert gone["success"] is True and gone["node"] is None


@pytest.mark.clause("ACT-53", "ACT-35", "ACT-36")
async def test_tasks_among_each_other_and_what_is_not_there(ask: Ask) -> None:
    for id in ("root", "sub"):
        await ask(f'mutation {{ addNode(input: {{id: "{id}", type: "task"}}) {{ node {{ id }} }} }}')
    await ask(
        'mutation { addEdge(input: {from: "sub", to: "root", type: "spawned_by"}) { edge { id } } addEdge2: addEdge(input: {from: "root", to: "sub", type: "depends_on"}) { edge { id } } ghost: addEdge(input: {from: "root", to: "ghost", type: "depends_on"}) { edge { id } } }'
    )
    found = (
        await ask(
            '{ childTasks(id: "root") { id outgoing { nodes { toNode { id } } } } dependencies(id: "root") { id } actorTypes { type messages } }'
        )
    )["data"]
    assert found["childTasks"] == [{"id": "sub", "outgoing": {"nodes": [{"toNode": {"id": "root"}}]}}]
    assert found["dependencies"] == [{"id": "sub"}]
    assert {one["type"]: one["messages"] for one in found["actorTypes"]} == actor_types()
    for query in (
        '{ childTasks(id: "x") { id } }',
        '{ dependencies(id: "x") { id } }',
        'mutation { sendMessage(input: {nodeId: "x", type: "get"}) { success } }',
    ):
        error = (await ask(query))["errors"][0]
        assert (error["message"], error["extensions"]["code"]) == ("Node not found: x", "E002")
