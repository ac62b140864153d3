"""Seed 003: what each message does and answers, for every node, for tasks, knowledge, artifacts and patterns."""

from __future__ import annotations

from typing import Any

import pytest

from ugs.actors.registry import actor_types
from ugs.events import Event
from ugs.values import from_text
from ugs_conformance.support.actors_kit import Acting, includes
from ugs_conformance.support.pytest_plugin import clause
from ugs_conformance.support.store_fixture import NOW, StoreUnderTest, fixture

MESSAGES = fixture("act_messages")
CREATED_AT = "2026-01-21T18:34:14.093Z"


@pytest.fixture
def acting(world: StoreUnderTest) -> Acting:
    return Acting(world)


def data(event: Event) -> dict[str, Any]:
    found: dict[str, Any] = from_text(event.data)
    return found


@clause("ACT-61", "ACT-67", "ACT-73", "ACT-82")
async def test_every_message_of_the_seed_has_a_handler(acting: Acting) -> None:
    types = actor_types()
    for listed, type in (("standard", "*"), ("task", "task"), ("knowledge", "knowledge")):
        names = {message["type"] for message in MESSAGES[listed]}
        assert names <= set(types[type])
    assert all({message["type"] for message in MESSAGES["standard"]} <= set(known) for known in types.values())
    await acting.register("w", "widget")
    assert (await acting.refusal_of("w", "start"))["error"] == "Unknown message type: start"
    assert (await acting.graph.send("w", "get"))["type"] == "widget"


@clause("ACT-61", "ACT-62", "ACT-25")
async def test_get_and_observe(acting: Acting, world: StoreUnderTest) -> None:
    await acting.register("w", "widget", colour="red")
    await acting.graph.add_edge("w", "x", "references")
    await acting.graph.add_edge("y", "w", "blocks")
    await acting.graph.add_edge("w", "w", "references")
    said = await acting.graph.send("w", "get")
    assert said["properties"] == {"id": "w", "type": "widget", "colour": "red", "createdAt": CREATED_AT}
    assert (said["success"], said["id"], said["type"]) == (True, "w", "widget")
    assert {way: [edge["id"] for edge in edges] for way, edges in said["edges"].items()} == {
        "from": ["edge_1", "edge_3"],
        "to": ["edge_2", "edge_3"],
    }
    await world.graph.update("w", {"colour": "blue"})
    assert (await acting.graph.send("w", "get"))["properties"]["colour"] == "blue"
    seen = await acting.graph.send("w", "observe")
    assert (seen["success"], seen["state"], seen["metadata"]) == (True, "active", {})
    assert [(o["timestamp"], o["type"]) for o in seen["observations"]] == [(NOW, "NodeAdded"), (NOW, "NodeUpdated")]
    assert seen["observations"][1]["data"] == {"id": "w", "properties": {"colour": "blue"}}


