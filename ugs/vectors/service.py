"""The vector service of one system: the embedder, maintenance of the vectors, and search."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from ugs.catalog import Catalog
from ugs.errors import UgsError
from ugs.storage import Session, Storage
from ugs.storage.read_position import reading_from_primary
from ugs.vectors.embedders import DEFAULT, SETTING, Embedder, embedder_for
from ugs.vectors.index_maintenance import keep_up
from ugs.vectors.similarity_search import SimilaritySearch

if TYPE_CHECKING:
    from ugs.log.at import At


class Vectors:
    """The embedder of a system and the background maintenance of its vectors."""

    def __init__(self, catalog: Catalog, store_at: Callable[[At | None], Awaitable[Storage]]) -> None:
        self.catalog = catalog
        self.embedder_name = os.environ.get(SETTING) or DEFAULT
        self._store_at = store_at
        self._under_way: WeakKeyDictionary[Storage, asyncio.Task[None]] = WeakKeyDictionary()

    @cached_property
    def embedder(self) -> Embedder:
        return embedder_for(self.embedder_name)

    async def ready(self, at: At | None = None, seconds: float | None = None) -> None:
        """Bring the stored vectors up to date within `seconds`, for now or for a past position. Results are correct
        without it, only slower, so a store that is read-only or too slow is no reason to refuse a search.
        """
        storage = await self._store_at(at)
        task = self._under_way.get(storage)
        if task is None or task.done():
            task = self._under_way[storage] = asyncio.create_task(self._keep_up(storage))
        # Whoever stops waiting does not stop the work: the next one finds it further on.
        await asyncio.wait([task], timeout=seconds)

    async def _keep_up(self, storage: Storage) -> None:
        with suppress(UgsError), reading_from_primary():
            await keep_up(storage, self.catalog, self.embedder)

    async def close(self) -> None:
        """Cancel running maintenance; the next search starts it again."""
        tasks = list(self._under_way.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def likeness(self, session: Session) -> SimilaritySearch:
        """Similarity search in a session."""
        return SimilaritySearch(session, self.catalog, self.embedder)
