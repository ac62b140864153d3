"""A store in one schema of a PostgreSQL database; several gateways may share it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager, suppress
from time import monotonic
from typing import Any, ClassVar

from msgspec.structs import replace
from sqlalchemy import URL
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from backends.sql.dialect import quoted
from backends.sql.engine import driver_connection
from backends.sql.link import Link
from backends.sql.migration import transaction
from backends.sql.postgresql.deciding import FOLLOWS, DecidingSession, Standing, follow_function
from backends.sql.postgresql.dialect import PostgresqlDialect
from backends.sql.postgresql.errors import DRIVER_ERRORS, translated
from backends.sql.postgresql.extensions import made
from backends.sql.postgresql.link import PostgresqlLink
from backends.sql.postgresql.steps import STEPS
from backends.sql.postgresql.vectors import register, settle_indexes, vector_schema
from backends.sql.postgresql.writing import PostgresqlWriting
from backends.sql.session import SqlSession
from backends.sql.settings import PostgresqlSettings
from backends.sql.storage import NATIVE, SqlStorage
from ugs.catalog import Catalog
from ugs.errors import Conflict, StorageIOError, Unavailable
from ugs.storage import Capabilities

CONNECT_SECONDS = 5.0
MIGRATION_SECONDS = 86_400.0
"""Migrations of large tables may take longer than any request should."""
STATEMENTS_KEPT = 500
LONGEST_STATEMENT = 256 << 10
"""Larger statement texts than this are not kept prepared."""
TRIGRAMS = "pg_trgm"
"""The extension that finds parts of texts."""
CAREFUL_SECONDS = 2.0
"""So long decisions are made behind the lock after another gateway was faster."""
DOUBTS = 256
"""After an id was presumed to be free and was not, so many groups ask first."""
QUIET_SECONDS = 5.0
"""A watcher looks at the log by itself when it has heard nothing for so long."""
SHORTEST_PAUSE, LONGEST_PAUSE = 0.1, 5.0

SESSION = {
    "lock_timeout": "5s",
    "idle_in_transaction_session_timeout": "60s",
    # Plans are for a handful of rows each; compiling them costs more than it saves.
    "jit": "off",
    # One plan per statement: planning a deep read anew takes longer than running it.
    "plan_cache_mode": "force_generic_plan",
    # So does spreading them over workers, unless they read whole tables of millions of rows.
    "parallel_setup_cost": "10000",
    # What is read lies mostly in memory: walking an index in its order beats collecting its rows and sorting them.
    "random_page_cost": "1.1",
    "application_name": "ugs-gateway",
}


class PostgresqlStorage(SqlStorage):
    """Graph tables and the event log in one schema."""

    scheme: ClassVar[str] = "postgresql"
    capabilities: ClassVar[Capabilities] = Capabilities(durable=True, concurrent_writers=True, native=NATIVE)
    dialect = PostgresqlDialect()
    writing = PostgresqlWriting
    steps = STEPS

    def __init__(self, settings: PostgresqlSettings) -> None:
        super().__init__(native=settings.native, readers=settings.pool)
        self.settings = settings
        self._standing, self._follows, self._careful_until = Standing(), False, 0.0
        self._doubts = 0
        self._ears: list[PostgresqlLink] = []
        """The connections that hear of commits."""
        self._engine = create_async_engine(_url(settings), poolclass=NullPool, connect_args=_arguments(settings))

    def apart(self, name: str) -> PostgresqlStorage:
        return PostgresqlStorage(replace(self.settings, schema=f"{self.settings.schema}__{name}"))

    def describe(self) -> str:
        at = self.settings
        return f"postgresql: {at.host}:{at.port}/{at.database}, schema {at.schema}"

    async def open(self, catalog: Catalog) -> None:
        link = await self.connect()
        try:
            await self._make_schema(link)
            vectors, trigrams = await vector_schema(link, catalog), await made(link, TRIGRAMS)
            self.dialect = PostgresqlDialect(vectors, self.settings.hnsw, trigrams)
        finally:
            await link.close()
        await super().open(catalog)
        self._standing.forget()
        self._follows = self.native and await self._make_follow()
        if self.dialect.vectors is not None:
            async with self.session(write=True) as session:
                await settle_indexes(session.link, self.dialect, catalog)

    async def _make_schema(self, link: Link) -> None:
        # Two gateways that start at once would both try to make it; the writer's lock lets one go first.
        async with transaction(link):
            found = await link.rows("SELECT 1 FROM pg_namespace WHERE nspname = $1", [self.settings.schema])
            if not found:
                await link.run(f'CREATE SCHEMA "{self.settings.schema}"')

    async def connect(self, *, write: bool = False) -> PostgresqlLink:
        try:
            async with asyncio.timeout(_connect_seconds(self.settings) + 1):
                connection = await driver_connection(self._engine)
                if self.dialect.vectors is not None:
                    await register(connection, self.dialect)
        except DRIVER_ERRORS as error:
            raise translated(error, self.describe()) from error
        deadline = MIGRATION_SECONDS if write else self.settings.deadline
        link = PostgresqlLink(connection, self.settings.schema, self.describe(), deadline)
        if write:
            await link.run("SET statement_timeout = 0")
        return link

    # ── decisions ────────────────────────────────────────────────────────────

    def deciding(self) -> AbstractAsyncContextManager[SqlSession]:
        careful = not self.native or not self._follows or monotonic() < self._careful_until
        return self.session(write=True) if careful else self._deciding()

    @asynccontextmanager
    async def _deciding(self) -> AsyncIterator[SqlSession]:
        shape = self.shape
        async with self._writing:
            link = await self.pool.acquire()
            assert isinstance(link, PostgresqlLink)
            session = DecidingSession(link, shape, self._standing, presuming=not self._doubts)
            session.sender = self._ear() or link
            self._doubts = max(0, self._doubts - 1)
            try:
                yield session
                await session.finish()
            except BaseException as error:
                self._standing.forget()
                self._doubt_the_news()
                if isinstance(error, Conflict) and error.at_once:
                    self._doubts = DOUBTS
                elif isinstance(error, Conflict):
                    # Whoever writes behind the lock from the start is never too late.
                    self._careful_until = monotonic() + CAREFUL_SECONDS
                raise
            finally:
                self.pool.release(link)

    def _ear(self) -> PostgresqlLink | None:
        """A connection that listens. Sent there, a commit need not be announced while nobody else does."""
        return next((link for link in self._ears if link.is_usable), None)

    def _doubt_the_news(self) -> None:
        """What was taken for word of our own commit may have been of somebody else's: all who listen have to look."""
        for link in self._ears:
            link.doubt()

    @asynccontextmanager
    async def _write_session(self) -> AsyncIterator[SqlSession]:
        async with super()._write_session() as session:
            self._standing.forget()
            yield session

    async def _hear(self, told: int | None) -> None:
        """Our own commits are announced, too: whoever has one under way shall tell of it first."""
        if self._writing.locked():
            async with self._writing:
                pass
        self._standing.heard(told)

    async def _make_follow(self) -> bool:
        """Whether the database can tell that a log ends where we think; made when the store has no such function."""
        try:
            async with self.session(write=True) as session:
                if not await session.link.rows(FOLLOWS):
                    await session.link.run(follow_function(self.settings.schema))
        except StorageIOError:
            return False  # somebody else's tables, in which we may only write
        return True

    async def writer(self) -> Link:
        return await self.pool.acquire()

    def release_writer(self, link: Link) -> None:
        self.pool.release(link)

    async def take_stock(self) -> None:
        """The server does this by itself some minutes later; until then it would plan as if tables were empty."""
        link = await self.connect(write=True)
        try:
            tables = await link.rows("SELECT tablename FROM pg_tables WHERE schemaname = $1", [self.settings.schema])
            await link.run(f"ANALYZE {', '.join(quoted(name) for (name,) in tables)}")
        finally:
            await link.close()

    async def drop(self) -> None:
        async with self.session(write=True) as session:
            await session.link.run(f'DROP SCHEMA "{self.settings.schema}" CASCADE')
        await self.close()

    # ── news ─────────────────────────────────────────────────────────────────

    async def watch(self, after: int) -> AsyncIterator[int]:
        """Yield the log's end whenever a commit, also of another process, has moved it."""
        pause = SHORTEST_PAUSE
        while True:
            try:
                async with aclosing(self._listen(after)) as positions:
                    async for position in positions:
                        yield position
                        after, pause = position, SHORTEST_PAUSE
            except (Unavailable, Conflict):
                # The server is away, or busy; whoever watches wants to hear of it when it is back, not now.
                await asyncio.sleep(pause)
                pause = min(pause * 2, LONGEST_PAUSE)

    async def _listen(self, after: int) -> AsyncGenerator[int, None]:
        """As `watch`, on one connection, until that breaks."""
        watchers = self.watchers
        link = await watchers.acquire()
        assert isinstance(link, PostgresqlLink)
        try:
            news, told = await link.listening(lambda: self._standing.announced), None
            self._ears.append(link)
            while True:
                position = (await SqlSession(link, self.shape).head()).position if told is None else told
                if position > after:
                    after = position
                    yield position
                told = None
                with suppress(TimeoutError):
                    async with asyncio.timeout(QUIET_SECONDS):
                        told = await news.next()
                        await self._hear(told)
        finally:
            self._ears = [other for other in self._ears if other is not link]
            watchers.release(link)


def _url(settings: PostgresqlSettings) -> URL:
    return URL.create(
        "postgresql+asyncpg",
        settings.user,
        settings.password,
        settings.host,
        settings.port,
        settings.database,
    )


def _connect_seconds(settings: PostgresqlSettings) -> float:
    return min(CONNECT_SECONDS, settings.deadline)


def _arguments(settings: PostgresqlSettings) -> dict[str, Any]:
    timeout = f"{int(settings.deadline * 1000)}ms"
    arguments: dict[str, Any] = {
        "timeout": _connect_seconds(settings),
        "statement_cache_size": STATEMENTS_KEPT,
        "max_cached_statement_lifetime": 0,
        "max_cacheable_statement_size": LONGEST_STATEMENT,
        "server_settings": {**SESSION, "statement_timeout": timeout, "search_path": f'"{settings.schema}"'},
    }
    return arguments if settings.ssl is None else {**arguments, "ssl": settings.ssl}