@clause("ACT-63", "ACT-64", "ACT-65", "ACT-66", "ACT-28")
async def test_update_link_unlink_and_delete_are_ordinary_changes(acting: Acting, world: StoreUnderTest) -> None:
    graph = acting.graph
    await acting.register("w", "widget", flag=1)
    asked = {"properties": {"a": {"b": [1]}, "flag": True, "id": "x", "type": "y", "createdAt": "z"}}
    assert await graph.send("w", "update", asked) == {"success": True, "updatedProperties": ["a", "flag"]}
    properties = await graph.get_node_properties("w")
    assert properties is not None and properties["flag"] is True
    assert includes(properties, {"a": {"b": [1]}, "id": "w", "type": "widget", "createdAt": CREATED_AT})
    edge = {"id": "edge_1", "fromId": "w", "toId": "nobody", "type": "references", "properties": {"why": 1}}
    linked = await graph.send("w", "link", {"toId": "nobody", "edgeType": "references", "properties": {"why": 1}})
    assert linked == {"success": True, "edgeId": "edge_1", **edge}
    assert await graph.get_edges_from("w") == [edge]
    await graph.add_edge("else", "where", "blocks")
    for foreign in ("edge_2", "edge_9"):
        assert (await acting.refusal_of("w", "unlink", {"edgeId": foreign}))["error"] == f"Edge not found: {foreign}"
    assert await graph.send("w", "unlink", {"edgeId": "edge_1"}) == {"success": True}
    await graph.send("w", "link", {"toId": "w", "edgeType": "blocks"})
    assert await graph.send("w", "delete") == {"success": True}
    assert await world.types() == [
        *("NodeAdded", "NodeUpdated", "EdgeAdded", "EdgeAdded", "EdgeDeleted", "EdgeAdded"),
        *("EdgeDeleted", "NodeDeleted"),
    ]
    assert [state.version for state in await world.graph.versions("w")] == [1, 2, 2]
    assert (await world.system.verify()).ok
    await acting.register("n", "widget")
    for type, payload, said in (
        ("update", {}, "Invalid payload for update: `properties` is missing"),
        ("link", {"toId": 1, "edgeType": "x"}, "Invalid payload for link: `toId` must be a text, not a whole number"),
        ("link", {"toId": "no id", "edgeType": "x"}, None),
        ("update", {"properties": {str(n): n for n in range(1_001)}}, "properties: more than 1000 keys"),
    ):
        answer = await acting.refusal_of("n", type, payload)
        assert answer["error"] == (said or answer["error"])


@clause("ACT-67", "ACT-70", "ACT-71", "ACT-72", "ACT-34", "ACT-14")
async def test_the_life_of_a_task(acting: Acting) -> None:
    graph = acting.graph
    await acting.task("t", goal="Write tests")
    status = await graph.send("t", "query_status")
    assert status == {
        "success": True,
        "state": "created",
        "progress": 0,
        "reason": None,
        "blockedBy": [],
        "blockers": [],
        "childrenStatus": [],
    }
    started = await graph.send("t", "start", {"context": {"priority": "high"}})
    assert started == {"success": True, "state": "in_progress"}
    assert (await acting.refusal_of("t", "start"))["state"] == "in_progress"
    assert includes(await graph.send("t", "query_status"), {"state": "in_progress", "progress": 0.5})
    asked = {"reason": "no data", "requiredKnowledge": ["schema", "limits"]}
    assert (await graph.send("t", "block", asked))["state"] == "blocked"
    await graph.send("t", "block", {"reason": "still none", "requiredKnowledge": "limits"})
    status = await graph.send("t", "query_status")
    assert includes(status, {"state": "blocked", "progress": 0.1, "reason": "still none", "blockers": ["still none"]})
    await graph.send("t", "start")
    result = {"testsWritten": 5, "coverage": 85}
    done = await graph.send("t", "complete", {"result": result, "artifacts": ["report", "report"]})
    assert done == {"success": True, "finalState": "completed"}
    properties = await graph.get_node_properties("t")
    assert properties is not None and "blockReason" not in properties
    assert includes(
        properties,
        {
            "state": "completed",
            "result": result,
            "context": {"priority": "high"},
            "informationGaps": ["schema", "limits"],
            "startedAt": CREATED_AT,
            "completedAt": CREATED_AT,
        },
    )
    assert [(edge["toId"], edge["type"]) for edge in await graph.get_edges_from("t")] == [("report", "produces")]
    assert includes(await graph.send("t", "query_status"), {"state": "completed", "progress": 1, "reason": None})
    for type, payload in (("start", {}), ("complete", {"result": 1}), ("block", {"reason": "x"})):
        assert "completed" in (await acting.refusal_of("t", type, payload))["error"]


