"""Seed 003: how messages arrive: in order, one at a time, whole or not at all, whatever the actors do."""

from __future__ import annotations

import asyncio
import logging
from uuid import UUID

import pytest

from ugs.actors.actor_system import ActorSystem
from ugs.actors.addresses import Message
from ugs.actors.errors import MailboxFull, MessageFailed
from ugs.errors import DeadlineExceeded, IdempotencyConflict, InvalidJSON, UgsError
from ugs.identity import Principal
from ugs_conformance.support.actors_kit import Acting, Trial, try_out
from ugs_conformance.support.api_under_test import actors_of
from ugs_conformance.support.pytest_plugin import clause
from ugs_conformance.support.store_fixture import StoreUnderTest


@pytest.fixture
def acting(world: StoreUnderTest) -> Acting:
    return Acting(world)


@pytest.fixture
def trial(monkeypatch: pytest.MonkeyPatch) -> Trial:
    return try_out(monkeypatch)


@clause("ACT-4", "ACT-15", "ACT-16", "ACT-17", "ACT-79", "ACT-39")
async def test_both_ways_of_sending_are_the_same(acting: Acting, trial: Trial) -> None:
    graph, actors = acting.graph, acting.graph.get_system()
    address = await acting.register("t", "trial")
    other = await acting.register("u", "trial")
    message = Message("tell", {"x": [1, {"y": None}]})
    assert UUID(message.id).version == 4 and Message("tell").id != Message("tell").id
    said = await graph.send("t", "tell", {"x": [1, {"y": None}]})
    assert (
        said
        == await address.send(message)
        == await actors.send(address, message)
        == {
            "success": True,
            "told": {"x": [1, {"y": None}]},
        }
    )
    assert await address.send({"type": "tell", "payload": {"to": other, "all": [other]}}) == {
        "success": True,
        "told": {"to": "u", "all": ["u"]},
    }
    with pytest.raises(UgsError, match="Unknown message type: nope"):
        await graph.send("t", "nope")
    assert await address.send(Message("nope")) == {"success": False, "error": "Unknown message type: nope"}


@clause("ACT-4", "ACT-17", "ACT-82")
async def test_a_node_handles_one_message_at_a_time_in_the_order_they_come(acting: Acting, trial: Trial) -> None:
    nodes = [f"n{n}" for n in range(8)]
    for id in nodes:
        await acting.register(id, "trial")
    await asyncio.gather(
        *(acting.graph.send(id, "slow" if n % 2 else "note", {"n": n}) for n in range(10) for id in nodes)
    )
    for id in nodes:
        seen = await acting.graph.get_node_properties(id)
        assert seen is not None and seen["seen"] == list(range(10))
    assert trial.running == 0 and 1 < trial.most <= len(nodes)


@clause("ACT-4", "ACT-82")
async def test_two_processes_do_not_lose_each_others_messages(
    acting: Acting, world: StoreUnderTest, trial: Trial
) -> None:
    await acting.register("n", "trial")
    other = await world.harness.system(world.clock)
    try:
        graphs = [acting.graph, actors_of(other)]
        answers = await asyncio.gather(*(graphs[n % 2].send("n", "note", {"n": n}) for n in range(20)))
    finally:
        await other.close()
    seen = await acting.graph.get_node_properties("n")
    assert seen is not None and sorted(seen["seen"]) == list(range(20))
    assert sorted(answer["count"] for answer in answers) == list(range(1, 21))
    for graph in range(2):
        assert [n for n in seen["seen"] if n % 2 == graph] == list(range(graph, 20, 2))


@clause("ACT-4", "ACT-1")
async def test_messages_to_oneself_and_in_circles_cannot_lock_up(
    acting: Acting, world: StoreUnderTest, trial: Trial
) -> None:
    for id in ("a", "b", "c"):
        await acting.register(id, "trial")
    # one delivery along a circle and back to where it began is one batch
    before = len(await world.events())
    await acting.graph.send("a", "pass", {"n": 1, "to": ["a", "b", "c", "a"]})
    events = (await world.events())[before:]
    assert [event.element for event in events] == ["a", "b", "c"] and len(
        {event.tx and event.tx.id for event in events}
    ) == 1
    # many at once, in opposite directions
    ways = [("a", ["b", "c"]), ("c", ["b", "a"]), ("b", ["a", "c"])]
    await asyncio.gather(
        *(acting.graph.send(start, "pass", {"n": n, "to": to}) for n in range(2, 5) for start, to in ways)
    )
    for id, times in (("a", 3), ("b", 1), ("c", 1)):
        seen = await acting.graph.get_node_properties(id)
        assert seen is not None
        assert sorted(seen["seen"]) == sorted([1] * times + [n for n in range(2, 5) for _ in ways])
    # a circle without end ends
    answer = await acting.refusal_of("a", "round", {"to": "b"})
    assert answer["error"] == "Messages lead to messages more than 32 levels deep"
    answer = await acting.refusal_of("a", "pass", {"n": 9, "to": ["nobody"]})
    assert answer["error"] == "Node not found: nobody"


