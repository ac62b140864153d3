"""Lists of ids rendered by the store: only the id column is read, and only as many rows as are needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from ugs.graph.model import EDGES, NODES
from ugs.ontology.queries import RowQuery
from ugs.reads.plan import Page, Read
from ugs.reads.rendering import Column, HasMore, Items, PageTemplate, Rendering, RowTemplate, Text
from ugs.tables import Table

if TYPE_CHECKING:
    from ugs.log.at import At
    from ugs.system import System


class Ids(list[str]):
    """Ids, and the total number of matches when these may be only the first of them."""

    total: int | None
    """None: there are more, and counting them would cost more than finding these."""

    def __init__(self, ids: list[str], total: int | None) -> None:
        super().__init__(ids)
        self.total = total


class _Page(Struct):
    ids: list[str]
    more: bool


def _only_ids(table: Table) -> Rendering:
    items = Items(RowTemplate(table, (Column("id"),)))
    return Rendering(PageTemplate((Text('{"ids":['), items, Text('],"more":'), HasMore(behind=True), Text("}"))))


_WRITTEN = {table.name: _only_ids(table) for table in (NODES, EDGES)}
_read = msgspec.json.Decoder(_Page).decode


async def read_ids(
    system: System, query: RowQuery, limit: int | None = None, max_ids: int | None = None, at: At | None = None
) -> Ids:
    """Read at most `limit` ids and return at most `max_ids` of them; the total is counted only where an index makes it
    cheap.
    """
    shown = min((bound for bound in (limit, max_ids) if bound is not None), default=None)
    plan = Read(query.table, query.where, query.order, Page(limit=shown))
    found = _read(await system.render(plan, _WRITTEN[query.table.name], at))
    if not found.more or shown == limit:
        return Ids(found.ids, len(found.ids))
    return Ids(found.ids, await _count(system, query, at) if query.countable else None)


async def _count(system: System, asked: RowQuery, at: At | None) -> int:
    async with system.session_at(at) as session:
        return await session.count(asked.table, asked.where)
