"""A connection to an SQLite file, with its own thread that runs whole units of work.

A hop to the thread costs more than most statements. So BEGIN is sent with the first statement, all bulk statements
share one hop (with the commit, if they are last), and the end of a read transaction is not awaited. Short reads run
without the thread (`inline_execution`).
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import aiosqlite

from ugs.errors import UgsError, Unavailable
from ugs_backends.sql.connections.connection import DriverConnection
from ugs_backends.sql.row_codec import Values
from ugs_backends.sql.sqlite.errors import translate_error
from ugs_backends.sql.sqlite.exact_sum import add_exact_sum
from ugs_backends.sql.sqlite.inline_execution import InlineExecution
from ugs_backends.sql.sqlite.vector_extension import find_extension, load_extension
from ugs_backends.sql.write.bulk_writes import BulkStatement

T = TypeVar("T")
BUSY_SECONDS = 5.0
RETRY_PAUSE_SECONDS = 0.01
STATEMENT_CACHE_SIZE = 512
MAX_TEXT_BYTES = 1_000_000_000
"""SQLite's own limit of the length of a text."""


class Thread(aiosqlite.Connection):
    """An aiosqlite connection that runs arbitrary functions in its thread."""

    @property
    def raw(self) -> sqlite3.Connection:
        """The sqlite3 connection; raises `Unavailable` when it is closed or closing."""
        if self._connection is None or not self._running:
            raise Unavailable("The store is closed; open it first")
        return self._connection

    submitted = done = 0
    """Number of jobs submitted to the thread, and finished by it."""

    async def run(self, work: Callable[[], T]) -> T:
        """Run a job in the thread and wait for its result."""
        self.submitted += 1
        done: T = await self._execute(self._counted, work)  # type: ignore[no-untyped-call]
        return done

    def enqueue(self, work: Callable[[], None]) -> None:
        """Queue a job in the thread without waiting for it."""
        self.submitted += 1
        self._tx.put_nowait((None, partial(self._counted, work)))

    def _counted(self, work: Callable[[], T]) -> T:
        try:
            return work()
        finally:
            self.done += 1

    @property
    def is_idle(self) -> bool:
        """Whether the thread is idle, so that the connection may be used from the event loop."""
        return self.submitted == self.done and self._connection is not None


def create_thread(path: Path, pragmas: Sequence[str]) -> Thread:
    """An unopened connection to the file; awaiting it opens it."""
    thread = Thread(partial(_connect, path, pragmas), iter_chunk_size=64)
    thread._thread.daemon = True  # must not block the interpreter's exit
    return thread


async def start_thread(thread: Thread) -> Thread:
    """Open the connection; on failure its thread is joined."""
    try:
        await thread
    except BaseException:
        await asyncio.to_thread(thread._thread.join, 1.0)
        raise
    return thread


def _connect(path: Path, pragmas: Sequence[str]) -> sqlite3.Connection:
    _create_private(path)
    connection = sqlite3.connect(
        path,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=STATEMENT_CACHE_SIZE,
    )
    try:
        for pragma in pragmas:
            _set(connection, pragma)
        add_exact_sum(connection)
        if (vectors := find_extension()) is not None:
            load_extension(connection, vectors)
    except BaseException:
        connection.close()
        raise
    return connection


def _create_private(path: Path) -> None:
    """Create a new database file with mode 0600; SQLite gives its -wal and -shm files the same mode."""
    with suppress(OSError):  # it exists already, or SQLite reports the error better
        os.close(os.open(os.path.realpath(path), os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))


def _set(connection: sqlite3.Connection, pragma: str) -> None:
    """Set a pragma with retries: SQLite's busy timeout does not cover concurrent switches of a new file to WAL."""
    retry_while_locked(lambda: connection.execute(f"PRAGMA {pragma}").fetchall())


def retry_while_locked(work: Callable[[], T]) -> T:
    """Retry while another connection locks the file, up to `BUSY_SECONDS`."""
    until = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            return work()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(RETRY_PAUSE_SECONDS)


