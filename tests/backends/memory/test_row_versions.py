"""Former rows in memory: every way to find rows, with indexes of every size, compared with a replay."""

from __future__ import annotations

import asyncio
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ugs.connect import storage_for
from ugs.errors import InvalidSyntax, UgsError, Unavailable
from ugs.graph.api import Graph
from ugs.graph.batches import Batch
from ugs.graph.commands import AddEdge, AddNode, Delete, Update
from ugs.graph.model import EDGES, NODES
from ugs.log.at import At
from ugs.reads.filters import EVERYTHING, Compare, Has, Linked, Op, Property, all_of, eq, in_
from ugs.reads.plan import Order, Page, place_of
from ugs.storage import Storage
from ugs.system import System
from ugs.vectors.model import NODE_VECTORS
from ugs_backends.memory.query import executor
from ugs_backends.memory.storage import MemoryStorage
from ugs_backends.memory.tables import indexes, insert_codegen, table
from ugs_conformance.test_row_versions import replayed, state_of

WORDS = ["ant", "bee", "cat"]
CONDITIONS = {
    NODES: [
        EVERYTHING,
        eq("type", "t1"),
        in_("type", ["t0", "t2"]),
        Has("ant"),
        Property("properties_text", "k", Op.EQ, 2),
        Property("properties_text", "k", Op.GE, 3),
        Compare("created", Op.GT, 0),
        all_of(eq("type", "t1"), Has("bee")),
        Linked("outgoing", eq("type", "e1")),
        Linked("incoming"),
    ],
    EDGES: [
        EVERYTHING,
        eq("source", "n1"),
        eq("type", "e1"),
        Compare("weight", Op.LT, 2),
        Linked("target_node", eq("type", "t1")),
    ],
}
ORDERS = {
    NODES: ["id", "type", "created", "modified"],
    EDGES: ["id", "type", "weight", "seq"],
}


def command(random: Random) -> Any:
    """A random change of one of forty nodes or thirty edges."""
    node, edge = f"n{random.randrange(40)}", f"e{random.randrange(30)}"
    kind, properties = f"t{random.randrange(3)}", {"k": random.randrange(5), "word": random.choice(WORDS)}
    return random.choice(
        [
            AddNode(id=node, type=kind, properties=properties),
            AddNode(id=node, type=kind, properties=properties),
            AddEdge(id=edge, source=node, target=f"n{random.randrange(40)}", type=f"e{kind[1:]}", weight=len(edge)),
            Update(id=node, properties=properties),
            Update(id=node, type=kind),
            Update(id=edge, weight=random.randrange(4)),
            Delete(id=random.choice([node, edge])),
        ]
    )


async def change_at_random(graph: Graph, random: Random, rounds: int) -> None:
    """Groups of commands, some of them refused, some of them batches."""
    for _ in range(rounds):
        some = [command(random) for _ in range(random.randrange(1, 12))]
        if random.random() < 0.2:
            some.append(Batch(operations=tuple(command(random) for _ in range(3))))
        await asyncio.gather(*(graph.do(one) for one in some), return_exceptions=True)


async def rows_found(storage: Storage) -> list[Any]:
    """What all conditions find in all orders, page after page, from both ends."""
    found: list[Any] = []
    async with storage.session() as session:
        for here, conditions in CONDITIONS.items():
            for where in conditions:
                found.append((await session.count(here, where), await session.group(here, "type", where)))
                for order in [(Order(name, down),) for name in ORDERS[here] for down in (False, True)]:
                    for backward in (False, True):
                        page = Page(limit=3, backward=backward)
                        rows = await session.fetch(here, where, order, page)
                        found.append(rows)
                        if rows:
                            full = (*order, Order("id")) if order[0].field != "id" else order
                            after = place_of(rows[0 if backward else -1], full)
                            page = Page(limit=3, backward=backward, after=after)
                            found.append(await session.fetch(here, where, order, page))
        found.append(await session.keys(NODES, "properties_text"))
    return found


