"""Lists of ids as a store writes them: nothing else of the rows is read, and no more of them than are wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from ugs.catalog import Table
from ugs.graph.model import EDGES, NODES
from ugs.ontology.queries import Asked
from ugs.reads.plan import Page, Read
from ugs.reads.rendering import Body, Column, Further, Items, Parts, Rendering, Text

if TYPE_CHECKING:
    from ugs.moments import At
    from ugs.system import System


class Ids(list[str]):
    """Ids, and how many there are in all, where these may be only the first of them."""

    total: int | None
    """None: more than these, and counting them would take longer than finding these."""

    def __init__(self, ids: list[str], total: int | None) -> None:
        super().__init__(ids)
        self.total = total


class _Page(Struct):
    ids: list[str]
    more: bool


def _only_ids(table: Table) -> Rendering:
    items = Items(Body(table, (Column("id"),)))
    return Rendering(Parts((Text('{"ids":['), items, Text('],"more":'), Further(behind=True), Text("}"))))


_WRITTEN = {table.name: _only_ids(table) for table in (NODES, EDGES)}
_read = msgspec.json.Decoder(_Page).decode


async def ids_of(
    system: System, asked: Asked, limit: int | None = None, most: int | None = None, at: At | None = None
) -> Ids:
    """At most `limit` ids are asked for; of those at most `most` are given, and all counted where that is cheap."""
    shown = min((bound for bound in (limit, most) if bound is not None), default=None)
    plan = Read(asked.table, asked.where, asked.order, Page(limit=shown))
    found = _read(await system.render(plan, _WRITTEN[asked.table.name], at))
    if not found.more or shown == limit:
        return Ids(found.ids, len(found.ids))
    return Ids(found.ids, await _count(system, asked, at) if asked.countable else None)


async def _count(system: System, asked: Asked, at: At | None) -> int:
    async with system.session_at(at) as session:
        return await session.count(asked.table, asked.where)
