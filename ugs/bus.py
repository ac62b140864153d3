"""The event bus: delivers committed events to subscribers.

A subscriber is only a position in the log and a filter (`Interest`). Recent events are served from a shared in-memory
tail; a subscriber that has fallen behind the tail reads the log. So no event is lost or repeated, and memory does not
grow with slow subscribers. Waiters are indexed by interest, so an event wakes only the subscribers it concerns.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import aclosing

from msgspec import Struct

from ugs.events import Event
from ugs.storage import EventQuery, Storage

TAIL = 4_096
CHUNK, CHUNK_BYTES = 500, 4 << 20
"""At most so many events, and about so many bytes of their data, are read from the log at once."""


class Interest(Struct, frozen=True):
    """A subscription's filter: the events of one element, of some types, or all."""

    element: str | None = None
    types: frozenset[str] | None = None

    def covers(self, event: Event) -> bool:
        """Whether the event passes the filter."""
        return (self.element is None or event.element == self.element) and (
            self.types is None or event.type in self.types
        )

    @property
    def marks(self) -> Iterator[tuple[str, str]]:
        """The keys under which its waiters are indexed."""
        if self.element is not None:
            yield "element", self.element
        elif self.types is not None:
            yield from (("type", type) for type in self.types)
        else:
            yield "all", ""


EVERYTHING = Interest()
Waiter = asyncio.Future[int]
"""Resolved with a position; the first event of interest comes after it."""


class Bus:
    """The shared tail of the log and the subscribers waiting at its end."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._tail: deque[Event] = deque(maxlen=TAIL)
        self._moved = asyncio.Event()
        self._waiting: dict[tuple[str, str], dict[Waiter, None]] = {}
        self.position = 0

    def start_at(self, position: int) -> None:
        """Set the log's end at the time the system was opened."""
        self.position = position

    def publish(self, events: Sequence[Event]) -> None:
        """Deliver events that this process has committed."""
        if events:
            # Another process may have committed in between; subscribers must get those events first.
            self.note_commit(events[0].position - 1)
            if self._tail and self._tail[-1].position + 1 != events[0].position:
                self._tail.clear()
            self._tail.extend(events)
            self._advance(events[-1].position)
            if self._waiting:
                for event in events:
                    self._wake_waiters(event)

    def note_commit(self, position: int) -> None:
        """Note that another process has committed up to here; its events must be read from the log."""
        if position > self.position:
            self._tail.clear()
            after = self.position
            self._advance(position)
            # The events have not been read, so which subscribers they concern is unknown: wake all.
            for waiters in self._waiting.values():
                for waiter in waiters:
                    _wake_waiters(waiter, after)

    def _advance(self, position: int) -> None:
        self.position = max(self.position, position)
        self._moved.set()
        self._moved = asyncio.Event()

    def _wake_waiters(self, event: Event) -> None:
        for mark in (("all", ""), ("type", event.type), ("element", event.element or "")):
            for waiter in self._waiting.get(mark, ()):
                _wake_waiters(waiter, event.position - 1)

    async def wait_beyond(self, position: int) -> None:
        """Return as soon as the log reaches beyond the position."""
        while self.position <= position:
            await self._moved.wait()

    async def _wait_for(self, interest: Interest, after: int) -> int:
        """Wait for a possible event of interest; returns the position to continue reading after."""
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
        """The next events of interest after a position, at most a chunk, and up to where this is complete."""
        tail, end = self._tail, self.position
        if tail and tail[0].position <= after + 1 <= tail[-1].position:
            start = after + 1 - tail[0].position
            fresh = [tail[index] for index in range(start, min(start + CHUNK, len(tail)))]
            return [event for event in fresh if interest.covers(event)], fresh[-1].position
        query = EventQuery(after, end, CHUNK, interest.element, interest.types, max_bytes=CHUNK_BYTES)
        async with self._storage.session() as session:
            events = await session.events(query)
        is_cut = len(events) == CHUNK or sum(len(event.data) for event in events) >= CHUNK_BYTES
        return events, events[-1].position if is_cut else max(after, end)

    async def follow(self, after: int, interest: Interest = EVERYTHING) -> AsyncIterator[Event]:
        """Every event of interest after a position, in log order, without end."""
        async with aclosing(self.follow_chunks(after, interest)) as chunks:
            async for events in chunks:
                for event in events:
                    yield event

    async def follow_chunks(self, after: int, interest: Interest = EVERYTHING) -> AsyncGenerator[list[Event], None]:
        """As `follow`, in lists of the events available at once."""
        while True:
            events, after = await self.read(after, interest)
            if events:
                yield events
            after = await self._wait_for(interest, after)


def _wake_waiters(waiter: Waiter, after: int) -> None:
    if not waiter.done():
        waiter.set_result(after)
