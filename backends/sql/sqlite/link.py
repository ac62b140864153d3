"""One connection to an SQLite file: a thread of its own, to which whole pieces of work are handed.

A hop to the thread costs more than most statements, so a transaction starts in the same hop as its first statement,
all bulk statements share one, where they are the last with the end of the transaction, and a read transaction ends
without anybody waiting for it. Short statements that read do not go there at all.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import aiosqlite

from backends.sql.link import Link
from backends.sql.rows import Values
from backends.sql.sqlite.errors import translated
from backends.sql.sqlite.shortcut import Shortcut
from backends.sql.sqlite.vectors import extension, load
from backends.sql.writes import Bulk
from ugs.errors import Unavailable

T = TypeVar("T")
BUSY_SECONDS = 5.0
PAUSE = 0.01
STATEMENTS_KEPT = 512


class Thread(aiosqlite.Connection):
    """An aiosqlite connection that also runs a function of ours in its thread."""

    @property
    def raw(self) -> sqlite3.Connection:
        """The connection itself; one that was closed, or is being closed, is no bug of whoever waits on it."""
        if self._connection is None or not self._running:
            raise Unavailable("The store is closed; open it first")
        return self._connection

    given = done = 0
    """Pieces of work that the thread was given, and those it has finished with."""

    async def hand_over(self, work: Callable[[], T]) -> T:
        """Run the work in the thread and wait for its result."""
        self.given += 1
        done: T = await self._execute(self._counted, work)  # type: ignore[no-untyped-call]
        return done

    def leave(self, work: Callable[[], None]) -> None:
        """Run the work in the thread after everything before it, and wait for nothing."""
        self.given += 1
        self._tx.put_nowait((None, partial(self._counted, work)))

    def _counted(self, work: Callable[[], T]) -> T:
        try:
            return work()
        finally:
            self.done += 1

    @property
    def rests(self) -> bool:
        """Whether the thread has nothing to do, so that the connection may be used without it."""
        return self.given == self.done and self._connection is not None


def thread_for(path: Path, pragmas: Sequence[str]) -> Thread:
    """A connection to the file that has not been made yet; awaiting it makes it."""
    thread = Thread(partial(_connect, path, pragmas), iter_chunk_size=64)
    thread._thread.daemon = True  # an interpreter that ends must not wait for it
    return thread


async def started(thread: Thread) -> Thread:
    """The connection, made; where that fails, its thread has ended."""
    try:
        await thread
    except BaseException:
        await asyncio.to_thread(thread._thread.join, 1.0)
        raise
    return thread


def _connect(path: Path, pragmas: Sequence[str]) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=STATEMENTS_KEPT,
    )
    try:
        for pragma in pragmas:
            _set(connection, pragma)
        if (vectors := extension()) is not None:
            load(connection, vectors)
    except BaseException:
        connection.close()
        raise
    return connection


def _set(connection: sqlite3.Connection, pragma: str) -> None:
    """Set a pragma; SQLite itself does not wait where several want to make a new file a WAL one at the same time."""
    patiently(lambda: connection.execute(f"PRAGMA {pragma}").fetchall())


def patiently(work: Callable[[], T]) -> T:
    """Do something again for as long as others lock the file, within reason."""
    until = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            return work()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(PAUSE)


class SqliteLink(Link):
    """A connection in use by sessions."""

    def __init__(self, thread: Thread, path: Path) -> None:
        self.thread = thread
        self.path = path
        self._pending: str | None = None
        """The BEGIN that the next statement takes along."""
        self._writing = False
        self.gathers = False
        """Whether bulk statements wait for the end of the running transaction, which then takes them along."""
        self._gathered: list[Bulk] = []
        self._shortcut = Shortcut()

    async def begin(self, *, write: bool) -> None:
        self._writing, self.gathers, self._gathered = write, False, []
        self._pending = "BEGIN IMMEDIATE" if write else "BEGIN"

    async def commit(self) -> None:
        first, bulks, self._gathered = self._begun(), self._gathered, []
        if bulks or first is None:
            await self._do(partial(_finish, self.thread.raw, first, bulks), committing=self._writing)

    def _begun(self) -> str | None:
        """The BEGIN that is still to be sent, to whoever sends it now."""
        first, self._pending = self._pending, None
        return first

    async def rollback(self) -> None:
        if self._pending is None and self.is_usable:
            if not self._writing and self.thread.rests:
                _roll_back(self.thread.raw)
            else:
                self.thread.leave(partial(_roll_back, self.thread.raw))
        self._pending = None

    async def rows(self, text: str, values: Sequence[Any] = ()) -> Sequence[Values]:
        self.statements += 1
        first = self._begun()
        if not self._writing and self.thread.rests and self._shortcut.takes(text):
            found = self._at_once(first, text, values)
            if found is not None:
                return found
            first = None
        return await self._do(partial(_fetch, self.thread.raw, first, text, values))

    async def several(self, bounds: Sequence[tuple[str, Sequence[Any]]]) -> list[Sequence[Values]]:
        if not self._writing:
            return await super().several(bounds)
        self.statements += len(bounds)
        return await self._do(partial(_fetch_all, self.thread.raw, self._begun(), bounds))

    def _at_once(self, first: str | None, text: str, values: Sequence[Any]) -> Sequence[Values] | None:
        try:
            if first is not None:
                self.thread.raw.execute(first)
            return self._shortcut.rows(self.thread.raw, text, values)
        except sqlite3.Error as error:
            raise translated(error, self.path) from error

    async def run(self, *texts: str) -> None:
        self.statements += len(texts)
        await self._do(partial(_run_all, self.thread.raw, self._begun(), texts))

    async def bulk(self, bulks: Sequence[Bulk]) -> None:
        self.statements += len(bulks)
        if self.gathers:
            self._gathered += bulks
            return
        await self._do(partial(_execute_bulks, self.thread.raw, self._begun(), bulks))

    async def close(self) -> None:
        await self.thread.close()

    def terminate(self) -> None:
        if self.is_usable:
            self.thread.raw.interrupt()
            self.thread.stop()

    @property
    def is_usable(self) -> bool:
        return self.thread._running

    async def _do(self, work: Callable[[], T], *, committing: bool = False) -> T:
        try:
            return await self.thread.hand_over(work)
        except sqlite3.Error as error:
            raise translated(error, self.path, committing=committing) from error
        except asyncio.CancelledError:
            # Nobody waits for the answer any more; the thread should not work on it for minutes.
            with suppress(Unavailable):
                self.thread.raw.interrupt()
            raise


def _run_all(connection: sqlite3.Connection, first: str | None, texts: Sequence[str]) -> None:
    for text in texts:
        _fetch(connection, first, text, ())
        first = None


def _roll_back(connection: sqlite3.Connection) -> None:
    if connection.in_transaction:
        connection.rollback()


def _fetch(connection: sqlite3.Connection, first: str | None, text: str, values: Sequence[Any]) -> Sequence[Values]:
    if first is not None:
        connection.execute(first)
    return patiently(lambda: connection.execute(text, values).fetchall())


def _fetch_all(
    connection: sqlite3.Connection, first: str | None, bounds: Sequence[tuple[str, Sequence[Any]]]
) -> list[Sequence[Values]]:
    if first is not None:
        connection.execute(first)
    return [_fetch(connection, None, text, values) for text, values in bounds]


def _finish(connection: sqlite3.Connection, first: str | None, bulks: Sequence[Bulk]) -> None:
    _execute_bulks(connection, first, bulks)
    connection.commit()


def _execute_bulks(connection: sqlite3.Connection, first: str | None, bulks: Sequence[Bulk]) -> None:
    if first is not None:
        connection.execute(first)
    for bulk in bulks:
        connection.executemany(bulk.text, bulk.rows)