@clause("ACT-54", "ACT-60")
async def test_what_fails_changes_nothing_and_hurts_nobody(
    acting: Acting, world: StoreUnderTest, trial: Trial, caplog: pytest.LogCaptureFixture
) -> None:
    graph = acting.graph
    for id in ("bad", "good"):
        await acting.register(id, "trial")
    await graph.send("good", "note", {"n": 0})
    assert await acting.refusal_of("bad", "refuse") == {"success": False, "error": "No.", "because": "of reasons"}
    declined = {"success": False, "error": "Actor message failed", "why": "not today"}
    assert await acting.refusal_of("bad", "decline") == declined
    with caplog.at_level(logging.CRITICAL, "ugs.actors.actor_system"):
        assert (await acting.refusal_of("bad", "fail"))["error"] == "The actor of bad failed on fail"
        assert (await acting.refusal_of("bad", "odd"))["error"] == "answer.what: object is not a JSON value"
    assert (await acting.refusal_of("bad", "note", {}))["error"] == "The actor of bad failed on note"
    # who is refused by another may go on, without what that one had begun
    assert (await graph.send("bad", "try", {"to": "good", "ask": "refuse"}))["said"] == "No."
    assert await acting.refusal_of("bad", "try", {"to": "good", "ask": "fail"})
    good, bad = await graph.get_node_properties("good"), await graph.get_node_properties("bad")
    assert good is not None and "refused" not in good and good["seen"] == [0]
    assert bad is not None and bad["tried"] is True and (await graph.dump())["edges"] == []
    assert await graph.get_node_ids() == ["bad", "good"]
    async with world.refuses(InvalidJSON):
        await graph.send("bad", "tell", {"x": object()})
    assert (await world.system.verify()).ok


@clause("ACT-17", "ACT-60")
async def test_who_hangs_is_left_alone_and_lines_are_short(acting: Acting, world: StoreUnderTest, trial: Trial) -> None:
    for id in ("stuck", "free"):
        await acting.register(id, "trial")
    world.system.companions[ActorSystem] = ActorSystem(world.system, timeout=2, max_queue_length=3)
    graph = actors_of(world.system)
    hanging = asyncio.create_task(graph.send("stuck", "hang"))
    await asyncio.sleep(0)
    waiting = [asyncio.create_task(graph.send("stuck", "note", {"n": n})) for n in range(2)]
    await asyncio.sleep(0.01)
    with pytest.raises(MailboxFull):
        await graph.send("stuck", "note", {"n": 9})
    await graph.send("free", "note", {"n": 1})
    assert not hanging.done()
    waiting[0].cancel()
    with pytest.raises(DeadlineExceeded, match=r"hang to stuck took longer than 2 seconds"):
        await hanging
    assert (await waiting[1])["count"] == 1
    seen = await graph.get_node_properties("stuck")
    assert seen is not None and seen["seen"] == [1] and "hung" not in seen


@clause("ACT-15", "ACT-82")
async def test_a_retry_gives_the_first_answer(acting: Acting, world: StoreUnderTest, trial: Trial) -> None:
    graph = acting.graph
    await acting.task("t")
    first = await graph.send("t", "create_task", {"goal": "once"}, key="k1")
    edge = await graph.send("t", "link", {"toId": "t", "edgeType": "references"}, key="k2")
    assert edge["edgeId"] == "edge_2"
    await graph.send("t", "start", key="k3")
    async with world.unchanged():
        assert await graph.send("t", "create_task", {"goal": "once"}, key="k1") == first
        assert await graph.send("t", "link", {"toId": "t", "edgeType": "references"}, key="k2") == edge
        assert (await graph.send("t", "start", key="k3"))["success"] is True
        with pytest.raises(IdempotencyConflict):
            await graph.send("t", "create_task", {"goal": "other"}, key="k1")
        with pytest.raises(MessageFailed):
            await graph.send("t", "start", key="k4")
    assert len(await graph.get_child_tasks("t")) == 1
    # also from two processes at once
    other = await world.harness.system(world.clock)
    try:
        graphs = [graph, actors_of(other)]
        answers = await asyncio.gather(*(g.send("t", "create_task", {"goal": "race"}, key="k5") for g in graphs * 3))
    finally:
        await other.close()
    assert all(answer == answers[0] for answer in answers) and len(await graph.get_child_tasks("t")) == 2
    eve = actors_of(world.system, Principal("eve"))
    assert (await eve.send("t", "create_task", {"goal": "once"}, key="k1")) != first
    assert (await world.events())[-1].by == "eve"
