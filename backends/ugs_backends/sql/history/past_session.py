"""Sessions of the past: reads of the present's tables become reads of their versions that held at a position."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from ugs.changes import Writes
from ugs.errors import StorageIOError
from ugs.events import EMPTY_LOG, Event, Head
from ugs.reads.aggregation import Aggregation, Group
from ugs.reads.filters import EVERYTHING, All, Any_, Linked, Not, Where, all_of, conditions, in_, mentions
from ugs.reads.level_executor import execute_by_levels
from ugs.reads.pattern import Match, Pattern, PreparedPattern
from ugs.reads.plan import WHOLE, Nested, Order, Page, Read, ResultPage, ResultRow
from ugs.reads.text_ranking import RankedQuery, RankedRow
from ugs.reads.vector_search import Near, Scored
from ugs.storage import EventQuery, Session
from ugs.storage.session_capabilities import key_is
from ugs.tables import Row, Table
from ugs_backends.sql.compiler.conditions import HeldAt
from ugs_backends.sql.compiler.log_queries import build_event_query
from ugs_backends.sql.connections.connection import DriverConnection
from ugs_backends.sql.dialect import Dialect, quote_identifier
from ugs_backends.sql.history.version_tables import PastCatalog, held_at
from ugs_backends.sql.history.version_writer import VersionWriter
from ugs_backends.sql.native_session import NativeSession, is_one_statement, is_point, is_storable_key
from ugs_backends.sql.row_codec import decode_event, decode_head
from ugs_backends.sql.session import StoreContext
from ugs_backends.sql.table_names import name_properties_table
from ugs_backends.sql.write.bulk_writes import BulkStatement


class PastContext(StoreContext):
    """What is derived once from the tables of versions."""

    catalog: PastCatalog

    def __init__(self, catalog: PastCatalog, dialect: Dialect) -> None:
        super().__init__(catalog, dialect, for_reading=True)


class PastReads:
    """Translates reads of the present's tables to reads of the versions that held at a position."""

    def __init__(self, catalog: PastCatalog, position: int) -> None:
        self.catalog, self.held = catalog, held_at(position)

    def where(self, table: Table, where: Where) -> Where:
        """A condition on a table, for the versions that held; a condition that says so already stays as it is."""
        if any(isinstance(part, HeldAt) for part in conditions(where)):
            return where
        return all_of(self.held, self._inside(table, where) if mentions(where, Linked) else where)

    def _inside(self, table: Table, where: Where) -> Where:
        if isinstance(where, Linked):
            target = self.catalog.target(table.relations[where.relation])
            return Linked(where.relation, self.where(target, where.where))
        if isinstance(where, Not):
            return Not(self._inside(table, where.part))
        if isinstance(where, All | Any_):
            return type(where)(tuple([self._inside(table, part) for part in where.parts]))
        return where

    def read(self, plan: Read) -> Read:
        """A plan, with those nested in it."""
        nest = {name: Nested(nested.relation, self.read(nested.read)) for name, nested in plan.nest.items()}
        return replace(plan, table=self.catalog.past(plan.table), where=self.where(plan.table, plan.where), nest=nest)

    def pattern(self, pattern: Pattern) -> Pattern:
        """A graph pattern."""
        vertices, arcs = pattern.vertices, pattern.arcs
        return replace(
            pattern,
            vertices=self.catalog.past(vertices),
            arcs=self.catalog.past(arcs),
            spots=tuple(replace(spot, where=self.where(vertices, spot.where)) for spot in pattern.spots),
            legs=tuple(replace(leg, where=self.where(arcs, leg.where)) for leg in pattern.legs),
        )


