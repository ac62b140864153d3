"""When snapshots are taken, and how without holding anybody up.

A snapshot is due when a commit lets the number of events pass a multiple of `snapshot_every`. On a graph of more than
ten times as many rows that would write everything again for next to nothing, so as many events as there are rows must
be new: over its life a growing store writes two rows for an event, and who opens it replays an event for each row at
most, which takes about a third longer than to load one. Rows are frozen: a list of them is a copy, and the writing
happens in a thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec

from backends.memory.layout import FORMAT, SNAPSHOT
from backends.memory.recovery import State
from backends.memory.snapshots import Captured, Place, write_snapshot
from ugs.catalog import Row
from ugs.errors import StorageIOError

if TYPE_CHECKING:
    from backends.memory.filelog import FileLog
    from backends.memory.storage import MemoryStorage

FEW = 10
"""A graph with at most so many times the rows is written whenever `snapshot_every` events have come."""
AT_ONCE = 50_000
"""Up to so many rows are listed within the commit itself; more are listed bit by bit."""


class Snapshotter:
    """Takes the snapshots of one store, one at a time."""

    def __init__(self, storage: MemoryStorage, log: FileLog, count: int) -> None:
        self.storage, self.log = storage, log
        self.count = count
        """Events in the latest snapshot."""
        self._one = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None

    def after_commit(self, before: int) -> None:
        """Start a snapshot if this commit made one due; the writer's lock is held."""
        every, now = self.storage.settings.snapshot_every, self.log.head.position
        if not every or now // every == before // every or (self._task is not None and not self._task.done()):
            return
        rows = sum(len(table.rows) for table in self.storage.tables.values())
        if rows > every * FEW and now - self.count < rows:
            return
        captured = self._capture() if rows <= AT_ONCE else None
        self._task = asyncio.create_task(self._in_background(captured))

    async def _in_background(self, captured: Captured | None) -> None:
        try:
            await self.take(captured)
        except StorageIOError as error:
            self.storage.warnings.append(str(error))

    async def take(self, captured: Captured | None = None) -> dict[str, Any]:
        """Write a snapshot; answers what is in it."""
        async with self._one:
            # Beside a log that cannot be written a snapshot would be newer than it, or stand alone.
            self.storage.check_writable()
            if captured is None:
                async with self.storage.writer:
                    captured = await self._capture_slowly()
            self.storage.enter(State.SNAPSHOTTING)
            try:
                return await asyncio.to_thread(self._write, captured)
            finally:
                self.storage.enter(State.READY)

    def _write(self, captured: Captured) -> dict[str, Any]:
        storage, path = self.storage, self.log.path.with_name(SNAPSHOT)
        try:
            # A snapshot must never know of events that the log could still lose.
            self.log.force()
            summary = write_snapshot(storage.files, path, storage.catalog, captured)
        except OSError as error:
            raise StorageIOError(f"Writing {path} failed: {error.strerror}", file=str(path)) from error
        self.count = captured.place.last_seq
        answer: dict[str, Any] = msgspec.to_builtins(summary)
        return answer

    def _capture(self) -> Captured:
        return self._captured({name: list(table.rows.values()) for name, table in self.storage.tables.items()})

    async def _capture_slowly(self) -> Captured:
        """List the rows bit by bit, so that readers get their turn; writers wait, so nothing changes meanwhile."""
        rows: dict[str, Sequence[Row]] = {}
        for name, table in self.storage.tables.items():
            listed: list[Row] = []
            walk = iter(table.rows.values())
            while part := list(islice(walk, AT_ONCE)):
                listed += part
                await asyncio.sleep(0)
            rows[name] = listed
        return self._captured(rows)

    def _captured(self, rows: dict[str, Sequence[Row]]) -> Captured:
        log, head = self.log, self.log.head
        # The seed's own reader replays what is later than the timestamp: nothing else may carry it from now on (R6).
        log.lift_floor(head.timestamp + 1)
        place = Place(
            format=FORMAT,
            last_event_id=log.last_id,
            last_seq=head.position,
            last_crc=head.crc,
            wal_offset=log.size,
            sealed=log.sealed,
            wal_index=log.offsets.tolist(),
            wal_skipped=list(log.skipped),
        )
        return Captured(head.timestamp, rows, place)

    async def finish(self) -> None:
        """Wait for a snapshot under way."""
        if self._task is not None:
            await asyncio.wait([self._task])
