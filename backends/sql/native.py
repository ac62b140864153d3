"""What the database answers itself: single rows, counts, groups, keys and whole plans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from backends.sql.conditions import KeyIn
from backends.sql.dialect import Parameters, quoted
from backends.sql.finding import directed, turned
from backends.sql.fitting import Fitted, fitted
from backends.sql.folding import folded
from backends.sql.keys import has_key
from backends.sql.names import properties_name
from backends.sql.nearness import nearest_statement
from backends.sql.rows import value_from_store
from backends.sql.session import Shape, SqlSession
from backends.sql.shapes import Written, written
from backends.sql.unfolding import Unfolding
from backends.sql.unindexed import decided, is_decidable
from backends.sql.weighing import is_weighable, weighed_statement
from ugs.catalog import Kind, Row, Table
from ugs.reads.levels import execute_by_levels, one_more, without_extra
from ugs.reads.near import Near, Scored
from ugs.reads.pattern import Match, Pattern, Question
from ugs.reads.plan import WHOLE, Found, Read, Rows
from ugs.reads.weighed import Heavy, Weighed
from ugs.reads.where import EVERYTHING, Compare, Op, Where, in_

KEYS_AT_ONCE = 1_000
COUNTED_TOGETHER = 64
"""Conditions in one statement."""
COUNTED_AT_MOST = 10_000
"""Beyond this it makes no difference to a plan how many rows there are."""


class NativeSession(SqlSession):
    """A session that leaves as much as possible to the database."""

    answers_unless = matches_alone = True

    @property
    def orders_joins(self) -> bool:  # type: ignore[override]
        return self.shape.dialect.orders_joins

    async def find(self, table: Table, key: Any) -> Row | None:
        parts = key if isinstance(key, tuple) else (key,)
        if not is_storable_key(table, parts):
            return None
        records = await self.link.rows(self.shape.finders[table.name], parts)
        return self.shape.readers[table.name](records)[0] if records else None

    async def find_many(self, table: Table, keys: Sequence[Any]) -> list[Row]:
        if len(table.key) == 1:
            return await super().find_many(table, keys)
        storable = sorted(key for key in set(keys) if is_storable_key(table, key))
        found: list[Row] = []
        for start in range(0, len(storable), KEYS_AT_ONCE):
            found += await self.fetch(table, KeyIn(tuple(storable[start : start + KEYS_AT_ONCE])))
        return found

    async def find_keys(self, wanted: Mapping[Table, Sequence[Any]]) -> dict[Table, list[Row]]:
        if any(len(table.key) > 1 for table in wanted):
            return await super().find_keys(wanted)
        bounds = [
            self.shape.select().fetch(table, in_(table.key[0], keys), (), WHOLE) for table, keys in wanted.items()
        ]
        lists = await self.link.several(bounds)
        return {table: self.shape.reader(table)(rows) for table, rows in zip(wanted, lists, strict=True)}

    async def filled(self, tables: Sequence[Table]) -> list[Table]:
        looks = (f"EXISTS (SELECT 1 FROM {quoted(table.name)})" for table in tables)
        (found,) = await self.link.rows(f"SELECT {', '.join(looks)}")
        return [table for table, has_rows in zip(tables, found, strict=True) if has_rows]

    async def count(self, table: Table, where: Where = EVERYTHING) -> int:
        if where is EVERYTHING and table.derived and self.counted is not None:
            return await self._count_all(table, self.counted)
        where = await directed(self, table, await decided(self, table, where))
        count: int = (await self.rows(self.shape.select().count(table, where)))[0][0]
        return count

    async def count_each(self, table: Table, wheres: Sequence[Where]) -> list[int]:
        if len(wheres) < 2 or len(wheres) > COUNTED_TOGETHER:
            return await super().count_each(table, wheres)
        plain = [await directed(self, table, await decided(self, table, where)) for where in wheres]
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

    async def about(self, table: Table, where: Where = EVERYTHING) -> int:
        if not is_decidable(self.shape.catalog, table, where):
            return await self.count(table, where)
        text, values = self.shape.select().some(table, where, COUNTED_AT_MOST)
        return self.shape.dialect.estimate(await self.link.rows(self.shape.dialect.estimating(text), values))

    async def nearest(self, table: Table, near: Near) -> list[Scored]:
        if not self.shape.dialect.score("", ""):
            return await super().nearest(table, near)
        where = await decided(self, table, near.where)
        records = await self.rows(nearest_statement(self.shape, table, near, where))
        rows = self.shape.readers[table.name]([record[:-1] for record in records])
        return [Scored(row, int(record[-1])) for row, record in zip(rows, records, strict=True)]

    async def heaviest(self, table: Table, asked: Weighed) -> list[Heavy] | None:
        if not is_weighable(self.shape.catalog, table, asked):
            return None
        if asked.after is not None and not is_storable_key(table, asked.after[1:]):
            return None
        where = await decided(self, table, asked.where)
        records = await self.rows(weighed_statement(self.shape, table, asked, where))
        rows = self.shape.readers[table.name]([record[:-1] for record in records])
        return [Heavy(row, record[-1]) for row, record in zip(rows, records, strict=True)]

    async def has_key(self, table: Table, field: str, key: str) -> bool:
        if not table.field(field).indexed:
            return await super().has_key(table, field, key)
        parameters = Parameters(self.shape.dialect)
        return bool(await self.link.rows(has_key(table, field, key, parameters), parameters.values))

    async def group(self, table: Table, by: str, where: Where = EVERYTHING) -> dict[Any, int]:
        where = await decided(self, table, where)
        field = table.field(by)
        records = await self.rows(self.shape.select().group(table, by, where))
        return {value_from_store(field, value): count for value, count in records}

    async def keys(self, table: Table, field: str) -> dict[str, int]:
        column = table.field(field)
        if not column.indexed:
            return await super().keys(table, field)
        side = quoted(properties_name(table, column))
        records = await self.link.rows(f'SELECT "key", count(*) FROM {side} GROUP BY "key"')
        return {key: count for key, count in records}

    async def read(self, plan: Read) -> Rows:
        if is_point(plan):
            row = await self.find(plan.table, plan.where.value)  # type: ignore[attr-defined]
            return Rows([] if row is None else [Found(row, {})])
        if not is_one_statement(self.shape, plan):
            return await execute_by_levels(self, plan)
        if plan.nest or plan.total:
            unfolding = Unfolding(self.shape.catalog, self.shape.dialect, await turned(self, plan))
            return folded(unfolding.levels, await self.rows(unfolding.statement()))
        rows = await self.fetch(plan.table, plan.where, plan.order, one_more(plan.page))
        rows, more = without_extra(rows, plan.page)
        return Rows([Found(row, {}) for row in rows], more)

    async def match(self, pattern: Pattern) -> list[Match] | None:
        return await self._matches(written(self.shape.catalog, self.shape.dialect, pattern), pattern, ())

    async def match_again(self, question: Question, texts: Sequence[str]) -> list[Match] | None:
        return await self._matches(self.shape.written(question), question.pattern, texts)

    async def _matches(self, found: Written | None, pattern: Pattern, texts: Sequence[str]) -> list[Match] | None:
        if found is None:
            return None
        records = await self.rows(found.filled(texts))
        reading = found.reading
        if reading.is_refused(records):
            return None
        if not reading.walks:
            return reading.matches(records)
        arcs = await self.find_many(pattern.arcs, sorted(reading.paths(records)))
        return reading.matches(records, {pattern.arcs.key_of(row): row for row in arcs})

    def match_statements(self, pattern: Pattern) -> list[str]:
        found = written(self.shape.catalog, self.shape.dialect, pattern)
        return [] if found is None else [found.text]

    def statements(self, plan: Read) -> list[str]:
        """The statement `read` sends; none for a plan it answers level by level."""
        if is_point(plan):
            return [self.shape.finders[plan.table.name]]
        if not is_one_statement(self.shape, plan):
            return []
        if plan.nest or plan.total:
            return [Unfolding(self.shape.catalog, self.shape.dialect, plan).statement()[0]]
        return [self.shape.select().fetch(plan.table, plan.where, plan.order, one_more(plan.page))[0]]


def is_point(plan: Read) -> bool:
    """Whether the plan asks for nothing but the row with a certain key."""
    where, page = plan.where, plan.page
    return (
        isinstance(where, Compare)
        and where.op is Op.EQ
        and plan.table.key == (where.field,)
        and (page is WHOLE or (page.after is None and page.limit != 0 and page.per is None))
        and not plan.nest
        and not plan.total
        and not plan.table.counted
    )


def is_one_statement(shape: Shape, plan: Read) -> bool:
    """Whether the database can answer the plan at once.

    It cannot where a condition must be decided beforehand, nor for a first page that counts per column, nor where
    something is counted for related rows.
    """
    return plan.page.per is None and _is_plain(shape, plan)


def _is_plain(shape: Shape, read: Read) -> bool:
    return is_decidable(shape.catalog, read.table, read.where) and all(
        _is_plain(shape, nested.read) and not nested.read.table.counted for nested in read.nest.values()
    )


def is_storable_key(table: Table, key: tuple[Any, ...]) -> bool:
    """Whether a row could have this key at all."""
    for name, part in zip(table.key, key, strict=True):
        kind = table.field(name).kind
        if type(part) is str and kind is Kind.TEXT and part.isascii() and "\x00" not in part:
            continue
        if part is None or fitted(kind, Op.EQ, part) != Fitted(Op.EQ, part):
            return False
    return True