class PastSession(NativeSession):
    """A session of the state at a position; versions never change, so it needs no transaction.

    Tables without versions are empty, or in another session: what is computed for the state (vectors).
    """

    shape: PastContext
    beside: Session | None = None
    """The session with the tables that have no versions."""

    def __init__(self, link: DriverConnection, shape: PastContext, position: int) -> None:
        super().__init__(link, shape)
        self.position = position
        self.reads = PastReads(shape.catalog, position)

    def _knows(self, table: Table) -> bool:
        return self.shape.catalog.has(table)

    # ── the log ──────────────────────────────────────────────────────────────

    async def head(self) -> Head:
        newest = "SELECT position, timestamp, crc FROM events WHERE position = "
        last = await self.link.rows(newest + self.shape.dialect.placeholder(1), [self.position])
        return decode_head(last[0]) if last else EMPTY_LOG

    async def events(self, query: EventQuery) -> list[Event]:
        until = self.position if query.until is None else min(query.until, self.position)
        rows = await self.rows(build_event_query(self.shape.dialect, replace(query, until=until)))
        return [decode_event(values) for values in rows]

    # ── rows ─────────────────────────────────────────────────────────────────

    async def fetch(
        self, table: Table, where: Where = EVERYTHING, order: Sequence[Order] = (), page: Page = WHOLE
    ) -> list[Row]:
        if not self._knows(table):
            if self.beside is None:
                return []
            return await self.beside.fetch(table, await self._unlink(table, where), order, page)
        return await super().fetch(self.shape.catalog.past(table), self.reads.where(table, where), order, page)

    async def find(self, table: Table, key: Any) -> Row | None:
        parts = key if isinstance(key, tuple) else (key,)
        if not self._knows(table):
            return None if self.beside is None else await self.beside.find(table, key)
        if not is_storable_key(self.shape.dialect, table, parts):
            return None
        rows = await self.fetch(table, key_is(table, key))
        return rows[0] if rows else None

    async def find_many(self, table: Table, keys: Sequence[Any]) -> list[Row]:
        if not self._knows(table):
            return [] if self.beside is None else await self.beside.find_many(table, keys)
        return await super().find_many(table, keys)

    async def find_keys(self, wanted: Mapping[Table, Sequence[Any]]) -> dict[Table, list[Row]]:
        return {table: await self.find_many(table, keys) for table, keys in wanted.items()}

    async def non_empty(self, tables: Sequence[Table]) -> list[Table]:
        return [table for table in tables if await self.fetch(table, page=Page(limit=1))]

    async def _unlink(self, table: Table, where: Where) -> Where:
        """A condition on a table without versions, with the rows that it links to looked up."""
        if isinstance(where, Linked):
            relation = table.relations[where.relation]
            found = await self.fetch(self.shape.catalog.target(relation), where.where)
            return in_(relation.local, sorted({getattr(row, relation.remote) for row in found}))
        if isinstance(where, Not):
            return Not(await self._unlink(table, where.part))
        if isinstance(where, All | Any_):
            return type(where)(tuple([await self._unlink(table, part) for part in where.parts]))
        return where

    # ── counts ───────────────────────────────────────────────────────────────

    async def count(self, table: Table, where: Where = EVERYTHING) -> int:
        if not self._knows(table):
            return len(await self.fetch(table, where))
        return await super().count(self.shape.catalog.past(table), self.reads.where(table, where))

    async def count_each(self, table: Table, wheres: Sequence[Where]) -> list[int]:
        if not self._knows(table):
            return [0] * len(wheres)
        past = [self.reads.where(table, where) for where in wheres]
        return await super().count_each(self.shape.catalog.past(table), past)

    async def estimate_count(self, table: Table, where: Where = EVERYTHING) -> int:
        if not self._knows(table):
            return 0
        return await super().estimate_count(self.shape.catalog.past(table), self.reads.where(table, where))

    async def group(self, table: Table, by: str, where: Where = EVERYTHING) -> dict[Any, int]:
        if not self._knows(table):
            return {}
        return await super().group(self.shape.catalog.past(table), by, self.reads.where(table, where))

    async def aggregate(self, table: Table, aggregation: Aggregation, where: Where = EVERYTHING) -> list[Group]:
        if not self._knows(table):
            return await super().aggregate(table, aggregation, where)
        return await super().aggregate(self.shape.catalog.past(table), aggregation, self.reads.where(table, where))

    async def keys(self, table: Table, field: str) -> dict[str, int]:
        if not self._knows(table) or not table.field(field).indexed:
            return await super().keys(table, field)
        source, values = self._join_properties(table, field)
        records = await self.link.rows(f'SELECT x."key", count(*) {source} GROUP BY x."key"', values)
        return {key: count for key, count in records}

    async def has_key(self, table: Table, field: str, key: str) -> bool:
        if not self._knows(table) or not table.field(field).indexed:
            return await super().has_key(table, field, key)
        source, values = self._join_properties(table, field)
        mark = self.shape.dialect.placeholder(len(values) + 1)
        return bool(await self.link.rows(f'SELECT 1 {source} AND x."key" = {mark} LIMIT 1', [*values, key]))

    def _join_properties(self, table: Table, field: str) -> tuple[str, list[Any]]:
        """The encoded properties of the versions that held."""
        past, select = self.shape.catalog.past(table), self.shape.select()
        side = quote_identifier(name_properties_table(past, past.field(field)))
        tie = " AND ".join(
            f"x.{name} = t.{name}" for name in (quote_identifier(past.field(name).stored_as) for name in past.key)
        )
        held = select.held(past, self.reads.held)
        return f"FROM {side} x JOIN {quote_identifier(past.name)} t ON {tie} WHERE {held}", select.parameters.values

    # ── search ───────────────────────────────────────────────────────────────

    async def nearest(self, table: Table, near: Near) -> list[Scored]:
        if self._knows(table):
            return await super().nearest(self.shape.catalog.past(table), near)
        if self.beside is None:
            return []
        return await self.beside.nearest(table, replace(near, where=await self._unlink(table, near.where)))

    async def top_ranked(self, table: Table, asked: RankedQuery) -> list[RankedRow] | None:
        if not self._knows(table):
            return []
        past = replace(asked, where=self.reads.where(table, asked.where))
        return await super().top_ranked(self.shape.catalog.past(table), past)

    # ── plans and patterns ───────────────────────────────────────────────────

    async def read(self, plan: Read) -> ResultPage:
        if not self._knows(plan.table):
            return await execute_by_levels(self, plan)
        if is_point(plan):
            row = await self.find(plan.table, plan.where.value)  # type: ignore[attr-defined]
            return ResultPage([] if row is None else [ResultRow(row, {})])
        past = self.reads.read(plan)
        return await (super().read(past) if is_one_statement(self.shape, past) else execute_by_levels(self, plan))

    def explain_read(self, plan: Read) -> list[str]:
        return super().explain_read(self.reads.read(plan))

    async def match(self, pattern: Pattern) -> list[Match] | None:
        return await super().match(self.reads.pattern(pattern))

    async def match_prepared(self, question: PreparedPattern, texts: Sequence[str]) -> list[Match] | None:
        return await self.match(question.with_texts(texts))

    def explain_match(self, pattern: Pattern) -> list[str]:
        return super().explain_match(self.reads.pattern(pattern))

    # ── writing ──────────────────────────────────────────────────────────────

    async def append(self, events: Sequence[Event], writes: Writes) -> None:
        if events or any(map(self._knows, writes)) or self.beside is None:
            raise StorageIOError("the past cannot be changed")
        await self.beside.append((), writes)

    async def clear(self, tables: Iterable[Table]) -> None:
        cleared = list(tables)
        if any(map(self._knows, cleared)) or self.beside is None:
            raise StorageIOError("the past cannot be changed")
        await self.beside.clear(cleared)


class VersioningSession(PastSession):
    """A session of the newest versions, which stores the versions that the next events make."""

    keeps_history = True

    def __init__(
        self, link: DriverConnection, shape: PastContext, position: int, writers: Mapping[str, VersionWriter]
    ) -> None:
        super().__init__(link, shape, position)
        self._writers = writers

    async def append(self, events: Sequence[Event], writes: Writes) -> None:
        ends: list[BulkStatement] = []
        inserts: list[BulkStatement] = []
        for table, changed in writes.items():
            if changed.steps:
                ended, new = self._writers[table.name].bulks(changed)
                ends += ended
                inserts += new
        await self.link.bulk([*ends, *inserts])
        self.position = events[-1].position if events else self.position
        self.reads = PastReads(self.shape.catalog, self.position)
