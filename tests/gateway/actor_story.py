"""Actors in the story told through the door; ids that are made up at random and times are left out."""

from __future__ import annotations

from typing import Any

SEND = "mutation ($in: SendMessageInput!) { sendMessage(input: $in) { success error payload node { id version } clientMutationId } }"
DID = "mutation ($in: SendMessageInput!) { sendMessage(input: $in) { success error node { version } } }"


def sent(node: str, type: str, **payload: Any) -> dict[str, Any]:
    return {"in": {"nodeId": node, "type": type, "payload": payload}}


ACTORS: list[tuple[str, str, dict[str, Any]]] = [
    ("actor types", "{ actorTypes { type messages } }", {}),
    (
        "tasks",
        'mutation { applyBatch(operations: [{addNode: {id: "t1", type: "task", properties: {goal: "Build"}}}, {addNode: {id: "t2", type: "task", properties: {goal: "Plan", state: "created"}}}, {addNode: {id: "k1", type: "knowledge", properties: {content: "Stores keep rows. Memory is fastest."}}}, {addEdge: {id: "d1", from: "t1", to: "t2", type: "depends_on"}}]) { deletedIds } }',
        {},
    ),
    ("start too early", SEND, sent("t1", "start")),
    ("how it stands", SEND, sent("t1", "query_status")),
    ("start the first", DID, sent("t2", "start", context={"priority": "high"})),
    ("make a child", DID, sent("t2", "create_task", goal="Sketch", criteria=[{"criterion": "c", "threshold": 1}])),
    ("its children", '{ childTasks(id: "t2") { type properties } dependencies(id: "t1") { id label } }', {}),
    ("before there were", '{ childTasks(id: "t2", at: {position: 1}) { id } }', {}),
    ("complete too early", SEND, sent("t1", "complete", result={"n": 1})),
    ("unknown message", SEND, sent("t2", "dance")),
    ("bad payload", SEND, sent("t2", "block", reason=1)),
    ("nobody there", SEND, sent("nobody", "get")),
    ("payload that is no object", SEND, {"in": {"nodeId": "t1", "type": "get", "payload": [1]}}),
    ("ask", SEND, sent("k1", "query", question="Which store is fastest?")),
    (
        "link by key",
        SEND,
        {
            "in": {
                "nodeId": "k1",
                "type": "link",
                "payload": {"toId": "t1", "edgeType": "references"},
                "idempotencyKey": "a1",
                "clientMutationId": "m",
            }
        },
    ),
    (
        "link by key again",
        SEND,
        {
            "in": {
                "nodeId": "k1",
                "type": "link",
                "payload": {"toId": "t1", "edgeType": "references"},
                "idempotencyKey": "a1",
            }
        },
    ),
    ("delete by message", SEND, sent("k1", "delete")),
]
