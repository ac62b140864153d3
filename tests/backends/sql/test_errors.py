"""What goes wrong outside is told in words, with a code, and changes nothing."""

from __future__ import annotations

import asyncio
import os
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import pytest

from tests import servers
from tests.backends.sql.samples import CATALOG, THINGS, Thing, inserts, store, thing
from tests.backends.sql.test_statement_watchdog import heard, write
from ugs.errors import Conflict, DeadlineExceeded, OutcomeUnknown, StorageIOError, Unavailable
from ugs_backends.sql import SqlStorage, open_sql
from ugs_backends.sql.connections.connection import DriverConnection
from ugs_backends.sql.postgresql.connection import PostgresqlLink
from ugs_backends.sql.postgresql.errors import translate_error
from ugs_backends.sql.postgresql.storage import PostgresqlStorage
from ugs_backends.sql.sqlite.errors import translate_error as translated_sqlite


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


async def opened(file: Path) -> SqlStorage:
    storage = open_sql(f"sqlite:///{file}")
    await storage.open(CATALOG)
    return storage


# ── SQLite ───────────────────────────────────────────────────────────────────


@pytest.fixture
def diary(file: Path) -> Iterator[Path]:
    """A file that must stay what it is."""
    file.write_text("Dear diary, " * 1000)
    yield file
    assert file.read_text() == "Dear diary, " * 1000


async def test_a_file_that_is_no_database_is_left_as_it_is(diary: Path) -> None:
    with pytest.raises(StorageIOError, match="not an SQLite database"):
        await opened(diary)


async def test_a_damaged_file_is_told_to_be_damaged(file: Path) -> None:
    storage = await opened(file)
    await store(storage, {THINGS: [thing(f"t{number:05d}", "x" * 500) for number in range(200)]})
    await storage.close()
    damage(file)
    with pytest.raises(StorageIOError, match="damaged"):
        await all_things(file)


def damage(file: Path) -> None:
    """Spoil every page but the first."""
    content = bytearray(file.read_bytes())
    content[4096 : len(content) : 7] = b"\xff" * len(content[4096 : len(content) : 7])
    file.write_bytes(content)


async def all_things(file: Path) -> list[Thing]:
    storage = await opened(file)
    try:
        async with storage.session() as session:
            return await session.fetch(THINGS)
    finally:
        await storage.close()


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everything")
async def test_a_file_without_the_right_to_write_says_what_to_do(file: Path) -> None:
    await (await opened(file)).close()
    os.chmod(file, 0o400)
    with pytest.raises(StorageIOError, match="read-only"):
        await opened(file)


async def test_a_missing_folder_and_a_folder_for_a_file(tmp_path: Path) -> None:
    with pytest.raises(StorageIOError, match="does not exist"):
        await opened(tmp_path / "nowhere" / "store.db")
    with pytest.raises(StorageIOError, match="is a folder"):
        await opened(tmp_path)


async def test_a_full_disk_changes_nothing(file: Path) -> None:
    storage = await opened(file)
    await store(storage, {THINGS: [thing("a")]})
    writer = await storage.writer()
    pages = (await writer.rows("PRAGMA page_count"))[0][0]
    await writer.rows(f"PRAGMA max_page_count = {pages + 5}")
    with pytest.raises(StorageIOError, match="disk is full"):
        async with storage.session(write=True) as session:
            await session.append([], inserts(THINGS, *(thing(f"t{number}", "x" * 900) for number in range(300))))
    async with storage.session() as session:
        assert [row.id for row in await session.fetch(THINGS)] == ["a"]
    await storage.close()


