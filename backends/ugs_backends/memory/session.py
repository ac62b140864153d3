"""Sessions of the memory store: one shared read session, and write sessions under a lock.

The read session holds no state, so everybody shares one. Each of its calls reads one state; two calls with an `await`
between them may see a commit in between. During a write session nothing else changes the tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ugs.changes import Writes
from ugs.errors import Conflict
from ugs.events import Event, Head
from ugs.reads.filters import EVERYTHING, Where
from ugs.reads.pattern import Match, Pattern
from ugs.reads.plan import WHOLE, Order, Page, Read, ResultPage, has_aggregates
from ugs.reads.rendering import RenderArgs, Rendering
from ugs.reads.vector_search import Near, Scored, has_numpy
from ugs.storage import EventQuery, Session
from ugs.tables import Row, Table
from ugs_backends.memory.query.executor import QueryExecutor
from ugs_backends.memory.query.pattern_matcher import PatternMatcher, SearchTooLarge
from ugs_backends.memory.query.response_renderer import Renderer
from ugs_backends.memory.tables.table import MemoryTable, NotBuilt
from ugs_backends.memory.wal.memory_log import merge_pending

if TYPE_CHECKING:
    from ugs_backends.memory.history.row_versions import StoreHistory
    from ugs_backends.memory.storage import MemoryStorage


class PlainSession(Session):
    """Implements only what the port requires; everything else uses the port's defaults (`native=off`)."""

    in_process = True

    def __init__(self, storage: MemoryStorage) -> None:
        self.storage = storage
        self._reader = storage.reader

    @property
    def reader(self) -> QueryExecutor:
        return self._reader

    async def __aenter__(self) -> Session:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    async def fetch(
        self, table: Table, where: Where = EVERYTHING, order: Sequence[Order] = (), page: Page = WHOLE
    ) -> list[Row]:
        while True:
            try:
                return self.reader.fetch(table, where, order, page)
            except NotBuilt as missing:
                await self.storage.build(missing)

    async def events(self, query: EventQuery) -> list[Event]:
        return await self.storage.log.events(query)

    async def head(self) -> Head:
        return self.storage.log.head

    async def append(self, events: Sequence[Event], writes: Writes) -> None:
        raise Conflict("This session only reads; ask for session(write=True)")

    async def clear(self, tables: Iterable[Table]) -> None:
        raise Conflict("This session only reads; ask for session(write=True)")

    def render_sync(self, plan: Read, rendering: Rendering, late: RenderArgs) -> bytes | None:
        """The response of a plan as text, or None if that needs an `await`."""
        return None


class ReadSession(PlainSession):
    """A read session with native queries from the indexes."""

    _renderer: Renderer | None = None

    @property
    def renderer(self) -> Renderer:
        """The renderer of the tables that the session reads."""
        if self._renderer is None or self._renderer.reader is not self.reader:
            self._renderer = Renderer(self.reader)
        return self._renderer

    def rows_in_memory(self, table: Table) -> Mapping[Any, Row]:
        return self.reader.tables[table.name].rows

    async def find(self, table: Table, key: Any) -> Row | None:
        return self.reader.tables[table.name].rows.get(key)

    async def find_many(self, table: Table, keys: Sequence[Any]) -> list[Row]:
        get = self.reader.tables[table.name].rows.get
        return [row for key in sorted(set(keys)) if (row := get(key)) is not None]

    async def count(self, table: Table, where: Where = EVERYTHING) -> int:
        while True:
            try:
                return self.reader.count(table, where)
            except NotBuilt as missing:
                await self.storage.build(missing)

    async def group(self, table: Table, by: str, where: Where = EVERYTHING) -> dict[Any, int]:
        while True:
            try:
                return self.reader.group(table, by, where)
            except NotBuilt as missing:
                await self.storage.build(missing)

    async def keys(self, table: Table, field: str) -> dict[str, int]:
        while True:
            try:
                return self.reader.keys(table, field)
            except NotBuilt as missing:
                await self.storage.build(missing)

    async def nearest(self, table: Table, near: Near) -> list[Scored]:
        while has_numpy():
            try:
                return self.reader.nearest(table, near)
            except NotBuilt as missing:
                await self.storage.build(missing)
        return await super().nearest(table, near)

    async def has_key(self, table: Table, field: str, key: str) -> bool:
        return key in await self.keys(table, field)

    async def match(self, pattern: Pattern) -> list[Match] | None:
        while True:
            try:
                finding, position = PatternMatcher(self.reader, pattern), (await self.head()).position
                found = await finding.matches()
                return found if (await self.head()).position == position else None
            except SearchTooLarge:
                return None
            except NotBuilt as missing:
                await self.storage.build(missing)

    async def read(self, plan: Read) -> ResultPage:
        if has_aggregates(plan):
            return await super().read(plan)
        while True:
            try:
                return self.reader.read(plan)
            except NotBuilt as missing:
                await self.storage.build(missing)

    async def render(self, plan: Read, rendering: Rendering, late: RenderArgs) -> bytes:
        if not rendering.is_native:
            return await super().render(plan, rendering, late)
        while True:
            try:
                return self.renderer.text(plan, rendering)
            except NotBuilt as missing:
                await self.storage.build(missing)

    def render_sync(self, plan: Read, rendering: Rendering, late: RenderArgs) -> bytes | None:
        try:
            if rendering.is_native:
                return self.renderer.text(plan, rendering)
            if has_aggregates(plan):
                return None
            return rendering.write(self.reader.read(plan), plan, late).encode()
        except NotBuilt:
            return None  # building an index takes a while