@clause("ACT-43", "ACT-47", "ACT-36", "ACT-67", "ACT-72")
async def test_a_task_waits_for_what_it_depends_on_and_what_blocks_it(acting: Acting) -> None:
    graph = acting.graph
    for id in ("t", "first", "blocker"):
        await acting.task(id)
    await acting.register("book", "knowledge", content="x")
    for target in ("first", "missing", "book"):
        await graph.add_edge("t", target, "depends_on")
    await graph.add_edge("blocker", "t", "blocks")
    assert await graph.get_dependencies("t") == ["first", "missing", "book"]
    answer = await acting.refusal_of("t", "start")
    assert answer["blockedBy"] == ["first", "missing", "blocker"]
    assert answer["error"] == "Task t waits for: first, missing, blocker"
    status = await graph.send("t", "query_status")
    assert status["blockers"] == ["Waiting on: Do first", "Waiting on: missing", "Waiting on: Do blocker"]
    for id in ("first", "blocker"):
        await graph.send(id, "start")
        await graph.send(id, "complete")
    assert (await acting.refusal_of("t", "start"))["blockedBy"] == ["missing"]
    await graph.remove_edge("t", "missing", "depends_on")
    assert (await graph.send("t", "start"))["success"] is True


@clause("ACT-68", "ACT-35", "ACT-46", "ACT-72", "ACT-62", "ACT-69", "ACT-70")
async def test_a_task_makes_tasks_and_waits_for_them(acting: Acting, world: StoreUnderTest) -> None:
    graph = acting.graph
    await acting.task("root", toolsAvailable=["hammer"])
    before = len(await world.events())
    asked = {"goal": "Write tests", "deliverables": ["suite"], "criteria": [{"criterion": "c", "threshold": 3}]}
    made = await graph.send("root", "create_task", asked)
    child = made["taskId"]
    assert made == {"success": True, "taskId": child, "childTaskId": child}
    events = (await world.events())[before:]
    assert [event.type for event in events] == ["NodeAdded", "EdgeAdded"] and events[0].tx is not None
    assert includes(data(events[1]), {"from": child, "to": "root", "type": "spawned_by"})
    assert includes(
        await graph.get_node_properties(child),
        {**asked, "type": "task", "state": "created", "parentTaskId": "root", "toolsAvailable": ["hammer"]},
    )
    other = (await graph.send("root", "create_task", {"goal": "Rest"}))["taskId"]
    assert await graph.get_child_tasks("root") == [child, other]
    await graph.send("root", "start")
    await graph.send(child, "start")
    status = await graph.send("root", "query_status")
    assert status["progress"] == 0.25
    assert status["childrenStatus"] == [
        {"id": child, "state": "in_progress", "progress": 0.5},
        {"id": other, "state": "created", "progress": 0},
    ]
    assert (await graph.send("root", "observe"))["metadata"] == {"progress": 0.25, "childCount": 2}
    evaluation = await graph.send("root", "eval")
    assert includes(evaluation, {"success": True, "passed": False, "score": 1, "results": []})
    assert evaluation["observations"] == ["0 of 0 criteria met", "0 of 2 child tasks completed"]
    done = await graph.send("root", "complete", {"result": 1})
    assert done["finalState"] == "completed" and done["evaluation"] == {
        key: value for key, value in evaluation.items() if key != "success"
    }
    await graph.send(child, "update", {"properties": {"criteria": [{"criterion": "c", "threshold": 3, "actual": 3}]}})
    await graph.send(other, "start")
    for id in (child, other):
        assert await graph.send(id, "complete") == {"success": True, "finalState": "completed"}
    assert await acting.state("root") == "completed"
    # a family that goes round in a circle has an end, too
    await graph.add_edge("root", child, "spawned_by")
    await graph.send("root", "update", {"properties": {"state": "in_progress"}})
    assert (await graph.send("root", "query_status"))["progress"] == 1


