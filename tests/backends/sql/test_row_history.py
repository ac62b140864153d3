"""Versions of rows: how they are made from the log, how far they reach, and by which indexes the past is read."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from ugs.changes import TableWrites
from ugs.connect import storage_for
from ugs.errors import LimitExceeded, StorageIOError
from ugs.graph.api import Graph
from ugs.graph.batches import Batch
from ugs.graph.commands import AddEdge, AddNode, Update
from ugs.graph.model import EDGES, NODES
from ugs.log import time_travel
from ugs.log.at import At
from ugs.reads.filters import Op, Property, eq
from ugs.reads.plan import Nested, Order, Page, Read
from ugs.storage import Storage
from ugs.system import System
from ugs.vectors.model import NODE_VECTORS, PROGRESS
from ugs_backends.sql import SqlStorage
from ugs_backends.sql.history import row_history
from ugs_backends.sql.history.row_history import RowHistory
from ugs_backends.sql.session import SqlSession


def history_of(system: System) -> RowHistory:
    assert isinstance(system.storage, SqlStorage) and system.storage._history is not None
    return system.storage._history


async def fill(system: System, changes: int = 12) -> Graph:
    """Ten nodes in a ring; then one of them is changed again and again."""
    graph = Graph(system)
    await system.execute(Batch(tuple(AddNode(id=f"n{n}", type="t", properties={"k": n}) for n in range(10))))
    await system.execute(
        Batch(tuple(AddEdge(id=f"e{n}", source=f"n{n}", target=f"n{(n + 1) % 10}") for n in range(10)))
    )
    for number in range(changes):
        await system.execute(Update(id="n0", properties={"k": 100 + number}))
    return graph


async def test_every_version_is_read_back_and_nothing_is_replayed(url: str) -> None:
    async with System.at_url(url) as system:
        graph = await fill(system)
        for position in range(21, 33):
            node = await graph.get("n0", at=At(position=position))
            assert node.properties["k"] == 100 + position - 21
        assert system.moments.replayed == 0 and await history_of(system).find_end() == 32
        await graph.delete("n0")
        assert (await graph.stats(at=At(position=system.bus.position))).nodes == 9
        assert (await graph.stats(at=At(position=32))).nodes == 10


async def test_versions_are_kept_when_the_store_is_opened_again(url: str) -> None:
    async with System.at_url(url) as system:
        graph = await fill(system)
        await graph.stats(at=At(position=5))
    async with System.at_url(url) as system:
        assert await history_of(system).find_end() == 32
        assert (await Graph(system).stats(at=At(position=5))).nodes == 5
        assert system.moments.replayed == 0


async def test_many_events_are_taken_in_beside_the_readers(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_history, "MAX_EVENTS_AT_ONCE", 10)
    monkeypatch.setattr(row_history, "CHUNK_EVENTS", 5)
    async with System.at_url(url) as system:
        graph = await fill(system)
        assert (await graph.stats(at=At(position=12))).edges == 2
        assert system.moments.replayed == 12
        task = history_of(system)._background
        assert task is not None
        await task
        assert await history_of(system).find_end() == 32
        assert (await graph.get("n0", at=At(position=30))).properties["k"] == 109
        assert system.moments.replayed == 12


async def test_a_log_too_long_to_be_replayed_is_refused_until_its_versions_are_there(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_history, "MAX_EVENTS_AT_ONCE", 10)
    monkeypatch.setattr(row_history, "CHUNK_EVENTS", 5)
    monkeypatch.setattr(time_travel, "MAX_EVENTS", 20)
    async with System.at_url(url) as system:
        graph = await fill(system)
        await graph.stats(at=At(position=5))
        with pytest.raises(LimitExceeded, match="being made and reaches"):
            await graph.stats(at=At(position=32))
        task = history_of(system)._background
        assert task is not None
        await task
        assert (await graph.stats(at=At(position=32))).nodes == 10 and system.moments.replayed == 0


async def test_what_was_interrupted_goes_on_where_it_ended(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_history, "CHUNK_EVENTS", 7)
    async with System.at_url(url) as system:
        await fill(system)
        told: list[int] = []

        class Stop(Exception):
            pass

        def stop(done: int, total: int) -> None:
            told.append(done)
            if done > 10:
                raise Stop

        with pytest.raises(Stop):
            await history_of(system).take_in(32, stop)
        assert told == [7, 14] and await history_of(system).find_end() == 14
        told.clear()
        await history_of(system).take_in(32, lambda done, total: told.append(done))
        assert told == [21, 28, 32]
        assert (await Graph(system).get("n0", at=At(position=32))).properties["k"] == 111


async def test_two_processes_take_in_the_same_events_once(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_history, "CHUNK_EVENTS", 5)
    async with System.at_url(url) as one, System.at_url(url) as other:
        await fill(one)
        await asyncio.gather(*(history_of(system).take_in(32) for system in (one, other, one, other)))
        for system in (one, other):
            assert (await Graph(system).stats(at=At(position=15))).edges == 5
            async with (await system.moments.store_at(At(position=32))).session() as session:
                assert await session.count(NODES) == 10
                assert await session.group(NODES, "type") == {"t": 10}


async def test_an_emptied_store_forgets_its_versions(url: str) -> None:
    async with System.at_url(url) as system:
        graph = await fill(system)
        await graph.stats(at=At(position=32))
        await system.storage.wipe()
        await Graph(system).add_node("new")
        assert (await Graph(system).stats(at=At(position=1))).nodes == 1


async def test_versions_of_another_log_are_made_anew(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/store.db"
    async with System.at_url(url) as system:
        graph = await fill(system)
        await graph.stats(at=At(position=32))
    with sqlite3.connect(tmp_path / "store.db") as connection:
        connection.execute("UPDATE ugs_meta SET value = '31 00000000' WHERE key = 'history'")
    async with System.at_url(url) as system:
        assert await history_of(system).find_end() is None
        assert (await Graph(system).stats(at=At(position=12))).edges == 2
        assert await history_of(system).find_end() == 32


async def test_off_leaves_the_tables_out(url: str, with_option: Callable[[str, str], str]) -> None:
    async with System.at_url(with_option(url, "history=off")) as system:
        graph = await fill(system)
        assert (await graph.stats(at=At(position=12))).edges == 2
        assert system.moments.replayed == 12
        async with system.storage.session() as session:
            names = [name for (name,) in await session.link.rows(system.storage.dialect.table_names())]
        assert not [name for name in names if "versions" in name]


async def test_verify_compares_versions_and_rebuild_mends_them(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_history, "KNOWN_SECONDS", 0.01)
    monkeypatch.setattr(row_history, "COMPARED_ROWS", 3)
    async with System.at_url(url) as system:
        graph = await fill(system)
        assert (await system.verify()).ok  # there are none yet
        await graph.delete("n3")
        assert await system.rebuild_history() == system.bus.position
        assert (await system.verify()).ok
        end, told = system.bus.position, list[tuple[int, int]]()
        for damage in (
            "UPDATE nodes__versions SET type = 'other' WHERE id = 'n0' AND since_position = 25",
            "DELETE FROM edges__versions WHERE id = 'e5'",
            "UPDATE nodes__versions SET until_position = 30 WHERE id = 'n7'",
        ):
            async with system.storage.session(write=True) as session:
                assert isinstance(session, SqlSession)
                await session.link.run(damage)
            found = await system.verify()
            assert not found.ok and found.stored == found.replayed and "versions" in found.problems[0], found
            told.clear()
            assert await system.rebuild_history(lambda done, total: told.append((done, total))) == end
            assert told[-1] == (end, end) and (await system.verify()).ok


async def test_the_past_cannot_be_written(url: str) -> None:
    async with System.at_url(url) as system:
        await fill(system)
        past = await system.moments.store_at(At(position=3))
        for write in (False, True):
            async with past.session(write=write) as session:
                with pytest.raises(StorageIOError):
                    await session.append((), {NODES: TableWrites()})
                with pytest.raises(StorageIOError):
                    await session.clear([NODES])


async def test_vectors_of_a_past_state_are_kept_with_it(url: str) -> None:
    async with System.at_url(url) as system, System.at_url("memory:") as twin:
        for each in (system, twin):
            await fill(each)
            await Graph(each).add_node("late", "t", {"name": "red boat"})
        at = At(position=20)
        for kind in (None, "t", "other", "t"):
            found, expected = [
                [
                    (hit.node.id, hit.score)
                    for hit in await Graph(each).similar("n3 red boat", at=at, type=kind, min_score=0.0)
                ]
                for each in (system, twin)
            ]
            assert found == expected and "late" not in dict(found) and (kind == "other") is (not found)
        async with (await system.moments.store_at(at)).session() as session:
            assert await session.find(PROGRESS, NODE_VECTORS.vectors.name) is not None
            assert len(await session.fetch(NODE_VECTORS.vectors)) == 10
        assert system.moments.replayed == 0


PLANS = {
    "point": Read(NODES, eq("id", "n3")),
    "list": Read(NODES, eq("type", "t"), page=Page(20)),
    "property": Read(NODES, Property("properties_text", "k", Op.EQ, 4), page=Page(5)),
    "edges of a node": Read(EDGES, eq("source", "n3"), (Order("seq"),), Page(20)),
    "two hops": Read(
        NODES,
        eq("id", "n3"),
        nest={
            "out": Nested(
                "outgoing",
                Read(EDGES, page=Page(9), nest={"to": Nested("target_node", Read(NODES))}),
            )
        },
    ),
}


@pytest.mark.parametrize("name", PLANS)
async def test_the_past_is_read_by_indexes(name: str, tmp_path: Path) -> None:
    async with System.at_url(f"sqlite:///{tmp_path}/store.db") as system:
        await fill(system)
        then = await scans(await system.moments.store_at(At(position=30)), PLANS[name])
        assert then == await scans(system.storage, PLANS[name])


async def scans(storage: Storage, plan: Read) -> int:
    """How many tables or results of subqueries the statement of a plan reads whole."""
    async with storage.session() as session:
        assert isinstance(session, SqlSession)
        (statement,) = session.explain_read(plan)
        marks = [0] * statement.count("?")
        steps = [row[3] for row in await session.link.rows(f"EXPLAIN QUERY PLAN {statement}", marks)]
    return sum(step.startswith("SCAN") for step in steps)


async def test_a_store_of_another_catalog_makes_its_versions_anew(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/store.db"
    async with System.at_url(url) as system:
        graph = await fill(system)
        await graph.stats(at=At(position=32))
    with sqlite3.connect(tmp_path / "store.db") as connection:
        connection.execute("UPDATE ugs_meta SET value = '{}' WHERE key = 'history_catalog'")
    storage = storage_for(url)
    async with System(storage) as system:
        assert (await Graph(system).stats(at=At(position=32))).nodes == 10
        assert await history_of(system).find_end() == 32
