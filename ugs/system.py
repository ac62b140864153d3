"""The system: the facade over one store, its writer, its event bus and its history.

Open it on a URL, execute commands, read through sessions or plans, subscribe to events, read the past, and verify that
the stored state equals a replay of the log.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from enum import StrEnum
from types import TracebackType

from msgspec import Struct

from ugs import feature_registry
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
from ugs.log.at import At
from ugs.log.event_ids import EventIdCheck
from ugs.log.replay import Progress, analyze_after_load, copy_log, pages_of, position_of, state_digest
from ugs.log.snapshots import SnapshotInfo, take_snapshot
from ugs.log.time_travel import History
from ugs.reads.plan import Read, ResultPage
from ugs.reads.rendering import Rendering
from ugs.storage import Session, Storage
from ugs.vectors.service import Vectors
from ugs.writer import Outcome, Writer


class State(StrEnum):
    """Lifecycle states (seed 000, section 4.1)."""

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
    """Result of comparing the stored state with a replay of the log."""

    ok: bool
    events: int
    stored: str
    replayed: str
    problems: tuple[str, ...] = ()
    """Other defects, as messages: event ids that repeat or decrease, former rows that do not follow from the log."""


class SessionOfPast(AbstractAsyncContextManager[Session]):
    """A read session at a point in time; a class, since a generator would cost as much as the read of a row."""

    def __init__(self, moments: History, at: At) -> None:
        self._moments, self._at = moments, at

    async def __aenter__(self) -> Session:
        self._session = (await self._moments.store_at(self._at)).session()
        return await self._session.__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._session.__aexit__(kind, error, trace)


class System:
    """The kernel's entry point: what an interface (HTTP, command line, MCP) needs to execute commands and read."""

    def __init__(
        self, storage: Storage, clock: Clock | None = None, catalog: Catalog = feature_registry.CATALOG
    ) -> None:
        self.storage = storage
        self.catalog = catalog
        self.clock = clock or WallClock()
        if clock is not None:
            storage.clock = clock
        self.bus = Bus(storage)
        self.moments = History(storage, catalog)
        self.vectors = Vectors(catalog, self._store_at)
        self.companions: dict[type, object] = {}
        """Objects that other modules keep in memory for the lifetime of the system, by class (caches, for example)."""
        self._life = State.UNINITIALIZED
        self._watching: asyncio.Task[None] | None = None
        self._writer = Writer(
            storage,
            catalog,
            self.clock,
            feature_registry.DECIDERS,
            feature_registry.prepare_group,
            feature_registry.decide_fast,
            feature_registry.decide_batch,
            feature_registry.review,
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
        """Open the store and start watching for commits of other processes."""
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
        """Finish pending commands, then release all resources."""
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
        """Report commits of other processes to the bus; restarts the watch when the store fails or is unreachable."""
        while True:
            try:
                async for position in self.storage.watch(self.bus.position):
                    self.bus.note_commit(position)
            except UgsError:
                pass
            # A closed store ends its watch at once; without the pause this would be a busy loop.
            await asyncio.sleep(1.0)

    async def execute(self, command: Command, context: Context = LOCAL) -> Outcome:
        """Execute a command durably, or raise a coded error and change nothing."""
        return await self._writer.execute(command, context)

    def submit(self, command: Command, context: Context) -> asyncio.Future[Outcome]:
        """As `execute`, without awaiting: the future resolves once the outcome is durable."""
        return self._writer.execute(command, context)

    def session(self) -> AbstractAsyncContextManager[Session]:
        """A read session."""
        return self.storage.session()

    def session_at(self, at: At | None) -> AbstractAsyncContextManager[Session]:
        """A read session on the current state, or on the state at an earlier position or time."""
        return self.storage.session() if at is None else SessionOfPast(self.moments, at)

    async def read(self, plan: Read, at: At | None = None) -> ResultPage:
        """Execute a plan."""
        return await (await self._store_at(at)).read(plan)

    async def render(self, plan: Read, rendering: Rendering, at: At | None = None) -> bytes:
        """Execute a plan and return the result as encoded text."""
        return await (await self._store_at(at)).render(plan, rendering, [])

    async def _store_at(self, at: At | None) -> Storage:
        """The store itself, or one that holds an earlier state."""
        return self.storage if at is None else await self.moments.store_at(at)

    def subscribe(self, after: int | None = None, interest: Interest = EVERYTHING) -> AsyncIterator[Event]:
        """Events after a position (default: the current end), in log order, without gaps."""
        return self.bus.follow(self.bus.position if after is None else after, interest)

    async def digest(self) -> str:
        """One hash over the whole state."""
        return (await self._position_and_digest())[1]

    async def _position_and_digest(self) -> tuple[int, str]:
        """Position and digest of the same state.

        Reads without a lock first; if the log moved meanwhile, reads again in a write session, which keeps writers out.
        """
        for write in (False, True):
            async with self.storage.session(write=write) as session:
                position = (await session.head()).position
                digest = await state_digest(session, self.catalog)
                if write or (await session.head()).position == position:
                    break
        return position, digest

    async def verify(self, progress: Progress | None = None) -> Verification:
        """Replay the log into a memory store and compare the digests, and former rows where the store keeps them."""
        end, stored = await self._position_and_digest()
        ids = EventIdCheck()
        async with self._replayed(end, progress, ids.add) as fresh, fresh.session() as session:
            replayed = await state_digest(session, self.catalog)
            problems = (*ids.problems, *await self.storage.compare_history(fresh))
        return Verification(stored == replayed and not problems, end, stored, replayed, problems)

    @asynccontextmanager
    async def _replayed(
        self, end: int, progress: Progress | None, check: Callable[[Sequence[Event]], None] | None = None
    ) -> AsyncIterator[Storage]:
        """A memory store into which the log has been replayed up to a position."""
        fresh = storage_for("memory:")
        await fresh.open(self.catalog)
        try:
            await copy_log(self.storage, fresh, self.catalog, until=end, progress=progress, check=check)
            yield fresh
        finally:
            await fresh.close()

    async def rebuild(self, progress: Progress | None = None) -> int:
        """Replace the rows of all derived tables by a replay of the log, in one transaction; returns the position."""
        tables = [table for table in self.catalog if table.derived]
        async with self.storage.session(write=True) as session:
            end = (await session.head()).position
            async with self._replayed(end, progress) as fresh, fresh.session() as right:
                await session.clear(tables)
                for table in tables:
                    async for rows in pages_of(right, table):
                        await session.append((), {table: TableWrites(inserts=rows)})
        await analyze_after_load(self.storage)
        return end

    async def rebuild_history(self, progress: Progress | None = None) -> int | None:
        """Make what is missing of the former rows, or all of them anew if nothing is; the position reached, None for a
        store that stores none."""
        reached = await self.storage.rebuild_history(progress)
        if reached is not None:
            await analyze_after_load(self.storage)
        return reached

    async def snapshot(self) -> SnapshotInfo:
        """Store a snapshot of the state, natively where the store can, else in the snapshot table."""
        self._life = State.SNAPSHOTTING
        try:
            written = await self.storage.snapshot()
            if written is not None:
                counts = Stats(**written["stats"])
                return SnapshotInfo(written["timestamp"], written["eventCount"], written.get("lastEventId"), counts)
            async with self.storage.session(write=True) as session:
                return await take_snapshot(session, self.catalog, self.clock.now())
        finally:
            self._life = State.READY

    async def copy_to(self, target: Storage, progress: Progress | None = None) -> str:
        """Replay this log into another store and compare digests; returns the common digest."""
        await copy_log(self.storage, target, self.catalog, progress=progress)
        await analyze_after_load(target)
        async with target.session() as session:
            theirs = await state_digest(session, self.catalog)
        ours = await self.digest()
        if ours != theirs:
            raise DigestMismatch("the copy differs from the original", original=ours, copy=theirs)
        return ours


async def copy(source_url: str, target_url: str, progress: Progress | None = None) -> str:
    """Copy one store into another by replay; raises `DigestMismatch` unless both end with the same digest."""
    target = storage_for(target_url)
    async with System.at_url(source_url) as source:
        await target.open(source.catalog)
        try:
            return await source.copy_to(target, progress)
        finally:
            await target.close()


__all__ = ["At", "State", "System", "UgsError", "Verification", "copy"]