async def test_a_file_locked_by_another_program_is_unavailable(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ugs_backends.sql.sqlite.connection.BUSY_SECONDS", 0.2)
    storage = await opened(file)
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(Unavailable, match="locked by another process"):
        await store(storage, {THINGS: [thing("a")]})
    other.execute("ROLLBACK")
    other.close()
    await store(storage, {THINGS: [thing("a")]})
    await storage.close()


def test_a_disk_that_fails_in_a_commit_leaves_the_outcome_open() -> None:
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorname = "SQLITE_IOERR_FSYNC"
    assert isinstance(translated_sqlite(error, Path("x.db"), committing=True), OutcomeUnknown)
    assert type(translated_sqlite(error, Path("x.db"))) is StorageIOError


# ── PostgreSQL ───────────────────────────────────────────────────────────────


async def test_an_unreachable_server_is_unavailable_and_no_password_is_told() -> None:
    storage = open_sql("postgresql://me:secret@127.0.0.1:9/graphs")
    with pytest.raises(Unavailable) as refused:
        await storage.open(CATALOG)
    assert "127.0.0.1:9" in str(refused.value)
    assert "secret" not in str(refused.value) + repr(refused.value.details)


@pytest.mark.parametrize(
    ("part", "wrong", "words"), [(r"/ugs$", "/nowhere", "does not exist"), ("//ugs:", "//ugs:x", "refused")]
)
async def test_a_wrong_database_or_password_says_so(part: str, wrong: str, words: str) -> None:
    url = re.sub(part, wrong, servers.require("postgresql"))
    with pytest.raises(StorageIOError, match=words):
        await open_sql(url).open(CATALOG)


@pytest.mark.parametrize(
    ("error", "ours"),
    [
        (asyncpg.SerializationError("x"), Conflict),
        (asyncpg.DeadlockDetectedError("x"), Conflict),
        (asyncpg.LockNotAvailableError("x"), Conflict),
        (asyncpg.QueryCanceledError("x"), DeadlineExceeded),
        (asyncpg.AdminShutdownError("x"), Unavailable),
        (asyncpg.ConnectionDoesNotExistError("x"), Unavailable),
        (asyncpg.InterfaceError("connection is closed"), Unavailable),
        (asyncpg.InternalClientError("another operation is in progress"), Unavailable),
        (asyncpg.TooManyConnectionsError("x"), Unavailable),
        (asyncpg.DataError("invalid input"), StorageIOError),
        (ConnectionResetError("x"), Unavailable),
        (TimeoutError(), Unavailable),
        (asyncpg.DiskFullError("x"), StorageIOError),
        (asyncpg.ReadOnlySQLTransactionError("x"), StorageIOError),
    ],
)
def test_errors_of_the_driver_become_ours(error: Exception, ours: type[Exception]) -> None:
    assert type(translate_error(error, "a store")) is ours


async def test_a_connection_lost_before_or_in_a_commit() -> None:
    lost = ConnectionResetError("x")
    assert isinstance(translate_error(lost, "a store", committing=True), OutcomeUnknown)
    assert isinstance(translate_error(lost, "a store"), Unavailable)


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
async def test_a_broken_connection_is_replaced(storage: SqlStorage) -> None:
    await store(storage, {THINGS: [thing("a")]})
    with pytest.raises(Unavailable):
        await write_and_lose_the_connection(storage)
    async with storage.session() as session:
        assert [row.id for row in await session.fetch(THINGS)] == ["a"]


async def write_and_lose_the_connection(storage: SqlStorage) -> None:
    async with storage.session(write=True) as session:
        await session.append([], inserts(THINGS, thing("b")))
        await kill_connection(session.link.connection.get_server_pid())
        await session.fetch(THINGS)


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
async def test_a_watcher_finds_its_way_back(storage: PostgresqlStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    pids: list[int] = []
    acquire = storage.watchers.acquire

    async def noted() -> DriverConnection:
        link = await acquire()
        assert isinstance(link, PostgresqlLink)
        pids.append(link.connection.get_server_pid())
        return link

    watch = storage.watch(0)
    await write(storage, 1)
    monkeypatch.setattr(storage.watchers, "acquire", noted)
    assert await heard(watch) == 1
    waiting = asyncio.create_task(heard(watch))
    await asyncio.sleep(0.2)
    await kill_connection(pids[0])
    await asyncio.sleep(0.2)
    await write(storage, 2)
    assert await waiting == 2
    await watch.aclose()


async def kill_connection(pid: int) -> None:
    server = await asyncpg.connect(servers.require("postgresql"))
    await server.fetch("SELECT pg_terminate_backend($1)", pid)
    await server.close()
