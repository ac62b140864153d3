"""The event log as sessions see it; this one is kept in memory, `filelog` keeps it in a file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

import msgspec

from ugs.errors import Conflict
from ugs.events import EMPTY_LOG, GENESIS_CRC, Event, Head
from ugs.storage import EventQuery


class Log:
    """Events in order of position, and where they end."""

    def __init__(self) -> None:
        self.head: Head = EMPTY_LOG
        self.kept: list[Event] = []

    async def events(self, query: EventQuery) -> list[Event]:
        """The part of the log that is asked for."""
        last = len(self.kept) if query.until is None else min(query.until, len(self.kept))
        chosen: Iterable[Event] = islice(self.kept, max(query.after, 0), max(last, 0))
        if query.newest:
            chosen = map(self.kept.__getitem__, range(last - 1, max(query.after, 0) - 1, -1))
        return selected(chosen, query)

    def check(self, pending: Sequence[Event], events: Sequence[Event]) -> None:
        """Refuse events that do not continue the log."""
        position = self.head_after(pending).position
        for event in events:
            position += 1
            if event.position != position:
                raise Conflict(
                    f"The log continues at position {position}, not {event.position}. Read the head again and retry.",
                    position=position,
                )

    def head_after(self, events: Sequence[Event]) -> Head:
        """Where the log ends once these events are in it."""
        if not events:
            return self.head
        last = events[-1]
        crc = next((event.crc for event in reversed(events) if event.crc is not None), self.head.crc)
        return Head(last.position, max(last.timestamp, self.head.timestamp), crc, self.head.floor)

    def advance(self, events: Sequence[Event]) -> None:
        """The events are part of the log from now on."""
        self.kept.extend(events)
        self.head = self.head_after(events)

    def lift_floor(self, floor: int) -> None:
        """No later event may be stamped before this moment."""
        self.head = msgspec.structs.replace(self.head, floor=max(floor, self.head.floor))

    async def wipe(self) -> None:
        """Forget all events."""
        self.kept.clear()
        self.head = Head(0, 0, GENESIS_CRC, 0)


def selected(events: Iterable[Event], query: EventQuery) -> list[Event]:
    """The events that the query means, of events in its direction and range."""
    if query.element is not None:
        events = (event for event in events if event.element == query.element)
    if query.types is not None:
        types = query.types
        events = (event for event in events if event.type in types)
    return list(events if query.limit is None else islice(events, max(query.limit, 0)))


def with_pending(found: list[Event], pending: Sequence[Event], query: EventQuery) -> list[Event]:
    """An answer of the log together with events that a session has appended but not committed."""
    until = query.until
    fresh = [event for event in pending if event.position > query.after and (until is None or event.position <= until)]
    if query.newest:
        return selected([*reversed(fresh), *found], query)
    return selected([*found, *fresh], query)
