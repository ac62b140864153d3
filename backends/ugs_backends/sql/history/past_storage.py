"""The state of a SQL store at a log position, as a store to read from."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, ClassVar

from ugs.catalog import Catalog
from ugs.errors import StorageIOError
from ugs.reads.plan import Read, ResultPage
from ugs.storage import Session, Storage
from ugs_backends.sql.connections.connection import DriverConnection
from ugs_backends.sql.connections.pool import Pool
from ugs_backends.sql.history.past_session import PastContext, PastSession

if TYPE_CHECKING:
    from ugs_backends.sql.storage import SqlStorage


class PastGlance(AbstractAsyncContextManager[Session]):
    """A session of the past on a pooled connection, without a transaction."""

    __slots__ = ("context", "link", "pool", "position")
    link: DriverConnection

    def __init__(self, pool: Pool[DriverConnection], context: PastContext, position: int) -> None:
        self.pool, self.context, self.position = pool, context, position

    async def __aenter__(self) -> PastSession:
        self.link = await self.pool.acquire()
        return PastSession(self.link, self.context, self.position)

    async def __aexit__(self, *failed: Any) -> None:
        self.pool.release(self.link)


class PastSqlStorage(Storage):
    """A SQL store as it was at a log position."""

    scheme: ClassVar[str] = "past"

    def __init__(self, present: SqlStorage, context: PastContext, position: int) -> None:
        self._present, self._context, self._position = present, context, position
        self.capabilities = present.capabilities  # type: ignore[misc]
        self.clock = present.clock

    async def open(self, catalog: Catalog) -> None:
        pass

    async def close(self) -> None:
        pass

    def describe(self) -> str:
        return f"{self._present.describe()} at position {self._position}"

    def session(self, *, write: bool = False) -> AbstractAsyncContextManager[Session]:
        if write:
            raise StorageIOError("the past cannot be changed")
        return PastGlance(self._present.pool, self._context, self._position)

    async def read(self, plan: Read) -> ResultPage:
        async with PastGlance(self._present.pool, self._context, self._position) as session:
            return await session.read(plan)
