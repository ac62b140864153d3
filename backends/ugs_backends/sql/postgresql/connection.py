"""A connection to PostgreSQL, with cached prepared statements.

A write transaction first takes a lock on the schema's log and reads only then: so positions become visible in order,
and a decision changes the state that it has read. Read transactions see one snapshot.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from hashlib import blake2b
from typing import Any, TypeVar

from ugs_backends.sql.connections.connection import DriverConnection
from ugs_backends.sql.postgresql.errors import DRIVER_ERRORS, is_lost, translate_error
from ugs_backends.sql.postgresql.statement_batch import combine_bulks
from ugs_backends.sql.row_codec import Values
from ugs_backends.sql.write.bulk_writes import BulkStatement

T = TypeVar("T")
CANCEL_GRACE_SECONDS = 1.0
"""Seconds beyond the statement timeout of the server after which a silent connection is dropped."""
BEGIN_READING = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"


def get_log_lock(schema: str) -> int:
    """The advisory lock of a schema's log."""
    return _hash_name(f"ugs log {schema}")


def get_history_lock(schema: str) -> int:
    """The advisory lock of those who make the versions of a schema's rows."""
    return _hash_name(f"ugs history {schema}")


def get_listeners_lock(schema: str) -> int:
    """The advisory lock that all listening connections of a schema share."""
    return _hash_name(f"ugs listeners {schema}")


def _hash_name(name: str) -> int:
    return int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), signed=True)


def get_channel(schema: str) -> str:
    """The notification channel of a schema's commits."""
    return f"ugs_{schema}"


class NotificationQueue:
    """Coalesces pending notifications of commits."""

    def __init__(self, own: Callable[[], int]) -> None:
        self._own = own
        """Returns the last position that this process wrote or is writing."""
        self._arrived = asyncio.Event()
        self._last = 0
        self._vague = False

    def tell(self, payload: str) -> None:
        """Record a notification, with the head position or an empty payload."""
        if payload.isdigit() and int(payload) == self._own():
            return  # our own commit, already known in this process
        self._vague = self._vague or not payload.isdigit()
        self._last = self._last if self._vague else max(self._last, int(payload))
        self._arrived.set()

    async def next(self) -> int | None:
        """Wait for a notification; the head position, or None if the log must be read."""
        await self._arrived.wait()
        self._arrived.clear()
        told, self._vague, self._last = None if self._vague else self._last, False, 0
        return told


