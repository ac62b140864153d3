"""Sessions for decisions: the same on every SQL store, whoever else writes meanwhile; columns as texts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.backends.sql.samples import CATALOG, SEATS, THINGS, Seat, inserts, thing
from tests.backends.sql.test_sessions import event
from ugs.changes import TableWrites, Writes
from ugs.errors import Conflict, UniqueViolation
from ugs.graph.api import Graph
from ugs.graph.commands import AddEdge, AddNode
from ugs.identity import LOCAL, Context
from ugs.reads.filters import Op, Property, eq
from ugs.storage import EventQuery
from ugs.system import System
from ugs.writer import Outcome
from ugs_backends.sql import SqlStorage, open_sql
from ugs_backends.sql.connections.connection import DriverConnection
from ugs_backends.sql.postgresql.array_codec import BETWEEN, NOTHING, pack_texts, rewrite_to_texts
from ugs_backends.sql.postgresql.connection import NotificationQueue
from ugs_backends.sql.postgresql.optimistic_session import OptimisticSession
from ugs_backends.sql.postgresql.statement_batch import combine_bulks
from ugs_backends.sql.postgresql.storage import PostgresqlStorage
from ugs_backends.sql.settings import SqliteSettings
from ugs_backends.sql.sqlite.storage import SqliteStorage
from ugs_backends.sql.write.bulk_writes import BulkStatement


@pytest.fixture
async def other(url: str, storage: SqlStorage) -> AsyncIterator[SqlStorage]:
    """The same store, as another process has it open."""
    other = open_sql(url)
    await other.open(CATALOG)
    yield other
    await other.close()


async def decide(storage: SqlStorage, *ids: str) -> None:
    """Add things behind the end of the log, as the writer does."""
    async with storage.decision_session() as session:
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
    async with storage.decision_session() as session:
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
    async with storage.decision_session() as session:
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
    async with storage.decision_session() as session:
        await session.append([event(2)], inserts(THINGS, thing("b")))
        raise RuntimeError


async def test_answers_that_were_kept_are_forgotten_when_their_table_changes(
    storage: SqlStorage, other: SqlStorage
) -> None:
    async def named() -> list[str]:
        async with storage.decision_session() as session:
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
    async with storage.decision_session() as session:
        await session.head()
        await session.append([event(1)], writes)
        await session.append([event(2)], inserts(SEATS, Seat("h", "r", "p", None)))
    assert await elements(storage) == [None, None]
    async with storage.session() as session:
        assert await session.count(THINGS) == 5_100 and await session.count(SEATS) == 1


async def test_a_group_of_new_elements_costs_one_statement_on_postgresql(url: str) -> None:
    if not url.startswith("postgresql"):
        pytest.skip("elsewhere statements cost no round trip")
    async with System.at_url(url) as system:
        await system.execute(AddNode(id="first"))
        await listening(system)
        links = known_links(system)
        before = sum(link.statements for link in links)
        await asyncio.gather(*(system.execute(AddNode(id=f"n{number}")) for number in range(16)))
        assert sum(link.statements for link in links) == before + 1


@pytest.mark.parametrize("kind", ["import", "batch"])
async def test_many_new_edges_cost_no_more_statements_than_a_few(url: str, kind: str) -> None:
    async def cost(graph: Graph, edges: list[dict[str, str]]) -> int:
        await listening(graph.system)
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


def known_links(system: System) -> list[DriverConnection]:
    """The connections that a store has made so far."""
    storage = system.storage
    assert isinstance(storage, SqlStorage)
    writer = getattr(storage, "_writer", None)
    return [*storage.pool._all, *storage.watchers._all, *([] if writer is None else [writer])]


async def listening(system: System) -> None:
    """Wait until the store hears of commits and has looked at the log for that, so that this is not counted later."""
    for _ in range(500):
        if not isinstance(system.storage, PostgresqlStorage) or system.storage._listeners:
            break
        await asyncio.sleep(0.02)
    await asyncio.sleep(0.1)


# ── columns as texts ─────────────────────────────────────────────────────────

VALUES = st.none() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.booleans() | st.text()


@given(st.lists(st.lists(VALUES, min_size=1), min_size=1, max_size=5))
@example([[1.0, 1, True], [1, 2], [True], [0.0, -0.0], [1.0], [None, None], ["", None]])
def test_packed_columns_can_be_cut_apart(columns: list[list[Any]]) -> None:
    texts = pack_texts(columns)
    if texts is None:
        joined = "".join(value for column in columns for value in column if isinstance(value, str))
        assert BETWEEN in joined or NOTHING in joined or [""] in columns
        return
    apart = [[None if one == NOTHING else one for one in text.split(BETWEEN)] for text in texts]
    assert apart == [[None if value is None else str(value) for value in column] for column in columns]


def test_a_column_that_cannot_be_packed_is_sent_as_an_array() -> None:
    insert = "INSERT INTO t SELECT * FROM unnest($1::text[], $2::int8[])"
    ((text, columns),) = combine_bulks([BulkStatement("t", insert, [["a\x1fb", "c"], [1, 2]])])
    assert text == insert and columns == [["a\x1fb", "c"], [1, 2]]
    ((text, columns),) = combine_bulks([BulkStatement("t", insert, [["a", "c"], [1, 2]])])
    assert text == rewrite_to_texts(insert) and columns == ["a\x1fc", "1\x1f2"]


async def test_awkward_texts_come_back_as_they_were(storage: SqlStorage) -> None:
    awkward = ["", "\x1e", "a\x1fb", "\\", '"', "{", "NULL", "é\n😀", "\x1e\x1f"]
    things = [thing(f"t{number}", text) for number, text in enumerate(awkward)]
    async with storage.decision_session() as session:
        await session.head()
        await session.append([event(1)], inserts(THINGS, *things[:1]))
    async with storage.decision_session() as session:
        await session.head()
        await session.append([event(2)], inserts(THINGS, *things[1:]))
    async with storage.session() as session:
        assert await session.fetch(THINGS) == things


# ── ids presumed to be free ──────────────────────────────────────────────────


async def presume(storage: SqlStorage, id: str, *, writing: bool) -> bool:
    """Decide as if nobody had the id, and write something else or nothing; answers whether that was accepted."""
    async with storage.decision_session() as session:
        before = (await session.head()).position
        accepted = session.assume_missing({THINGS: [id], SEATS: []})
        if writing:
            await session.append([event(before + 1)], inserts(THINGS, thing(f"new{before}")))
    return accepted


@pytest.fixture
async def presuming(storage: SqlStorage) -> SqlStorage:
    if storage.dialect.name != "postgresql":
        pytest.skip("elsewhere asking costs no round trip")
    await decide(storage, "taken")
    return storage


@pytest.mark.parametrize("writing", [True, False])
async def test_an_id_that_was_presumed_to_be_free_and_is_not_stores_nothing(
    presuming: SqlStorage, writing: bool
) -> None:
    with pytest.raises(Conflict) as caught:
        await presume(presuming, "taken", writing=writing)
    assert caught.value.at_once
    assert await elements(presuming) == ["taken"]
    assert not await presume(presuming, "taken", writing=writing), "it asks first the next time"


@pytest.mark.parametrize("writing", [True, False])
async def test_an_id_that_is_free_may_be_presumed_to_be_so(presuming: SqlStorage, writing: bool) -> None:
    assert await presume(presuming, "free", writing=writing)
    assert await presume(presuming, "free\x00", writing=writing)
    assert len(await elements(presuming)) == (3 if writing else 1)


async def test_what_another_gateway_has_taken_meanwhile_is_not_presumed(
    presuming: SqlStorage, other: SqlStorage
) -> None:
    async def presume_late() -> None:
        async with presuming.decision_session() as session:
            before = (await session.head()).position
            assert session.assume_missing({THINGS: ["late"]})
            await decide(other, "late")
            await session.append([event(before + 1)], inserts(THINGS, thing("mine")))

    with pytest.raises(Conflict):
        await presume_late()
    assert await elements(presuming) == ["taken", "late"]


async def test_ids_of_rows_that_are_stored_are_left_to_their_table_to_refuse(
    presuming: SqlStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[BulkStatement] = []
    write = OptimisticSession._send
    monkeypatch.setattr(OptimisticSession, "_send", lambda *given: asked.append(given[2]) or write(*given))

    async def add(id: str, presumed: list[str]) -> None:
        async with presuming.decision_session() as session:
            before = (await session.head()).position
            assert session.assume_missing({THINGS: presumed})
            await session.append([event(before + 1)], inserts(THINGS, thing(id)))

    await add("new", ["new"])
    await add("newer", ["newer", "never"])
    assert [len(check.columns) for check in asked] == [2, 3]
    with pytest.raises(Conflict) as caught:
        await add("taken", ["taken"])
    assert caught.value.at_once
    assert len(await elements(presuming)) == 3


async def test_a_taken_id_among_new_ones_is_refused_at_once_and_alone(url: str) -> None:
    async with System.at_url(url) as system:
        await system.execute(AddNode(id="n1"))
        asked = [system.execute(AddNode(id=f"n{number}")) for number in range(4)]
        found = await asyncio.gather(*asked, return_exceptions=True)
        assert [type(one).__name__ for one in found] == ["Outcome", "NodeExists", "Outcome", "Outcome"]
        async with system.session() as session:
            assert (await session.head()).position == 4


async def test_retry_keys_of_a_group_are_looked_up_together(url: str) -> None:
    if not url.startswith("postgresql"):
        pytest.skip("elsewhere statements cost no round trip")
    async with System.at_url(url) as system:
        await system.execute(AddNode(id="first"))
        await listening(system)
        before = sum(link.statements for link in known_links(system))

        async def ask() -> list[Outcome]:
            contexts = [Context(LOCAL.principal, f"key {number}") for number in range(8)]
            commands = [system.execute(AddNode(id=f"n{number}"), one) for number, one in enumerate(contexts)]
            return await asyncio.gather(*commands)

        first = await ask()
        assert sum(link.statements for link in known_links(system)) == before + 1
        again = await ask()
    assert [one.events for one in again] == [one.events for one in first]
    assert all(one.repeated for one in again)


# ── announcements ────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("told", "heard"), [(["5"], "nothing"), (["5", "6"], 6), (["4"], 4), (["5", ""], None)])
async def test_our_own_commits_are_no_news_and_all_others_are(told: list[str], heard: int | str | None) -> None:
    news = NotificationQueue(lambda: 5)
    for payload in told:
        news.tell(payload)
    found: int | str | None = "nothing"
    with suppress(TimeoutError):
        async with asyncio.timeout(0.05):
            found = await news.next()
    assert found == heard


# ── hops to the thread of an SQLite connection ───────────────────────────────


async def test_a_decision_costs_an_sqlite_store_four_hops_and_rows_go_along_with_the_last(tmp_path: Path) -> None:
    storage = SqliteStorage(SqliteSettings(path=tmp_path / "store.db"))
    async with System(storage) as system:
        await system.execute(AddNode(id="first"))
        link = await storage.writer()
        before = link.thread.submitted
        await system.execute(AddNode(id="second"))
        assert link.thread.submitted - before == 4
        async with storage.decision_session() as session:
            before = link.thread.submitted
            await session.append([], {})
            assert link.thread.submitted == before
        assert link.thread.submitted == before, "nothing was begun, so nothing need end"


async def test_what_cannot_be_stored_is_refused_at_the_end_and_leaves_nothing(storage: SqlStorage) -> None:
    async def twice() -> None:
        async with storage.decision_session() as session:
            before = (await session.head()).position
            await session.append([event(before + 1)], inserts(THINGS, thing("a"), thing("a")))

    with pytest.raises(UniqueViolation):
        await twice()
    assert await elements(storage) == []
    await decide(storage, "a")
    assert await elements(storage) == ["a"]
