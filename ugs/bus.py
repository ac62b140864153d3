"""Committed events to those who wait for them.

A subscriber is a position in the log, nothing more. Fresh events are handed over from a short shared tail; who has
fallen behind it reads the log. So nothing is lost or doubled, and memory does not grow with slow subscribers.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Sequence

from ugs.events import Event
from ugs.storage import EventQuery, Storage

TAIL = 4_096
CHUNK = 500


class Bus:
    """The end of the log, as a place to wait at."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._tail: deque[Event] = deque(maxlen=TAIL)
        self._moved = asyncio.Event()
        self.position = 0

    def start_at(self, position: int) -> None:
        """Where the log ended when the system opened."""
        self.position = position

    def publish(self, events: Sequence[Event]) -> None:
        """Tell everybody about events this process has committed."""
        if events:
            self._tail.extend(events)
            self._advance(events[-1].position)

    def heard(self, position: int) -> None:
        """Another process has committed up to here; its events are in the log, not in the tail."""
        if position > self.position:
            self._tail.clear()
            self._advance(position)

    def _advance(self, position: int) -> None:
        self.position = max(self.position, position)
        self._moved.set()
        self._moved = asyncio.Event()

    async def wait_beyond(self, position: int) -> None:
        """Return as soon as the log reaches beyond the position."""
        while self.position <= position:
            await self._moved.wait()

    async def read(self, after: int) -> list[Event]:
        """The next events after a position, at most a chunk of them."""
        tail = self._tail
        if tail and tail[0].position <= after + 1 <= tail[-1].position:
            start = after + 1 - tail[0].position
            if tail[start].position == after + 1:
                return [tail[index] for index in range(start, min(start + CHUNK, len(tail)))]
        async with self._storage.session() as session:
            return await session.events(EventQuery(after=after, limit=CHUNK))

    async def follow(self, after: int) -> AsyncIterator[Event]:
        """Every event after a position, in order, for ever."""
        while True:
            for event in await self.read(after):
                yield event
                after = event.position
            await self.wait_beyond(after)
