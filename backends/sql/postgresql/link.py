"""One connection to PostgreSQL, with its statements prepared once and kept by name.

A writing transaction first takes a lock on the schema's log, and only then reads: so positions become visible in
their order, and whatever a decision saw is what it changes. Reading transactions see one moment.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from hashlib import blake2b
from typing import Any, TypeVar

from backends.sql.link import Link
from backends.sql.postgresql.bulks import combined
from backends.sql.postgresql.errors import DRIVER_ERRORS, is_lost, translated
from backends.sql.rows import Values
from backends.sql.writes import Bulk

T = TypeVar("T")
GRACE = 1.0
"""The server ends a slow statement by itself; only one that says nothing for so much longer is given up."""
BEGIN_READING = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"


def log_lock(schema: str) -> int:
    """The number of the lock on a schema's log."""
    return _number(f"ugs log {schema}")


def listeners_lock(schema: str) -> int:
    """The number of the lock that every connection shares which wants to hear of a schema's commits."""
    return _number(f"ugs listeners {schema}")


def _number(name: str) -> int:
    return int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), signed=True)


def channel_of(schema: str) -> str:
    """Where commits of a schema are announced."""
    return f"ugs_{schema}"


class News:
    """Announced commits that nobody has looked at yet."""

    def __init__(self, own: Callable[[], int]) -> None:
        self._own = own
        """The last position that this process writes, or has written, itself."""
        self._arrived = asyncio.Event()
        self._last = 0
        self._vague = False

    def tell(self, payload: str) -> None:
        """A commit was announced, with the log's end where the announcer knew it."""
        if payload.isdigit() and int(payload) == self._own():
            return  # whoever wrote it has told everybody here
        self._vague = self._vague or not payload.isdigit()
        self._last = self._last if self._vague else max(self._last, int(payload))
        self._arrived.set()

    async def next(self) -> int | None:
        """Where the log ends according to what has arrived; None when one has to look."""
        await self._arrived.wait()
        self._arrived.clear()
        told, self._vague, self._last = None if self._vague else self._last, False, 0
        return told


class Watch:
    """Ends what the server says nothing about for too long.

    One timer looks after all statements of a connection: setting one for each of them costs more than sending some.
    """

    def __init__(self, seconds: float, give_up: Callable[[], None]) -> None:
        self._seconds, self._give_up = seconds, give_up
        self._due: float | None = None
        self._timer: asyncio.TimerHandle | None = None

    def begin(self) -> None:
        """A statement is sent."""
        loop = asyncio.get_running_loop()
        self._due = loop.time() + self._seconds
        if self._timer is None:
            self._timer = loop.call_at(self._due, self._look)

    def end(self) -> None:
        """It was answered."""
        self._due = None

    def stop(self) -> None:
        """There will be no more statements."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self) -> None:
        self._timer = None
        if self._due is None:
            return  # the next statement sets it again
        loop = asyncio.get_running_loop()
        if self._due > loop.time():
            self._timer = loop.call_at(self._due, self._look)
        else:
            self._give_up()


class PostgresqlLink(Link):
    """A connection in use by sessions."""

    def __init__(self, connection: Any, schema: str, where: str, deadline: float) -> None:
        self.connection = connection
        self.where = where
        self._patience = deadline + GRACE
        self._watch = Watch(self._patience, self.terminate)
        self._begin_writing = f"BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_advisory_xact_lock({log_lock(schema)})"
        self._channel = channel_of(schema)
        self._listeners = listeners_lock(schema)
        self._news: News | None = None
        # A connection does one thing at a time; readers that share a session take turns.
        self._turn = asyncio.Lock()
        self._changed = False

    async def begin(self, *, write: bool) -> None:
        self._changed = False
        await self._do(self.connection.execute(self._begin_writing if write else BEGIN_READING))

    async def commit(self) -> None:
        text = f"NOTIFY {self._channel}; COMMIT" if self._changed else "COMMIT"
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

    async def bulk(self, bulks: Sequence[Bulk]) -> None:
        self._changed = self._changed or bool(bulks)
        for text, columns in combined(bulks):
            self.statements += 1
            await self._do(self.connection.execute(text, *columns))

    async def commit_one(self, text: str, columns: Sequence[Any]) -> None:
        """Run a statement that is a transaction by itself."""
        self.statements += 1
        await self._do(self.connection.execute(text, *columns), committing=True)

    async def commit_all(self, bulks: Sequence[Bulk], check: Bulk) -> None:
        """Run statements as a transaction of their own if the check agrees."""
        await self.begin(write=True)
        try:
            await self.bulk([check])
            await self.bulk(bulks)
            await self.commit()
        except BaseException:
            await self.rollback()
            raise

    async def listening(self, own: Callable[[], int]) -> News:
        """What this connection hears of commits that are not our own; its end is told as well."""
        if self._news is None:
            news = News(own)
            await self._do(self.connection.add_listener(self._channel, lambda *told: news.tell(told[-1])))
            # Whoever commits announces it only when somebody else has this. It is waited for until those are done who
            # saw nobody: what they have written is there for whoever looks from now on.
            await self._do(self.connection.execute(f"SELECT pg_advisory_lock_shared({self._listeners})"))
            self.connection.add_termination_listener(lambda _: news.tell(""))
            self._news = news
        return self._news

    def doubt(self) -> None:
        """Let whoever listens here look for themselves."""
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
                raise translated(error, self.where, committing=committing) from error
            finally:
                self._watch.end()
