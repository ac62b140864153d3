"""The vectors of one system: which embedder makes them, bringing them up to date, and asking them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from ugs.catalog import Catalog
from ugs.errors import UgsError
from ugs.storage import Session, Storage
from ugs.vectors.embedders import Embedder, chosen_embedder
from ugs.vectors.keeping import keep_up
from ugs.vectors.searching import Likeness

if TYPE_CHECKING:
    from ugs.moments import At


class Vectors:
    """What a system knows about likeness."""

    def __init__(self, catalog: Catalog, store_at: Callable[[At | None], Awaitable[Storage]]) -> None:
        self.catalog = catalog
        self._store_at = store_at
        self._turns: WeakKeyDictionary[Storage, asyncio.Lock] = WeakKeyDictionary()

    @cached_property
    def embedder(self) -> Embedder:
        return chosen_embedder()

    async def ready(self, at: At | None = None, seconds: float | None = None) -> None:
        """Bring the stored vectors up to date, now or for a place in time. Answers are right without it, only slower,
        so a store that cannot be written to just now, or not fast enough, is no reason to refuse a search."""
        storage = await self._store_at(at)
        with suppress(UgsError, TimeoutError):
            async with asyncio.timeout(seconds), self._turns.setdefault(storage, asyncio.Lock()):
                await keep_up(storage, self.catalog, self.embedder)

    def likeness(self, session: Session) -> Likeness:
        """Search by likeness in a session."""
        return Likeness(session, self.catalog, self.embedder)
