"""The memory store itself: tables, log, one writer at a time; with a folder everything is durable."""

from __future__ import annotations

import asyncio
import contextlib
import gc
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, ClassVar

from msgspec.structs import replace

from backends.memory.filelog import FileLog
from backends.memory.files import Files
from backends.memory.locking import FolderLock
from backends.memory.log import Log
from backends.memory.reading import Reader
from backends.memory.recovery import Recovered, Recovery, State
from backends.memory.session import (
    Pending,
    PlainSession,
    PlainWriteSession,
    ReadSession,
    WriteSession,
    apply_steps,
)
from backends.memory.settings import Fsync, Settings
from backends.memory.snapshotting import Snapshotter
from backends.memory.tables import MemoryTable, Name, NotBuilt, copy_tables, make_tables
from backends.memory.worker import ended
from ugs.catalog import Catalog, Row, Table
from ugs.clock import Clock, WallClock
from ugs.errors import StorageIOError, Unavailable
from ugs.reads.plan import Read
from ugs.reads.rendering import Late, Rendering
from ugs.storage import Capabilities, Session, Storage

NATIVE = frozenset({"read", "find", "find_many", "count", "group", "keys", "match", "nearest", "watch", "render_now"})
FLUSH_EVERY = 1.0
CLOSE_WITHIN = 5.0


class MemoryStorage(Storage):
    """Tables and log in memory; nothing is kept."""

    scheme: ClassVar[str] = "memory"

    def __init__(self, settings: Settings, files: Files | None = None, clock: Clock | None = None) -> None:
        self.settings, self.files, self.clock = settings, files or Files(), clock or WallClock()
        # The folder and the options decide, so this is a fact of the store and not of its class.
        self.capabilities = Capabilities(  # type: ignore[misc]
            durable=settings.folder is not None,
            native=(NATIVE if settings.folder is None else NATIVE | {"snapshot"}) if settings.native else frozenset(),
        )
        self.warnings: list[str] = []
        self.state = State.UNINITIALIZED
        self.states = [self.state]
        """Every state the store has gone through while opening."""
        self.replayed = 0
        self.loaded_from_snapshot = 0
        self.writer = asyncio.Lock()
        self.log: Log = Log()
        self._moved = asyncio.Event()
        self._builds: dict[tuple[MemoryTable, Name], asyncio.Task[None]] = {}

    def enter(self, state: State) -> None:
        """Note what the store is doing."""
        self.state = state
        if State.READY not in self.states:
            self.states.append(state)

    async def open(self, catalog: Catalog) -> None:
        self.catalog, self.warnings, self.states = catalog, [], []
        self.enter(State.INITIALIZING)
        try:
            self.tables = await self._open_tables()
        except BaseException:
            self.enter(State.UNINITIALIZED)
            raise
        self.reader = Reader(self.tables)
        self._read_session = (ReadSession if self.settings.native else PlainSession)(self)
        self._write_session = WriteSession if self.settings.native else PlainWriteSession
        self.enter(State.READY)

    async def _open_tables(self) -> dict[str, MemoryTable]:
        self.log = Log()
        tables = make_tables(self.catalog)
        for table in tables.values():
            table.serve()
        self.enter(State.EMPTY)
        return tables

    async def close(self) -> None:
        self.enter(State.SHUTTING_DOWN)
        # A session that never ends must not keep the process; what it collected was never acknowledged.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_WITHIN), self.writer:
                pass
        self.enter(State.UNINITIALIZED)
        self._wake()

    @property
    def opened(self) -> bool:
        return self.state is State.READY or self.state is State.SNAPSHOTTING

    # ── sessions ─────────────────────────────────────────────────────────────

    async def render(self, plan: Read, rendering: Rendering, late: Late) -> bytes:
        async with self.session() as session:
            return await session.render(plan, rendering, late)

    def render_now(self, plan: Read, rendering: Rendering, late: Late) -> bytes | None:
        return self._read_session.render_now(plan, rendering, late) if self.opened else None

    def session(self, *, write: bool = False) -> AbstractAsyncContextManager[Session]:
        return self._write_session(self) if write else self._read_session

    def at_hand(self, table: Table) -> Mapping[Any, Row] | None:
        return self._read_session.at_hand(table)

    def copy_tables(self) -> dict[str, MemoryTable]:
        """Tables with the same rows, for a session that reads what it has written."""
        return copy_tables(self.tables, self.catalog)

    def check_writable(self) -> None:
        """Refuse to start a write that could not be finished."""
        if not self.opened:
            raise Unavailable("The store is closed; open it first")

    async def commit(self, pending: Pending) -> None:
        """Make what a session collected durable, and only then visible, all at once."""
        self.show(pending)

    def show(self, pending: Pending) -> None:
        """Let everybody see what is durable now."""
        self.reader.changes += 1
        apply_steps(pending.steps, self.tables)
        self.log.advance(pending.events)
        self._wake()

    # ── watching ─────────────────────────────────────────────────────────────

    def _wake(self) -> None:
        self._moved.set()
        self._moved = asyncio.Event()

    async def watch(self, after: int) -> AsyncIterator[int]:
        while self.opened:
            moved = self._moved
            position = self.log.head.position
            if position > after:
                yield position
                after = position
            else:
                await moved.wait()

    # ── indexes of large tables ──────────────────────────────────────────────

    async def build(self, missing: NotBuilt) -> None:
        """Build a large index in a thread while everybody else goes on."""
        name = (missing.table, missing.name)
        task = self._builds.get(name)
        if task is None:
            task = self._builds[name] = asyncio.create_task(self._build(*name))
            task.add_done_callback(lambda _: self._builds.pop(name, None))
        await asyncio.shield(task)

    async def _build(self, table: MemoryTable, name: Name) -> None:
        journal = table.journals[name] = []
        try:
            kept = await asyncio.to_thread(table.build, name, list(table.rows.values()))
            table.publish(name, kept, journal)
        finally:
            del table.journals[name]

    # ── the rest ─────────────────────────────────────────────────────────────

    async def wipe(self) -> None:
        async with self.writer:
            await self._wipe_log()
            self.reader.changes += 1
            for table in self.tables.values():
                table.clear()

    async def _wipe_log(self) -> None:
        await self.log.wipe()

    def apart(self, name: str) -> MemoryStorage:
        return MemoryStorage(self.settings, self.files, self.clock)

    def describe(self) -> str:
        return "memory (nothing is kept)"


