"""Parts of keeping up with the log that no store shows from outside."""

from __future__ import annotations

import asyncio

import pytest

from ugs import Graph, System
from ugs.changes import Change, Drop, Patch, Put
from ugs.events import Event
from ugs.graph.model import EDGES, NODES, Node
from ugs.reads.filters import eq, in_
from ugs.values import EMPTY_OBJECT
from ugs.vectors import hybrid_search, index_maintenance
from ugs.vectors.hashing_embedder import HashingEmbedder
from ugs.vectors.model import NODE_VECTORS
from ugs.vectors.touched_rows import touched_keys


def event(position: int) -> Event:
    return Event(position=position, id=f"e{position}", timestamp=1, type="X", data=EMPTY_OBJECT)


def test_keys_are_read_from_changes() -> None:
    node = Node("a", None, EMPTY_OBJECT, None, 1, 1, 1)
    changes: dict[int, list[Change]] = {
        1: [Put(NODES, node), Drop(EDGES, eq("id", "e"))],
        2: [Patch(NODES, "b", {"type": "x"})],
        3: [Drop(NODES, in_("id", ("c", "d")))],
    }
    assert touched_keys(NODES, [event(1), event(2), event(3)], lambda one: changes[one.position]) == {*"abcd"}
    assert touched_keys(NODES, [], lambda one: []) == set()
    assert touched_keys(NODES, [event(1)], lambda one: [Drop(NODES, eq("type", "x"))]) is None


async def test_whoever_stops_waiting_does_not_stop_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_maintenance, "BATCH_ROWS", 5)
    async with System.at_url("memory:") as system:
        await Graph(system).import_graph({"nodes": [{"id": f"n{n}"} for n in range(40)]})
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0):
                await system.vectors.ready()
        await system.vectors.ready(seconds=0.0)
        await system.vectors.ready()
        async with system.session() as session:
            assert await index_maintenance.events_behind(session, NODE_VECTORS, system.vectors.embedder) == 0
            assert await session.count(NODE_VECTORS.vectors) == 40


async def test_what_takes_several_chunks_is_caught_up_with(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index_maintenance, "CHUNK_EVENTS", 2)
    monkeypatch.setattr(index_maintenance, "CATCH_UP_THRESHOLD", 0)
    async with System.at_url("memory:") as system:
        graph = Graph(system)
        await graph.add_node("first")
        await system.vectors.ready()
        for number in range(7):
            await graph.add_node(f"n{number}")
        await system.vectors.ready()
        async with system.session() as session:
            assert await index_maintenance.events_behind(session, NODE_VECTORS, system.vectors.embedder) == 0
            assert await session.count(NODE_VECTORS.vectors) == 8


async def test_closing_ends_what_is_under_way() -> None:
    class Slow(HashingEmbedder):
        def embed(self, texts: object) -> list[bytes | None]:
            raise AssertionError("nobody waits for this")

    system = System.at_url("memory:")
    await system.open()
    await Graph(system).add_node("a")
    system.vectors.embedder = Slow()
    waiting = asyncio.create_task(system.vectors.ready())
    await asyncio.sleep(0)
    await system.close()
    await waiting


async def test_a_change_that_names_no_keys_makes_all_vectors_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    async with System.at_url("memory:") as system:
        graph = Graph(system)
        await graph.add_node("a", "tool", {"name": "gear"})
        await system.vectors.ready()
        monkeypatch.setattr(index_maintenance, "CATCH_UP_THRESHOLD", 0)
        monkeypatch.setattr(index_maintenance, "touched_keys", lambda *given: None)
        await graph.add_node("b", "tool", {"name": "gear wheel"})
        await system.vectors.ready()
        async with system.session() as session:
            assert len(await session.fetch(NODE_VECTORS.vectors)) == 2


def test_equals_share_a_rank() -> None:
    assert hybrid_search.ranks_by({"a": 2.0, "b": 1.0, "c": 2.0, "d": 3.0}) == {"a": 2, "b": 1, "c": 2, "d": 4}
    assert hybrid_search.fused_score("a", [{"a": 1}, {"b": 1}, {"a": 2}]) == 1 / 61 + 1 / 62
