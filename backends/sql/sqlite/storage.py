"""A store in an SQLite file: one connection writes, several read, each on a view of its own.

`sqlite:` without a file uses one in a private temporary folder, which goes with the store object: SQLite's databases
in memory either belong to a single connection or make readers wait for writers.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import cached_property, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

from msgspec.structs import replace
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import NullPool

from backends.sql.engine import driver_connection
from backends.sql.link import Link
from backends.sql.session import SqlSession
from backends.sql.settings import SqliteSettings
from backends.sql.sqlite.dialect import SqliteDialect
from backends.sql.sqlite.errors import translated
from backends.sql.sqlite.link import SqliteLink, Thread, started, thread_for
from backends.sql.sqlite.writing import SqliteWriting
from backends.sql.storage import NATIVE, SqlStorage
from ugs.catalog import Catalog
from ugs.errors import StorageIOError
from ugs.storage import Capabilities

SHARED = ("journal_mode=WAL", "foreign_keys=ON", "temp_store=MEMORY", "cache_size=-16384", "mmap_size=268435456")
# Those who read wait for a lock in their thread, and nowhere else: never on the event loop.
READING = ("query_only=ON", "busy_timeout=0")
SHORTEST_PAUSE, LONGEST_PAUSE = 0.02, 0.5


class SqliteStorage(SqlStorage):
    """Graph tables and the event log in one file."""

    scheme: ClassVar[str] = "sqlite"
    capabilities: ClassVar[Capabilities] = Capabilities(durable=True, concurrent_writers=True, native=NATIVE)
    dialect = SqliteDialect()
    writing = SqliteWriting

    def __init__(self, settings: SqliteSettings) -> None:
        super().__init__(native=settings.native, readers=settings.pool)
        self.settings = settings
        self._private: TemporaryDirectory[str] | None = None
        self._writer: SqliteLink | None = None

    def apart(self, name: str) -> SqliteStorage:
        path = self.settings.path
        beside = None if path is None else path.with_name(f"{path.stem}.{name}{path.suffix}")
        return SqliteStorage(replace(self.settings, path=beside))

    @property
    def path(self) -> Path:
        """The file, which for a private store is made when first asked for."""
        if self.settings.path is not None:
            return self.settings.path
        if self._private is None:
            # Windows removes nothing that is still open somewhere; what is left is the system's to clear away.
            self._private = TemporaryDirectory(prefix="ugs-sqlite-", ignore_cleanup_errors=True)
        return Path(self._private.name) / "private.db"

    def describe(self) -> str:
        return "sqlite: (private, not kept)" if self.settings.path is None else f"sqlite: {self.path}"

    @asynccontextmanager
    async def deciding(self) -> AsyncIterator[SqlSession]:
        """It appends once, and that is all: so the rows may go along with the end of the transaction."""
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
            return SqliteLink(await driver_connection(self._engines[write]), path)
        except sqlite3.Error as error:
            raise translated(error, path) from error

    @cached_property
    def _engines(self) -> dict[bool, AsyncEngine]:
        """By whether they write."""
        return {
            write: create_async_engine(
                "sqlite+aiosqlite://", async_creator=partial(self._thread, write), poolclass=NullPool
            )
            for write in (False, True)
        }

    async def _thread(self, write: bool) -> Thread:
        synchronous = "synchronous=OFF" if self.settings.path is None else "synchronous=FULL"
        thread = thread_for(self.path, (*SHARED, synchronous) if write else (*SHARED, *READING))
        return await started(thread)

    async def writer(self) -> SqliteLink:
        if self._writer is None or not self._writer.is_usable:
            self._writer = await self.connect(write=True)
        return self._writer

    def release_writer(self, link: Link) -> None:
        """The one writing connection stays."""

    async def close(self) -> None:
        await super().close()
        writer, self._writer = self._writer, None
        if writer is not None:
            await writer.close()

    # ── news ─────────────────────────────────────────────────────────────────

    async def watch(self, after: int) -> AsyncIterator[int]:
        """Yield the log's end when it moves: at once for commits of this process, by asking for those of others."""
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
    """The same in a file that nobody else knows and that is not kept."""

    capabilities: ClassVar[Capabilities] = Capabilities(native=NATIVE)
