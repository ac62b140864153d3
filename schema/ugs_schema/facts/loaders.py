"""Data loaders for facts: related rows of many records are fetched in batches.

All records of a request share one `FactsLoader`. Look-ups of the same kind from one level of the query become one
fetch.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

from msgspec import Struct
from strawberry.dataloader import DataLoader

from ugs.facts.access import AccessScope
from ugs.facts.api import Facts
from ugs.facts.reports import ContextRow
from ugs.facts.temporal.instants import Instant
from ugs.log.at import At
from ugs.reads.cursors import cursor_of
from ugs.reads.filters import EVERYTHING, Where, all_of, in_
from ugs.reads.level_executor import one_more, without_extra
from ugs.reads.plan import WHOLE, Order, Page
from ugs.tables import Row, Table
from ugs_schema.context import Info, RequestContext
from ugs_schema.pagination import PageInfo, build_page_info

T = TypeVar("T")


class RelatedLookup(Struct, frozen=True):
    """A look-up of rows of a table by a field; the key is a parameter."""

    table: Table
    field: str
    where: Where = EVERYTHING
    order: tuple[Order, ...] = ()
    page: Page = WHOLE


class FactsLoader:
    """The data loaders of one request."""

    def __init__(self, context: RequestContext, at: At | None, moment: Instant) -> None:
        self.context, self.at, self.moment = context, at, moment
        self.facts = Facts(context.system, context.principal)
        self._loaders: dict[Any, DataLoader[Any, Any]] = {}

    @property
    def viewer(self) -> AccessScope:
        return self.facts.viewer

    async def _load(self, name: Any, load: Callable[[list[Any]], Coroutine[Any, Any, Sequence[T]]], key: Any) -> T:
        """What the loader of this name has for a key."""
        if name not in self._loaders:
            self._loaders[name] = DataLoader(load_fn=load)
        # Resolvers share the future of a key: if one is cancelled, as a field beside it failed, the others wait on.
        found: T = await asyncio.shield(self._loaders[name].load(key))
        return found

    async def find_one(self, table: Table, key: str | None) -> Row | None:
        """The row with this key, batched."""
        if key is None:
            return None

        async def load(keys: list[str]) -> list[Row | None]:
            async with self.facts.known(self.at) as session:
                found = {table.key_of(row): row for row in await session.find_many(table, sorted(set(keys)))}
            return [found.get(key) for key in keys]

        return await self._load(table, load, key)

    async def find_all(self, table: Table, keys: Sequence[str]) -> list[Row]:
        """The rows with these keys that exist, in the order of the keys."""
        found = await asyncio.gather(*(self.find_one(table, key) for key in keys))
        return [row for row in found if row is not None]

    async def find_many(self, lookup: RelatedLookup, key: str) -> tuple[list[Row], bool]:
        """The rows of a look-up for one key, batched, and whether more follow the page."""

        async def load(keys: list[str]) -> list[tuple[list[Row], bool]]:
            groups: dict[str, list[Row]] = {key: [] for key in keys}
            page = one_more(lookup.page)
            page = Page(page.limit, page.after, page.backward, lookup.field if page.limit is not None else None)
            where = all_of(in_(lookup.field, sorted(groups)), lookup.where)
            async with self.facts.known(self.at) as session:
                for row in await session.fetch(lookup.table, where, lookup.order, page):
                    groups[getattr(row, lookup.field)].append(row)
            return [without_extra(groups[key], lookup.page) for key in keys]

        return await self._load(lookup, load, key)

    async def load_context(self, note_id: str, facts: int, evidence: int) -> Sequence[ContextRow]:
        """The facts that a note is evidence for, current ones first."""

        async def load(keys: list[str]) -> list[Sequence[ContextRow]]:
            found = await self.facts.relation_context(keys, self.moment, facts=facts, evidence=evidence, at=self.at)
            return [found[key] for key in keys]

        return await self._load(("context", facts, evidence), load, note_id)

    async def count(self, lookup: RelatedLookup, key: str) -> int:
        """The number of rows of a look-up without its page, batched."""

        async def load(keys: list[str]) -> list[int]:
            where = all_of(in_(lookup.field, sorted(set(keys))), lookup.where)
            async with self.facts.known(self.at) as session:
                counts = await session.group(lookup.table, lookup.field, where)
            return [counts.get(key, 0) for key in keys]

        return await self._load(("count", lookup.table, lookup.field, lookup.where), load, key)


class FactPage:
    """A page of rows, and how to count them all."""

    def __init__(self, rows: Sequence[Any], has_more: bool, page: Page, loader: FactsLoader, total: Any) -> None:
        self.rows, self.has_more, self.page, self.loader, self.total = rows, has_more, page, loader, total


def build_facts_page_info(paged: FactPage, table: Table, order: tuple[Order, ...]) -> PageInfo:
    return build_page_info(paged.page, paged.has_more, [cursor_of(row, table, order) for row in paged.rows])


async def make_loader(info: Info, at: Any = None) -> FactsLoader:
    """A loader that reads now or at a point in time."""
    loader = FactsLoader(info.context, at, 0)
    loader.moment = await loader.facts.now(at)
    return loader


async def get_shared_loader(info: Info, at: At | None) -> FactsLoader:
    """One loader for all records below the same root field, for records that were not read by a loader."""
    place = info.path
    while place.prev is not None:
        place = place.prev
    task = info.context.kept.get((place.key, at))
    if task is None:
        # A task, so that concurrent resolvers wait for the same loader.
        task = info.context.kept[place.key, at] = asyncio.ensure_future(make_loader(info, at))
    return await asyncio.shield(task)


def strip_kind(id: str, kind: str) -> str:
    """The record's id, from itself or from its global id."""
    return id.removeprefix(f"{kind}/")
