"""Push-down to the database: look-ups, counts, groups, keys, patterns and whole plans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ugs.reads.aggregation import Aggregation, Group
from ugs.reads.filters import EVERYTHING, Compare, Op, Where, in_
from ugs.reads.level_executor import execute_by_levels, one_more, without_extra
from ugs.reads.pattern import Match, Pattern, PreparedPattern
from ugs.reads.plan import WHOLE, Read, ResultPage, ResultRow
from ugs.reads.text_ranking import RankedQuery, RankedRow
from ugs.reads.vector_search import Near, Scored
from ugs.tables import Kind, Row, Table
from ugs_backends.sql.compiler.access_path import rewrite_filter, rewrite_plan
from ugs_backends.sql.compiler.aggregate_query import AggregateQuery, is_compilable
from ugs_backends.sql.compiler.conditions import KeyIn
from ugs_backends.sql.compiler.json_key_prefilter import is_decidable, resolve_undecidable
from ugs_backends.sql.compiler.json_keys import has_key
from ugs_backends.sql.compiler.text_ranking import build_ranking_query, is_rankable
from ugs_backends.sql.compiler.vector_query import build_nearest_query
from ugs_backends.sql.dialect import Dialect, Parameters, quote_identifier
from ugs_backends.sql.patterns.pattern_cache import CompiledPattern, compile_pattern
from ugs_backends.sql.plans.plan_query import PlanQuery
from ugs_backends.sql.plans.plan_result import assemble_page
from ugs_backends.sql.row_codec import decode_value
from ugs_backends.sql.session import SqlSession, StoreContext
from ugs_backends.sql.table_names import name_properties_table

KEY_BATCH_SIZE = 1_000
COUNT_BATCH_SIZE = 64
"""Number of conditions counted in one statement."""
MAX_ESTIMATED_ROWS = 10_000
"""Counts above this make no difference to a plan."""


class NativeSession(SqlSession):
    """A session that executes as much as possible in the database."""

    supports_unless = matches_single_nodes = True

    @property
    def orders_joins(self) -> bool:  # type: ignore[override]
        return self.shape.dialect.orders_joins

    async def find(self, table: Table, key: Any) -> Row | None:
        parts = key if isinstance(key, tuple) else (key,)
        if not is_storable_key(self.shape.dialect, table, parts):
            return None
        records = await self.link.rows(self.shape.finders[table.name], parts)
        return self.shape.readers[table.name](records)[0] if records else None

    async def find_many(self, table: Table, keys: Sequence[Any]) -> list[Row]:
        if len(table.row_key) == 1:
            return await super().find_many(table, keys)
        storable = sorted(key for key in set(keys) if is_storable_key(self.shape.dialect, table, key))
        found: list[Row] = []
        for start in range(0, len(storable), KEY_BATCH_SIZE):
            found += await self.fetch(table, KeyIn(tuple(storable[start : start + KEY_BATCH_SIZE])))
        return found

    async def find_keys(self, wanted: Mapping[Table, Sequence[Any]]) -> dict[Table, list[Row]]:
        if any(len(table.row_key) > 1 for table in wanted):
            return await super().find_keys(wanted)
        bounds = [
            self.shape.select().fetch(table, in_(table.key[0], keys), (), WHOLE) for table, keys in wanted.items()
        ]
        lists = await self.link.several(bounds)
        return {table: self.shape.reader(table)(rows) for table, rows in zip(wanted, lists, strict=True)}

    async def non_empty(self, tables: Sequence[Table]) -> list[Table]:
        looks = (f"EXISTS (SELECT 1 FROM {quote_identifier(table.name)})" for table in tables)
        (found,) = await self.link.rows(f"SELECT {', '.join(looks)}")
        return [table for table, has_rows in zip(tables, found, strict=True) if has_rows]

    async def count(self, table: Table, where: Where = EVERYTHING) -> int:
        if where is EVERYTHING and table.derived and self.counted is not None:
            return await self._count_all(table, self.counted)
        where = await rewrite_filter(self, table, await resolve_undecidable(self, table, where))
        count: int = (await self.rows(self.shape.select().count(table, where)))[0][0]
        return count

    async def count_each(self, table: Table, wheres: Sequence[Where]) -> list[int]:
        if len(wheres) < 2 or len(wheres) > COUNT_BATCH_SIZE:
            return await super().count_each(table, wheres)
        plain = [await rewrite_filter(self, table, await resolve_undecidable(self, table, where)) for where in wheres]
        (counts,) = await self.rows(self.shape.select().count_each(table, plain))
        return list(counts)

    async def _count_all(self, table: Table, kept: dict[str, tuple[int, int]]) -> int:
        """As many rows as when they were last counted, if nothing has happened since: the log alone decides them."""
        before, known = kept.get(table.name, (-1, 0))
        ((position, count),) = await self.rows(self.shape.select().count_since(table, before))
        if count is not None:
            known = count
            kept[table.name] = position, known
        return known

    async def estimate_count(self, table: Table, where: Where = EVERYTHING) -> int:
        if not is_decidable(self.shape.catalog, table, where):
            return await self.count(table, where)
        text, values = self.shape.select().some(table, where, MAX_ESTIMATED_ROWS)
        return self.shape.dialect.read_estimate(await self.link.rows(self.shape.dialect.build_estimate(text), values))

    async def nearest(self, table: Table, near: Near) -> list[Scored]:
        if not self.shape.dialect.score("", ""):
            return await super().nearest(table, near)
        where = await resolve_undecidable(self, table, near.where)
        records = await self.rows(build_nearest_query(self.shape, table, near, where))
        rows = self.shape.readers[table.name]([record[:-1] for record in records])
        return [Scored(row, int(record[-1])) for row, record in zip(rows, records, strict=True)]

    async def top_ranked(self, table: Table, asked: RankedQuery) -> list[RankedRow] | None:
        if not is_rankable(self.shape.catalog, table, asked):
            return None
        if asked.after is not None and not is_storable_key(self.shape.dialect, table, asked.after[1:]):
            return None
        where = await resolve_undecidable(self, table, asked.where)
        records = await self.rows(build_ranking_query(self.shape, table, asked, where))
        rows = self.shape.readers[table.name]([record[:-1] for record in records])
        return [RankedRow(row, record[-1]) for row, record in zip(rows, records, strict=True)]

    async def has_key(self, table: Table, field: str, key: str) -> bool:
        if not table.field(field).indexed:
            return await super().has_key(table, field, key)
        parameters = Parameters(self.shape.dialect)
        return bool(await self.link.rows(has_key(table, field, key, parameters), parameters.values))

    async def group(self, table: Table, by: str, where: Where = EVERYTHING) -> dict[Any, int]:
        where = await resolve_undecidable(self, table, where)
        field = table.field(by)
        records = await self.rows(self.shape.select().group(table, by, where))
        return {decode_value(field, value): count for value, count in records}

    async def aggregate(self, table: Table, aggregation: Aggregation, where: Where = EVERYTHING) -> list[Group]:
        if not is_compilable(table, aggregation):
            return await super().aggregate(table, aggregation, where)
        where = await rewrite_filter(self, table, await resolve_undecidable(self, table, where))
        query = AggregateQuery(self.shape.select(), table, aggregation)
        return query.read(await self.rows(query.statement(where)))

    async def keys(self, table: Table, field: str) -> dict[str, int]:
        column = table.field(field)
        if not column.indexed:
            return await super().keys(table, field)
        side = quote_identifier(name_properties_table(table, column))
        records = await self.link.rows(f'SELECT "key", count(*) FROM {side} GROUP BY "key"')
        return {key: count for key, count in records}

    async def read(self, plan: Read) -> ResultPage:
        if is_point(plan):
            row = await self.find(plan.table, plan.where.value)  # type: ignore[attr-defined]
            return ResultPage([] if row is None else [ResultRow(row, {})])
        if not is_one_statement(self.shape, plan):
            return await execute_by_levels(self, plan)
        if plan.nest or plan.total:
            unfolding = PlanQuery(self.shape.catalog, self.shape.dialect, await rewrite_plan(self, plan))
            return assemble_page(unfolding.levels, await self.rows(unfolding.statement()))
        rows = await self.fetch(plan.table, plan.where, plan.order, one_more(plan.page))
        rows, more = without_extra(rows, plan.page)
        return ResultPage([ResultRow(row, {}) for row in rows], more)

    async def match(self, pattern: Pattern) -> list[Match] | None:
        return await self._read_matches(compile_pattern(self.shape.catalog, self.shape.dialect, pattern), pattern, ())

    async def match_prepared(self, question: PreparedPattern, texts: Sequence[str]) -> list[Match] | None:
        return await self._read_matches(self.shape.get_pattern(question), question.pattern, texts)

    async def _read_matches(
        self, found: CompiledPattern | None, pattern: Pattern, texts: Sequence[str]
    ) -> list[Match] | None:
        if found is None:
            return None
        records = await self.rows(found.bind_texts(texts))
        reading = found.reader
        if reading.is_refused(records):
            return None
        if not reading.walks:
            return reading.matches(records)
        arcs = await self.find_many(pattern.arcs, sorted(reading.paths(records)))
        return reading.matches(records, {pattern.arcs.key_of(row): row for row in arcs})

    def explain_match(self, pattern: Pattern) -> list[str]:
        found = compile_pattern(self.shape.catalog, self.shape.dialect, pattern)
        return [] if found is None else [found.text]

    def explain_read(self, plan: Read) -> list[str]:
        """The statement that `read` sends; empty for a plan that is executed level by level."""
        if is_point(plan):
            return [self.shape.finders[plan.table.name]]
        if not is_one_statement(self.shape, plan):
            return []
        if plan.nest or plan.total:
            return [PlanQuery(self.shape.catalog, self.shape.dialect, plan).statement()[0]]
        return [self.shape.select().fetch(plan.table, plan.where, plan.order, one_more(plan.page))[0]]


def is_point(plan: Read) -> bool:
    """Whether the plan is a look-up of one row by key."""
    where, page = plan.where, plan.page
    return (
        isinstance(where, Compare)
        and where.op is Op.EQ
        and plan.table.row_key == (where.field,)
        and (page is WHOLE or (page.after is None and page.limit != 0 and page.per is None))
        and not plan.nest
        and not plan.total
        and not plan.table.counted
    )


def is_one_statement(shape: StoreContext, plan: Read) -> bool:
    """Whether the plan can be executed as one statement.

    It cannot where a condition must be evaluated beforehand, for a first page with a limit per group, where related
    rows have count columns, or where rows are aggregated.
    """
    return plan.page.per is None and _is_plain(shape, plan)


def _is_plain(shape: StoreContext, read: Read) -> bool:
    return (
        not read.aggregates
        and is_decidable(shape.catalog, read.table, read.where)
        and all(_is_plain(shape, nested.read) and not nested.read.table.counted for nested in read.nest.values())
    )


def is_storable_key(dialect: Dialect, table: Table, key: tuple[Any, ...]) -> bool:
    """Whether the columns can hold this key; otherwise no row has it."""
    for name, part in zip(table.row_key, key, strict=True):
        field = table.field(name)
        if type(part) is str and dialect.column_type(field) is Kind.TEXT and part.isascii() and "\x00" not in part:
            continue
        if part is None or not dialect.compares(field, Op.EQ, part):
            return False
    return True
