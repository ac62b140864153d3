"""A session on a connection: implements the required part of the port with SQL statements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from weakref import WeakKeyDictionary

from ugs.catalog import Catalog
from ugs.changes import Writes
from ugs.events import EMPTY_LOG, Event, Head
from ugs.reads.filters import EVERYTHING, Where
from ugs.reads.pattern import PreparedPattern
from ugs.reads.plan import WHOLE, Order, Page
from ugs.storage import EventQuery, Session
from ugs.tables import Row, Table
from ugs_backends.sql.compiler.access_path import rewrite_filter
from ugs_backends.sql.compiler.conditions import Place
from ugs_backends.sql.compiler.json_key_prefilter import resolve_undecidable
from ugs_backends.sql.compiler.log_queries import build_event_query
from ugs_backends.sql.compiler.statements import BoundStatement, Select, list_columns
from ugs_backends.sql.connections.connection import DriverConnection
from ugs_backends.sql.dialect import Dialect, quote_identifier
from ugs_backends.sql.layout import Layout
from ugs_backends.sql.patterns.pattern_cache import CompiledPattern, compile_pattern
from ugs_backends.sql.row_codec import Values, decode_event, decode_head, get_reader
from ugs_backends.sql.write.bulk_writes import Writer

LAST_EVENT = "SELECT position, timestamp, crc FROM events ORDER BY position DESC LIMIT 1"


class StoreContext:
    """What a store derives from its catalog once: writers, layout, row readers, prepared statements."""

    def __init__(self, catalog: Catalog, dialect: Dialect, *, for_reading: bool = False) -> None:
        self.catalog = catalog
        self.dialect = dialect
        self.writer = Writer(dialect, () if for_reading else catalog)
        self.layout = Layout(catalog, dialect)
        self.readers = {table.name: get_reader(table) for table in catalog}
        self.formatted = {
            table.name for table in catalog if any(dialect.column_type(field) is field.format for field in table.fields)
        }
        """The tables with columns whose type is that of a format."""
        self.finders = {table.name: _build_finder(table, dialect) for table in catalog}
        self._written: WeakKeyDictionary[PreparedPattern, CompiledPattern | None] = WeakKeyDictionary()
        self.counted: dict[str, tuple[int, int]] = {}
        """Cached row counts of whole tables: the position of the log at the count, and the count."""

    def select(self) -> Select:
        return Select(self.catalog, self.dialect)

    def reader(self, table: Table) -> Callable[[Sequence[Values]], list[Row]]:
        """The function that converts records to rows of a table."""
        return get_reader(table) if table.counted else self.readers[table.name]

    def get_pattern(self, question: PreparedPattern) -> CompiledPattern | None:
        """The statement of a prepared pattern, compiled on first use; None if it has none."""
        try:
            return self._written[question]
        except KeyError:
            found = self._written[question] = compile_pattern(self.catalog, self.dialect, question.pattern)
            return found


def _build_finder(table: Table, dialect: Dialect) -> str:
    """The statement that looks up a row by key."""
    place = Place(table, "t")
    same = " AND ".join(
        f"{place.column(name)} = {dialect.placeholder(number)}" for number, name in enumerate(table.key, 1)
    )
    return f"SELECT {list_columns(dialect, place)} FROM {quote_identifier(table.name)} t WHERE {same}"


class SqlSession(Session):
    """The required part of the port; `native_session.NativeSession` pushes the rest down to the database."""

    counted: dict[str, tuple[int, int]] | None = None
    """The cache of row counts; only in read sessions, since a write session may be rolled back."""

    appended_until = 0
    """The position of the last event that was appended here."""

    def __init__(self, link: DriverConnection, shape: StoreContext) -> None:
        self.link = link
        self.shape = shape

    async def fetch(
        self, table: Table, where: Where = EVERYTHING, order: Sequence[Order] = (), page: Page = WHOLE
    ) -> list[Row]:
        where = await rewrite_filter(self, table, await resolve_undecidable(self, table, where), page.limit)
        records = await self.rows(self.shape.select().fetch(table, where, order, page))
        rows = self.shape.reader(table)(records)
        return rows[::-1] if page.backward else rows

    async def events(self, query: EventQuery) -> list[Event]:
        return [decode_event(values) for values in await self.rows(build_event_query(self.shape.dialect, query))]

    async def head(self) -> Head:
        last = await self.link.rows(LAST_EVENT)
        return decode_head(last[0]) if last else EMPTY_LOG

    async def append(self, events: Sequence[Event], writes: Writes) -> None:
        await self._fetch_previous(writes)
        if events:
            self.appended_until = events[-1].position
        await self.link.bulk(self.shape.writer.bulks(events, writes))

    async def _fetch_previous(self, writes: Writes) -> None:
        """Fetch the previous rows that the caller did not supply: their words and properties must be deleted."""
        for table, changed in writes.items():
            keys = [*changed.deletes, *(table.key_of(row) for row in changed.updates)]
            missing = [key for key in keys if key not in changed.before]
            if missing:
                for row in await self.find_many(table, missing):
                    changed.before[table.key_of(row)] = row

    async def clear(self, tables: Iterable[Table]) -> None:
        # Backwards, since tables refer to those that are declared before them.
        for table in reversed([*tables]):
            for name in (table.name, *self.shape.layout.sides(table)):
                await self.link.run(f"DELETE FROM {quote_identifier(name)}")

    async def rows(self, bound: BoundStatement) -> Sequence[Values]:
        text, values = bound
        return await self.link.rows(text, values)
