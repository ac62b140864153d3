"""Committed events to those who wait for them.

A subscriber is a position in the log and an interest, nothing more. Fresh events are handed over from a short shared
tail; who has fallen behind it reads the log. So nothing is lost or doubled, and memory does not grow with slow
subscribers. Only those are woken whom an event concerns: thousands may wait for things that do not happen.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Iterator, Sequence

from msgspec import Struct

from ugs.events import Event
from ugs.storage import EventQuery, Storage

TAIL = 4_096
CHUNK = 500


class Interest(Struct, frozen=True):
    """Which events somebody wants to hear of: those of one element, those of some types, or all."""

    element: str | None = None
    types: frozenset[str] | None = None

    def covers(self, event: Event) -> bool:
        """Whether the event is one of them."""
        return (self.element is None or event.element == self.element) and (
            self.types is None or event.type in self.types
        )

    @property
    def marks(self) -> Iterator[tuple[str, str]]:
        """Under what it is looked for when something has happened."""
        if self.element is not None:
            yield "element", self.element
        elif self.types is not None:
            yield from (("type", type) for type in self.types)
        else:
            yield "all", ""


EVERYTHING = Interest()
Waiter = asyncio.Future[int]
"""Woken with the position behind which the first event of interest stands."""


class Bus:
    """The end of the log, as a place to wait at."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._tail: deque[Event] = deque(maxlen=TAIL)
        self._moved = asyncio.Event()
        self._waiting: dict[tuple[str, str], dict[Waiter, None]] = {}
        self.position = 0

    def start_at(self, position: int) -> None:
        """Where the log ended when the system opened."""
        self.position = position

    def publish(self, events: Sequence[Event]) -> None:
        """Tell everybody about events this process has committed."""
        if events:
            # Another process may have written in between, and whoever waits shall hear of that first.
            self.heard(events[0].position - 1)
            if self._tail and self._tail[-1].position + 1 != events[0].position:
                self._tail.clear()
            self._tail.extend(events)
            self._advance(events[-1].position)
            if self._waiting:
                for event in events:
                    self._wake(event)

    def heard(self, position: int) -> None:
        """Another process has committed up to here; its events are in the log, not in the tail."""
        if position > self.position:
            self._tail.clear()
            after = self.position
            self._advance(position)
            # Nobody knows yet whom they concern.
            for waiters in self._waiting.values():
                for waiter in waiters:
                    _wake(waiter, after)

    def _advance(self, position: int) -> None:
        self.position = max(self.position, position)
        self._moved.set()
        self._moved = asyncio.Event()

    def _wake(self, event: Event) -> None:
        for mark in (("all", ""), ("type", event.type), ("element", event.element or "")):
            for waiter in self._waiting.get(mark, ()):
                _wake(waiter, event.position - 1)

    async def wait_beyond(self, position: int) -> None:
        """Return as soon as the log reaches beyond the position."""
        while self.position <= position:
            await self._moved.wait()

    async def _wait_for(self, interest: Interest, after: int) -> int:
        """Return when there may be news of interest: the position behind which it begins."""
        if self.position > after:
            return after
        waiter: Waiter = asyncio.get_running_loop().create_future()
        marks = list(interest.marks)
        for mark in marks:
            self._waiting.setdefault(mark, {})[waiter] = None
        try:
            return max(after, await waiter)
        finally:
            for mark in marks:
                waiters = self._waiting[mark]
                del waiters[waiter]
                if not waiters:
                    del self._waiting[mark]

    async def read(self, after: int, interest: Interest = EVERYTHING) -> tuple[list[Event], int]:
        """The next events of interest after a position, at most a chunk, and up to where that is all of them."""
        tail, end = self._tail, self.position
        if tail and tail[0].position <= after + 1 <= tail[-1].position:
            start = after + 1 - tail[0].position
            fresh = [tail[index] for index in range(start, min(start + CHUNK, len(tail)))]
            return [event for event in fresh if interest.covers(event)], fresh[-1].position
        query = EventQuery(after, end, CHUNK, interest.element, interest.types)
        async with self._storage.session() as session:
            events = await session.events(query)
        return events, events[-1].position if len(events) == CHUNK else max(after, end)

    async def follow(self, after: int, interest: Interest = EVERYTHING) -> AsyncIterator[Event]:
        """Every event of interest after a position, in order, for ever."""
        while True:
            events, after = await self.read(after, interest)
            for event in events:
                yield event
            after = await self._wait_for(interest, after)


def _wake(waiter: Waiter, after: int) -> None:
    if not waiter.done():
        waiter.set_result(after)
