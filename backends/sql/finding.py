"""Which way round to look for rows that are told by parts of texts elsewhere: counted first, up to where ways part."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from backends.sql.conditions import FoundThere, Place
from backends.sql.dialect import Parameters, Searched
from backends.sql.fitting import Fitted, fitted
from backends.sql.statements import limit_of
from ugs.catalog import Table
from ugs.reads.plan import Read
from ugs.reads.searched import Told, most_of, put_in_place, told_elsewhere
from ugs.reads.where import Where

if TYPE_CHECKING:
    from backends.sql.session import Shape, SqlSession


async def directed(session: SqlSession, table: Table, where: Where, limit: int | None = None) -> Where:
    """The condition, with what is told elsewhere found there first where that is the quicker way."""
    for told in told_elsewhere(session.shape.catalog, table, where):
        if _is_found(session.shape, told):
            if limit is not None and not await _is_rare(session, told, most_of(limit)):
                return where
            return put_in_place(where, told, FoundThere(told.link.relation, told.link.where))
    return where


async def turned(session: SqlSession, plan: Read) -> Read:
    """The plan, with its condition the quicker way round."""
    where = await directed(session, plan.table, plan.where, plan.page.limit)
    return plan if where is plan.where else replace(plan, where=where)


def _is_found(shape: Shape, told: Told) -> bool:
    """Whether there is an index that finds this part."""
    kind, part = told.target.field(told.test.field).kind, told.test.value
    return isinstance(fitted(kind, told.test.op, part), Fitted) and shape.dialect.finds(part)


async def _is_rare(session: SqlSession, told: Told, most: int) -> bool:
    dialect, place, name = session.shape.dialect, Place(told.target, "t"), told.test.field
    column = Searched(told.target, told.target.field(name), place.column(name), place.key())
    parameters = Parameters(dialect)
    text = dialect.candidates(column, told.test.value, parameters) + limit_of(most + 1)
    return len(await session.rows((text, parameters.values))) <= most
