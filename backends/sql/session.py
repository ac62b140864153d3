"""One transaction on a connection: the port's questions as statements, the answers as rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from weakref import WeakKeyDictionary

from backends.sql.conditions import Place
from backends.sql.dialect import Dialect, quoted
from backends.sql.events import event_statement
from backends.sql.finding import directed
from backends.sql.layout import Layout
from backends.sql.link import Link
from backends.sql.rows import Values, event_from, head_from, reader_of
from backends.sql.shapes import Written, written
from backends.sql.statements import Bound, Select, columns_of
from backends.sql.unindexed import decided
from backends.sql.writes import Writer
from ugs.catalog import Catalog, Row, Table
from ugs.changes import Writes
from ugs.events import EMPTY_LOG, Event, Head
from ugs.reads.pattern import Question
from ugs.reads.plan import WHOLE, Order, Page
from ugs.reads.where import EVERYTHING, Where
from ugs.storage import EventQuery, Session

LAST_EVENT = "SELECT position, timestamp, crc FROM events ORDER BY position DESC LIMIT 1"


class Shape:
    """What a store knows about its catalog, prepared once."""

    def __init__(self, catalog: Catalog, dialect: Dialect) -> None:
        self.catalog = catalog
        self.dialect = dialect
        self.writer = Writer(dialect, catalog)
        self.layout = Layout(catalog, dialect)
        self.readers = {table.name: reader_of(table) for table in catalog}
        self.finders = {table.name: _finder(table, dialect) for table in catalog}
        self._written: WeakKeyDictionary[Question, Written | None] = WeakKeyDictionary()
        self.counted: dict[str, tuple[int, int]] = {}
        """Where the log ended when all rows of a table were last counted, and how many there were."""

    def select(self) -> Select:
        return Select(self.catalog, self.dialect)

    def reader(self, table: Table) -> Callable[[Sequence[Values]], list[Row]]:
        """What makes rows of what the database answered."""
        return reader_of(table) if table.counted else self.readers[table.name]

    def written(self, question: Question) -> Written | None:
        """The statement of a question, written when it is first asked."""
        try:
            return self._written[question]
        except KeyError:
            found = self._written[question] = written(self.catalog, self.dialect, question.pattern)
            return found


def _finder(table: Table, dialect: Dialect) -> str:
    """The statement for one row by its key."""
    place = Place(table, "t")
    same = " AND ".join(
        f"{place.column(name)} = {dialect.placeholder(number)}" for number, name in enumerate(table.key, 1)
    )
    return f"SELECT {columns_of(place)} FROM {quoted(table.name)} t WHERE {same}"


class SqlSession(Session):
    """The required part of the port; `native.NativeSession` answers the rest in the database too."""

    counted: dict[str, tuple[int, int]] | None = None
    """Where to keep counts of all rows; only sessions that merely read have it, as others may be taken back."""

    def __init__(self, link: Link, shape: Shape) -> None:
        self.link = link
        self.shape = shape

    async def fetch(
        self, table: Table, where: Where = EVERYTHING, order: Sequence[Order] = (), page: Page = WHOLE
    ) -> list[Row]:
        where = await directed(self, table, await decided(self, table, where), page.limit)
        records = await self.rows(self.shape.select().fetch(table, where, order, page))
        rows = self.shape.reader(table)(records)
        return rows[::-1] if page.backward else rows

    async def events(self, query: EventQuery) -> list[Event]:
        return [event_from(values) for values in await self.rows(event_statement(self.shape.dialect, query))]

    async def head(self) -> Head:
        last = await self.link.rows(LAST_EVENT)
        return head_from(last[0]) if last else EMPTY_LOG

    async def append(self, events: Sequence[Event], writes: Writes) -> None:
        await self._complete(writes)
        await self.link.bulk(self.shape.writer.bulks(events, writes))

    async def _complete(self, writes: Writes) -> None:
        """Look up former rows that were not given: what stood beside them must go."""
        for table, changed in writes.items():
            keys = [*changed.deletes, *(table.key_of(row) for row in changed.updates)]
            missing = [key for key in keys if key not in changed.before]
            if missing:
                for row in await self.find_many(table, missing):
                    changed.before[table.key_of(row)] = row

    async def clear(self, tables: Iterable[Table]) -> None:
        for table in tables:
            for name in (table.name, *self.shape.layout.sides(table)):
                await self.link.run(f"DELETE FROM {quoted(name)}")

    async def rows(self, bound: Bound) -> Sequence[Values]:
        text, values = bound
        return await self.link.rows(text, values)
