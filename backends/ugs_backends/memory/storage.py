"""The memory store: tables, log and a single writer; durable with a folder (`FileStorage`).

`PastStorage` is one of them as it was at a log position.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, ClassVar

from msgspec.structs import replace

from ugs.catalog import Catalog
from ugs.clock import Clock, WallClock
from ugs.errors import StorageIOError, Unavailable, WALCorrupt
from ugs.log.replay import position_of
from ugs.reads.plan import Read
from ugs.reads.rendering import RenderArgs, Rendering
from ugs.storage import Capabilities, RowVersion, Session, Storage
from ugs.tables import Row, Table
from ugs_backends.memory.file_format import LOG, SNAPSHOT
from ugs_backends.memory.history.past_log import (
    PastLog,
    PastPlainSession,
    PastPlainWriteSession,
    PastReadSession,
    PastWriteSession,
)
from ugs_backends.memory.history.past_tables import PastExecutor, PastTables
from ugs_backends.memory.history.row_versions import StoreHistory
from ugs_backends.memory.io.filesystem import Files
from ugs_backends.memory.io.folder_lock import FolderLock
from ugs_backends.memory.io.worker_thread import wait_until_ended
from ugs_backends.memory.query.executor import QueryExecutor
from ugs_backends.memory.query.response_renderer import Renderer
from ugs_backends.memory.recovery import Recovered, Recovery, State
from ugs_backends.memory.session import Pending, PlainSession, PlainWriteSession, ReadSession, WriteSession, apply_steps
from ugs_backends.memory.settings import Fsync, Settings
from ugs_backends.memory.snapshots.scheduler import DESCRIPTION, SnapshotScheduler
from ugs_backends.memory.tables.table import MemoryTable, Name, NotBuilt, copy_tables, make_tables
from ugs_backends.memory.wal.file_log import FileLog
from ugs_backends.memory.wal.log_check import (
    BATCH_BYTES,
    CoveredRange,
    Damage,
    acknowledge,
    find_damage,
    read_acknowledged,
)
from ugs_backends.memory.wal.memory_log import Log

NATIVE = frozenset({"read", "find", "find_many", "count", "group", "keys", "match", "nearest", "watch", "render_now"})
FLUSH_INTERVAL_SECONDS = 1.0
MAX_PAST_STATES = 4
"""Past states that are kept with the texts and vectors made for them."""
CLOSE_TIMEOUT_SECONDS = 5.0


class MemoryStorage(Storage):
    """Tables and log in memory, without persistence."""

    scheme: ClassVar[str] = "memory"

    def __init__(self, settings: Settings, files: Files | None = None, clock: Clock | None = None) -> None:
        self.settings, self.files, self.clock = settings, files or Files(), clock or WallClock()
        # Depends on the folder and the options, hence an attribute of the instance and not of the class.
        self.capabilities = Capabilities(  # type: ignore[misc]
            durable=settings.folder is not None,
            native=(NATIVE if settings.folder is None else NATIVE | {"snapshot"}) if settings.native else frozenset(),
        )
        self.warnings: list[str] = []
        self.state = State.UNINITIALIZED
        self.states = [self.state]
        """Every state the store went through while opening."""
        self.replayed = 0
        self.loaded_from_snapshot = 0
        self.writer = asyncio.Lock()
        self.log: Log = Log()
        self._moved = asyncio.Event()
        self._builds: dict[tuple[MemoryTable, Name], asyncio.Task[None]] = {}
        self.history: StoreHistory | None = None
        self._past: dict[int, PastStorage] = {}
        self._past_writer, self._never = asyncio.Lock(), asyncio.Event()
        """Shared by all past states: few are written to, and none of them moves."""

    def enter(self, state: State) -> None:
        """Set the state of the store."""
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
        self.reader = QueryExecutor(self.tables)
        self.past_renderer = Renderer(self.reader)
        """The renderer of all past states: what it has compiled serves every one of them."""
        self._read_session = (ReadSession if self.settings.native else PlainSession)(self)
        self._write_session = WriteSession if self.settings.native else PlainWriteSession
        if self.settings.history and self.settings.native:
            self.history = StoreHistory(self.tables, catalog, self.log.head.position)
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
        # A write session that never ends must not block closing; its changes were never acknowledged.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_TIMEOUT_SECONDS), self.writer:
                pass
        self.enter(State.UNINITIALIZED)
        self._wake()

    @property
    def opened(self) -> bool:
        return self.state is State.READY or self.state is State.SNAPSHOTTING

    # ── sessions ─────────────────────────────────────────────────────────────

    async def render(self, plan: Read, rendering: Rendering, late: RenderArgs) -> bytes:
        async with self.session() as session:
            return await session.render(plan, rendering, late)

    def render_sync(self, plan: Read, rendering: Rendering, late: RenderArgs) -> bytes | None:
        return self._read_session.render_sync(plan, rendering, late) if self.opened else None

    def session(self, *, write: bool = False) -> AbstractAsyncContextManager[Session]:
        return self._write_session(self) if write else self._read_session

    def rows_in_memory(self, table: Table) -> Mapping[Any, Row] | None:
        return self._read_session.rows_in_memory(table)

    def copy_tables(self) -> dict[str, MemoryTable]:
        """A copy of the tables, for a write session that reads its own writes."""
        return copy_tables(self.tables, self.catalog)

    def check_writable(self) -> None:
        """Raise if the store cannot commit a write now."""
        if not self.opened:
            raise Unavailable("The store is closed; open it first")

    async def commit(self, pending: Pending) -> None:
        """Make the changes of a session durable, then visible, all at once."""
        self.show(pending)

    def show(self, pending: Pending) -> None:
        """Apply durable changes to the tables and wake the watchers."""
        self.reader.changes += 1
        known = apply_steps(pending.steps, self.tables, self.history)
        self.log.advance(pending.events)
        if not known:
            self._restart_history(self.log.head.position)
        self._wake()

    # ── the past ─────────────────────────────────────────────────────────────

    @property
    def history_begins(self) -> int | None:  # type: ignore[override]
        return None if self.history is None else self.history.begins

    async def at(self, position: int) -> Storage | None:
        history = self.history
        if history is None or position < history.begins:
            return None
        if history.is_behind:
            await history.catch_up()
        found = self._past.pop(position, None) or PastStorage(self, history, position)
        self._past[position] = found
        if len(self._past) > MAX_PAST_STATES:
            del self._past[next(iter(self._past))]
        return found

    async def take_history(self, replica: Storage) -> None:
        ours, theirs = self.history, replica.history if isinstance(replica, MemoryStorage) else None
        if ours is not None and theirs is not None and theirs.begins < ours.begins <= await position_of(replica):
            ours.take_over(theirs)
            self._past.clear()

    async def versions_by_key(self, table: Table, until: int) -> dict[Any, list[RowVersion]] | None:
        history = self.history
        if history is None or history.begins > 0:
            return None
        await history.catch_up()
        return history.tables[table.name].by_key(until)

    async def compare_history(self, replica: Storage) -> list[str]:
        theirs = replica.history if isinstance(replica, MemoryStorage) else None
        if self.history is None or theirs is None:
            return []
        return await self.history.compare(theirs, await position_of(replica))

    def _restart_history(self, position: int) -> None:
        self._past.clear()
        if self.history is not None:
            self.history.restart(position)

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
        """Build a large index in a thread; concurrent requests for the same index share one build."""
        name = (missing.table, missing.name)
        task = self._builds.get(name)
        if task is None:
            task = self._builds[name] = asyncio.create_task(self._build(*name))
            task.add_done_callback(lambda _: self._builds.pop(name, None))
        await asyncio.shield(task)

    async def _build(self, table: MemoryTable, name: Name) -> None:
        # Changes committed during the build are journalled and applied when the index is published.
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
            self._restart_history(0)

    async def _wipe_log(self) -> None:
        await self.log.wipe()

    def sibling(self, name: str) -> MemoryStorage:
        return MemoryStorage(self.settings, self.files, self.clock)

    def describe(self) -> str:
        return "memory (nothing is kept)"


class FileStorage(MemoryStorage):
    """A memory store with its log and snapshots in a folder."""

    scheme: ClassVar[str] = "file"
    log: FileLog

    def __init__(self, settings: Settings, files: Files | None = None, clock: Clock | None = None) -> None:
        super().__init__(settings, files, clock)
        assert settings.folder is not None
        self.folder: Path = settings.folder
        self._lock = FolderLock(self.folder)
        self._flusher: asyncio.Task[None] | None = None
        self._checking: asyncio.Task[None] | None = None
        self._damages: list[Damage] = []
        self._made_folder = False

    def sibling(self, name: str) -> FileStorage:
        return FileStorage(replace(self.settings, folder=self.folder / "tenants" / name), self.files, self.clock)

    def exclusive_folder(self) -> Path | None:
        return self.folder

    async def _open_tables(self) -> dict[str, MemoryTable]:
        try:
            self._made_folder = not self.files.exists(self.folder)
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
        self.snapshots = SnapshotScheduler(self, self.log, found.snapshot_count)
        if found.covered is not None and self.damage is None and found.covered.end > BATCH_BYTES:
            self._checking = asyncio.create_task(self._check_in_background(found.covered))
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
        self.damage = None
        self.log = FileLog(self.files, self.folder / LOG, self.settings.fsync, self.catalog)
        self.log.take_over(found)
        try:
            self.log.start()
        except OSError as error:
            self.log.fail(error)
            self.warnings.append(f"{self.log.path} cannot be written ({error.strerror}): the store only reads")
        if recovery.unrepaired is not None:
            self.log.fail(recovery.unrepaired)
        self._damages = []
        if found.covered is not None and found.covered.end <= BATCH_BYTES:
            self._note_damage(self._find_damage(found.covered))
        return found

    # ── the part of the log that a snapshot covers ───────────────────────────

    def _find_damage(self, covered: CoveredRange) -> list[Damage]:
        return find_damage(self.files, self.log.path, covered, self.catalog)

    async def _check_in_background(self, covered: CoveredRange) -> None:
        """Verify a long log while the store is in use."""
        with contextlib.suppress(OSError):
            self._note_damage(await asyncio.to_thread(self._find_damage, covered))

    def _note_damage(self, damages: list[Damage]) -> None:
        """Record damage of the log as a warning; unless it was acknowledged, refuse writes from now on."""
        self._damages = damages
        if not damages:
            return
        known = read_acknowledged(self.files, self.folder)
        fresh = [damage for damage in damages if damage not in known]
        first = (fresh or damages)[0]
        more = f" and {len(damages) - 1} more" if len(damages) > 1 else ""
        told = f"{self.log.path.name} line {first.line} (byte {first.offset}){more} is damaged"
        if fresh:
            self.damage = f"{told}; {SNAPSHOT} holds what it said. Restore the file from a backup."
            self.warnings.append(
                f"E009 {self.damage} Until then, or until `ugs doctor --acknowledge`, nothing is written."
            )
        else:
            self.warnings.append(f"E009 {told}, as was acknowledged: history and time travel stop there.")

    async def acknowledge_damage(self) -> str | None:
        if self._checking is not None:
            await asyncio.wait([self._checking])
        if not self._damages:
            return None
        acknowledge(self.files, self.folder, self._damages)
        self.damage = None
        return f"{len(self._damages)} damaged lines of {self.log.path.name}, the first at line {self._damages[0].line}"

    async def _flush_regularly(self) -> None:
        while True:
            await asyncio.sleep(FLUSH_INTERVAL_SECONDS)
            await self.log.flush_in_thread()

    async def close(self) -> None:
        if not self.opened:
            return
        for task in (self._flusher, self._checking):
            if task is not None:
                task.cancel()
        await self.snapshots.finish()
        await super().close()
        try:
            await asyncio.to_thread(self.log.stop)
        except OSError as error:
            raise StorageIOError(f"Closing {self.log.path} failed: {error.strerror}") from error
        finally:
            self._lock.release()
            gc.unfreeze()  # undoes the freeze of `pause_collector`

    def check_writable(self) -> None:
        super().check_writable()
        if self.damage is not None:
            raise WALCorrupt(
                f"Nothing is written while {self.damage} `ugs doctor --acknowledge` accepts it as it is.",
                file=str(self.log.path),
                line=self._damages[0].line,
                offset=self._damages[0].offset,
            )
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
            # Once the write has started the commit runs to its end, even if its caller is cancelled.
            cancelled = await wait_until_ended(written)
            written.result()
        self.show(pending)
        self.snapshots.after_commit(before)
        if cancelled is not None:
            raise cancelled

    async def snapshot(self) -> dict[str, Any]:
        """Write a snapshot now and return its summary."""
        return await self.snapshots.take()

    async def _wipe_log(self) -> None:
        await self.snapshots.finish()
        for name in ("snapshot.json", "snapshot.json.prev"):
            self.files.remove(self.folder / name)
        await super()._wipe_log()
        self.snapshots.count = 0

    def describe(self) -> str:
        return f"files in {self.folder}"

    def is_there(self) -> bool:
        return any((self.folder / name).exists() for name in (LOG, SNAPSHOT))

    async def remove_if_empty(self) -> None:
        if self.opened:
            return
        with contextlib.suppress(OSError, StorageIOError):  # the files stay where another process is using them
            self._lock.acquire()
            try:
                if not self.files.exists(self.folder / SNAPSHOT) and self.files.size(self.folder / LOG) == 0:
                    self.files.remove(self.folder / LOG)
                    self.files.remove(self._lock.path)
                    if self._made_folder:
                        self.folder.rmdir()
            finally:
                self._lock.release()

    def properties(self) -> dict[str, str]:
        every = self.settings.snapshot_every
        snapshots = DESCRIPTION if every is None else f"every {every:,} events" if every else "only by command"
        return {"snapshots": snapshots, "fsync": self.settings.fsync.value}


class PastStorage(MemoryStorage):
    """A memory store as it was at a log position.

    It shares rows and indexes with the store of the present. Tables without a history begin empty and can be written,
    so that what is computed for this state (vectors) is computed once.
    """

    def __init__(self, present: MemoryStorage, history: StoreHistory, position: int) -> None:
        self.settings, self.files, self.clock = present.settings, present.files, present.clock
        self.capabilities = present.capabilities  # type: ignore[misc]
        self.warnings, self.state, self.states = [], State.READY, []
        self.writer, self._moved = present._past_writer, present._never
        self.catalog, self.history, self._past, self._builds = present.catalog, None, {}, present._builds
        self.log = PastLog(present.log, position)
        self.tables = PastTables(history, present.catalog, position)
        self.reader = PastExecutor(self.tables, present.reader.arrangements, next(history.states))
        self.past_renderer = present.past_renderer
        native = self.settings.native
        self._read_session = (PastReadSession if native else PastPlainSession)(self)
        self._write_session = PastWriteSession if native else PastPlainWriteSession

    def _wake(self) -> None:
        pass  # nobody waits for a state that does not move, and the event is that of all past states

    def describe(self) -> str:
        return f"memory at position {self.log.head.position}"
