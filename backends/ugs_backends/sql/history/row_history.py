"""How far the versions of a store reach, and how they are taken further.

Versions follow from the log alone. They are not written with the rows of the present, so that a write pays nothing for
them: whoever asks for a position beyond their end has the events in between taken in, a chunk of them per transaction.
The end is recorded in the same transaction, so work that was interrupted is resumed where it ended.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ugs.catalog import Catalog
from ugs.errors import HistoryGone, UgsError
from ugs.events import Event
from ugs.log.replay import replay_into
from ugs.reads.filters import EVERYTHING
from ugs.reads.plan import Page
from ugs.storage import EventQuery, RowVersion, Storage
from ugs.tables import Table
from ugs.values import to_text
from ugs_backends.sql.compiler.statements import Select
from ugs_backends.sql.connections.connection import DriverConnection
from ugs_backends.sql.dialect import quote_identifier
from ugs_backends.sql.history.past_session import PastContext, VersioningSession
from ugs_backends.sql.history.version_tables import FOREVER, PastCatalog, build_version_catalog, name_version_table
from ugs_backends.sql.history.version_writer import VersionWriter
from ugs_backends.sql.layout import Layout
from ugs_backends.sql.migrations.migration import write_record
from ugs_backends.sql.migrations.schema_diff import describe_catalog
from ugs_backends.sql.plans.statement_cache import StatementCache
from ugs_backends.sql.row_codec import Values, compile_maker
from ugs_backends.sql.session import SqlSession
from ugs_backends.sql.table_names import META

if TYPE_CHECKING:
    from ugs_backends.sql.storage import SqlStorage

CHUNK_EVENTS, CHUNK_BYTES = 500, 1 << 20
"""At most so many events, and about so many bytes of their data, are taken in by one transaction."""
MAX_EVENTS_AT_ONCE = 2_000
"""Up to this many events are taken in while a reader waits; more in the background, while a replay answers."""
KNOWN_SECONDS = 1.0
"""For so long the end of the versions is believed; another process may make them anew (`rebuild`)."""
REFUSED_SECONDS = 5.0
"""For so long nothing is tried again after the database refused to make versions."""
PAUSE_SECONDS = 0.01
"""Between two chunks in the background, so that writers get their turn."""
COMPARED_ROWS = 2_000
"""Versions that are read at once when they are compared with a replay."""
END_KEY, CATALOG_KEY = "history", "history_catalog"
FORGET_END = f"DELETE FROM {META} WHERE key = '{END_KEY}'"
"""The statement after which the versions are made anew when somebody asks for them."""

Progress = Callable[[int, int], None]


class End(Struct, frozen=True):
    """The last position whose versions are stored, and the checksum of its event, which tells logs apart."""

    position: int
    crc: str = ""

    def as_text(self) -> str:
        return f"{self.position} {self.crc}"

    @classmethod
    def parse(cls, text: str) -> End:
        position, _, crc = text.partition(" ")
        return cls(int(position), crc)


class RowHistory:
    """The versions of one store's rows."""

    def __init__(self, storage: SqlStorage, catalog: Catalog) -> None:
        dialect = storage.dialect
        self._storage, self._dialect = storage, dialect
        self._stored = build_version_catalog(catalog)
        self.context = PastContext(PastCatalog(catalog), dialect)
        self._catalog = catalog
        self._layout = Layout(self._stored, dialect)
        self._writers = {table.name: VersionWriter(dialect, table) for table in catalog if table.versioned}
        self._lock = asyncio.Lock()
        self._end, self._known_until, self._refused_until = -1, 0.0, 0.0
        self._json_queries: StatementCache | None = None
        self._background: asyncio.Task[None] | None = None

    @property
    def json_queries(self) -> StatementCache:
        """The cache of rendering statements for all positions."""
        if self._json_queries is None or self._json_queries.pool is not self._storage.pool:
            self._json_queries = StatementCache(self.context, self._storage.pool, self._storage.writing)
        return self._json_queries

    def list_tables(self) -> list[str]:
        """The names of all tables of versions, with their side tables."""
        return [name for table in self._stored for name in (table.name, *self._layout.sides(table))]

    # ── how far the versions reach ───────────────────────────────────────────

    async def find_end(self) -> int | None:
        """The last position whose versions are stored; None where there are none yet."""
        link = await self._storage.pool.acquire()
        try:
            end = await self._read_end(link)
        finally:
            self._storage.pool.release(link)
        self._note_end(end)
        return None if end is None else end.position

    async def _read_end(self, link: DriverConnection) -> End | None:
        record = await self._read_record(link)
        if END_KEY not in record or record.get(CATALOG_KEY) != self._describe():
            return None
        end = End.parse(record[END_KEY])
        event = await self._read_event(link, end.position)
        return end if end.position == 0 or (event is not None and (event.crc or "") == end.crc) else None

    async def _read_record(self, link: DriverConnection) -> dict[str, str]:
        rows = await link.rows(f"SELECT key, value FROM {META} WHERE key IN ('{END_KEY}', '{CATALOG_KEY}')")
        return {key: value for key, value in rows}

    async def _read_event(self, link: DriverConnection, position: int) -> Event | None:
        if position <= 0:
            return None
        events = await SqlSession(link, self._storage.shape).events(EventQuery(after=position - 1, until=position))
        return events[0] if events else None

    def _note_end(self, end: End | None) -> None:
        self._end, self._known_until = -1 if end is None else end.position, monotonic() + KNOWN_SECONDS

    def forget_end(self) -> None:
        """Read the end anew before the next answer, because the log was emptied."""
        self._end, self._known_until = -1, 0.0

    def _describe(self) -> str:
        return to_text(describe_catalog(self._stored, self._layout))

    async def reaches(self, position: int) -> bool:
        """Whether the versions answer for a position; takes in the events up to it, or begins to if they are many."""
        if self._end >= position and monotonic() < self._known_until:
            return True
        if monotonic() < self._refused_until:
            return False
        try:
            end = await self.find_end()
            if end is not None and end >= position:
                return True
            if position - (end or 0) <= MAX_EVENTS_AT_ONCE:
                await self.take_in(position)
                return True
        except UgsError:
            # The tables cannot be made or are busy, or the log does not begin at its beginning.
            self._refused_until = monotonic() + REFUSED_SECONDS
            return False
        if self._background is None or self._background.done():
            self._background = asyncio.create_task(self._take_in_all())
        return False

    # ── taking events in ─────────────────────────────────────────────────────

    async def take_in(self, until: int, progress: Progress | None = None, pause: float = 0.0) -> None:
        """Make the versions of all events up to a position at least."""
        async with self._lock:
            end = -1
            while end < until:
                end = await self._take_chunk(until)
                if progress is not None:
                    progress(min(end, until), until)
                if pause:
                    await asyncio.sleep(pause)

    async def _take_in_all(self) -> None:
        with suppress(UgsError):
            async with self._storage.session() as session:
                head = await session.head()
            await self.take_in(head.position, pause=PAUSE_SECONDS)

    async def _take_chunk(self, until: int) -> int:
        """Take in the next events; returns the position reached."""
        async with self._storage.history_session() as current:
            link = current.link
            end = await self._read_end(link)
            if end is None:
                await self._create(link)
                end = End(0)
            if end.position < until:
                query = EventQuery(after=end.position, limit=CHUNK_EVENTS, max_bytes=CHUNK_BYTES)
                events = await current.events(query)
                if not events or events[0].position != end.position + 1:
                    raise HistoryGone(end.position + 1, events[0].position if events else None)
                session = VersioningSession(link, self.context, end.position, self._writers)
                await replay_into(session, self._catalog, events)
                end = End(events[-1].position, events[-1].crc or "")
                await write_record(link, self._storage.shape, END_KEY, end.as_text())
        self._note_end(end)
        return end.position

    async def _create(self, link: DriverConnection) -> None:
        """Create the tables empty, in place of any that do not belong to this catalog or log."""
        existing = {row[0] for row in await link.rows(self._dialect.table_names())}
        if (await self._read_record(link)).get(CATALOG_KEY) == self._describe():
            await link.run(*self._dialect.empty(self.list_tables()))
        else:
            for table in self._stored:
                drops = [text for index in self._layout.substrings(table).values() for text in index.drop]
                names = [name for name in (*self._layout.sides(table), table.name) if name in existing]
                for statement in (*drops, *(f"DROP TABLE {quote_identifier(name)}" for name in names)):
                    await link.run(statement)
                for statement in self._layout.table(table):
                    await link.run(statement)
        await write_record(link, self._storage.shape, CATALOG_KEY, self._describe())
        await write_record(link, self._storage.shape, END_KEY, End(0).as_text())

    async def rebuild(self, progress: Progress | None = None) -> int:
        """Take in what is missing up to the end of the log, or everything anew if nothing is; the position reached."""
        async with self._storage.session() as session:
            head = (await session.head()).position
        if await self.find_end() == head:
            async with self._storage.history_session() as session:
                await session.link.run(FORGET_END)
            # Until then other processes may believe what they read of the end; only then the tables are emptied.
            await asyncio.sleep(2 * KNOWN_SECONDS)
        await self.take_in(head, progress, pause=PAUSE_SECONDS)
        return head

    # ── comparing ────────────────────────────────────────────────────────────

    async def compare(self, replica: Storage, until: int) -> list[str]:
        """Which tables have other versions than a store into which the log was replayed, up to a position."""
        end = await self.find_end()
        if end is None:
            return []
        until, problems = min(end, until), []
        for table in self._catalog:
            if table.versioned and (expected := await replica.versions_by_key(table, until)) is not None:
                place = await self._find_difference(table, until, expected)
                if place is not None:
                    problems.append(f"the versions of {table.name} differ from those of a replay at position {place}")
        return problems

    async def _find_difference(self, table: Table, until: int, expected: dict[Any, list[RowVersion]]) -> int | None:
        """The first position at which a version differs from those expected, which are used up."""
        places: list[int] = []
        async for key, stored in self._versions_by_key(table, until):
            theirs = _merge_equal(expected.pop(key, []))
            if (ours := _merge_equal(stored)) != theirs:
                places.append(min(version.since for version in {*map(_comparable, ours)} ^ {*map(_comparable, theirs)}))
        places += [version.since for chain in expected.values() for version in chain]
        return min(places, default=None)

    async def _versions_by_key(self, table: Table, until: int) -> AsyncIterator[tuple[Any, list[RowVersion]]]:
        """The stored versions of each key that began up to a position."""
        read, page = _read_versions(table), Page(COMPARED_ROWS)
        stored = self._stored[name_version_table(table)]
        key: Any = None
        chain: list[RowVersion] = []
        while True:
            link = await self._storage.pool.acquire()
            try:
                select = Select(self._stored, self._dialect)
                records = await link.rows(*select.fetch(stored, EVERYTHING, (), page))
            finally:
                self._storage.pool.release(link)
            for record in records:
                version = read(record)
                if version.since > until:
                    continue
                if chain and table.key_of(version.row) != key:
                    yield key, chain
                    chain = []
                key = table.key_of(version.row)
                open_then = version.until is None or version.until > until
                chain.append(version._replace(until=None) if open_then else version)
            if len(records) < COMPARED_ROWS:
                break
            last = read(records[-1])
            keys = table.key_of(last.row) if len(table.key) > 1 else (table.key_of(last.row),)
            page = Page(COMPARED_ROWS, after=(*keys, last.since))
        if chain:
            yield key, chain

    async def close(self) -> None:
        if self._background is not None:
            self._background.cancel()
            with suppress(asyncio.CancelledError):
                await self._background


def _read_versions(table: Table) -> Callable[[Values], RowVersion]:
    """The function that reads a record of a table of versions."""
    read = compile_maker(table, tuple(range(len(table.fields))))
    return lambda record: RowVersion(record[-2], None if record[-1] == FOREVER else record[-1], read(record))


def _merge_equal(chain: Sequence[RowVersion]) -> list[RowVersion]:
    """Versions without those that only repeat the one before."""
    merged: list[RowVersion] = []
    for version in chain:
        if merged and merged[-1].until == version.since and merged[-1].row == version.row:
            merged[-1] = merged[-1]._replace(until=version.until)
        else:
            merged.append(version)
    return merged


def _comparable(version: RowVersion) -> RowVersion:
    return version._replace(row=repr(version.row))
