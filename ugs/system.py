"""The system: one store, one writer, one bus, and the past behind them.

Open it on a URL, execute commands, read through sessions or plans, follow events, go back in time, and check that the
state is what the log says.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from enum import StrEnum
from types import TracebackType
from typing import Any

from msgspec import Struct

from ugs import features
from ugs.bus import EVERYTHING, Bus, Interest
from ugs.catalog import Catalog
from ugs.changes import TableWrites
from ugs.clock import Clock, WallClock
from ugs.connect import storage_for
from ugs.errors import DigestMismatch, UgsError
from ugs.events import Event
from ugs.feature import Command
from ugs.graph.queries import Stats
from ugs.identity import LOCAL, Context
from ugs.moments import At, Moments
from ugs.reads.plan import Read, Rows
from ugs.reads.rendering import Rendering
from ugs.replay import Progress, copy_log, pages_of, position_of, state_digest, took_stock
from ugs.snapshots import SnapshotInfo, take_snapshot
from ugs.storage import Session, Storage
from ugs.vectors.vectors import Vectors
from ugs.writer import Outcome, Tell, Writer


class State(StrEnum):
    """Where the system is in its life (seed 000, section 4.1)."""

    UNINITIALIZED = "Uninitialized"
    INITIALIZING = "Initializing"
    LOADING_SNAPSHOT = "LoadingSnapshot"
    EMPTY = "Empty"
    REPLAYING_WAL = "ReplayingWAL"
    READY = "Ready"
    PROCESSING = "Processing"
    SNAPSHOTTING = "Snapshotting"
    SHUTTING_DOWN = "ShuttingDown"


class Verification(Struct, frozen=True):
    """Whether the stored state is what the log says."""

    ok: bool
    events: int
    stored: str
    replayed: str


class System:
    """Everything a door needs."""

    def __init__(self, storage: Storage, clock: Clock | None = None, catalog: Catalog = features.CATALOG) -> None:
        self.storage = storage
        self.catalog = catalog
        self.clock = clock or WallClock()
        self.bus = Bus(storage)
        self.moments = Moments(storage, catalog)
        self.vectors = Vectors(catalog, self._store_at)
        self.companions: dict[type, object] = {}
        """What others keep in memory beside the system for as long as it lives, by its class."""
        self._life = State.UNINITIALIZED
        self._watching: asyncio.Task[None] | None = None
        self._writer = Writer(
            storage,
            catalog,
            self.clock,
            features.DECIDERS,
            features.prepare_group,
            features.decided_at_once,
            features.decided_together,
            features.review,
            self.bus.publish,
        )

    @classmethod
    def at_url(cls, url: str, clock: Clock | None = None) -> System:
        """A system on the store that the URL names, not opened yet."""
        return cls(storage_for(url), clock)

    @property
    def state(self) -> State:
        if self._life is State.INITIALIZING:
            return State(getattr(self.storage, "state", self._life))
        if self._life is State.READY and self._writer.busy:
            return State.PROCESSING
        return self._life

    async def open(self) -> None:
        """Make the store ready and start listening to other processes."""
        self._life = State.INITIALIZING
        await self.storage.open(self.catalog)
        try:
            self.bus.start_at(await position_of(self.storage))
        except BaseException:
            await self.storage.close()
            raise
        self._watching = asyncio.create_task(self._watch())
        self._life = State.READY

    async def close(self) -> None:
        """Finish the commands under way, then let everything go."""
        self._life = State.SHUTTING_DOWN
        try:
            await self._writer.close()
            await self._stop_watching()
            await self.vectors.close()
        finally:
            await self.moments.close()
            await self.storage.close()
            self._life = State.UNINITIALIZED

    async def _stop_watching(self) -> None:
        if self._watching is not None:
            self._watching.cancel()
            with suppress(asyncio.CancelledError):
                await self._watching

    async def __aenter__(self) -> System:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _watch(self) -> None:
        """Hear of other processes' commits; a store that fails or is away for a while is asked again."""
        while True:
            try:
                async for position in self.storage.watch(self.bus.position):
                    self.bus.heard(position)
            except UgsError:
                pass
            # A store that was closed under us ends its watch at once: it must not be asked in a tight loop either.
            await asyncio.sleep(1.0)

    async def execute(self, command: Command, context: Context = LOCAL) -> Outcome:
        """Do a command, durably, or refuse it with a coded error and change nothing."""
        outcome: Outcome = await self._writer.execute(command, context)
        return outcome

    def begin(self, command: Command, context: Context, tell: Tell) -> asyncio.Future[Any]:
        """As `execute`, for those who wait in their own way: what `tell` makes of it comes when it is durable."""
        return self._writer.execute(command, context, tell)

    def session(self) -> AbstractAsyncContextManager[Session]:
        """A consistent view for reading."""
        return self.storage.session()

    def session_at(self, at: At | None) -> AbstractAsyncContextManager[Session]:
        """A view for reading, now or as of a place in time."""
        return self.storage.session() if at is None else self._session_in_the_past(at)

    @asynccontextmanager
    async def _session_in_the_past(self, at: At) -> AsyncIterator[Session]:
        past = await self.moments.store_at(at)
        async with past.session() as session:
            yield session

    async def read(self, plan: Read, at: At | None = None) -> Rows:
        """The answer to a plan."""
        return await (await self._store_at(at)).read(plan)

    async def render(self, plan: Read, rendering: Rendering, at: At | None = None) -> bytes:
        """The answer to a plan as text."""
        return await (await self._store_at(at)).render(plan, rendering, [])

    async def _store_at(self, at: At | None) -> Storage:
        """The store itself, or one that holds the past."""
        return self.storage if at is None else await self.moments.store_at(at)

    def subscribe(self, after: int | None = None, interest: Interest = EVERYTHING) -> AsyncIterator[Event]:
        """Events after a position, or from now on, in order, without loss."""
        return self.bus.follow(self.bus.position if after is None else after, interest)

    async def digest(self) -> str:
        """One hash of the whole state."""
        return (await self._position_and_digest())[1]

    async def _position_and_digest(self) -> tuple[int, str]:
        """Both of one moment: where a long read has seen the log move, the place of the one writer is taken."""
        for write in (False, True):
            async with self.storage.session(write=write) as session:
                position = (await session.head()).position
                digest = await state_digest(session, self.catalog)
                if write or (await session.head()).position == position:
                    break
        return position, digest

    async def verify(self, progress: Progress | None = None) -> Verification:
        """Replay the log beside the store and compare the states."""
        end, stored = await self._position_and_digest()
        async with self._replayed(end, progress) as fresh, fresh.session() as session:
            replayed = await state_digest(session, self.catalog)
        return Verification(stored == replayed, end, stored, replayed)

    @asynccontextmanager
    async def _replayed(self, end: int, progress: Progress | None) -> AsyncIterator[Storage]:
        """A memory store into which the log has been replayed up to a position."""
        fresh = storage_for("memory:")
        await fresh.open(self.catalog)
        try:
            await copy_log(self.storage, fresh, self.catalog, until=end, progress=progress)
            yield fresh
        finally:
            await fresh.close()

    async def rebuild(self, progress: Progress | None = None) -> int:
        """Throw the tables away and write what the log says, in one transaction."""
        tables = [table for table in self.catalog if table.derived]
        async with self.storage.session(write=True) as session:
            end = (await session.head()).position
            async with self._replayed(end, progress) as fresh, fresh.session() as right:
                await session.clear(tables)
                for table in tables:
                    async for rows in pages_of(right, table):
                        await session.append((), {table: TableWrites(inserts=rows)})
        await took_stock(self.storage)
        return end

    async def snapshot(self) -> SnapshotInfo:
        """Write the state down beside the log, so that the next start is quick."""
        self._life = State.SNAPSHOTTING
        try:
            written = await self.storage.snapshot()
            if written is not None:
                counts = Stats(**written["stats"])
                return SnapshotInfo(written["timestamp"], written["eventCount"], written.get("lastEventId"), counts)
            async with self.storage.session(write=True) as session:
                return await take_snapshot(session, self.catalog)
        finally:
            self._life = State.READY

    async def copy_to(self, target: Storage, progress: Progress | None = None) -> str:
        """Replay this log into another store and prove that both hold the same; answers the common digest."""
        await copy_log(self.storage, target, self.catalog, progress=progress)
        await took_stock(target)
        async with target.session() as session:
            theirs = await state_digest(session, self.catalog)
        ours = await self.digest()
        if ours != theirs:
            raise DigestMismatch("the copy differs from the original", original=ours, copy=theirs)
        return ours


async def copy(source_url: str, target_url: str, progress: Progress | None = None) -> str:
    """Copy one store into another by replay, and prove them equal."""
    target = storage_for(target_url)
    async with System.at_url(source_url) as source:
        await target.open(source.catalog)
        try:
            return await source.copy_to(target, progress)
        finally:
            await target.close()


__all__ = ["At", "State", "System", "UgsError", "Verification", "copy"]
