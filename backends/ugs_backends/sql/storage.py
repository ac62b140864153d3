"""The base of SQL stores: opening and migration, connection pools, sessions."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import ClassVar

from msgspec.structs import replace

from ugs.catalog import Catalog
from ugs.errors import StorageIOError
from ugs.log.replay import position_of
from ugs.reads.plan import Read, ResultPage
from ugs.reads.rendering import RenderArgs, Rendering
from ugs.storage import Storage
from ugs_backends.sql.connections.connection import DriverConnection
from ugs_backends.sql.connections.pool import Pool
from ugs_backends.sql.dialect import Dialect
from ugs_backends.sql.history.past_storage import PastSqlStorage
from ugs_backends.sql.history.row_history import FORGET_END, RowHistory
from ugs_backends.sql.migrations.migration import Step, bring_up_to_date, open_transaction
from ugs_backends.sql.native_session import NativeSession, is_one_statement, is_point
from ugs_backends.sql.plans.json_renderer import JsonRenderer
from ugs_backends.sql.plans.statement_cache import StatementCache
from ugs_backends.sql.session import SqlSession, StoreContext
from ugs_backends.sql.table_names import EVENTS

POOL_TIMEOUT_SECONDS = 5.0
"""Seconds that a session waits for a free connection."""
MAX_WATCHERS = 100
MAX_PAST_STATES = 8
"""Past states that are kept with the vectors made for them."""
NATIVE = frozenset({"read", "find", "count", "group", "aggregate", "keys", "match", "nearest", "heaviest", "watch"})


class SqlStorage(Storage):
    """The common part of the SQLite and PostgreSQL stores."""

    dialect: Dialect
    writing: ClassVar[type[JsonRenderer]] = JsonRenderer
    """The renderer of responses as JSON in the database."""
    steps: ClassVar[Sequence[Step]] = ()
    """Migration steps from each layout version to the next."""

    def __init__(self, *, native: bool, readers: int, history: bool) -> None:
        self.native = native
        self._keeps_versions = native and history
        self._history: RowHistory | None = None
        self._past: dict[int, PastSqlStorage] = {}
        """The states that were asked for last, with what was computed for them."""
        if not native:
            self.capabilities = replace(self.capabilities, native=frozenset())  # type: ignore[misc]
        self._readers = readers
        self._shape: StoreContext | None = None
        self._pool: Pool[DriverConnection] | None = None
        self._watchers: Pool[DriverConnection] | None = None
        """Connections of watchers, separate from those of readers; a connection is reused by the next watcher."""
        self.warnings: Sequence[str] = ()
        self._answering: StatementCache | None = None

    @abstractmethod
    async def connect(self, *, write: bool = False) -> DriverConnection:
        """Open a connection; one for writing may wait longer."""

    @abstractmethod
    async def writer(self) -> DriverConnection:
        """The connection for the next write session."""

    @abstractmethod
    def release_writer(self, link: DriverConnection) -> None:
        """Release the connection of a write session."""

    # ── opening and closing ──────────────────────────────────────────────────

    async def open(self, catalog: Catalog) -> None:
        if self._shape is not None:
            await self.close()
        shape = StoreContext(catalog, self.dialect)
        link = await self.connect(write=True)
        try:
            self.warnings = await bring_up_to_date(link, shape, self.steps)
        finally:
            await link.close()
        self._writing, self._committed = asyncio.Lock(), asyncio.Event()
        self._pool = Pool(self.connect, self._readers, POOL_TIMEOUT_SECONDS)
        self._watchers = Pool(self.connect, MAX_WATCHERS, POOL_TIMEOUT_SECONDS)
        self._shape = shape
        self._history = RowHistory(self, catalog) if self._keeps_versions else None

    async def close(self) -> None:
        if self._history is not None:
            await self._history.close()
        self._past.clear()
        pools = (self._pool, self._watchers)
        self._pool = self._watchers = self._shape = None
        for pool in pools:
            if pool is not None:
                await pool.close()

    @property
    def shape(self) -> StoreContext:
        if self._shape is None:
            raise StorageIOError(f"{self.describe()} is not open.")
        return self._shape

    @property
    def pool(self) -> Pool[DriverConnection]:
        return self._open_session(self._pool)

    @property
    def read_pool(self) -> Pool[DriverConnection]:
        """Where reads get their connections; a store with replicas has another."""
        return self.pool

    @property
    def watchers(self) -> Pool[DriverConnection]:
        return self._open_session(self._watchers)

    def _open_session(self, pool: Pool[DriverConnection] | None) -> Pool[DriverConnection]:
        if pool is None:
            raise StorageIOError(f"{self.describe()} is not open.")
        return pool

    # ── sessions ─────────────────────────────────────────────────────────────

    def session(self, *, write: bool = False) -> AbstractAsyncContextManager[SqlSession]:
        return self._write_session() if write else self._read_session()

    @asynccontextmanager
    async def _read_session(self) -> AsyncIterator[SqlSession]:
        pool, shape = self.read_pool, self.shape
        link = await pool.acquire()
        try:
            await link.begin(write=False)
            session = self._session_on(link, shape)
            session.counted = shape.counted
            yield session
        finally:
            try:
                await link.rollback()
            finally:
                pool.release(link)

    def autocommit_session(self) -> Glance:
        """A session without a transaction: a single statement sees one state anyway."""
        return Glance(self.read_pool, self.shape, NativeSession if self.native else SqlSession)

    @asynccontextmanager
    async def _write_session(self) -> AsyncIterator[SqlSession]:
        shape = self.shape
        async with self._writing:
            link = await self.writer()
            try:
                async with open_transaction(link):
                    yield self._session_on(link, shape)
            finally:
                # Rows may have been rebuilt without a new event, so counts cached by position are invalid. A new
                # dict, because running readers still fill the old one.
                shape.counted = {}
                self.release_writer(link)
        self._committed.set()

    def _session_on(self, link: DriverConnection, shape: StoreContext) -> SqlSession:
        return (NativeSession if self.native else SqlSession)(link, shape)

    async def read(self, plan: Read) -> ResultPage:
        """Execute a plan; without a transaction where it is a single statement."""
        pool, shape = self.read_pool, self.shape
        if not self.native or not (is_point(plan) or is_one_statement(shape, plan)):
            return await super().read(plan)
        link = await pool.acquire()
        try:
            return await self._session_on(link, shape).read(plan)
        finally:
            pool.release(link)

    async def render(self, plan: Read, rendering: Rendering, late: RenderArgs) -> bytes:
        """The response of a plan as text, rendered by the database where possible."""
        text = (
            await self.statement_cache.text(plan, rendering)
            if self.native and rendering.is_native_but_related
            else None
        )
        return await super().render(plan, rendering, late) if text is None else text

    def explain_render(self, plan: Read, rendering: Rendering) -> list[str]:
        return (
            self.statement_cache.statements(plan, rendering) if self.native and rendering.is_native_but_related else []
        )

    # ── the past ─────────────────────────────────────────────────────────────

    def history_session(self) -> AbstractAsyncContextManager[SqlSession]:
        """A transaction that makes versions of rows: the only one that does; writers of the present may run beside it
        where the database lets them."""
        return self._write_session()

    def lock_history(self) -> list[str]:
        """The statements by which a writer keeps out those who make versions; none where a write session does."""
        return []

    async def at(self, position: int) -> Storage | None:
        history = self._history
        if history is None or not await history.reaches(position):
            return None
        found = self._past.pop(position, None) or PastSqlStorage(self, history, position)
        self._past[position] = found
        if len(self._past) > MAX_PAST_STATES:
            del self._past[next(iter(self._past))]
        return found

    async def history_end(self) -> int | None:
        return None if self._history is None else await self._history.find_end()

    async def rebuild_history(self, progress: Callable[[int, int], None] | None = None) -> int | None:
        return None if self._history is None else await self._history.rebuild(progress)

    async def compare_history(self, replica: Storage) -> list[str]:
        return [] if self._history is None else await self._history.compare(replica, await position_of(replica))

    @property
    def statement_cache(self) -> StatementCache:
        """The cache of rendering statements for the current pool."""
        if self._answering is None or self._answering.pool is not self.read_pool:
            self._answering = StatementCache(self.shape, self.read_pool, self.writing)
        return self._answering

    async def wipe(self) -> None:
        shape = self.shape
        names = [name for table in shape.catalog for name in (table.name, *shape.layout.sides(table))]
        version_names = [] if self._history is None else self._history.list_tables()
        async with self.session(write=True) as session:
            existing = {row[0] for row in await session.link.rows(self.dialect.table_names())}
            names += [name for name in version_names if name in existing]
            await session.link.run(*self.lock_history(), *self.dialect.empty([EVENTS, *names]), FORGET_END)
        self._past.clear()
        if self._history is not None:
            self._history.forget_end()


class Glance:
    """A context manager for a session on a pooled connection without a transaction."""

    __slots__ = ("kind", "link", "pool", "shape")
    link: DriverConnection

    def __init__(self, pool: Pool[DriverConnection], shape: StoreContext, kind: type[SqlSession]) -> None:
        self.pool = pool
        self.shape = shape
        self.kind = kind

    async def __aenter__(self) -> SqlSession:
        self.link = await self.pool.acquire()
        return self.kind(self.link, self.shape)

    async def __aexit__(self, *failed: object) -> None:
        self.pool.release(self.link)