class Pending:
    """The events and changes of a write session, committed when it ends."""

    def __init__(self) -> None:
        self.events: Sequence[Event] = ()
        self.steps: list[Writes | tuple[Table, ...]] = []
        """Row writes, or tables to clear, in order."""

    def __bool__(self) -> bool:
        return bool(self.events or self.steps)


def apply_steps(
    steps: Iterable[Writes | tuple[Table, ...]], tables: dict[str, MemoryTable], history: StoreHistory | None = None
) -> bool:
    """Apply the changes to the tables without yielding, so that no reader sees a part of them.

    Returns False if the history does not know how rows of versioned tables came about.
    """
    known = True
    for step in steps:
        if isinstance(step, tuple):
            for table in step:
                tables[table.name].clear()
                known = known and not table.versioned
        else:
            for table, writes in step.items():
                if history is not None and not history.record(table, writes):
                    known = False
                tables[table.name].apply(writes)
    return known


class WriteHalf(PlainSession):
    """The write half of a session, mixed into the plain and the native one."""

    def __init__(self, storage: MemoryStorage) -> None:
        super().__init__(storage)
        self.keeps_history = storage.history is not None
        self.pending = Pending()
        self._own: QueryExecutor | None = None
        self._seen = 0

    @property
    def reader(self) -> QueryExecutor:
        """After its first write a session reads a private copy of the tables, which others never see."""
        steps = self.pending.steps
        if self._seen < len(steps):
            self._own = self._own or QueryExecutor(self.storage.copy_tables())
            self._own.changes += 1
            apply_steps(steps[self._seen :], self._own.tables)
            self._seen = len(steps)
        return self._own or self._reader

    async def __aenter__(self) -> Session:
        await self.storage.writer.acquire()
        try:
            self.storage.check_writable()
        except BaseException:
            self.storage.writer.release()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None and self.pending:
                await self.storage.commit(self.pending)
        finally:
            self.storage.writer.release()

    async def head(self) -> Head:
        return self.storage.log.head_after(self.pending.events)

    async def events(self, query: EventQuery) -> list[Event]:
        found = await self.storage.log.events(query)
        return merge_pending(found, self.pending.events, query) if self.pending.events else found

    async def append(self, events: Sequence[Event], writes: Writes) -> None:
        self.storage.log.check(self.pending.events, events)
        for table, changes in writes.items():
            if table.unique:
                self.reader.tables[table.name].check(changes)
        # A single sequence is kept as it is: `SealedEvents` carry their encoded lines.
        self.pending.events = [*self.pending.events, *events] if self.pending.events else events
        if writes:
            self.pending.steps.append(writes)

    async def clear(self, tables: Iterable[Table]) -> None:
        self.pending.steps.append(tuple(tables))


class PlainWriteSession(WriteHalf):
    """A write session without native reads."""


class WriteSession(WriteHalf, ReadSession):
    """A write session with native reads."""
