"""The interface of the event log, implemented in memory; `file_log` implements it in a file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

import msgspec

from ugs.errors import Conflict
from ugs.events import EMPTY_LOG, GENESIS_CRC, Event, Head
from ugs.storage import EventQuery


class Log:
    """Events in order of position, and the head of the log."""

    def __init__(self) -> None:
        self.head: Head = EMPTY_LOG
        self.kept: list[Event] = []

    async def events(self, query: EventQuery) -> list[Event]:
        """The events that a query selects."""
        last = len(self.kept) if query.until is None else min(query.until, len(self.kept))
        chosen: Iterable[Event] = islice(self.kept, max(query.after, 0), max(last, 0))
        if query.newest:
            chosen = map(self.kept.__getitem__, range(last - 1, max(query.after, 0) - 1, -1))
        return query.select(chosen)

    def check(self, pending: Sequence[Event], events: Sequence[Event]) -> None:
        """Raise `Conflict` unless the events continue the log behind the pending ones."""
        position = self.head_after(pending).position
        for event in events:
            position += 1
            if event.position != position:
                raise Conflict(
                    f"The log continues at position {position}, not {event.position}. Read the head again and retry.",
                    position=position,
                )

    def head_after(self, events: Sequence[Event]) -> Head:
        """The head of the log after these events."""
        if not events:
            return self.head
        last = events[-1]
        crc = next((event.crc for event in reversed(events) if event.crc is not None), self.head.crc)
        return Head(last.position, max(last.timestamp, self.head.timestamp), crc, self.head.floor)

    def advance(self, events: Sequence[Event]) -> None:
        """Add committed events to the log and move its head."""
        self.kept.extend(events)
        self.head = self.head_after(events)

    def lift_floor(self, floor: int) -> None:
        """Set the least timestamp that later events may get; it never decreases."""
        self.head = msgspec.structs.replace(self.head, floor=max(floor, self.head.floor))

    async def wipe(self) -> None:
        """Remove all events."""
        self.kept.clear()
        self.head = Head(0, 0, GENESIS_CRC, 0)


def merge_pending(found: list[Event], pending: Sequence[Event], query: EventQuery) -> list[Event]:
    """Merge a result from the log with a session's appended but uncommitted events."""
    until = query.until
    fresh = [event for event in pending if event.position > query.after and (until is None or event.position <= until)]
    if query.newest:
        return query.select([*reversed(fresh), *found])
    return query.select([*found, *fresh])
