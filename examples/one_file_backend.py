"""A complete backend in one file: the log and the rows of every table in a `dbm` file of the standard library.

It knows nothing of nodes, edges or whatever else is stored: it keeps tables from a catalog and answers `fetch`.
Everything it leaves out (nested reads, counting, search, paths, time travel, copying) comes from `ugs` by default.

The whole state is held in dictionaries that are never changed once they are visible: a writer copies the tables it
changes, and a reader keeps what was there when it began. That is a transaction in its simplest form. On disk a commit
first writes down what it is about to do, so that one cut short is done again when the file is next opened.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
from base64 import b64decode
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dbm import dumb
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import msgspec

from ugs import Capabilities, EventQuery, Session, Storage
from ugs.catalog import Catalog
from ugs.changes import Writes
from ugs.errors import (
    Conflict,
    InvalidSyntax,
    OutcomeUnknown,
    StorageIOError,
    StoreLocked,
    Unavailable,
    UniqueViolation,
)
from ugs.events import EMPTY_LOG, Event, Head
from ugs.reads.filters import EVERYTHING, All, Any_, Linked, Not, Where, in_, matcher
from ugs.reads.plan import WHOLE, Order, Page, paged
from ugs.tables import Kind, Row, Table

REDO = b"redo"
Tables = Mapping[str, Mapping[Any, Row]]
"""Rows by key, by the name of their table."""


def open_dbm(url: str) -> DbmStorage:
    """What the entry point `dbm` names: a store for `dbm:path`, not opened yet."""
    path = url.partition(":")[2].partition("?")[0].removeprefix("//")
    if not path:
        raise InvalidSyntax(f"{url!r} names no file: write dbm:./graph or dbm:///absolute/path")
    return DbmStorage(Path(unquote(path)))


class DbmStorage(Storage):
    """Opens the file, hands out sessions, writes what they changed."""

    scheme = "dbm"
    capabilities = Capabilities(durable=True)

    def __init__(self, path: Path) -> None:
        self.path = path
        self.writer = asyncio.Lock()
        self.file: Any = None
        self.lock: int | None = None
        self.log: tuple[Event, ...] = ()
        self.tables: Tables = {}

    async def open(self, catalog: Catalog) -> None:
        self.catalog = catalog
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._lock()
            self.file = dumb.open(str(self.path), "c")  # noqa: SIM115 (closed by `close`)
            if REDO in self.file:
                self._do(msgspec.json.decode(self.file[REDO], type=dict[str, str | None]))
            self._load()
        except (OSError, ValueError, SyntaxError, msgspec.MsgspecError) as error:
            await self.close()
            raise StorageIOError(f"Cannot open {self.path}: {error}") from error

    def _lock(self) -> None:
        """One process at a time; the operating system frees the lock when the process ends, however it ends."""
        self.lock = os.open(f"{self.path}.lock", os.O_RDWR | os.O_CREAT)
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            self._unlock()
            raise StoreLocked(f"{self.path} is in use by another process. Stop it, or choose another file.") from error

    def _unlock(self) -> None:
        if self.lock is not None:
            os.close(self.lock)
            self.lock = None

    def _load(self) -> None:
        tables: dict[str, dict[Any, Row]] = {table.name: {} for table in self.catalog}
        events = []
        for name in self.file.keys():  # noqa: SIM118 (a dbm file is not a dict)
            kind, _, rest = name.decode().partition("/")
            if kind == "event":
                events.append(msgspec.json.decode(self.file[name], type=Event))
            elif kind == "row" and (table := self.catalog.tables.get(rest.partition("/")[0])):
                row = row_from(table, msgspec.json.decode(self.file[name]))
                tables[table.name][table.key_of(row)] = row
        self.tables, self.log = tables, tuple(sorted(events, key=lambda event: event.position))

    async def close(self) -> None:
        if self.file is not None:
            self.file.close()
            self.file = None
        self._unlock()

    @asynccontextmanager
    async def session(self, *, write: bool = False) -> AsyncIterator[Session]:
        if self.file is None:
            raise Unavailable(f"{self.path} is closed; open the store again")
        if not write:
            yield DbmSession(self)
            return
        async with self.writer:
            session = DbmSession(self)
            yield session  # an exception in here leaves everything as it was
            await self._commit(session)

    async def _commit(self, session: DbmSession) -> None:
        if not session.changed:
            return
        try:
            await asyncio.to_thread(self._write, session.changed)
        except OSError as error:
            # It may or may not have reached the disk. Nothing is answered any more until the file is read again.
            self.file = None
            raise OutcomeUnknown(f"Writing {self.path} failed: {error}. Open the store again.") from error
        self.log, self.tables = session.log, session.tables

    def _write(self, changed: Mapping[str, str | None]) -> None:
        """Write down what will be done, then do it. `dbm` itself promises nothing about crashes."""
        self.file[REDO] = msgspec.json.encode(changed)
        self._sync()
        self._do(changed)

    def _do(self, changed: Mapping[str, str | None]) -> None:
        for name, value in changed.items():
            if value is not None:
                self.file[name] = value
            elif name.encode() in self.file:
                del self.file[name]
        self._sync()
        del self.file[REDO]
        self._sync()

    def _sync(self) -> None:
        self.file.sync()
        for suffix in (".dat", ".dir"):
            with open(f"{self.path}{suffix}", "rb") as part:
                os.fsync(part.fileno())

    async def wipe(self) -> None:
        self.file.close()
        self.file = dumb.open(str(self.path), "n")  # noqa: SIM115
        self._load()

    def describe(self) -> str:
        return f"dbm file {self.path}"


class DbmSession(Session):
    """One transaction: a view of the state when it began, and what was changed since."""

    def __init__(self, storage: DbmStorage) -> None:
        self.catalog = storage.catalog
        self.log = storage.log
        self.tables = dict(storage.tables)
        self.changed: dict[str, str | None] = {}
        """What to write to the file on commit; None removes."""

    async def fetch(
        self, table: Table, where: Where = EVERYTHING, order: Sequence[Order] = (), page: Page = WHOLE
    ) -> list[Row]:
        return paged(self._rows(table, where), table, tuple(order), page)

    def _rows(self, table: Table, where: Where) -> list[Row]:
        meets = matcher(self._without_links(table, where), table.words)
        return [row for row in self.tables[table.name].values() if meets(row)]

    def _without_links(self, table: Table, where: Where) -> Where:
        """The condition with "has related rows that …" replaced by "is one of these"."""
        if isinstance(where, Linked):
            relation = table.relations[where.relation]
            others = self._rows(self.catalog.target(relation), where.where)
            return in_(relation.local, {getattr(row, relation.remote) for row in others} - {None})
        if isinstance(where, Not):
            return Not(self._without_links(table, where.part))
        if isinstance(where, All | Any_):
            return type(where)(tuple(self._without_links(table, part) for part in where.parts))
        return where

    async def events(self, query: EventQuery) -> list[Event]:
        events = self.log[max(query.after, 0) : query.until]
        return query.select(events[::-1] if query.newest else events)

    async def head(self) -> Head:
        if not self.log:
            return EMPTY_LOG
        crc = next((event.crc for event in reversed(self.log) if event.crc), EMPTY_LOG.crc)
        return Head(len(self.log), self.log[-1].timestamp, crc)

    async def append(self, events: Sequence[Event], writes: Writes) -> None:
        for position, event in enumerate(events, len(self.log) + 1):
            if event.position != position:
                raise Conflict(f"The log continues at position {position}, not {event.position}")
            self.changed[f"event/{position}"] = text(event)
        self.log = (*self.log, *events)
        for table, change in writes.items():
            self._change(table, change.deletes, [*change.updates, *change.inserts])

    def _change(self, table: Table, deletes: Iterable[Any], puts: Iterable[Row]) -> None:
        rows = dict(self.tables[table.name])
        for key in deletes:
            rows.pop(key, None)
            self.changed[name_of(table, key)] = None
        for row in puts:
            rows[table.key_of(row)] = row
            self.changed[name_of(table, table.key_of(row))] = text(msgspec.structs.astuple(row))
        check_unique(table, rows.values())
        self.tables[table.name] = rows

    async def clear(self, tables: Iterable[Table]) -> None:
        for table in tables:
            self._change(table, list(self.tables[table.name]), ())


def check_unique(table: Table, rows: Iterable[Row]) -> None:
    """Refuse two rows that agree where a rule says they must not; nothing agrees with a missing value."""
    for rule in table.unique:
        meets, taken = matcher(rule.when, table.words), set()
        for row in rows:
            values = tuple(getattr(row, field) for field in rule.fields)
            if None in values or not meets(row):
                continue
            if values in taken:
                raise UniqueViolation(rule.name)
            taken.add(values)


def name_of(table: Table, key: Any) -> str:
    """Under which name a row stands in the file."""
    return f"row/{table.name}/{text(key)}"


def row_from(table: Table, values: list[Any]) -> Row:
    """The row behind stored values. JSON knows no bytes, so vectors stand there in base64."""
    pairs = zip(table.fields, values, strict=True)
    return table.row(*(b64decode(value) if field.kind is Kind.VECTOR else value for field, value in pairs))


def text(value: Any) -> str:
    return msgspec.json.encode(value).decode()
