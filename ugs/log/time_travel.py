"""Time travel: any read, as of a log position or an instant.

A store that keeps former rows answers by itself (`Storage.at`). For the others the log is replayed once into a memory
store that keeps them, the replica: it answers for every position up to its end, and a later position replays only the
events in between. It works the same on every store, because it needs only the log.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from weakref import WeakKeyDictionary

from ugs.catalog import Catalog
from ugs.connect import storage_for
from ugs.errors import HistoryGone, InvalidSyntax, LimitExceeded, PositionNotFound
from ugs.events import Event
from ugs.log.at import At
from ugs.log.replay import copy_log, position_of
from ugs.storage import EventQuery, Storage
from ugs.support.budget import POOL

MAX_EVENTS = 2_000_000
"""Maximum number of events that are replayed."""
REPLAY_CHUNK = 200
"""Events replayed between two pauses."""
EVENT_BYTES = 200
"""Memory of an event and its row besides their data, about."""
MAX_REPLAYS = 2
"""Maximum number of concurrent replays per event loop, for all stores; others wait until their requests' deadline."""


_replays: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()


def replays() -> asyncio.Semaphore:
    """The semaphore for replays on the running event loop."""
    return _replays.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(MAX_REPLAYS))


class History:
    """The past states of one store."""

    def __init__(self, storage: Storage, catalog: Catalog) -> None:
        self._storage = storage
        self._catalog = catalog
        self._replica: Storage | None = None
        self._lock = asyncio.Lock()
        self._known_end = 0
        """A position that the log has: it only grows."""
        self.replayed = 0
        """Events that were replayed so far."""

    async def store_at(self, at: At) -> Storage:
        """A store to read from, with the state at that point; replays the log only where nobody has the former rows."""
        position = await self.position_at(at)
        past = await self._storage.at(position)
        if past is None and self._replica is not None and position <= await position_of(self._replica):
            past = await self._replica.at(position)
        return past or await self._replayed(position)

    async def _replayed(self, position: int) -> Storage:
        """The state at a position from the replica, or from the store itself once it has taken over the replica's
        former rows."""
        async with self._lock:
            past = await self._storage.at(position)
            if past is not None:
                return past
            begins = self._storage.history_begins
            wanted = position if begins is None or begins > MAX_EVENTS else max(begins, position)
            replica = await self._replicate(wanted)
            if begins == wanted:
                await self._storage.take_history(replica)
                past = await self._storage.at(position)
            if past is not None:
                self._replica = None
                await replica.close()
                return past
            past = await replica.at(position)
            assert past is not None
            return past

    async def position_at(self, at: At) -> int:
        """The last log position not later than the point in history."""
        if (at.position is None) == (at.instant is None):
            raise InvalidSyntax("a place in time is either a position or an instant")
        if at.instant is not None:
            return await self._position_at_instant(at.instant)
        position = at.position or 0
        if 0 <= position <= self._known_end:
            return position
        async with self._storage.autocommit_session() as session:
            end = self._known_end = (await session.head()).position
        if not 0 <= position <= end:
            raise PositionNotFound(f"the log has positions 0 to {end}, not {position}", position=position, end=end)
        return position

    async def _position_at_instant(self, instant: int) -> int:
        """Binary search over the log: timestamps never decrease."""
        async with self._storage.session() as session:
            high = (await session.head()).position
            oldest = await session.events(EventQuery(limit=1))
            low = gone = oldest[0].position - 1 if oldest else high
            while low < high:
                middle = (low + high + 1) // 2
                event = (await session.events(EventQuery(after=middle - 1, until=middle)))[0]
                low, high = (middle, high) if event.timestamp <= instant else (low, middle - 1)
        if low == gone > 0:
            raise HistoryGone(gone, gone + 1)
        return low

    async def _replicate(self, position: int) -> Storage:
        """The replica, replayed at least up to a position; if that is cut short, the next call goes on from there."""
        if position > MAX_EVENTS:
            reached = await self._storage.history_end()
            own = "" if reached is None else f"; the store's own history is being made and reaches {reached} so far"
            raise LimitExceeded(
                f"reading at position {position} would replay more than {MAX_EVENTS} events{own}",
                limit=MAX_EVENTS,
            )
        if self._replica is None:
            replica = storage_for("memory:")
            await replica.open(self._catalog)
            self._replica = replica
        if await position_of(self._replica) < position:
            async with replays():
                with POOL.reserving() as reserve:

                    def check(events: Sequence[Event]) -> None:
                        self.replayed += len(events)
                        reserve(sum(EVENT_BYTES + len(event.data) for event in events))

                    await copy_log(
                        self._storage, self._replica, self._catalog, until=position, chunk=REPLAY_CHUNK, check=check
                    )
        return self._replica

    async def close(self) -> None:
        if self._replica is not None:
            replica, self._replica = self._replica, None
            await replica.close()
