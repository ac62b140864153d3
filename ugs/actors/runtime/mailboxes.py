"""Keyed FIFO locks: one message at a time per node, in order of arrival, with bounded queues."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from math import inf

from ugs.actors.errors import MailboxFull


class _Queue:
    """The lock of one key and the number of its holders and waiters."""

    __slots__ = ("length", "lock")

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.length = 0


class KeyedQueues:
    """Locks by id that exist only while they are held or waited for."""

    def __init__(self, max_per_key: float = inf, max_total: float = inf) -> None:
        self._max_per_key, self._max_total = max_per_key, max_total
        self._queues: dict[str, _Queue] = {}
        self._total = 0

    def __len__(self) -> int:
        return len(self._queues)

    @asynccontextmanager
    async def acquire(self, id: str) -> AsyncIterator[None]:
        """Hold the lock of an id, in order of arrival; raises `MailboxFull` when too many wait."""
        queue = self._queues.get(id) or _Queue()
        if queue.length >= self._max_per_key:
            raise MailboxFull(f"{queue.length} messages already wait for {id}", id)
        if self._total >= self._max_total:
            raise MailboxFull(f"{self._total} messages already wait for all actors together", id)
        self._queues[id] = queue
        queue.length += 1
        self._total += 1
        try:
            async with queue.lock:
                yield
        finally:
            self._total -= 1
            queue.length -= 1
            if not queue.length:
                del self._queues[id]

    @asynccontextmanager
    async def acquire_all(self, ids: Iterable[str]) -> AsyncIterator[None]:
        """Hold several locks, acquired in a fixed order, so that no deadlock can arise."""
        async with AsyncExitStack() as stack:
            for id in sorted(set(ids)):
                await stack.enter_async_context(self.acquire(id))
            yield