@clause("ACT-69", "ACT-40", "ACT-70")
async def test_criteria_are_met_by_measures(acting: Acting) -> None:
    cases: list[tuple[Any, bool]] = [
        ({"criterion": "flag", "threshold": True, "actual": True}, True),
        ({"criterion": "off", "threshold": False, "actual": False}, True),
        ({"criterion": "no", "threshold": True, "actual": False}, False),
        ({"criterion": "one is not true", "threshold": True, "actual": 1}, False),
        ({"criterion": "true is not one", "threshold": 1, "actual": True}, False),
        ({"criterion": "reached", "threshold": 80, "actual": 80.0}, True),
        ({"criterion": "more", "threshold": 80, "actual": 81}, True),
        ({"criterion": "less", "threshold": 80, "actual": 79.9}, False),
        ({"criterion": "open", "threshold": 80}, False),
        ({"criterion": "text", "threshold": 80, "actual": "90"}, False),
        ("in words", False),
    ]
    await acting.task("t", criteria=[criterion for criterion, _ in cases])
    said = await acting.graph.send("t", "eval")
    assert [result["passed"] for result in said["results"]] == [passed for _, passed in cases]
    assert [result["criterion"] for result in said["results"]][-2:] == ["text", "in words"]
    assert said["results"][8]["detail"] == "not measured yet" and said["score"] == 4 / 11 and not said["passed"]
    met = [criterion for criterion, passed in cases if passed]
    await acting.graph.send("t", "update", {"properties": {"criteria": met}})
    assert includes(await acting.graph.send("t", "eval"), {"passed": True, "score": 1})


@clause("ACT-70", "ACT-43", "ACT-47")
async def test_only_a_task_in_progress_is_completed(acting: Acting) -> None:
    graph = acting.graph
    for id in ("t", "first", "blocker"):
        await acting.task(id)
    answer = await acting.refusal_of("t", "complete")
    assert answer["error"] == "Task t cannot be completed: it is created" and answer["finalState"] == "created"
    await graph.send("t", "block", {"reason": "no data"})
    assert "it is blocked" in (await acting.refusal_of("t", "complete"))["error"]
    await graph.send("t", "start")
    await graph.add_edge("t", "first", "depends_on")
    await graph.add_edge("blocker", "t", "blocks")
    answer = await acting.refusal_of("t", "complete", {"result": 1, "artifacts": ["report"]})
    assert answer["error"] == "Task t cannot be completed: waits for: first, blocker"
    assert answer["blockedBy"] == ["first", "blocker"] and await acting.state("t") == "in_progress"
    assert await graph.get_edges_from("t") and all(e["type"] != "produces" for e in await graph.get_edges_from("t"))
    for id in ("first", "blocker"):
        await graph.send(id, "start")
        await graph.send(id, "complete")
    assert (await graph.send("t", "complete"))["finalState"] == "completed"
    # What is not met is told, and refuses nothing.
    await acting.task("open", criteria=[{"criterion": "c", "threshold": 3}])
    await graph.send("open", "start")
    done = await graph.send("open", "complete")
    assert done["finalState"] == "completed" and done["evaluation"]["passed"] is False
    assert done["evaluation"]["observations"][0] == "0 of 1 criteria met"


@clause("ACT-73", "ACT-41", "ACT-62", "ACT-74")
async def test_knowledge_grows_and_is_asked(acting: Acting) -> None:
    graph = acting.graph
    await acting.register("k", "knowledge", title="Stores")
    said = await graph.send("k", "query", {"question": "Which store is fastest?"})
    assert said == {"success": True, "answer": "Nothing is known about this.", "confidence": 0, "sources": []}
    first = {"data": "A store keeps rows. The memory store is the fastest one! Others are slower.", "source": "bench"}
    assert await graph.send("k", "append", first) == {"success": True, "version": 2}
    assert await graph.send("k", "append", {"data": {"rows": 3}}) == {"success": True, "version": 3}
    properties = await graph.get_node_properties("k")
    assert properties is not None
    assert properties["content"] == first["data"] + '\n\n{"rows":3}' and properties["sources"] == ["bench"]
    said = await graph.send("k", "query", {"question": "Which store is the fastest database?"})
    assert said == {
        "success": True,
        "answer": "The memory store is the fastest one!",
        "confidence": 0.5,
        "sources": ["bench"],
    }
    assert includes(await graph.send("k", "query", {"question": "is it so?"}), {"confidence": 0})
    assert (await graph.send("k", "query", {"question": "elephants"}))["answer"] == properties["content"][:200]
    seen = await graph.send("k", "observe")
    assert seen["state"] == "active"
    assert seen["metadata"] == {"version": 3, "contentLength": len(properties["content"]), "sourceCount": 1}


