"""Reading from standbys: each read goes to one that has what it must see, and to the primary if none has.

How far a standby is, is asked of it only when what is known does not suffice: a standby that has caught up costs
nothing. What it showed once it shows for ever, unless it is another server by now, so it is believed for a second.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from time import monotonic

from ugs.errors import UgsError
from ugs.storage.read_position import ReplicaStatus, required_position
from ugs_backends.sql.connections.connection import DriverConnection
from ugs_backends.sql.connections.pool import Pool

KNOWLEDGE_SECONDS = 1.0
"""How long it is believed that a replica shows what it showed."""
DOWN_SECONDS = 2.0
"""How long a replica that failed is left alone."""
CHECK_SECONDS = 1.0
POSITION = "SELECT coalesce(max(position), 0), coalesce(pg_last_wal_replay_lsn() >= $1::text::pg_lsn, true) FROM events"
"""The last event, and whether everything up to a place in the server's own log is replayed."""
BEGINNING = "0/0"


class Replica:
    """One standby: its connections and how far it is."""

    def __init__(self, name: str, pool: Pool[DriverConnection]) -> None:
        self.name, self.pool = name, pool
        self.position = -1
        """The last position that it showed; -1: nothing is known."""
        self.is_reachable = True
        self._known_at = self._down_until = 0.0
        self._emptied_at = BEGINNING
        """Where in the server's log the store was emptied: what is before shows other events at the same positions."""

    async def acquire(self, required: int) -> DriverConnection | None:
        """A connection on which reads see the position; None if it lags, is busy or does not answer."""
        if monotonic() < self._down_until or self.pool.is_exhausted:
            return None
        try:
            link = await self.pool.acquire()
        except UgsError:
            self._mark_down()
            return None
        try:
            if self.position >= required and monotonic() - self._known_at < KNOWLEDGE_SECONDS:
                return link
            await self._ask(link)
        except BaseException as error:
            self.pool.release(link)
            if not isinstance(error, UgsError):
                raise
            self._mark_down()
            return None
        if self.position >= required:
            return link
        self.pool.release(link)
        return None

    async def check(self) -> None:
        """Ask it how far it is, for those who look after it."""
        link = await self.acquire(0)
        if link is not None:
            try:
                await self._ask(link)
            except UgsError:
                self._mark_down()
            finally:
                self.pool.release(link)

    async def _ask(self, link: DriverConnection) -> None:
        ((position, is_of_this_log),) = await link.rows(POSITION, [self._emptied_at])
        self.position = position if is_of_this_log else -1
        self._known_at, self.is_reachable = monotonic(), True

    def _mark_down(self) -> None:
        self.is_reachable, self._down_until = False, monotonic() + DOWN_SECONDS

    def forget(self, emptied_at: str) -> None:
        """The store was emptied at a place of the server's log: what it showed is gone."""
        self.position, self._emptied_at = -1, emptied_at


class ReplicaPool(Pool[DriverConnection]):
    """Gives connections for reading, of a replica where one will do, else of the primary."""

    def __init__(self, primary: Pool[DriverConnection], replicas: Sequence[Replica]) -> None:
        self._primary, self._replicas = primary, list(replicas)
        self.seen = 0
        """The last position that this process has written or heard of."""
        self._next = 0
        self._owners: dict[DriverConnection, Pool[DriverConnection]] = {}
        self._checking: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Watch how far the replicas are."""
        self._checking = asyncio.create_task(self._check_regularly())

    async def _check_regularly(self) -> None:
        while True:
            await asyncio.gather(*(replica.check() for replica in self._replicas), return_exceptions=True)
            await asyncio.sleep(CHECK_SECONDS)

    async def acquire(self) -> DriverConnection:
        required = required_position(self.seen)
        count = len(self._replicas)
        self._next = (self._next + 1) % count
        for turn in range(count):
            replica = self._replicas[(self._next + turn) % count]
            link = await replica.acquire(required)
            if link is not None:
                self._owners[link] = replica.pool
                return link
        return await self._primary.acquire()

    def release(self, link: DriverConnection) -> None:
        self._owners.pop(link, self._primary).release(link)

    def note(self, position: int) -> None:
        """This process has written or heard of a position."""
        self.seen = max(self.seen, position)

    def forget(self, emptied_at: str) -> None:
        """The store was emptied at a place of the server's log."""
        self.seen = 0
        for replica in self._replicas:
            replica.forget(emptied_at)

    def status(self) -> list[ReplicaStatus]:
        """How far each replica was when last asked."""
        return [
            ReplicaStatus(one.name, max(one.position, 0), max(self.seen - max(one.position, 0), 0), one.is_reachable)
            for one in self._replicas
        ]

    async def close(self) -> None:
        """Close the connections to the replicas; those to the primary belong to the store."""
        if self._checking is not None:
            self._checking.cancel()
            with suppress(asyncio.CancelledError):
                await self._checking
        await asyncio.gather(*(replica.pool.close() for replica in self._replicas))
