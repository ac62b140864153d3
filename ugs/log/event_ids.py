"""Event ids `evt_<timestamp>_<counter>`: the next counter, and the check that a log's ids are unique and ascending.

The counter is the event's position, unless an imported log has higher counters: then it continues after the greatest
one, and keeps that distance (the lead) to the position.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ugs.events import Event
from ugs.storage import EventQuery, Session

EVENT_ID = re.compile(r"evt_([0-9]{1,18})_([0-9]{1,18})")
MAX_COUNTER = 2**53
"""Larger counters of foreign ids are ignored: generated ones never reach them."""
CHUNK_EVENTS = 2_000
MAX_PROBLEMS = 20


def parse_event_id(id: str) -> tuple[int, int] | None:
    """Timestamp and counter of an id; None if it has another form."""
    match = EVENT_ID.fullmatch(id)
    return None if match is None else (int(match[1]), int(match[2]))


def counter_lead(events: Iterable[Event], position: int) -> int:
    """The lead that the counter needs after these events, the last of which has this position."""
    ids = (parse_event_id(event.id) for event in events)
    greatest = max((id[1] for id in ids if id is not None and id[1] < MAX_COUNTER), default=0)
    return max(0, greatest - position)


class CounterLead:
    """The difference between event counters and positions in one log, cached.

    If the last event was written by this system (it has a checksum), its id gives the lead. After imported events the
    whole log is scanned once, until an event of this system is stored.
    """

    def __init__(self) -> None:
        self._known: int | None = None

    async def find(self, session: Session) -> int:
        """The lead of the next event."""
        if self._known is not None:
            return self._known
        last = await session.events(EventQuery(limit=1, newest=True))
        if last and last[0].crc is not None:
            self._known = counter_lead(last, last[0].position)
            return self._known
        return await self._look_through(session, last[0].position) if last else 0

    def settle(self, lead: int) -> None:
        """Cache the lead: an event of this system has been stored with it."""
        self._known = lead

    async def _look_through(self, session: Session, end: int) -> int:
        lead, after = 0, 0
        while events := await session.events(EventQuery(after=after, until=end, limit=CHUNK_EVENTS)):
            lead = max(lead, counter_lead(events, end))
            after = events[-1].position
        return lead


class EventIdCheck:
    """Finds ids in a log that repeat or decrease."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        self._last: tuple[tuple[int, int], Event] | None = None
        self._others: dict[str, int] = {}

    def add(self, events: Iterable[Event]) -> None:
        """Check the next events of the log."""
        for event in events:
            id = parse_event_id(event.id)
            if id is None:
                first = self._others.setdefault(event.id, event.position)
                if first != event.position:
                    self._note(f"event {event.position} has the id of event {first}: {event.id}")
                continue
            if self._last is not None and id <= self._last[0]:
                before = self._last[1]
                what = "has the id of" if id == self._last[0] else "has an id that does not follow that of"
                self._note(f"event {event.position} {what} event {before.position}: {event.id} behind {before.id}")
            if self._last is None or id > self._last[0]:
                self._last = (id, event)

    def _note(self, problem: str) -> None:
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(problem)
