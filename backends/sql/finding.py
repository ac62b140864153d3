"""Which way round to look for rows that are told by parts of texts elsewhere, or by words: counted first, up to where
ways part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from backends.sql.conditions import FoundThere, HasAll, Place, Way, can_have
from backends.sql.dialect import Parameters, Searched
from backends.sql.fitting import Fitted, fitted
from backends.sql.statements import limit_of
from ugs.catalog import Table
from ugs.reads.plan import Read
from ugs.reads.searched import Told, most_of, put_in_place, told_elsewhere
from ugs.reads.where import Has, Where, all_of, conditions

if TYPE_CHECKING:
    from backends.sql.session import Shape, SqlSession

GATHERED = 10_000
"""So many rows with a word are gathered in a few milliseconds. Beyond, the first are soon met by walking through all
rows, unless they all come last."""


async def directed(session: SqlSession, table: Table, where: Where, limit: int | None = None) -> Where:
    """The condition, with what is told elsewhere found there first where that is the quicker way."""
    for told in told_elsewhere(session.shape.catalog, table, where):
        if _is_found(session.shape, told):
            if limit is not None and not await _is_rare(session, told, most_of(limit)):
                break
            return put_in_place(where, told, FoundThere(told.link.relation, told.link.where))
    return where if limit is None else await _by_words(session, table, where, limit)


async def _by_words(session: SqlSession, table: Table, where: Where, limit: int) -> Where:
    """The condition, with the rows of rare words gathered; those of common ones are soon met on a walk."""
    words = _words(session.shape, table, where)
    if not words:
        return where
    way = Way.FIRST if await _are_rare(session, table, words, GATHERED + limit) else Way.LAST
    return all_of(HasAll(words, way), *(part for part in conditions(where) if not isinstance(part, Has)))


def _words(shape: Shape, table: Table, where: Where) -> tuple[str, ...]:
    """The words that every row must have, where it makes a difference how they are looked for."""
    words = tuple(part.word for part in conditions(where) if isinstance(part, Has))
    is_open = not shape.dialect.words.come_in_order and len(table.key) == 1 and can_have(table, words)
    return words if is_open else ()


def is_turned(shape: Shape, plan: Read) -> bool:
    """Whether there is another way round for a plan."""
    limited = plan.page.limit is not None
    return any(told_elsewhere(shape.catalog, plan.table, plan.where)) or (
        limited and bool(_words(shape, plan.table, plan.where))
    )


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


async def _are_rare(session: SqlSession, table: Table, words: Sequence[str], most: int) -> bool:
    select = session.shape.select()
    text = select.conditions.counted_words(table, words, limit_of(most + 1))
    return bool((await session.rows((text, select.parameters.values)))[0][0] <= most)
