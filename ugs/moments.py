"""Time travel: any read, as of a position in the log or an instant.

The graph of the past is rebuilt from the log in a memory store and kept for a while, so that asking again is cheap.
It is right on every store, because the log is the same on every store.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from datetime import datetime

from msgspec import Struct

from ugs.catalog import Catalog
from ugs.connect import storage_for
from ugs.errors import InvalidSyntax, LimitExceeded, PositionNotFound
from ugs.replay import copy_log
from ugs.storage import EventQuery, Storage

MOST_EVENTS = 2_000_000
KEPT = 4


class At(Struct, frozen=True):
    """A place in time: a position in the log, or an instant in Unix milliseconds."""

    position: int | None = None
    instant: int | None = None

    @classmethod
    def time(cls, moment: datetime) -> At:
        return cls(instant=int(moment.timestamp() * 1000))


class Moments:
    """Past states of one store."""

    def __init__(self, storage: Storage, catalog: Catalog) -> None:
        self._storage = storage
        self._catalog = catalog
        self._kept: OrderedDict[int, Storage] = OrderedDict()
        self._lock = asyncio.Lock()

    async def store_at(self, at: At) -> Storage:
        """A store that holds the graph as it was, for reading only."""
        position = await self.position_at(at)
        async with self._lock:
            if position not in self._kept:
                self._kept[position] = await self._rebuild(position)
                await self._forget_oldest()
            self._kept.move_to_end(position)
            return self._kept[position]

    async def position_at(self, at: At) -> int:
        """The last position not later than the place in time."""
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
        """Timestamps never fall, so the place is found by halving."""
        async with self._storage.session() as session:
            low, high = 0, (await session.head()).position
            while low < high:
                middle = (low + high + 1) // 2
                event = (await session.events(EventQuery(after=middle - 1, until=middle)))[0]
                low, high = (middle, high) if event.timestamp <= instant else (low, middle - 1)
        return low

    async def _rebuild(self, position: int) -> Storage:
        if position > MOST_EVENTS:
            raise LimitExceeded(
                f"reading at position {position} would replay more than {MOST_EVENTS} events",
                limit=MOST_EVENTS,
            )
        past = storage_for("memory:")
        await past.open(self._catalog)
        await copy_log(self._storage, past, self._catalog, until=position)
        return past

    async def _forget_oldest(self) -> None:
        while len(self._kept) > KEPT:
            _, oldest = self._kept.popitem(last=False)
            await oldest.close()

    async def close(self) -> None:
        while self._kept:
            _, past = self._kept.popitem()
            await past.close()