class FileStorage(MemoryStorage):
    """The same, with its log and snapshots in a folder."""

    scheme: ClassVar[str] = "file"
    log: FileLog

    def __init__(self, settings: Settings, files: Files | None = None, clock: Clock | None = None) -> None:
        super().__init__(settings, files, clock)
        assert settings.folder is not None
        self.folder: Path = settings.folder
        self._lock = FolderLock(self.folder)
        self._flusher: asyncio.Task[None] | None = None

    def apart(self, name: str) -> FileStorage:
        return FileStorage(replace(self.settings, folder=self.folder / "tenants" / name), self.files, self.clock)

    async def _open_tables(self) -> dict[str, MemoryTable]:
        try:
            self.files.make_folder(self.folder)
            self._lock.acquire()
            found = await asyncio.to_thread(self._recover)
        except OSError as error:
            self._lock.release()
            raise StorageIOError(f"Cannot open {self.folder}: {error}", folder=str(self.folder)) from error
        except BaseException:
            self._lock.release()
            raise
        self.replayed, self.loaded_from_snapshot = found.reader.replayed, found.snapshot_count
        self.snapshots = Snapshotter(self, self.log, found.snapshot_count)
        if self.settings.fsync is Fsync.INTERVAL:
            self._flusher = asyncio.create_task(self._flush_regularly())
        return found.tables

    def _recover(self) -> Recovered:
        strict = self.settings.strict_recovery
        recovery = Recovery(self.files, self.folder, self.catalog, strict, self.enter)
        found = recovery.run(self.clock.now())
        for table in found.tables.values():
            table.serve()
        self.warnings.extend(recovery.warnings)
        self.log = FileLog(self.files, self.folder / "events.wal", self.settings.fsync, self.catalog)
        self.log.take_over(found)
        try:
            self.log.start()
        except OSError as error:
            self.log.fail(error)
            self.warnings.append(f"{self.log.path} cannot be written ({error.strerror}): the store only reads")
        if recovery.unrepaired is not None:
            self.log.fail(recovery.unrepaired)
        return found

    async def _flush_regularly(self) -> None:
        while True:
            await asyncio.sleep(FLUSH_EVERY)
            await self.log.flush_in_thread()

    async def close(self) -> None:
        if not self.opened:
            return
        if self._flusher is not None:
            self._flusher.cancel()
        await self.snapshots.finish()
        await super().close()
        try:
            await asyncio.to_thread(self.log.stop)
        except OSError as error:
            raise StorageIOError(f"Closing {self.log.path} failed: {error.strerror}") from error
        finally:
            self._lock.release()
            gc.unfreeze()  # what was loaded may go now

    def check_writable(self) -> None:
        super().check_writable()
        if self.log.failed is not None:
            raise StorageIOError(
                f"The store only reads since writing {self.log.path} failed ({self.log.failed}). "
                "Repair the disk, then open the store again.",
                file=str(self.log.path),
            )

    async def commit(self, pending: Pending) -> None:
        before, cancelled = self.log.head.position, None
        if pending.events:
            written = self.log.write(pending.events)
            # Once the bytes are on their way the commit goes on to its end, even if its caller is cancelled.
            cancelled = await ended(written)
            written.result()
        self.show(pending)
        self.snapshots.after_commit(before)
        if cancelled is not None:
            raise cancelled

    async def snapshot(self) -> dict[str, Any]:
        """Write a snapshot now; answers what it holds."""
        return await self.snapshots.take()

    async def _wipe_log(self) -> None:
        await self.snapshots.finish()
        for name in ("snapshot.json", "snapshot.json.prev"):
            self.files.remove(self.folder / name)
        await super()._wipe_log()
        self.snapshots.count = 0

    def describe(self) -> str:
        return f"files in {self.folder}"
