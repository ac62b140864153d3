"""Calls to the server: every one under a deadline of our own, which drops the connection when it passes.

The server's own time limit is cooperative and some statements never look at it, and a broken server may never answer;
so a call that is late is cancelled here, upon which the driver closes its socket. A connection that died while it lay
in the pool is noticed at the first call of a transaction, where trying once more is safe.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import asynccontextmanager, suppress
from time import monotonic
from typing import Any, TypeVar

import neo4j
from neo4j import AsyncDriver, AsyncGraphDatabase, AsyncSession, AsyncTransaction
from neo4j.exceptions import DriverError, Neo4jError

from backends.neo4j.address import Address
from backends.neo4j.errors import LOST, committing, translated
from ugs.errors import DeadlineExceeded

T = TypeVar("T")
Answer = list[list[Any]]

CONNECT_SECONDS = 5.0
ALONE = 2
"""So many statements of a reader run alone."""
RENEWED_AFTER = 1.0


class Connection:
    """The driver, with our deadlines and our errors."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self.rules: Mapping[tuple[str, str], str] = {}
        """Unique rules by label and property, for the names in errors."""
        self._driver: AsyncDriver = AsyncGraphDatabase.driver(
            address.uri,
            auth=address.auth,
            connection_timeout=CONNECT_SECONDS,
            connection_acquisition_timeout=address.deadline,
            keep_alive=True,
            notifications_min_severity="OFF",
            user_agent="ugs-gateway",
            telemetry_disabled=True,
        )

    async def close(self) -> None:
        with suppress(Neo4jError, DriverError, OSError, TimeoutError):
            async with asyncio.timeout(CONNECT_SECONDS):
                await self._driver.close()

    def _session(self, mode: str) -> AsyncSession:
        return self._driver.session(database=self.address.database, default_access_mode=mode)

    async def within(self, work: Awaitable[T]) -> T:
        """The outcome of a call, in time and in our words."""
        where = str(self.address)
        try:
            async with asyncio.timeout(self.address.deadline):
                with translated(where, self.rules):
                    return await work
        except TimeoutError as error:
            raise DeadlineExceeded(
                f"Neo4j at {where} did not answer within {self.address.deadline:g} s. Ask for less at once, "
                "or raise `deadline` in the store URL."
            ) from error

    async def run(self, text: str, write: bool = True, **parameters: Any) -> Answer:
        """A statement in a transaction of its own."""
        async with self._session(neo4j.WRITE_ACCESS if write else neo4j.READ_ACCESS) as session:
            return await self.within(self._alone(session, text, parameters))

    async def _alone(self, session: AsyncSession, text: str, parameters: dict[str, Any]) -> Answer:
        result = await session.run(neo4j.Query(text, timeout=self.address.deadline), parameters)
        return await result.values()

    async def ask(self, text: str, **parameters: Any) -> Answer:
        """A statement that only reads, alone; tried once more where the connection had died in the pool."""
        async with self.reading() as reader:
            return await reader.run(text, **parameters)

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Reader]:
        """For reads: nothing that is asked here can change anything."""
        async with self._session(neo4j.READ_ACCESS) as session:
            reader = Reader(self, session)
            try:
                yield reader
            finally:
                await reader.end()

    @asynccontextmanager
    async def writing(self, lock: str) -> AsyncIterator[Writer]:
        """A transaction that holds the lock from its first statement; leaving normally commits."""
        async with self._session(neo4j.WRITE_ACCESS) as session:
            transaction, answer = await self._locked(session, lock)
            try:
                yield Writer(self, transaction, answer)
            except asyncio.CancelledError:
                transaction.cancel()
                raise
            except BaseException:
                await self._roll_back(transaction)
                raise
            with committing(str(self.address)):
                await self.within(transaction.commit())

    async def _locked(self, session: AsyncSession, lock: str) -> tuple[AsyncTransaction, Answer]:
        try:
            return await self._begin(session, lock)
        except LOST:
            pass
        except Exception as error:
            if not isinstance(error.__cause__, LOST):
                raise
        return await self._begin(session, lock)

    async def _begin(self, session: AsyncSession, lock: str) -> tuple[AsyncTransaction, Answer]:
        transaction = await self.within(session.begin_transaction())
        try:
            return transaction, await self.within(self._in(transaction, lock, {}))
        except BaseException:
            transaction.cancel()
            raise

    async def _in(self, transaction: AsyncTransaction, text: str, parameters: dict[str, Any]) -> Answer:
        result = await transaction.run(text, parameters)
        return await result.values()

    async def _roll_back(self, transaction: AsyncTransaction) -> None:
        """Give up a transaction; what fails here was lost already."""
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                await transaction.rollback()
        except (Neo4jError, DriverError, OSError, TimeoutError):
            transaction.cancel()


class Reader:
    """Statements that only read: the first ones alone, further ones in transactions that are renewed every second.

    Neo4j is read-committed: a transaction around statements shows no steadier picture, and beginning and ending it
    are two more round trips. But each statement inside costs only half as much as alone, so many are cheaper there.
    """

    def __init__(self, connection: Connection, session: AsyncSession) -> None:
        self._connection = connection
        self._session = session
        self._turn = asyncio.Lock()
        self._asked = 0
        self._transaction: AsyncTransaction | None = None
        self._since = 0.0

    async def run(self, text: str, **parameters: Any) -> Answer:
        async with self._turn:
            self._asked += 1
            try:
                return await self._once(text, parameters)
            except Exception as error:
                if not isinstance(error.__cause__, LOST):
                    raise
            return await self._once(text, parameters)

    async def _once(self, text: str, parameters: dict[str, Any]) -> Answer:
        connection = self._connection
        if self._asked <= ALONE:
            return await connection.within(connection._alone(self._session, text, parameters))
        # Whatever goes wrong ends the transaction; the next statement begins another.
        transaction, self._transaction = await self._current(), None
        try:
            answer = await connection.within(connection._in(transaction, text, parameters))
        except BaseException:
            transaction.cancel()
            raise
        self._transaction = transaction
        return answer

    async def end(self) -> None:
        """End the last transaction; the driver would do that too, but wait for a silent server for ever."""
        transaction, self._transaction = self._transaction, None
        if transaction is not None:
            await self._connection._roll_back(transaction)

    async def _current(self) -> AsyncTransaction:
        """A transaction that is young enough: servers end old ones."""
        transaction, self._transaction = self._transaction, None
        if transaction is not None:
            if monotonic() - self._since < RENEWED_AFTER:
                return transaction
            await self._connection._roll_back(transaction)
        self._since = monotonic()
        return await self._connection.within(self._session.begin_transaction())


class Writer:
    """The statements of a write transaction."""

    def __init__(self, connection: Connection, transaction: AsyncTransaction, answer: Answer) -> None:
        self._connection = connection
        self._transaction = transaction
        self._turn = asyncio.Lock()
        self.lock_answer = answer

    async def run(self, text: str, **parameters: Any) -> Answer:
        async with self._turn:
            return await self._connection.within(self._connection._in(self._transaction, text, parameters))