class StatementWatchdog:
    """Drops a connection whose statement gets no response in time.

    One timer serves all statements of a connection: a timer per statement costs more than sending some of them.
    """

    def __init__(self, seconds: float, give_up: Callable[[], None]) -> None:
        self._seconds, self._give_up = seconds, give_up
        self._due: float | None = None
        self._timer: asyncio.TimerHandle | None = None

    def begin(self) -> None:
        """Start the timeout of a statement."""
        loop = asyncio.get_running_loop()
        self._due = loop.time() + self._seconds
        if self._timer is None:
            self._timer = loop.call_at(self._due, self._check)

    def end(self) -> None:
        """The statement was answered."""
        self._due = None

    def stop(self) -> None:
        """Cancel the timer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _check(self) -> None:
        self._timer = None
        if self._due is None:
            return  # the next statement starts the timer again
        loop = asyncio.get_running_loop()
        if self._due > loop.time():
            self._timer = loop.call_at(self._due, self._check)
        else:
            self._give_up()


WRITE_LOCK = "write_lock"
"""The table whose rows are locked where advisory locks are not used: one for the log, one for the former rows."""
LOG_ROW, HISTORY_ROW = 1, 2


def lock_row(row: int) -> str:
    """The statement that waits for a row of `WRITE_LOCK` and holds it until the transaction ends."""
    return f"SELECT 1 FROM {WRITE_LOCK} WHERE id = {row} FOR UPDATE"


class PostgresqlLink(DriverConnection):
    """A connection in use by sessions."""

    def __init__(
        self,
        connection: Any,
        schema: str,
        where: str,
        deadline: float,
        *,
        row_lock: bool = False,
        notifies: bool = True,
    ) -> None:
        self.connection = connection
        self.where = where
        self._patience = deadline + CANCEL_GRACE_SECONDS
        self._watch = StatementWatchdog(self._patience, self.terminate)
        lock = lock_row(LOG_ROW) if row_lock else f"SELECT pg_advisory_xact_lock({get_log_lock(schema)})"
        self._begin_writing = f"BEGIN ISOLATION LEVEL READ COMMITTED; {lock}"
        self._notifies, self._row_lock = notifies, row_lock
        self._channel = get_channel(schema)
        self._listeners = get_listeners_lock(schema)
        self._news: NotificationQueue | None = None
        # A connection runs one statement at a time; concurrent readers of a session wait here.
        self._turn = asyncio.Lock()
        self._changed = False

    async def begin(self, *, write: bool) -> None:
        self._changed = False
        try:
            await self._do(self.connection.execute(self._begin_writing if write else BEGIN_READING))
        except asyncio.CancelledError:
            # The server may have begun all the same, and the driver does not know it yet: the next session would be
            # inside this transaction.
            self.terminate()
            raise

    async def commit(self) -> None:
        text = f"NOTIFY {self._channel}; COMMIT" if self._changed and self._notifies else "COMMIT"
        await self._do(self.connection.execute(text), committing=self._changed)

    async def rollback(self) -> None:
        if self.connection.is_closed() or not self.connection.is_in_transaction():
            return
        try:
            async with asyncio.timeout(self._patience):
                await self.connection.execute("ROLLBACK")
        except asyncio.CancelledError:
            self.terminate()
            raise
        except DRIVER_ERRORS:
            self.terminate()

    async def rows(self, text: str, values: Sequence[Any] = ()) -> Sequence[Values]:
        self.statements += 1
        rows: Sequence[Values] = await self._do(self.connection.fetch(text, *values))
        return rows

    async def run(self, *texts: str) -> None:
        self._changed = True
        self.statements += len(texts)
        await self._do(self.connection.execute("; ".join(texts)))

    async def bulk(self, bulks: Sequence[BulkStatement]) -> None:
        self._changed = self._changed or bool(bulks)
        for text, columns in combine_bulks(bulks):
            self.statements += 1
            await self._do(self.connection.execute(text, *columns))

    async def commit_one(self, text: str, columns: Sequence[Any]) -> None:
        """Run a statement as a transaction of its own."""
        self.statements += 1
        await self._do(self.connection.execute(text, *columns), committing=True)

    async def commit_all(self, bulks: Sequence[BulkStatement], check: BulkStatement) -> None:
        """Run statements as one transaction, after a check that raises if they must not be applied."""
        await self.begin(write=True)
        try:
            await self.bulk([check])
            await self.bulk(bulks)
            await self.commit()
        except BaseException:
            await self.rollback()
            raise

    async def listen(self, own: Callable[[], int]) -> NotificationQueue:
        """Listen for commits of others; the loss of the connection counts as a notification."""
        if self._news is None:
            news = NotificationQueue(own)
            await self._do(self.connection.add_listener(self._channel, lambda *told: news.tell(told[-1])))
            if not self._row_lock:
                # Commits send notifications only if another connection holds this lock. Acquiring it waits for commits
                # that saw no listener, so their events are visible to the first read after this.
                await self._do(self.connection.execute(f"SELECT pg_advisory_lock_shared({self._listeners})"))
            self.connection.add_termination_listener(lambda _: news.tell(""))
            self._news = news
        return self._news

    def force_log_read(self) -> None:
        """Make the listener read the log."""
        if self._news is not None:
            self._news.tell("")

    async def close(self) -> None:
        self._watch.stop()
        try:
            await self.connection.close(timeout=2)
        except DRIVER_ERRORS:
            self.terminate()

    def terminate(self) -> None:
        self._watch.stop()
        self.connection.terminate()

    @property
    def is_usable(self) -> bool:
        return not self.connection.is_closed() and not self.connection.is_in_transaction()

    async def is_alive(self) -> bool:
        try:
            await self.connection.execute("SELECT 1", timeout=2)
        except DRIVER_ERRORS:
            return False
        return True

    async def _do(self, work: Awaitable[T], *, committing: bool = False) -> T:
        async with self._turn:
            self._watch.begin()
            try:
                return await work
            except DRIVER_ERRORS as error:
                if is_lost(error):
                    self.terminate()
                raise translate_error(error, self.where, committing=committing) from error
            finally:
                self._watch.end()
