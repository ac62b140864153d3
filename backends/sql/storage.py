"""A store in an SQL database: opened once, then one connection per session."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import ClassVar

from msgspec.structs import replace

from backends.sql.answering import Answering
from backends.sql.dialect import Dialect
from backends.sql.link import Link
from backends.sql.migration import Step, bring_up_to_date, transaction
from backends.sql.names import EVENTS
from backends.sql.native import NativeSession, is_one_statement, is_point
from backends.sql.pool import Pool
from backends.sql.session import Shape, SqlSession
from backends.sql.writing import Writing
from ugs.catalog import Catalog
from ugs.errors import StorageIOError
from ugs.reads.plan import Read, Rows
from ugs.reads.rendering import Late, Rendering
from ugs.storage import Storage

PATIENCE = 5.0
"""How many seconds a session waits for a free connection."""
MOST_WATCHERS = 100
NATIVE = frozenset({"read", "find", "count", "group", "keys", "match", "nearest", "heaviest", "watch"})


class SqlStorage(Storage):
    """What both databases share."""

    dialect: Dialect
    writing: ClassVar[type[Writing]] = Writing
    """How the database writes answers itself."""
    steps: ClassVar[Sequence[Step]] = ()
    """From one layout to the next."""

    def __init__(self, *, native: bool, readers: int) -> None:
        self.native = native
        if not native:
            self.capabilities = replace(self.capabilities, native=frozenset())  # type: ignore[misc]
        self._readers = readers
        self._shape: Shape | None = None
        self._pool: Pool[Link] | None = None
        self._watchers: Pool[Link] | None = None
        """Connections that wait for news, apart from those that answer: the next watcher takes over from the last."""
        self.warnings: Sequence[str] = ()
        self._answering: Answering | None = None

    @abstractmethod
    async def connect(self, *, write: bool = False) -> Link:
        """A new connection; one for writing may take its time."""

    @abstractmethod
    async def writer(self) -> Link:
        """The connection for the next write session."""

    @abstractmethod
    def release_writer(self, link: Link) -> None:
        """Take the connection of a write session back."""

    # ── life ─────────────────────────────────────────────────────────────────

    async def open(self, catalog: Catalog) -> None:
        if self._shape is not None:
            await self.close()
        shape = Shape(catalog, self.dialect)
        link = await self.connect(write=True)
        try:
            self.warnings = await bring_up_to_date(link, shape, self.steps)
        finally:
            await link.close()
        self._writing, self._committed = asyncio.Lock(), asyncio.Event()
        self._pool = Pool(self.connect, self._readers, PATIENCE)
        self._watchers = Pool(self.connect, MOST_WATCHERS, PATIENCE)
        self._shape = shape

    async def close(self) -> None:
        pools = (self._pool, self._watchers)
        self._pool = self._watchers = self._shape = None
        for pool in pools:
            if pool is not None:
                await pool.close()

    @property
    def shape(self) -> Shape:
        if self._shape is None:
            raise StorageIOError(f"{self.describe()} is not open.")
        return self._shape

    @property
    def pool(self) -> Pool[Link]:
        return self._opened(self._pool)

    @property
    def watchers(self) -> Pool[Link]:
        return self._opened(self._watchers)

    def _opened(self, pool: Pool[Link] | None) -> Pool[Link]:
        if pool is None:
            raise StorageIOError(f"{self.describe()} is not open.")
        return pool

    # ── sessions ─────────────────────────────────────────────────────────────

    def session(self, *, write: bool = False) -> AbstractAsyncContextManager[SqlSession]:
        return self._write_session() if write else self._read_session()

    @asynccontextmanager
    async def _read_session(self) -> AsyncIterator[SqlSession]:
        pool, shape = self.pool, self.shape
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

    def glance(self) -> Glance:
        """A statement alone sees one state without a transaction around it."""
        return Glance(self.pool, self.shape, NativeSession if self.native else SqlSession)

    @asynccontextmanager
    async def _write_session(self) -> AsyncIterator[SqlSession]:
        shape = self.shape
        async with self._writing:
            link = await self.writer()
            try:
                async with transaction(link):
                    yield self._session_on(link, shape)
            finally:
                # Rows may have been made anew without an event: whoever counts from now on keeps it elsewhere.
                shape.counted = {}
                self.release_writer(link)
        self._committed.set()

    def _session_on(self, link: Link, shape: Shape) -> SqlSession:
        return (NativeSession if self.native else SqlSession)(link, shape)

    async def read(self, plan: Read) -> Rows:
        """The answer to one plan; where that is one statement, no transaction is needed around it."""
        pool, shape = self.pool, self.shape
        if not self.native or not (is_point(plan) or is_one_statement(shape, plan)):
            return await super().read(plan)
        link = await pool.acquire()
        try:
            return await self._session_on(link, shape).read(plan)
        finally:
            pool.release(link)

    async def render(self, plan: Read, rendering: Rendering, late: Late) -> bytes:
        """The answer to one plan as text, written by the database where it can."""
        text = await self.answering.text(plan, rendering) if self.native and rendering.is_native else None
        return await super().render(plan, rendering, late) if text is None else text

    def written_by(self, plan: Read, rendering: Rendering) -> list[str]:
        return self.answering.statements(plan, rendering) if self.native and rendering.is_native else []

    @property
    def answering(self) -> Answering:
        """Writes answers on the connections that are open now."""
        if self._answering is None or self._answering.pool is not self.pool:
            self._answering = Answering(self.shape, self.pool, self.writing)
        return self._answering

    async def wipe(self) -> None:
        shape = self.shape
        names = [name for table in shape.catalog for name in (table.name, *shape.layout.sides(table))]
        async with self.session(write=True) as session:
            await session.link.run(*self.dialect.empty([EVENTS, *names]))


class Glance:
    """A connection without a transaction, given back at the end."""

    __slots__ = ("kind", "link", "pool", "shape")
    link: Link

    def __init__(self, pool: Pool[Link], shape: Shape, kind: type[SqlSession]) -> None:
        self.pool = pool
        self.shape = shape
        self.kind = kind

    async def __aenter__(self) -> SqlSession:
        self.link = await self.pool.acquire()
        return self.kind(self.link, self.shape)

    async def __aexit__(self, *failed: object) -> None:
        self.pool.release(self.link)
