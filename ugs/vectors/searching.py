"""Search by likeness: the rows whose texts are most like a text, exactly, in any session.

Stored vectors answer for all rows that have not changed since they were made. The others are embedded on the spot, so
an answer is right at any moment and at any place in time, however far behind the stored vectors are.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from msgspec import Struct

from ugs.catalog import Catalog
from ugs.reads.near import Near, Scored, Vector, best, nearest_of
from ugs.reads.where import EVERYTHING, Everything, Linked, Not, Where, all_of, in_
from ugs.storage import EventQuery, Session
from ugs.vectors.changes import touched_keys
from ugs.vectors.embedders import Embedder
from ugs.vectors.keeping import embed_rows, progress_of
from ugs.vectors.model import Embedded

TOO_FAR_BEHIND = 5_000
"""So many events behind, all rows are looked at instead of what the events touched."""


class Likeness(Struct, frozen=True):
    """Answers in one session, with the vectors of one embedder."""

    session: Session
    catalog: Catalog
    embedder: Embedder

    async def search(
        self, each: Embedded, vector: Vector, limit: int, least: int = 1, where: Where = EVERYTHING
    ) -> list[Scored]:
        """Passages of the rows that meet a condition, by likeness, then by key: the best, at least so much alike."""
        near = Near("vector", vector, limit, least, _linked(where))
        changed = await self._changed(each)
        if changed is None:
            return await self._on_the_spot(each, near, where)
        if not changed:
            return await self.session.nearest(each.vectors, near)
        stored = await self.session.nearest(each.vectors, _except(near, changed))
        fresh = await self._on_the_spot(each, near, all_of(in_(each.table.key[0], sorted(changed)), where))
        return best([*stored, *fresh], each.vectors, near)

    async def _changed(self, each: Embedded) -> Collection[Any] | None:
        """The rows whose vectors are older than they are; None when none can be trusted."""
        marker = await progress_of(self.session, each, self.embedder)
        behind = TOO_FAR_BEHIND if marker is None else (await self.session.head()).position - marker.position
        if marker is None or behind >= TOO_FAR_BEHIND:
            return None
        events = await self.session.events(EventQuery(after=marker.position)) if behind else ()
        return touched_keys(each.table, events, self.catalog.rules.reduce)

    async def _on_the_spot(self, each: Embedded, near: Near, where: Where) -> list[Scored]:
        rows = await self.session.fetch(each.table, where)
        return nearest_of(await embed_rows(each, self.embedder, rows), each.vectors, near)


def _linked(where: Where) -> Where:
    """The condition on a row, told of its vectors."""
    return EVERYTHING if isinstance(where, Everything) else Linked("row", where)


def _except(near: Near, keys: Collection[Any]) -> Near:
    return Near(near.field, near.vector, near.limit, near.least, all_of(near.where, Not(in_("id", sorted(keys)))))
