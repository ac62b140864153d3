"""Sessions for decisions: the same on every SQL store, whoever else writes meanwhile; columns as texts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.sql import SqlStorage, open_sql
from backends.sql.link import Link
from backends.sql.postgresql.bulks import combined
from backends.sql.postgresql.packing import BETWEEN, NOTHING, packed, unpacking
from backends.sql.writes import Bulk
from tests.backends.sql.samples import CATALOG, SEATS, THINGS, Seat, inserts, thing
from tests.backends.sql.test_sessions import event
from ugs.api import Graph
from ugs.changes import TableWrites, Writes
from ugs.errors import Conflict, UniqueViolation
from ugs.graph.commands import AddEdge, AddNode
from ugs.reads.where import Op, Property, eq
from ugs.storage import EventQuery
from ugs.system import System


@pytest.fixture
async def other(url: str, storage: SqlStorage) -> AsyncIterator[SqlStorage]:
    """The same store, as another process has it open."""
    other = open_sql(url)
    await other.open(CATALOG)
    yield other
    await other.close()


async def decide(storage: SqlStorage, *ids: str) -> None:
    """Add things behind the end of the log, as the writer does."""
    async with storage.deciding() as session:
        before = (await session.head()).position
        await session.find_keys({THINGS: ids})
        events = [event(before + number, element=id) for number, id in enumerate(ids, 1)]
        await session.append(events, inserts(THINGS, *(thing(id, "word", k=1) for id in ids)))


async def elements(storage: SqlStorage) -> list[str | None]:
    async with storage.session() as session:
        return [one.element for one in await session.events(EventQuery())]


async def test_what_was_decided_is_there(storage: SqlStorage) -> None:
    await decide(storage, "a", "b")
    await decide(storage, "c")
    async with storage.session() as session:
        assert [row.id for row in await session.fetch(THINGS, Property("props", "k", Op.EQ, 1))] == ["a", "b", "c"]
        assert (await session.head()).position == 3
    async with storage.deciding() as session:
        found = await session.find_keys({THINGS: ["c", "nobody", "a"], SEATS: []})
        assert [row.id for row in found[THINGS]] == ["a", "c"] and found[SEATS] == []


async def test_whoever_comes_too_late_stores_nothing(storage: SqlStorage, other: SqlStorage) -> None:
    if storage.dialect.name != "postgresql":
        pytest.skip("here the other one waits")
    await decide(storage, "a")
    with pytest.raises(Conflict):
        await decide_late(storage, other)
    assert await elements(storage) == ["a", "b"]
    async with storage.session() as session:
        assert [row.id for row in await session.fetch(THINGS)] == ["a", "b"]


async def decide_late(storage: SqlStorage, other: SqlStorage) -> None:
    async with storage.deciding() as session:
        before = (await session.head()).position
        await decide(other, "b")
        await session.append([event(before + 1, element="late")], inserts(THINGS, thing("late")))


async def test_two_gateways_take_turns(storage: SqlStorage, other: SqlStorage) -> None:
    async def insist(at: SqlStorage, id: str) -> None:
        for _ in range(20):
            try:
                return await decide(at, id)
            except Conflict:
                await asyncio.sleep(0)
        raise AssertionError("never got a turn")

    ids = [f"n{number:02}" for number in range(16)]
    await asyncio.gather(*(insist(at, id) for at, id in zip([storage, other] * 8, ids, strict=True)))
    assert sorted(await elements(other)) == ids
    async with other.session() as session:
        assert [one.position for one in await session.events(EventQuery())] == [*range(1, 17)]
        assert [row.id for row in await session.fetch(THINGS)] == ids


async def test_an_exception_leaves_nothing_behind(storage: SqlStorage) -> None:
    await decide(storage, "a")
    with pytest.raises(RuntimeError):
        await decide_and_fail(storage)
    with pytest.raises(UniqueViolation):
        await decide(storage, "a")
    await decide(storage, "b")
    assert await elements(storage) == ["a", "b"]


async def decide_and_fail(storage: SqlStorage) -> None:
    async with storage.deciding() as session:
        await session.append([event(2)], inserts(THINGS, thing("b")))
        raise RuntimeError


async def test_answers_that_were_kept_are_forgotten_when_their_table_changes(
    storage: SqlStorage, other: SqlStorage
) -> None:
    async def named() -> list[str]:
        async with storage.deciding() as session:
            await session.head()
            return [row.id for row in await session.fetch(THINGS, eq("id", "b"))]

    assert await named() == await named() == []
    await decide(storage, "b")
    assert await named() == ["b"]
    async with other.session(write=True) as session:
        await session.append([event(2)], {THINGS: TableWrites(deletes=["b"], before={"b": thing("b", "word", k=1)})})
    for _ in range(5):
        try:
            assert await named() == []
            break
        except Conflict:  # it had not heard of that yet, and says so
            await asyncio.sleep(0)


async def test_many_rows_and_rows_twice_are_one_transaction(storage: SqlStorage) -> None:
    """More than one statement can take goes behind the lock."""
    writes: Writes = inserts(THINGS, *(thing(f"t{number:05}") for number in range(5_100)))
    async with storage.deciding() as session:
        await session.head()
        await session.append([event(1)], writes)
        await session.append([event(2)], inserts(SEATS, Seat("h", "r", "p", None)))
    assert await elements(storage) == [None, None]
    async with storage.session() as session:
        assert await session.count(THINGS) == 5_100 and await session.count(SEATS) == 1


async def test_a_group_costs_two_statements_on_postgresql(url: str) -> None:
    if not url.startswith("postgresql"):
        pytest.skip("elsewhere statements cost no round trip")
    async with System.at_url(url) as system:
        await system.execute(AddNode(id="first"))
        links = list(system.storage.pool._all)  # type: ignore[attr-defined]
        before = sum(link.statements for link in links)
        await asyncio.gather(*(system.execute(AddNode(id=f"n{number}")) for number in range(16)))
        assert sum(link.statements for link in links) == before + 2


@pytest.mark.parametrize("kind", ["import", "batch"])
async def test_many_new_edges_cost_no_more_statements_than_a_few(url: str, kind: str) -> None:
    async def cost(graph: Graph, edges: list[dict[str, str]]) -> int:
        before = sum(link.statements for link in known_links(graph.system))
        if kind == "import":
            await graph.import_graph({"edges": edges})
        else:
            await graph.batch([AddEdge(source=edge["from"], target=edge["to"]) for edge in edges])
        return sum(link.statements for link in known_links(graph.system)) - before

    async with System.at_url(url) as system:
        graph = Graph(system)
        await graph.import_graph({"nodes": [{"id": f"n{number}"} for number in range(60)]})
        few = await cost(graph, [{"from": f"n{number}", "to": "n9"} for number in range(2)])
        many = await cost(graph, [{"from": f"n{number}", "to": "absent"} for number in range(60)])

    assert many <= few + 2


def known_links(system: System) -> list[Link]:
    """The connections that a store has made so far."""
    storage = system.storage
    assert isinstance(storage, SqlStorage)
    writer = getattr(storage, "_writer", None)
    return [*storage.pool._all, *([] if writer is None else [writer])]


# ── columns as texts ─────────────────────────────────────────────────────────

VALUES = st.none() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.booleans() | st.text()


@given(st.lists(VALUES, min_size=1))
def test_a_packed_column_can_be_cut_apart(column: list[Any]) -> None:
    text = packed(column)
    if text is None:
        joined = "".join(value for value in column if isinstance(value, str))
        assert BETWEEN in joined or NOTHING in joined or column == [""]
        return
    apart = [None if one == NOTHING else one for one in text.split(BETWEEN)]
    assert apart == [None if value is None else str(value) for value in column]


def test_a_column_that_cannot_be_packed_is_sent_as_an_array() -> None:
    insert = "INSERT INTO t SELECT * FROM unnest($1::text[], $2::int8[])"
    ((text, columns),) = combined([Bulk("t", insert, [("a\x1fb", 1), ("c", 2)])])
    assert text == insert and columns == [("a\x1fb", "c"), (1, 2)]
    ((text, columns),) = combined([Bulk("t", insert, [("a", 1), ("c", 2)])])
    assert text == unpacking(insert) and columns == ["a\x1fc", "1\x1f2"]


async def test_awkward_texts_come_back_as_they_were(storage: SqlStorage) -> None:
    awkward = ["", "\x1e", "a\x1fb", "\\", '"', "{", "NULL", "é\n😀", "\x1e\x1f"]
    things = [thing(f"t{number}", text) for number, text in enumerate(awkward)]
    async with storage.deciding() as session:
        await session.head()
        await session.append([event(1)], inserts(THINGS, *things[:1]))
    async with storage.deciding() as session:
        await session.head()
        await session.append([event(2)], inserts(THINGS, *things[1:]))
    async with storage.session() as session:
        assert await session.fetch(THINGS) == things
