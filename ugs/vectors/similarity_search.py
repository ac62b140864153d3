"""Exact similarity search in any session: the rows whose texts are most similar to a text.

Stored vectors serve all rows that are unchanged since they were computed. The other rows are embedded during the
search, so results are correct at every position, however far behind the stored vectors are.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from msgspec import Struct

from ugs.catalog import Catalog
from ugs.reads.filters import EVERYTHING, Everything, Linked, Not, Where, all_of, in_
from ugs.reads.vector_search import Near, Scored, Vector, best, nearest_of
from ugs.storage import EventQuery, Session
from ugs.vectors.embedders import Embedder
from ugs.vectors.index_maintenance import embed_rows, progress_of
from ugs.vectors.model import EmbeddedTable
from ugs.vectors.touched_rows import touched_keys

MAX_EVENTS_BEHIND = 5_000
"""More events behind than this, all rows are embedded instead of reading the events."""


class SimilaritySearch(Struct, frozen=True):
    """Similarity search in one session with one embedder."""

    session: Session
    catalog: Catalog
    embedder: Embedder

    async def search(
        self, each: EmbeddedTable, vector: Vector, limit: int, min_score: int = 1, where: Where = EVERYTHING
    ) -> list[Scored]:
        """The passages most similar to a vector among the rows that meet a condition: by score, then by key; none below
        `min_score`.
        """
        near = Near("vector", vector, limit, min_score, _linked(where))
        changed = await self._changed_keys(each)
        if changed is None:
            return await self._score_unstored(each, near, where)
        if not changed:
            return await self.session.nearest(each.vectors, near)
        stored = await self.session.nearest(each.vectors, _exclude(near, changed))
        fresh = await self._score_unstored(each, near, all_of(in_(each.table.key[0], sorted(changed)), where))
        return best([*stored, *fresh], each.vectors, near)

    async def _changed_keys(self, each: EmbeddedTable) -> Collection[Any] | None:
        """The keys of rows that changed since their vectors were computed; None if no stored vector can be used."""
        marker = await progress_of(self.session, each, self.embedder)
        behind = MAX_EVENTS_BEHIND if marker is None else (await self.session.head()).position - marker.position
        if marker is None or behind >= MAX_EVENTS_BEHIND:
            return None
        events = await self.session.events(EventQuery(after=marker.position)) if behind else ()
        return touched_keys(each.table, events, self.catalog.rules.reduce)

    async def _score_unstored(self, each: EmbeddedTable, near: Near, where: Where) -> list[Scored]:
        """Embed and score rows that have no current vector."""
        rows = await self.session.fetch(each.table, where)
        return nearest_of(await embed_rows(each, self.embedder, rows), each.vectors, near)


def _linked(where: Where) -> Where:
    """The condition on a row, rewritten for the table of its vectors."""
    return EVERYTHING if isinstance(where, Everything) else Linked("row", where)


def _exclude(near: Near, keys: Collection[Any]) -> Near:
    return Near(near.field, near.vector, near.limit, near.least, all_of(near.where, Not(in_("id", sorted(keys)))))
