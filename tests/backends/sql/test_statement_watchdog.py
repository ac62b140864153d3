"""News: a store hears of commits, its own and those of other processes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.backends.sql.samples import CATALOG, THINGS, inserts, thing
from tests.backends.sql.test_sessions import event
from ugs.errors import Conflict, Unavailable
from ugs_backends.sql import SqlStorage, open_sql
from ugs_backends.sql.postgresql.connection import StatementWatchdog, get_channel, get_listeners_lock
from ugs_backends.sql.postgresql.storage import PostgresqlStorage


@pytest.fixture
async def other(url: str, storage: SqlStorage) -> AsyncIterator[SqlStorage]:
    """The same store, as another process has it open."""
    other = open_sql(url)
    await other.open(CATALOG)
    yield other
    await other.close()


async def write(storage: SqlStorage, position: int) -> None:
    async with storage.session(write=True) as session:
        await session.append([event(position)], inserts(THINGS, thing(f"t{position}")))


async def heard(watch: AsyncIterator[int]) -> int:
    async with asyncio.timeout(10):
        return await anext(watch)


async def test_commits_of_another_process_are_heard(storage: SqlStorage, other: SqlStorage) -> None:
    watch = other.watch(0)
    waiting = asyncio.create_task(heard(watch))
    await asyncio.sleep(0.2)
    await write(storage, 1)
    assert await waiting == 1
    await write(storage, 2)
    await write(storage, 3)
    last = await heard(watch)
    while last < 3:
        last = await heard(watch)
    assert last == 3
    async with other.session() as session:
        assert [row.id for row in await session.fetch(THINGS)] == ["t1", "t2", "t3"]
    await watch.aclose()


async def test_what_happened_before_is_told_at_once(storage: SqlStorage) -> None:
    await write(storage, 1)
    watch = storage.watch(0)
    assert await heard(watch) == 1
    await watch.aclose()


async def test_own_commits_are_heard_quickly(storage: SqlStorage) -> None:
    watch = storage.watch(0)
    waiting = asyncio.create_task(heard(watch))
    await asyncio.sleep(1.0)
    start = asyncio.get_running_loop().time()
    await write(storage, 1)
    assert await waiting == 1
    assert asyncio.get_running_loop().time() - start < 2
    await watch.aclose()


async def test_two_watchers_of_one_store_both_hear(storage: SqlStorage) -> None:
    watches = [storage.watch(0), storage.watch(0)]
    waiting = [asyncio.create_task(heard(watch)) for watch in watches]
    await asyncio.sleep(0.1)
    await write(storage, 1)
    assert await asyncio.gather(*waiting) == [1, 1]
    for watch in watches:
        await watch.aclose()


async def test_asking_a_connection_that_is_being_closed_is_unavailable(storage: SqlStorage) -> None:
    link = await storage.watchers.acquire()
    link.terminate()
    with pytest.raises(Unavailable):
        await link.rows("SELECT 1")
    storage.watchers.release(link)


async def test_word_that_was_taken_for_our_own_is_looked_into_when_our_commit_fails(
    storage: SqlStorage, other: SqlStorage
) -> None:
    if not isinstance(storage, PostgresqlStorage):
        pytest.skip("elsewhere nobody is told of commits")
    watch = storage.watch(0)
    waiting = asyncio.create_task(heard(watch))
    await asyncio.sleep(0.2)

    async def be_late() -> None:
        async with storage.decision_session() as session:
            before = (await session.head()).position
            storage._head_cache.announced = before + 1
            await write_at_once(other, before + 1)
            await asyncio.sleep(0.2)
            assert not waiting.done(), "the other's commit passes for ours"
            await session.append([event(before + 1)], inserts(THINGS, thing("ours")))

    with pytest.raises(Conflict):
        await be_late()
    assert await waiting == 1
    await watch.aclose()


async def write_at_once(storage: SqlStorage, position: int) -> None:
    async with storage.decision_session() as session:
        await session.head()
        await session.append([event(position)], inserts(THINGS, thing(f"t{position}")))


async def test_a_commit_is_announced_only_when_somebody_else_listens(storage: SqlStorage, other: SqlStorage) -> None:
    if not isinstance(storage, PostgresqlStorage):
        pytest.skip("elsewhere nobody is told of commits")
    told: list[str] = []
    stranger = await storage.connect()
    await stranger.connection.add_listener(get_channel(storage.settings.schema), lambda *given: told.append(given[-1]))
    watch = storage.watch(0)
    waiting = asyncio.create_task(heard(watch))
    await asyncio.sleep(0.2)
    await write_at_once(storage, 1)
    others = other.watch(1)
    listening = asyncio.create_task(heard(others))
    await asyncio.sleep(0.2)
    await write_at_once(storage, 2)
    assert await listening == 2
    await asyncio.sleep(0.1)
    assert told == ["2"]
    assert not waiting.done(), "whoever wrote it has told everybody here"
    storage._listeners[0].terminate()
    await write_at_once(storage, 3)
    assert await heard(others) == 3
    await waiting
    await watch.aclose()
    await others.aclose()
    assert storage._listeners == other._listeners == []  # type: ignore[attr-defined]
    await stranger.close()


async def test_whoever_begins_to_listen_sees_what_was_committed_without_a_word(
    storage: SqlStorage, other: SqlStorage
) -> None:
    if not isinstance(storage, PostgresqlStorage):
        pytest.skip("elsewhere nobody is told of commits")
    writing = await storage.connect()
    await writing.run("BEGIN", f"SELECT pg_try_advisory_xact_lock({get_listeners_lock(storage.settings.schema)})")
    watch = other.watch(0)
    waiting = asyncio.create_task(heard(watch))
    await asyncio.sleep(0.2)
    assert other._listeners == [], "it waits until the commit under way is over"  # type: ignore[attr-defined]
    await write(storage, 1)
    assert not waiting.done()
    await writing.run("COMMIT")
    assert await waiting == 1
    await watch.aclose()
    await writing.close()


async def test_a_server_that_says_nothing_is_given_up(storage: SqlStorage) -> None:
    if not isinstance(storage, PostgresqlStorage):
        pytest.skip("elsewhere nothing goes over a wire")
    link = await storage.connect()
    link._watch = StatementWatchdog(0.3, link.terminate)
    await link.rows("SELECT 1")
    await asyncio.sleep(0.2)
    assert await link.rows("SELECT pg_sleep(0.2)"), "each statement has its own time"
    async with asyncio.timeout(5):
        with pytest.raises(Unavailable):
            await link.rows("SELECT pg_sleep(30)")
    assert not link.is_usable
