"""The SQLite store: one write connection, and a pool of read connections with their own snapshots.

`sqlite:` without a file uses one in a private temporary folder, deleted with the store object: in-memory databases of
SQLite either belong to a single connection or make readers wait for writers.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, suppress
from functools import cached_property, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

from msgspec.structs import replace
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import NullPool

from ugs.catalog import Catalog
from ugs.errors import StorageIOError
from ugs.storage import Capabilities
from ugs_backends.sql.connections.connection import DriverConnection
from ugs_backends.sql.connections.engine import open_driver_connection
from ugs_backends.sql.session import SqlSession
from ugs_backends.sql.settings import SqliteSettings
from ugs_backends.sql.sqlite.connection import SqliteLink, Thread, create_thread, retry_while_locked, start_thread
from ugs_backends.sql.sqlite.dialect import SqliteDialect
from ugs_backends.sql.sqlite.errors import translate_error
from ugs_backends.sql.sqlite.json_renderer import SqliteJsonRenderer
from ugs_backends.sql.storage import NATIVE, SqlStorage
from ugs_backends.sql.table_names import EVENTS

SHARED_PRAGMAS = (
    "journal_mode=WAL",
    "foreign_keys=ON",
    "temp_store=MEMORY",
    "cache_size=-16384",
    "mmap_size=268435456",
)
# Readers wait for a lock by retrying in their thread: SQLite's own wait could block the event loop.
READER_PRAGMAS = ("query_only=ON", "busy_timeout=0")
SHORTEST_PAUSE, LONGEST_PAUSE = 0.02, 0.5


class SqliteStorage(SqlStorage):
    """Graph tables and the event log in one file."""

    scheme: ClassVar[str] = "sqlite"
    capabilities: ClassVar[Capabilities] = Capabilities(durable=True, concurrent_writers=True, native=NATIVE)
    dialect = SqliteDialect()
    writing = SqliteJsonRenderer

    def __init__(self, settings: SqliteSettings) -> None:
        super().__init__(native=settings.native, readers=settings.pool, history=settings.history)
        self.settings = settings
        self._private: TemporaryDirectory[str] | None = None
        self._writer: SqliteLink | None = None

    def sibling(self, name: str) -> SqliteStorage:
        path = self.settings.path
        beside = None if path is None else path.with_name(f"{path.stem}.{name}{path.suffix}")
        return SqliteStorage(replace(self.settings, path=beside))

    @property
    def path(self) -> Path:
        """The database file; that of a private store is created on first use."""
        if self.settings.path is not None:
            return self.settings.path
        if self._private is None:
            # Windows cannot remove open files; what is left is cleaned up by the system.
            self._private = TemporaryDirectory(prefix="ugs-sqlite-", ignore_cleanup_errors=True)
        return Path(self._private.name) / "private.db"

    def is_there(self) -> bool:
        return self.settings.path is None or self.settings.path.exists()

    def describe(self) -> str:
        return "sqlite: (private, not kept)" if self.settings.path is None else f"sqlite: {self.path}"

    @asynccontextmanager
    async def decision_session(self) -> AsyncIterator[SqlSession]:
        """A write session that appends only once, so its bulk statements are sent together with the commit."""
        async with self.session(write=True) as session:
            assert isinstance(session.link, SqliteLink)
            session.link.gathers = True
            yield session

    # ── connections ──────────────────────────────────────────────────────────

    async def open(self, catalog: Catalog) -> None:
        self._check_folder()
        await super().open(catalog)

    def _check_folder(self) -> None:
        folder = self.path.absolute().parent
        if not folder.is_dir():
            raise StorageIOError(
                f"The folder {folder} of the database does not exist. Make it first.", file=str(self.path)
            )
        if self.path.is_dir():
            raise StorageIOError(f"{self.path} is a folder; the store needs a file.", file=str(self.path))

    async def connect(self, *, write: bool = False) -> SqliteLink:
        path = self.path
        try:
            return SqliteLink(await open_driver_connection(self._engines[write]), path)
        except sqlite3.Error as error:
            raise translate_error(error, path) from error

    @cached_property
    def _engines(self) -> dict[bool, AsyncEngine]:
        """The engines by whether they write."""
        return {
            write: create_async_engine(
                "sqlite+aiosqlite://", async_creator=partial(self._thread, write), poolclass=NullPool
            )
            for write in (False, True)
        }

    async def _thread(self, write: bool) -> Thread:
        synchronous = "synchronous=OFF" if self.settings.path is None else "synchronous=FULL"
        thread = create_thread(
            self.path, (*SHARED_PRAGMAS, synchronous) if write else (*SHARED_PRAGMAS, *READER_PRAGMAS)
        )
        return await start_thread(thread)

    async def writer(self) -> SqliteLink:
        if self._writer is None or not self._writer.is_usable:
            self._writer = await self.connect(write=True)
        return self._writer

    def release_writer(self, link: DriverConnection) -> None:
        """Nothing: the single write connection stays open."""

    async def close(self) -> None:
        await super().close()
        writer, self._writer = self._writer, None
        if writer is not None:
            await writer.close()

    async def remove_if_empty(self) -> None:
        if self._writer is None and self.settings.path is not None:
            with suppress(sqlite3.Error, OSError):  # the file stays where another process is using it
                await asyncio.to_thread(remove_database_if_empty, self.settings.path)

    # ── watching ─────────────────────────────────────────────────────────────

    async def watch(self, after: int) -> AsyncIterator[int]:
        """Yield the head position when it moves: immediately for commits of this process, by polling for others."""
        watchers = self.watchers
        link = await watchers.acquire()
        pause, version = SHORTEST_PAUSE, None
        try:
            while True:
                self._committed.clear()
                now = (await link.rows("PRAGMA data_version"))[0][0]
                if now != version:
                    version, pause = now, SHORTEST_PAUSE
                    position = (await SqlSession(link, self.shape).head()).position
                    if position > after:
                        after = position
                        yield position
                        continue
                await self._sleep(pause)
                pause = min(pause * 1.5, LONGEST_PAUSE)
        finally:
            watchers.release(link)

    async def _sleep(self, pause: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(pause):
                await self._committed.wait()


class PrivateSqliteStorage(SqliteStorage):
    """A store in a private temporary file."""

    capabilities: ClassVar[Capabilities] = Capabilities(native=NATIVE)


def remove_database_if_empty(path: Path) -> None:
    """Delete a database without events; raises `sqlite3.OperationalError` if another connection stays open."""
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=0)) as connection:
        connection.isolation_level = None
        # Works for the only connection, and removes -wal and -shm; our own readers may still be closing.
        retry_while_locked(lambda: connection.execute("PRAGMA journal_mode=DELETE").fetchall())
        connection.execute("BEGIN EXCLUSIVE")
        if connection.execute(f'SELECT 1 FROM "{EVENTS}" LIMIT 1').fetchone() is None:
            path.unlink()
