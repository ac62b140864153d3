"""Access path selection for substrings of related rows and for words, by counting matches up to a threshold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ugs.reads.filters import Has, Where, all_of, conditions
from ugs.reads.plan import Read
from ugs.reads.substring_hints import LinkedSubstring, find_linked_substrings, max_index_hits, replace_link
from ugs.tables import Table
from ugs_backends.sql.compiler.comparison_coercion import CoercedComparison, coerce_comparison
from ugs_backends.sql.compiler.conditions import HasAll, Place, RelatedRowCondition, WordAccess, can_have
from ugs_backends.sql.compiler.statements import build_limit
from ugs_backends.sql.dialect import Parameters, SearchedColumn

if TYPE_CHECKING:
    from ugs_backends.sql.session import SqlSession, StoreContext

MAX_GATHERED_ROWS = 10_000
"""Up to this many rows with a word are collected in a few milliseconds. Beyond it, reading all rows in order meets the
first matches soon, unless they all come last.
"""


async def rewrite_filter(session: SqlSession, table: Table, where: Where, limit: int | None = None) -> Where:
    """Rewrite a condition so that a selective substring of a related row, or selective words, are looked up first."""
    for linked in find_linked_substrings(session.shape.catalog, table, where):
        if _has_substring_index(session.shape, linked):
            if limit is not None and not await _is_rare(session, linked, max_index_hits(limit)):
                break
            return replace_link(where, linked, RelatedRowCondition(linked.link.relation, linked.link.where))
    return where if limit is None else await _choose_word_path(session, table, where, limit)


async def _choose_word_path(session: SqlSession, table: Table, where: Where, limit: int) -> Where:
    """Choose the access path of words: collect the rows of rare words, test rows in order for common ones."""
    words = _list_required_words(session.shape, table, where)
    if not words:
        return where
    way = WordAccess.FIRST if await _are_rare(session, table, words, MAX_GATHERED_ROWS + limit) else WordAccess.LAST
    return all_of(HasAll(words, way), *(part for part in conditions(where) if not isinstance(part, Has)))


def _list_required_words(shape: StoreContext, table: Table, where: Where) -> tuple[str, ...]:
    """The words that every row must have, if there is a choice of access paths for them."""
    words = tuple(part.word for part in conditions(where) if isinstance(part, Has))
    is_open = not shape.dialect.words.come_in_order and len(table.key) == 1 and can_have(table, words)
    return words if is_open else ()


def needs_rewrite(shape: StoreContext, plan: Read) -> bool:
    """Whether `rewrite_plan` may change a plan."""
    limited = plan.page.limit is not None
    return any(find_linked_substrings(shape.catalog, plan.table, plan.where)) or (
        limited and bool(_list_required_words(shape, plan.table, plan.where))
    )


async def rewrite_plan(session: SqlSession, plan: Read) -> Read:
    """Rewrite the condition of a plan for the cheaper access path."""
    where = await rewrite_filter(session, plan.table, plan.where, plan.page.limit)
    return plan if where is plan.where else replace(plan, where=where)


def _has_substring_index(shape: StoreContext, linked: LinkedSubstring) -> bool:
    """Whether a substring index supports this search."""
    kind, part = linked.target.field(linked.test.field).kind, linked.test.value
    return isinstance(coerce_comparison(kind, linked.test.op, part), CoercedComparison) and shape.dialect.can_find(part)


async def _is_rare(session: SqlSession, linked: LinkedSubstring, max_rows: int) -> bool:
    dialect, place, name = session.shape.dialect, Place(linked.target, "t"), linked.test.field
    column = SearchedColumn(linked.target, linked.target.field(name), place.column(name), place.key())
    parameters = Parameters(dialect)
    text = dialect.candidates(column, linked.test.value, parameters) + build_limit(max_rows + 1)
    return len(await session.rows((text, parameters.values))) <= max_rows


async def _are_rare(session: SqlSession, table: Table, words: Sequence[str], max_rows: int) -> bool:
    select = session.shape.select()
    text = select.conditions.count_words(table, words, build_limit(max_rows + 1))
    return bool((await session.rows((text, select.parameters.values)))[0][0] <= max_rows)
