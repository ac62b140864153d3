"""Which part of the log a session reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from msgspec import Struct

from ugs.events import Event


class EventQuery(Struct, frozen=True):
    """Which part of the log: positions in (after, until], newest first when `newest`."""

    after: int = 0
    until: int | None = None
    limit: int | None = None
    element: str | None = None
    types: frozenset[str] | None = None
    newest: bool = False
    elements: frozenset[str] | None = None
    """Any of these elements."""
    max_bytes: int | None = None
    """Stop behind the event with which the data of all have so many bytes, about; so there is at least one event."""

    def select(self, events: Iterable[Event]) -> list[Event]:
        """Those of `events` that are asked for, cut by `limit` and `max_bytes`.

        The caller has applied `after`, `until` and the direction; a store that keeps events in a list needs no more.
        """
        if self.element is not None:
            events = (event for event in events if event.element == self.element)
        if (elements := self.elements) is not None:
            events = (event for event in events if event.element in elements)
        if (types := self.types) is not None:
            events = (event for event in events if event.type in types)
        some = events if self.limit is None else islice(events, max(self.limit, 0))
        return list(some if self.max_bytes is None else _within(some, self.max_bytes))


def _within(events: Iterable[Event], max_bytes: int) -> Iterator[Event]:
    """The events up to the one with which their data reach so many bytes."""
    size = 0
    for event in events:
        yield event
        size += len(event.data)
        if size >= max_bytes:
            return
