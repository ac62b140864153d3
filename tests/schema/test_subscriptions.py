"""Subscriptions: nothing lost, nothing doubled."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from ugs import Graph, System
from ugs.events import Event
from ugs_schema import build_schema
from ugs_schema.compiler.executor import OperationExecutor
from ugs_schema.context import RequestContext
from ugs_schema.graph.events import to_graphql_event


async def first_of(system: System, subscription: str, count: int) -> list[Any]:
    stream = await build_schema().subscribe(subscription, context_value=RequestContext(system))
    found: list[Any] = []
    async with asyncio.timeout(5):
        async for result in stream:  # type: ignore[union-attr]
            assert not result.errors, result.errors
            found.append(next(iter(result.data.values())))
            if len(found) == count:
                break
    return found


async def test_a_subscription_resumes_after_a_position(system: System) -> None:
    found = await first_of(system, "subscription { events(afterSeq: 13) { seq type } }", 2)
    assert found == [{"seq": 14, "type": "EdgeAdded"}, {"seq": 15, "type": "EdgeAdded"}]


async def test_a_check_tells_how_far_it_is_and_then_what_it_found(system: System) -> None:
    asked = "subscription { verifyRun { eventsChecked events report { ok eventsChecked digest problems { code } } } }"
    stream = await build_schema().subscribe(asked, context_value=RequestContext(system))
    news = [result.data["verifyRun"] async for result in stream]  # type: ignore[union-attr]
    *under_way, end = news
    assert all(one["report"] is None and one["eventsChecked"] <= one["events"] for one in under_way)
    report = {"ok": True, "eventsChecked": 15, "digest": await system.digest(), "problems": []}
    assert end == {"eventsChecked": 15, "events": 15, "report": report}


async def test_a_check_that_nobody_waits_for_is_given_up(system: System) -> None:
    asked = "subscription { verifyRun { eventsChecked } }"
    stream = await build_schema().subscribe(asked, context_value=RequestContext(system))
    await anext(stream)  # type: ignore[arg-type]
    await stream.aclose()  # type: ignore[union-attr]
    await asyncio.sleep(0)
    assert not [task for task in asyncio.all_tasks() if "System.verify" in repr(task.get_coro())]


async def test_new_events_arrive_in_order(system: System) -> None:
    waiting = asyncio.create_task(first_of(system, 'subscription { elementChanged(id: "alice") { type version } }', 3))
    await asyncio.sleep(0.05)
    graph = Graph(system)
    await graph.update("alice", {"a": 1})
    await graph.update("bob", {"a": 1})
    await graph.update("alice", {"a": 2})
    await graph.delete("alice")
    assert await waiting == [
        {"type": "NodeUpdated", "version": 2},
        {"type": "NodeUpdated", "version": 3},
        {"type": "NodeDeleted", "version": None},
    ]


async def test_filters_look_at_the_node_as_the_event_left_it(system: System) -> None:
    graph = Graph(system)
    await graph.update("task_2", {"status": "done"})
    await graph.delete("task_3")
    found = await first_of(
        system,
        'subscription { nodesChanged(filter: {match: {status: "pending"}}, afterSeq: 0) { elementId type } }',
        3,
    )
    assert found == [
        {"elementId": "task_2", "type": "NodeAdded"},
        {"elementId": "task_3", "type": "NodeAdded"},
        {"elementId": "task_3", "type": "NodeDeleted"},
    ]


async def test_edges_are_watched_too(system: System) -> None:
    found = await first_of(
        system, 'subscription { edgesChanged(filter: {touching: "bob"}, afterSeq: 0) { elementId } }', 3
    )
    assert [one["elementId"] for one in found] == ["e2", "e5", "e6"]


async def test_an_event_is_written_once_for_all_who_watch(system: System, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[int] = []

    def noted(event: Event) -> Any:
        written.append(event.position)
        return to_graphql_event(event)

    monkeypatch.setattr("ugs_schema.compiler.subscriptions.to_graphql_event", noted)
    operations = OperationExecutor(build_schema())
    prepared = operations.prepare("subscription { events(afterSeq: 0) { seq type data } }")
    streams = [await operations.subscribe(prepared, RequestContext(system)) for _ in range(5)]
    answers: list[Any] = [await anext(stream) for stream in streams]  # type: ignore[arg-type]
    assert len(set(answers)) == 1 and len(written) == 1
    plain = await OperationExecutor(build_schema(), compiling=False).subscribe(prepared, RequestContext(system))
    assert msgspec.json.decode(answers[0]) == {"data": (await anext(plain)).data}  # type: ignore[arg-type,union-attr]


async def test_who_watches_another_graph_with_the_same_document_hears_of_that_graph_only() -> None:
    """Tenants share compiled documents, and their logs begin at the same positions."""
    operations = OperationExecutor(build_schema())
    prepared = operations.prepare("subscription { events(afterSeq: 0) { seq elementId } }")
    for id in ("theirs", "ours"):
        async with System.at_url("memory:") as system:
            await Graph(system).add_node(id)
            stream = await operations.subscribe(prepared, RequestContext(system))
            heard = msgspec.json.decode(await anext(stream))  # type: ignore[arg-type]
            assert heard == {"data": {"events": {"seq": 1, "elementId": id}}}
            await stream.aclose()  # type: ignore[union-attr]
