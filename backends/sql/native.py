"""What the database answers itself: single rows, counts, groups, keys and whole plans."""

from __future__ import annotations

from typing import Any

from backends.sql.dialect import quoted
from backends.sql.names import properties_name
from backends.sql.rows import value_from_store
from backends.sql.session import SqlSession
from backends.sql.unindexed import decided
from ugs.catalog import Table
from ugs.reads.plan import Read
from ugs.reads.where import EVERYTHING, Where


class NativeSession(SqlSession):
    """A session that leaves as much as possible to the database."""

    async def count(self, table: Table, where: Where = EVERYTHING) -> int:
        where = await decided(self, table, where)
        count: int = (await self.rows(self.shape.select().count(table, where)))[0][0]
        return count

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


def is_one_statement(plan: Read) -> bool:
    return False