class SqliteLink(DriverConnection):
    """A connection in use by sessions."""

    def __init__(self, thread: Thread, path: Path) -> None:
        self.thread = thread
        self.path = path
        self._pending: str | None = None
        """The BEGIN that is sent with the next statement."""
        self._writing = False
        self.gathers = False
        """Whether bulk statements are deferred and sent together with the commit."""
        self._gathered: list[BulkStatement] = []
        self._shortcut = InlineExecution()

    async def begin(self, *, write: bool) -> None:
        self._writing, self.gathers, self._gathered = write, False, []
        self._pending = "BEGIN IMMEDIATE" if write else "BEGIN"

    async def commit(self) -> None:
        first, bulks, self._gathered = self._begun(), self._gathered, []
        if bulks or first is None:
            await self._do(partial(_finish, self.thread.raw, first, bulks), committing=self._writing)

    def _begun(self) -> str | None:
        """Take the BEGIN that is still to be sent."""
        first, self._pending = self._pending, None
        return first

    async def rollback(self) -> None:
        if self._pending is None and self.is_usable:
            if not self._writing and self.thread.is_idle:
                _roll_back(self.thread.raw)
            else:
                self.thread.enqueue(partial(_roll_back, self.thread.raw))
        self._pending = None

    async def rows(self, text: str, values: Sequence[Any] = ()) -> Sequence[Values]:
        self.statements += 1
        first = self._begun()
        if not self._writing and self.thread.is_idle and self._shortcut.is_eligible(text):
            found = self._at_once(first, text, values)
            if found is not None:
                return found
            first = None
        return await self._do(partial(_fetch, self.thread.raw, first, text, values))

    async def text(self, text: str, values: Sequence[Any], max_bytes: int) -> Any:
        """As `rows`; SQLite works in this process, so it stops as soon as the text becomes too long."""
        raw = self.thread.raw
        self.statements += 1
        first, most = self._begun(), min(max_bytes, MAX_TEXT_BYTES)
        try:
            if self.thread.is_idle and self._shortcut.is_eligible(text):
                with limit_length(raw, most):
                    found = self._at_once(first, text, values)
                if found is not None:
                    return found[0][0]
                first = None
            return (await self._do(partial(_fetch_within, raw, first, text, values, most)))[0][0]
        except UgsError as error:
            if isinstance(error.__cause__, sqlite3.Error) and _is_too_long(error.__cause__):
                return None
            raise

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
            raise translate_error(error, self.path) from error

    async def run(self, *texts: str) -> None:
        self.statements += len(texts)
        await self._do(partial(_run_all, self.thread.raw, self._begun(), texts))

    async def bulk(self, bulks: Sequence[BulkStatement]) -> None:
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
            return await self.thread.run(work)
        except sqlite3.Error as error:
            raise translate_error(error, self.path, committing=committing) from error
        except asyncio.CancelledError:
            # The result is not needed any more; the thread must not work on it for minutes.
            with suppress(Unavailable):
                self.thread.raw.interrupt()
            raise


@contextmanager
def limit_length(connection: sqlite3.Connection, max_bytes: int) -> Iterator[None]:
    """Let no text or row of a statement become longer than this."""
    before = connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, max_bytes)
    try:
        yield
    finally:
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, before)


def _is_too_long(error: sqlite3.Error) -> bool:
    return getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_TOOBIG


def _fetch_within(
    connection: sqlite3.Connection, first: str | None, text: str, values: Sequence[Any], max_bytes: int
) -> Sequence[Values]:
    with limit_length(connection, max_bytes):
        return _fetch(connection, first, text, values)


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
    return retry_while_locked(lambda: connection.execute(text, values).fetchall())


def _fetch_all(
    connection: sqlite3.Connection, first: str | None, bounds: Sequence[tuple[str, Sequence[Any]]]
) -> list[Sequence[Values]]:
    if first is not None:
        connection.execute(first)
    return [_fetch(connection, None, text, values) for text, values in bounds]


def _finish(connection: sqlite3.Connection, first: str | None, bulks: Sequence[BulkStatement]) -> None:
    _execute_bulks(connection, first, bulks)
    connection.commit()


def _execute_bulks(connection: sqlite3.Connection, first: str | None, bulks: Sequence[BulkStatement]) -> None:
    if first is not None:
        connection.execute(first)
    for bulk in bulks:
        connection.executemany(bulk.text, bulk.rows)
