"""Access-controlled reading of the log: every interface that shows events goes through it.

The feature of an event decides who may see it (`Feature.audiences`). An event that the principal may not see is
replaced by a placeholder that has only its position, so that positions stay gapless. Queries by type or element leave
such events out, since a placeholder would reveal the event's type or element.

Without private events the cost is a set look-up per event. Otherwise a page costs a few statements for all its events,
and the audience of an event is computed once for all subscribers.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing

from msgspec import Struct
from msgspec.structs import replace

from ugs.bus import EVERYTHING, Interest
from ugs.events import Event
from ugs.feature import Audience
from ugs.feature_registry import OPEN_EVENTS, audiences_of
from ugs.identity import Principal, is_identifier
from ugs.storage import EventQuery, Session
from ugs.system import System
from ugs.values import JsonText

HIDDEN = "Hidden"
"""The type of the placeholder of a hidden event."""
MAX_KEPT_AUDIENCES = 4_096
CHUNK_EVENTS = 500
MAX_CHUNKS = 40
"""Maximum number of chunks read for one page; after that the page may be shorter than requested."""


def hidden_at(position: int) -> Event:
    """The placeholder of an event that the principal may not see: its position only."""
    return Event(position, f"hidden_{position}", 0, HIDDEN, JsonText("{}"))


class LogPage(Struct, frozen=True):
    """A page of events in the requested order."""

    events: list[Event]
    has_more: bool
    reached: int
    """Position to continue from: all visible events up to here have been returned."""


class LogReader:
    """Reads the log of a system with the rights of a principal."""

    def __init__(self, system: System, principal: Principal) -> None:
        self.system, self.principal = system, principal

    async def page(self, query: EventQuery) -> LogPage:
        """A page of the log for a query, within its limit."""
        async with self.system.session() as session:
            if _is_named(query):
                return await self._named(session, query)
            found = await session.events(_one_more(query))
            events = await self._shown(session, found[: query.limit])
            return LogPage(events, len(found) > len(events), _last(events, query))

    async def _named(self, session: Session, query: EventQuery) -> LogPage:
        """Visible events of a query by type or element; reads on until the page is full or `MAX_CHUNKS` is reached."""
        limit, asked = query.limit, _one_more(query)
        kept: list[Event] = []
        for chunk in range(MAX_CHUNKS):
            found = await session.events(asked)
            kept += await self._kept(session, found)
            is_all = asked.limit is None or len(found) < asked.limit
            if limit is not None and len(kept) > limit:
                return LogPage(kept[:limit], True, _last(kept[:limit], query))
            if is_all or chunk == MAX_CHUNKS - 1:
                break
            asked = replace(_behind(asked, found[-1].position), limit=CHUNK_EVENTS)
            # An in-memory store never suspends; give other tasks a turn.
            await asyncio.sleep(0)
        return LogPage(kept, not is_all, _last(found, asked))

    async def newest(self, last: int, element: str | None = None, types: frozenset[str] | None = None) -> list[Event]:
        """The last events, oldest of them first."""
        if element is not None and not is_identifier(element):
            return []
        page = await self.page(EventQuery(limit=last, element=element, types=types, newest=True))
        return page.events[::-1]

    async def show(self, events: Sequence[Event]) -> list[Event]:
        """The events, with placeholders for those that the principal may not see."""
        if all(event.type in OPEN_EVENTS for event in events):
            return list(events)
        async with self.system.session() as session:
            return await self._shown(session, events)

    async def follow(self, after: int | None = None, interest: Interest = EVERYTHING) -> AsyncIterator[Event]:
        """Events of interest after a position (default: the current end), in log order, without end."""
        is_named = interest != EVERYTHING
        start = self.system.bus.position if after is None else after
        async with aclosing(self.system.bus.follow_chunks(start, interest)) as chunks:
            async for events in chunks:
                seen = await self._seen(None, events)
                for event, is_seen in zip(await self._untied(None, events, seen, is_named), seen, strict=True):
                    if is_seen:
                        yield event
                    elif not is_named:
                        yield hidden_at(event.position)

    # ── who may see what ─────────────────────────────────────────────────────

    async def _shown(self, session: Session, events: Sequence[Event]) -> list[Event]:
        seen = await self._seen(session, events)
        told = await self._untied(session, events, seen)
        return [event if is_seen else hidden_at(event.position) for event, is_seen in zip(told, seen, strict=True)]

    async def _kept(self, session: Session, events: Sequence[Event]) -> list[Event]:
        seen = await self._seen(session, events)
        told = await self._untied(session, events, seen, is_named=True)
        return [event for event, is_seen in zip(told, seen, strict=True) if is_seen]

    async def _untied(
        self, session: Session | None, events: Sequence[Event], seen: Sequence[bool], is_named: bool = False
    ) -> list[Event]:
        """The events, without their batch (`tx`) unless every event of it is visible: its id is that of its first
        event, and its size counts all. Of a page that begins or ends within a batch the rest is looked up; events of a
        query by type or element that come without their siblings have no batch."""
        batches = {
            batch: range(*batch)
            for event, is_seen in zip(events, seen, strict=True)
            if is_seen and event.type not in OPEN_EVENTS and (batch := _batch_of(event)) is not None
        }
        if not batches or "admin" in self.principal.roles:
            return list(events)
        known = dict(zip((event.position for event in events), seen, strict=True))
        if not is_named:
            for (start, stop), places in batches.items():
                if not all(place in known for place in places):  # at most the first and the last
                    known |= await self._known_between(session, start, stop)
        open_batches = {batch for batch, places in batches.items() if all(map(known.get, places))}
        return [
            event
            if event.tx is None or event.type in OPEN_EVENTS or _batch_of(event) in open_batches
            else replace(event, tx=None)
            for event in events
        ]

    async def _known_between(self, session: Session | None, start: int, stop: int) -> dict[int, bool]:
        """Whether the events at these positions are visible."""
        query = EventQuery(after=start - 1, until=stop - 1)
        if session is None:
            async with self.system.session() as own:
                found = await own.events(query)
        else:
            found = await session.events(query)
        return dict(zip((event.position for event in found), await self._seen(session, found), strict=True))

    async def _seen(self, session: Session | None, events: Sequence[Event]) -> list[bool]:
        """Whether the principal may see each event; without a session the shared cache of audiences is used."""
        private = [event for event in events if event.type not in OPEN_EVENTS]
        if not private:
            return [True] * len(events)
        told = await (self._audiences.of(private) if session is None else audiences_of(session, private))
        hidden = {event.position for event, audience in zip(private, told, strict=True) if not audience(self.principal)}
        return [event.position not in hidden for event in events]

    @property
    def _audiences(self) -> Audiences:
        known = self.system.companions.setdefault(Audiences, Audiences(self.system))
        assert isinstance(known, Audiences)
        return known


class Audiences:
    """Cache of the audiences of recent events, shared by all subscribers of a system."""

    def __init__(self, system: System) -> None:
        self.system = system
        self._known: OrderedDict[tuple[str, str | None], Audience] = OrderedDict()

    async def of(self, events: Sequence[Event]) -> list[Audience]:
        """The audience of each event, in the given order."""
        missing = [event for event in events if _key(event) not in self._known]
        fresh: dict[tuple[str, str | None], Audience] = {}
        if missing:
            async with self.system.session() as session:
                told = await audiences_of(session, missing)
            fresh = {_key(event): audience for event, audience in zip(missing, told, strict=True)}
        found = [fresh[key] if (key := _key(event)) in fresh else self._known[key] for event in events]
        self._known.update(fresh)
        while len(self._known) > MAX_KEPT_AUDIENCES:
            self._known.popitem(last=False)
        return found


def _key(event: Event) -> tuple[str, str | None]:
    """The cache key of an event, unique even if the store was emptied and filled again."""
    return event.id, event.crc


def _batch_of(event: Event) -> tuple[int, int] | None:
    """The positions of the event's batch: the first one, and the one behind the last."""
    tx = event.tx
    return None if tx is None else (event.position - tx.index, event.position - tx.index + tx.size)


def _is_named(query: EventQuery) -> bool:
    """Whether the query filters by element or type, so that a placeholder would reveal something."""
    return query.element is not None or query.types is not None or query.elements is not None


def _one_more(query: EventQuery) -> EventQuery:
    return query if query.limit is None else replace(query, limit=query.limit + 1)


def _behind(query: EventQuery, position: int) -> EventQuery:
    """The query continued behind a position."""
    return replace(query, until=position - 1) if query.newest else replace(query, after=position)


def _last(events: Sequence[Event], query: EventQuery) -> int:
    return events[-1].position if events else query.after
