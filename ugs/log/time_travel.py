"""Time travel: any read, as of a log position or an instant.

The past state is rebuilt in a memory store by replaying the log, and cached, so that repeated reads are cheap. It works
the same on every store, because it needs only the log.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from weakref import WeakKeyDictionary

from ugs.catalog import Catalog
from ugs.connect import storage_for
from ugs.errors import InvalidSyntax, LimitExceeded, PositionNotFound
from ugs.log.at import At
from ugs.log.replay import copy_log
from ugs.storage import EventQuery, Storage
from ugs.support.budget import POOL

MAX_EVENTS = 2_000_000
CACHE_SIZE, MAX_KEPT_EVENTS = 4, 1_000_000
"""Maximum number of cached past states, and of their events in total; the most recently used one always stays."""
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
    """An LRU cache of past states of one store."""

    def __init__(self, storage: Storage, catalog: Catalog) -> None:
        self._storage = storage
        self._catalog = catalog
        self._kept: OrderedDict[int, Storage] = OrderedDict()
        self._lock = asyncio.Lock()

    async def store_at(self, at: At) -> Storage:
        """A read-only memory store with the state at that point; replays the log unless it is cached."""
        position = await self.position_at(at)
        async with self._lock:
            if position not in self._kept:
                async with replays():
                    self._kept[position] = await self._rebuild(position)
                await self._forget_oldest()
            self._kept.move_to_end(position)
            return self._kept[position]

    async def position_at(self, at: At) -> int:
        """The last log position not later than the point in history."""
        if (at.position is None) == (at.instant is None):
            raise InvalidSyntax("a place in time is either a position or an instant")
        if at.instant is not None:
            return await self._position_at_instant(at.instant)
        async with self._storage.session() as session:
            end = (await session.head()).position
        position = at.position or 0
        if not 0 <= position <= end:
            raise PositionNotFound(f"the log has positions 0 to {end}, not {position}", position=position, end=end)
        return position

    async def _position_at_instant(self, instant: int) -> int:
        """Binary search over the log: timestamps never decrease."""
        async with self._storage.session() as session:
            low, high = 0, (await session.head()).position
            while low < high:
                middle = (low + high + 1) // 2
                event = (await session.events(EventQuery(after=middle - 1, until=middle)))[0]
                low, high = (middle, high) if event.timestamp <= instant else (low, middle - 1)
        return low

    async def _rebuild(self, position: int) -> Storage:
        if position > MAX_EVENTS:
            raise LimitExceeded(
                f"reading at position {position} would replay more than {MAX_EVENTS} events",
                limit=MAX_EVENTS,
            )
        past = storage_for("memory:")
        await past.open(self._catalog)
        try:
            with POOL.reserving() as reserve:
                await copy_log(
                    self._storage,
                    past,
                    self._catalog,
                    until=position,
                    chunk=REPLAY_CHUNK,
                    check=lambda events: reserve(sum(EVENT_BYTES + len(event.data) for event in events)),
                )
        except BaseException:
            await past.close()
            raise
        return past

    async def _forget_oldest(self) -> None:
        while len(self._kept) > CACHE_SIZE or (len(self._kept) > 1 and sum(self._kept) > MAX_KEPT_EVENTS):
            _, oldest = self._kept.popitem(last=False)
            await oldest.close()

    async def close(self) -> None:
        while self._kept:
            _, past = self._kept.popitem()
            await past.close()
