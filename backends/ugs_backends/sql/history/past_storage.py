"""The state of a SQL store at a log position, as a store to read from."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from types import TracebackType
from typing import TYPE_CHECKING, ClassVar

from ugs.catalog import Catalog
from ugs.connect import storage_for
from ugs.reads.plan import Read, ResultPage
from ugs.reads.rendering import RenderArgs, Rendering
from ugs.storage import Session, Storage
from ugs_backends.sql.connections.connection import DriverConnection
from ugs_backends.sql.connections.pool import Pool
from ugs_backends.sql.history.past_session import PastContext, PastReads, PastSession

if TYPE_CHECKING:
    from ugs_backends.sql.history.row_history import RowHistory
    from ugs_backends.sql.storage import SqlStorage


class PastGlance(AbstractAsyncContextManager[Session]):
    """A session of the past on a pooled connection, without a transaction."""

    __slots__ = ("beside", "context", "link", "pool", "position")
    link: DriverConnection

    def __init__(
        self,
        pool: Pool[DriverConnection],
        context: PastContext,
        position: int,
        beside: AbstractAsyncContextManager[Session] | None,
    ) -> None:
        self.pool, self.context, self.position, self.beside = pool, context, position, beside

    async def __aenter__(self) -> PastSession:
        self.link = await self.pool.acquire()
        session = PastSession(self.link, self.context, self.position)
        if self.beside is not None:
            session.beside = await self.beside.__aenter__()
        return session

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        self.pool.release(self.link)
        return None if self.beside is None else await self.beside.__aexit__(kind, error, trace)


class PastSqlStorage(Storage):
    """A SQL store as it was at a log position."""

    scheme: ClassVar[str] = "past"

    def __init__(self, present: SqlStorage, history: RowHistory, position: int) -> None:
        self._present, self._history, self._context, self._position = present, history, history.context, position
        self._opening = asyncio.Lock()
        self._beside: Storage | None = None
        """Tables without versions, once something is computed for this state."""
        self.capabilities = present.capabilities  # type: ignore[misc]
        self.clock = present.clock

    async def open(self, catalog: Catalog) -> None:
        pass

    async def close(self) -> None:
        pass

    def describe(self) -> str:
        return f"{self._present.describe()} at position {self._position}"

    def session(self, *, write: bool = False) -> AbstractAsyncContextManager[Session]:
        return self._open_write_session() if write else self._glance(None if self._beside is None else False)

    def _glance(self, write: bool | None) -> PastGlance:
        """A session, with one of the tables without versions that may write or not; None: these are empty."""
        beside = None if write is None or self._beside is None else self._beside.session(write=write)
        return PastGlance(self._present.pool, self._context, self._position, beside)

    @asynccontextmanager
    async def _open_write_session(self) -> AsyncIterator[Session]:
        """A session that may write tables without versions, which are kept in memory as long as this object."""
        async with self._opening:
            if self._beside is None:
                beside = storage_for("memory:?history=off")
                await beside.open(self._present.shape.catalog)
                self._beside = beside
        async with self._glance(True) as session:
            yield session

    async def render(self, plan: Read, rendering: Rendering, late: RenderArgs) -> bytes:
        text = None
        if rendering.is_native and self._context.catalog.has(plan.table):
            past = PastReads(self._context.catalog, self._position).read(plan)
            text = await self._history.json_queries.text(past, rendering)
        return await super().render(plan, rendering, late) if text is None else text

    async def read(self, plan: Read) -> ResultPage:
        async with self.session() as session:
            return await session.read(plan)
