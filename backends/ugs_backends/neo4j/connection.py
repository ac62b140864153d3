"""Calls to the server, each with a client-side deadline that drops the connection.

The server's own time limit is cooperative and some statements ignore it, and a broken server may never answer; so a
late call is cancelled here, and the driver closes its socket. A pooled connection that died is noticed at the first
call of a transaction, where a retry is safe.
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

from ugs.errors import DeadlineExceeded
from ugs_backends.neo4j.errors import LOST_CONNECTION_ERRORS, translate_commit_errors, translate_errors
from ugs_backends.neo4j.url import Address

T = TypeVar("T")
Answer = list[list[Any]]

CONNECT_SECONDS = 5.0
AUTOCOMMIT_ATTEMPTS = 2
"""Number of statements of a reader that run outside a transaction."""
MAX_TRANSACTION_SECONDS = 1.0


class Connection:
    """The driver with deadlines and error translation."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self.rules: Mapping[tuple[str, str], str] = {}
        """Names of uniqueness constraints by label and property, for error messages."""
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

    def _open_session(self, mode: str) -> AsyncSession:
        return self._driver.session(database=self.address.database, default_access_mode=mode)

    async def run_within_deadline(self, work: Awaitable[T]) -> T:
        """Await a call within the deadline, with errors translated."""
        where = str(self.address)
        try:
            async with asyncio.timeout(self.address.deadline):
                with translate_errors(where, self.rules):
                    return await work
        except TimeoutError as error:
            raise DeadlineExceeded(
                f"Neo4j at {where} did not answer within {self.address.deadline:g} s. Ask for less at once, "
                "or raise `deadline` in the store URL."
            ) from error

    async def run(self, text: str, write: bool = True, **parameters: Any) -> Answer:
        """Run a statement in its own transaction."""
        async with self._open_session(neo4j.WRITE_ACCESS if write else neo4j.READ_ACCESS) as session:
            return await self.run_within_deadline(self._run_autocommit(session, text, parameters))

    async def _run_autocommit(self, session: AsyncSession, text: str, parameters: dict[str, Any]) -> Answer:
        result = await session.run(neo4j.Query(text, timeout=self.address.deadline), parameters)
        return await result.values()

    async def run_read(self, text: str, **parameters: Any) -> Answer:
        """Run a single read statement; retried once if the pooled connection was dead."""
        async with self.open_reader() as reader:
            return await reader.run(text, **parameters)

    @asynccontextmanager
    async def open_reader(self) -> AsyncIterator[QueryRunner]:
        """A reader in read access mode."""
        async with self._open_session(neo4j.READ_ACCESS) as session:
            reader = QueryRunner(self, session)
            try:
                yield reader
            finally:
                await reader.end()

    @asynccontextmanager
    async def open_writer(self, lock: str) -> AsyncIterator[Writer]:
        """A write transaction that takes the lock with its first statement; commits at the end of the block."""
        async with self._open_session(neo4j.WRITE_ACCESS) as session:
            transaction, answer = await self._begin_locked(session, lock)
            try:
                yield Writer(self, transaction, answer)
            except asyncio.CancelledError:
                transaction.cancel()
                raise
            except BaseException:
                await self._roll_back(transaction)
                raise
            with translate_commit_errors(str(self.address)):
                await self.run_within_deadline(transaction.commit())

    async def _begin_locked(self, session: AsyncSession, lock: str) -> tuple[AsyncTransaction, Answer]:
        try:
            return await self._begin(session, lock)
        except LOST_CONNECTION_ERRORS:
            pass
        except Exception as error:
            if not isinstance(error.__cause__, LOST_CONNECTION_ERRORS):
                raise
        return await self._begin(session, lock)

    async def _begin(self, session: AsyncSession, lock: str) -> tuple[AsyncTransaction, Answer]:
        transaction = await self.run_within_deadline(session.begin_transaction())
        try:
            return transaction, await self.run_within_deadline(self._run_in_transaction(transaction, lock, {}))
        except BaseException:
            transaction.cancel()
            raise

    async def _run_in_transaction(self, transaction: AsyncTransaction, text: str, parameters: dict[str, Any]) -> Answer:
        result = await transaction.run(text, parameters)
        return await result.values()

    async def _roll_back(self, transaction: AsyncTransaction) -> None:
        """Roll a transaction back; never raises driver errors."""
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                await transaction.rollback()
        except (Neo4jError, DriverError, OSError, TimeoutError):
            transaction.cancel()


class QueryRunner:
    """Runs read statements: the first ones alone, further ones in transactions that are renewed every second.

    Neo4j is read-committed: a transaction gives no consistent snapshot, and its begin and end are two more round trips.
    But a statement inside one costs only half as much, so it pays off for many.
    """

    def __init__(self, connection: Connection, session: AsyncSession) -> None:
        self._connection = connection
        self._open_session = session
        self._turn = asyncio.Lock()
        self._asked = 0
        self._transaction: AsyncTransaction | None = None
        self._since = 0.0

    async def run(self, text: str, **parameters: Any) -> Answer:
        async with self._turn:
            self._asked += 1
            try:
                return await self._run_once(text, parameters)
            except Exception as error:
                if not isinstance(error.__cause__, LOST_CONNECTION_ERRORS):
                    raise
            return await self._run_once(text, parameters)

    async def _run_once(self, text: str, parameters: dict[str, Any]) -> Answer:
        connection = self._connection
        if self._asked <= AUTOCOMMIT_ATTEMPTS:
            return await connection.run_within_deadline(
                connection._run_autocommit(self._open_session, text, parameters)
            )
        # A failure ends the transaction; the next statement begins another.
        transaction, self._transaction = await self._renew_if_old(), None
        try:
            answer = await connection.run_within_deadline(connection._run_in_transaction(transaction, text, parameters))
        except BaseException:
            transaction.cancel()
            raise
        self._transaction = transaction
        return answer

    async def end(self) -> None:
        """End the last transaction; the driver's own close would wait for an unresponsive server without a limit."""
        transaction, self._transaction = self._transaction, None
        if transaction is not None:
            await self._connection._roll_back(transaction)

    async def _renew_if_old(self) -> AsyncTransaction:
        """The current transaction, renewed if it is old: servers terminate long ones."""
        transaction, self._transaction = self._transaction, None
        if transaction is not None:
            if monotonic() - self._since < MAX_TRANSACTION_SECONDS:
                return transaction
            await self._connection._roll_back(transaction)
        self._since = monotonic()
        return await self._connection.run_within_deadline(self._open_session.begin_transaction())


class Writer:
    """Runs the statements of a write transaction."""

    def __init__(self, connection: Connection, transaction: AsyncTransaction, answer: Answer) -> None:
        self._connection = connection
        self._transaction = transaction
        self._turn = asyncio.Lock()
        self.lock_answer = answer

    async def run(self, text: str, **parameters: Any) -> Answer:
        async with self._turn:
            return await self._connection.run_within_deadline(
                self._connection._run_in_transaction(self._transaction, text, parameters)
            )
