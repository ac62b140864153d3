"""Nodes that many turns ask for at the same time are read together: one read at a time, the rest waits for the next."""

from __future__ import annotations

import asyncio
from collections.abc import Collection

from ugs.graph.model import Node
from ugs.graph.traversal import nodes_by_id
from ugs.storage import Storage


class NodeReader:
    """Reads nodes by id, as they are after they were asked for."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._wanted: set[str] = set()
        self._next: asyncio.Task[dict[str, Node]] | None = None
        self._busy = asyncio.Lock()

    async def nodes(self, ids: Collection[str]) -> dict[str, Node]:
        """The nodes that exist among these ids."""
        self._wanted.update(ids)
        if self._next is None:
            self._next = asyncio.create_task(self._read())
        # Whoever gives up waiting must not take the answer from the others.
        found = await asyncio.shield(self._next)
        return {id: found[id] for id in ids if id in found}

    async def _read(self) -> dict[str, Node]:
        async with self._busy:
            wanted, self._wanted, self._next = self._wanted, set(), None
            async with self._storage.session() as session:
                return await nodes_by_id(session, wanted)
