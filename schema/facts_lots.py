"""One request's reading of facts: related rows of many records are fetched together, never one by one.

Every record that a request shows holds the same lot. A field that reaches into another table leaves its wish there; all
wishes of one level and kind become one fetch.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

from msgspec import Struct
from strawberry.dataloader import DataLoader

from schema.context import Info, RequestContext
from schema.paging import PageInfo, page_info
from ugs.catalog import Row, Table
from ugs.facts.api import Facts
from ugs.facts.instants import Instant
from ugs.facts.reports import ContextRow
from ugs.moments import At
from ugs.reads.cursors import cursor_of
from ugs.reads.levels import one_more, without_extra
from ugs.reads.plan import WHOLE, Order, Page
from ugs.reads.where import EVERYTHING, Where, all_of, in_

T = TypeVar("T")


class Related(Struct, frozen=True):
    """A wish for rows of a table whose field has the value that each asking record brings."""

    table: Table
    field: str
    where: Where = EVERYTHING
    order: tuple[Order, ...] = ()
    page: Page = WHOLE


class Lot:
    """The records of one request, and how they find what belongs to them."""

    def __init__(self, context: RequestContext, at: At | None, moment: Instant) -> None:
        self.context, self.at, self.moment = context, at, moment
        self.facts = Facts(context.system, context.principal)
        self._loaders: dict[Any, DataLoader[Any, Any]] = {}

    @property
    def viewer(self) -> Any:
        return self.facts.viewer

    def _loader(self, name: Any, load: Callable[[list[Any]], Coroutine[Any, Any, Sequence[T]]]) -> DataLoader[Any, T]:
        if name not in self._loaders:
            self._loaders[name] = DataLoader(load_fn=load)
        return self._loaders[name]

    async def one(self, table: Table, key: str | None) -> Row | None:
        """The row with this key."""
        if key is None:
            return None

        async def load(keys: list[str]) -> list[Row | None]:
            async with self.facts.known(self.at) as session:
                found = {table.key_of(row): row for row in await session.find_many(table, sorted(set(keys)))}
            return [found.get(key) for key in keys]

        return await self._loader(table, load).load(key)

    async def all(self, table: Table, keys: Sequence[str]) -> list[Row]:
        """The rows with these keys that exist, in the order of the keys."""
        found = await asyncio.gather(*(self.one(table, key) for key in keys))
        return [row for row in found if row is not None]

    async def many(self, wish: Related, key: str) -> tuple[list[Row], bool]:
        """The rows a record wishes for, and whether more follow its page."""

        async def load(keys: list[str]) -> list[tuple[list[Row], bool]]:
            groups: dict[str, list[Row]] = {key: [] for key in keys}
            page = one_more(wish.page)
            page = Page(page.limit, page.after, page.backward, wish.field if page.limit is not None else None)
            where = all_of(in_(wish.field, sorted(groups)), wish.where)
            async with self.facts.known(self.at) as session:
                for row in await session.fetch(wish.table, where, wish.order, page):
                    groups[getattr(row, wish.field)].append(row)
            return [without_extra(groups[key], wish.page) for key in keys]

        return await self._loader(wish, load).load(key)

    async def context_of(self, note_id: str, facts: int, evidence: int) -> Sequence[ContextRow]:
        """What a note is evidence of, current facts first."""

        async def load(keys: list[str]) -> list[Sequence[ContextRow]]:
            found = await self.facts.relation_context(keys, self.moment, facts=facts, evidence=evidence, at=self.at)
            return [found[key] for key in keys]

        return await self._loader(("context", facts, evidence), load).load(note_id)

    async def count(self, wish: Related, key: str) -> int:
        """How many rows a record could wish for in all."""

        async def load(keys: list[str]) -> list[int]:
            where = all_of(in_(wish.field, sorted(set(keys))), wish.where)
            async with self.facts.known(self.at) as session:
                counts = await session.group(wish.table, wish.field, where)
            return [counts.get(key, 0) for key in keys]

        return await self._loader(("count", wish.table, wish.field, wish.where), load).load(key)


class Paged:
    """A page of facts of one wish."""

    def __init__(self, rows: Sequence[Any], more: bool, page: Page, lot: Lot, total: Any) -> None:
        self.rows, self.more, self.page, self.lot, self.total = rows, more, page, lot, total


def paged_info(paged: Paged, table: Table, order: tuple[Order, ...]) -> PageInfo:
    return page_info(paged.page, paged.more, [cursor_of(row, table, order) for row in paged.rows])


async def lot_for(info: Info, at: Any = None) -> Lot:
    """The lot of a request that reads now or at a place in time."""
    lot = Lot(info.context, at, 0)
    lot.moment = await lot.facts.now(at)
    return lot


async def shared_lot(info: Info, at: At | None) -> Lot:
    """One lot for all records below the same root field, for those that do not come from a lot themselves."""
    place = info.path
    while place.prev is not None:
        place = place.prev
    made = info.context.kept.get((place.key, at))
    if made is None:
        # A task, so that all who ask while it is being made wait for the same one.
        made = info.context.kept[place.key, at] = asyncio.ensure_future(lot_for(info, at))
    return await asyncio.shield(made)


def own_id(id: str, kind: str) -> str:
    """The record's own id, given so or as its global id."""
    return id.removeprefix(f"{kind}/")