@clause("ACT-75", "ACT-44")
async def test_knowledge_is_put_together(acting: Acting) -> None:
    graph = acting.graph
    for id, content, sources in (
        ("a", "Alpha.", ["s1"]),
        ("b", "Beta.", ["s2", "s1"]),
        ("c", "", ["s3"]),
        ("d", "Beta.", []),
    ):
        await acting.register(id, "knowledge", content=content, sources=sources)
    await acting.task("t", content="not knowledge")
    await graph.add_edge("t", "a", "requires_knowledge")
    said = await graph.send("a", "synthesize", {"fromNodes": ["b", "c", "d", "t", "missing", "a", "b"]})
    assert said == {
        "success": True,
        "synthesis": "[Source 1]\nAlpha.\n\n[Source 2]\nBeta.",
        "sources": ["s1", "s2"],
        "unknown": ["missing"],
    }
    assert (await graph.send("c", "synthesize", {"fromNodes": []}))["synthesis"] == ""
    assert (await acting.refusal_of("a", "synthesize", {}))["error"].startswith("Invalid payload for synthesize")


@clause("ACT-42", "ACT-45")
async def test_artifacts_are_written_and_know_who_made_them(acting: Acting) -> None:
    graph = acting.graph
    await acting.register("report", "artifact")
    await acting.task("t")
    await graph.send("t", "start")
    await graph.send("t", "complete", {"result": "done", "artifacts": ["report"]})
    assert await graph.send("report", "write", {"content": "v1", "format": "markdown"}) == {
        "success": True,
        "version": 1,
    }
    assert await graph.send("report", "write", {"content": {"pages": 2}}) == {"success": True, "version": 2}
    assert await graph.send("report", "read") == {
        "success": True,
        "content": {"pages": 2},
        "format": "markdown",
        "version": 2,
        "producedBy": ["t"],
    }
    assert (await graph.send("report", "observe"))["metadata"] == {"version": 2, "producedBy": ["t"]}


@clause("ACT-42", "ACT-48")
async def test_patterns_make_nodes(acting: Acting) -> None:
    graph = acting.graph
    template = {"goal": "Review $what", "criteria": [{"criterion": "read by $who", "threshold": True}], "priority": 2}
    await acting.register("review", "pattern", template=template)
    assert await graph.send("review", "describe") == {
        "success": True,
        "nodeType": "task",
        "template": template,
        "parameters": ["what", "who"],
    }
    answer = await acting.refusal_of("review", "apply", {"values": {"what": "the design"}})
    assert answer["error"] == "Pattern review needs values for: who"
    made = (await graph.send("review", "apply", {"values": {"what": "the design", "who": "Ann"}}))["nodeId"]
    properties = await graph.get_node_properties(made)
    assert includes(properties, {"type": "task", "goal": "Review the design", "priority": 2})
    assert properties is not None and properties["criteria"] == [{"criterion": "read by Ann", "threshold": True}]
    assert [(e["fromId"], e["type"]) for e in await graph.get_edges_to("review")] == [(made, "references")]
    assert (await graph.send(made, "start"))["success"] is True
    await acting.register("empty", "pattern")
    assert (await acting.refusal_of("empty", "apply"))["error"] == "Pattern empty has no template"