@pytest.mark.parametrize("small", [False, True])
@pytest.mark.parametrize("seed", range(3))
async def test_every_way_to_find_rows_of_the_past_gives_what_a_replay_gives(
    monkeypatch: pytest.MonkeyPatch, small: bool, seed: int
) -> None:
    if small:
        monkeypatch.setattr(executor, "SORTED_SCAN_THRESHOLD", 1)
        monkeypatch.setattr(table, "SYNC_BUILD_ROWS", 3)
        monkeypatch.setattr(indexes, "TUPLE_THRESHOLD", 2)
        monkeypatch.setattr(insert_codegen, "TUPLE_THRESHOLD", 2)
    random = Random(seed)
    async with System.at_url("memory:") as system:
        graph = Graph(system)
        await change_at_random(graph, random, 25)
        middle = system.bus.position
        past = await system.moments.store_at(At(position=middle))
        found = await rows_found(past)
        await change_at_random(graph, random, 25)
        assert await rows_found(past) == found
        for position in (0, middle // 2, middle, (middle + system.bus.position) // 2, system.bus.position):
            past = await system.moments.store_at(At(position=position))
            async with replayed(system.storage, system.catalog, position) as expected:
                assert await rows_found(past) == await rows_found(expected), position
                assert await state_of(past, system.catalog) == await state_of(expected, system.catalog)
        assert system.moments.replayed == 0


async def test_a_position_inside_a_group_has_the_state_between_two_of_its_commands() -> None:
    async with System.at_url("memory:") as system:
        graph = Graph(system)
        some = [AddNode(id="a", properties={"v": 1}), Update(id="a", properties={"v": 2}), Delete(id="a")]
        refused = AddNode(id="a", type="refused")
        await asyncio.gather(*(graph.do(one) for one in (some[0], refused, *some[1:])), return_exceptions=True)
        states = [await graph.get("a", at=At(position=position)) for position in range(4)]
        assert [None if state is None else state.properties for state in states] == [None, {"v": 1}, {"v": 2}, None]
        assert system.moments.replayed == 0


async def test_a_folder_opened_again_replays_its_log_once_for_the_past_before(tmp_path: Path) -> None:
    url = f"file:{tmp_path / 'store'}"
    async with System.at_url(url) as system:
        await change_at_random(Graph(system), Random(7), 10)
        end = system.bus.position
        assert await rows_found(await system.moments.store_at(At(position=end // 2)))
        assert system.moments.replayed == 0
    async with System.at_url(url) as system:
        await change_at_random(Graph(system), Random(8), 5)
        later = system.bus.position
        await system.moments.store_at(At(position=later))
        await system.moments.store_at(At(position=end))
        assert system.moments.replayed == 0
        for position in (end // 2, 0, end, 3, later):
            past = await system.moments.store_at(At(position=position))
            assert isinstance(system.storage, MemoryStorage) and past in system.storage._past.values()
            async with replayed(system.storage, system.catalog, position) as expected:
                assert await rows_found(past) == await rows_found(expected), position
                assert await state_of(past, system.catalog) == await state_of(expected, system.catalog)
        assert system.moments.replayed == end


async def test_without_a_history_the_log_is_replayed() -> None:
    async with System.at_url("memory:?history=off") as system:
        await Graph(system).load_demo()
        assert await system.storage.at(3) is None
        assert (await Graph(system).stats(at=At(position=3))).nodes == 3
        assert system.moments.replayed == 3
    with pytest.raises(InvalidSyntax, match="history must be on or off"):
        storage_for("memory:?history=perhaps")


async def test_the_past_cannot_be_changed() -> None:
    async with System.at_url("memory:") as system:
        await Graph(system).load_demo()
        past = await system.moments.store_at(At(position=3))
        with pytest.raises(UgsError):
            async with past.session() as session:
                await session.append((), {})


async def test_a_thousand_positions_leave_the_memory_as_it_was() -> None:
    async with System.at_url("memory:") as system:
        graph = Graph(system)
        await change_at_random(graph, Random(3), 40)
        storage = system.storage
        assert isinstance(storage, MemoryStorage) and storage.history is not None

        async def ask_everywhere() -> list[int]:
            for position in range(system.bus.position + 1):
                at = At(position=position)
                await graph.list_nodes("t1", at=at)
                await graph.find_by_property("k", 2, at=at)
                await graph.search("ant", at=at)
            assert storage.history is not None
            sizes = [len(storage._past)]
            for versions in storage.history.tables.values():
                sizes += [
                    len(versions.since),
                    len(versions.chains),
                    len(versions.closed.rows),
                    len(versions.closed.kept),
                ]
            return sizes

        assert await ask_everywhere() == await ask_everywhere()


async def test_a_number_that_only_the_past_has_is_found() -> None:
    async with System.at_url("memory:") as system:
        graph = Graph(system)
        await graph.add_edge("e", "a", "b", weight=-1)
        await graph.update("e", weight=1)
        for position, count in ((0, 0), (1, 1), (2, 0)):
            past = await system.moments.store_at(At(position=position))
            async with past.session() as session:
                assert await session.count(EDGES, Compare("weight", Op.LT, 0)) == count


async def test_a_proof_by_replay_looks_at_former_rows_too() -> None:
    async with System.at_url("memory:") as system:
        graph = Graph(system)
        await graph.add_node("a", "t")
        await graph.update("a", {"v": 1})
        assert (await system.verify()).ok
        storage = system.storage
        assert isinstance(storage, MemoryStorage) and storage.history is not None
        versions = storage.history.tables["nodes"]
        versions.former[1] = await graph.get("a")

        found = await system.verify()

        assert not found.ok and found.stored == found.replayed
        assert found.problems == ("the former rows of nodes differ from those of a replay at position 2",)


async def test_who_reads_the_past_while_the_rows_are_built_anew_is_told_to_ask_again() -> None:
    async with System.at_url("memory:") as system:
        graph = Graph(system)
        await graph.load_demo()
        async with system.session_at(At(position=10)) as session:
            before = await session.find(NODES, "bob")
            await system.rebuild()
            await graph.update("bob", {"name": "later"})
            for read in (session.find(NODES, "bob"), session.fetch(NODES), session.count(EDGES, eq("source", "bob"))):
                with pytest.raises(Unavailable):
                    await read
        assert await graph.get("bob", at=At(position=10)) == before


async def test_what_is_kept_for_one_past_state_wakes_nobody_at_another() -> None:
    async with System.at_url("memory:") as system:
        await Graph(system).load_demo()
        first, second = await system.storage.at(3), await system.storage.at(5)
        assert isinstance(first, MemoryStorage) and isinstance(second, MemoryStorage)
        async with first.session(write=True) as session:
            await session.clear([NODE_VECTORS.vectors])
        assert not second._moved.is_set()  # its watchers would never wait again, and block the event loop
