"""Decides when snapshots are due and writes them without blocking readers.

A snapshot is due when a commit passes a multiple of `snapshot_every` events, or of 1,000 by default. By default a graph
of more than 10,000 rows also needs as many new events as it has rows: a growing store then writes about two rows per
event over its life, and opening it replays at most one event per row, which takes about a third longer than loading
one. Rows are immutable: a list of them is a consistent copy, and a thread writes it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec

from ugs.errors import StorageIOError
from ugs.tables import Row
from ugs_backends.memory.file_format import FORMAT, SNAPSHOT
from ugs_backends.memory.recovery import State
from ugs_backends.memory.snapshots.snapshot_file import CapturedState, LogPlace, write_snapshot

if TYPE_CHECKING:
    from ugs_backends.memory.storage import MemoryStorage
    from ugs_backends.memory.wal.file_log import FileLog

DEFAULT_INTERVAL_EVENTS = 1_000
"""Default number of events between two snapshots."""
SMALL_STORE_ROWS = 10_000
"""By default, a graph with more rows is written only when there are as many new events as rows."""
DESCRIPTION = (
    f"every {DEFAULT_INTERVAL_EVENTS:,} events up to {SMALL_STORE_ROWS:,} rows; "
    "beyond that, when as many events are new as there are rows"
)
CAPTURE_BATCH_ROWS = 50_000
"""Up to this many rows are copied within the commit; more are copied in portions, yielding in between."""


class SnapshotScheduler:
    """Writes the snapshots of one store, one at a time."""

    def __init__(self, storage: MemoryStorage, log: FileLog, count: int) -> None:
        self.storage, self.log = storage, log
        self.count = count
        """Number of events in the latest snapshot."""
        self._one = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        self._again = False
        """Whether another one became due while one was being written."""

    def after_commit(self, before: int) -> None:
        """Start a snapshot in the background if this commit made one due; the caller holds the write lock."""
        given, now = self.storage.settings.snapshot_every, self.log.head.position
        every = DEFAULT_INTERVAL_EVENTS if given is None else given
        if not every or now // every == before // every:
            return
        rows = sum(len(table.rows) for table in self.storage.tables.values())
        if given is None and rows > SMALL_STORE_ROWS and now - self.count < rows:
            return
        if self._task is not None and not self._task.done():
            # An explicit setting is kept exactly: the next snapshot follows the current one.
            self._again = given is not None
            return
        captured = self._capture() if rows <= CAPTURE_BATCH_ROWS else None
        self._task = asyncio.create_task(self._write_in_background(captured))

    async def _write_in_background(self, captured: CapturedState | None) -> None:
        try:
            await self.take(captured)
            while self._again:
                self._again = False
                await self.take()
        except StorageIOError as error:
            self.storage.warnings.append(str(error))

    async def take(self, captured: CapturedState | None = None) -> dict[str, Any]:
        """Write a snapshot and return its summary."""
        async with self._one:
            # Without a writable log the snapshot could be ahead of the log, or exist without one.
            self.storage.check_writable()
            if captured is None:
                async with self.storage.writer:
                    captured = await self._capture_slowly()
            self.storage.enter(State.SNAPSHOTTING)
            try:
                return await asyncio.to_thread(self._write, captured)
            finally:
                self.storage.enter(State.READY)

    def _write(self, captured: CapturedState) -> dict[str, Any]:
        storage, path = self.storage, self.log.path.with_name(SNAPSHOT)
        try:
            # A snapshot must not contain events that the log could still lose.
            self.log.force()
            summary = write_snapshot(storage.files, path, storage.catalog, captured)
        except OSError as error:
            raise StorageIOError(f"Writing {path} failed: {error.strerror}", file=str(path)) from error
        self.count = captured.place.last_seq
        answer: dict[str, Any] = msgspec.to_builtins(summary)
        return answer

    def _capture(self) -> CapturedState:
        return self._build_captured({name: list(table.rows.values()) for name, table in self.storage.tables.items()})

    async def _capture_slowly(self) -> CapturedState:
        """Copy the row lists in portions, so that readers can run; the caller holds the write lock."""
        rows: dict[str, Sequence[Row]] = {}
        for name, table in self.storage.tables.items():
            listed: list[Row] = []
            walk = iter(table.rows.values())
            while part := list(islice(walk, CAPTURE_BATCH_ROWS)):
                listed += part
                await asyncio.sleep(0)
            rows[name] = listed
        return self._build_captured(rows)

    def _build_captured(self, rows: dict[str, Sequence[Row]]) -> CapturedState:
        log, head = self.log, self.log.head
        created = max(self.storage.clock.now(), head.timestamp)
        # The seed's reader replays events later than the timestamp, so no new event may have it or an earlier one (R6).
        log.lift_floor(created + 1)
        place = LogPlace(
            format=FORMAT,
            last_event_id=log.last_id,
            last_seq=head.position,
            last_crc=head.crc,
            wal_offset=log.size,
            sealed=log.sealed,
            wal_index=log.offsets.tolist(),
            wal_skipped=list(log.skipped),
            last_timestamp=head.timestamp,
            wal_base=log.base,
            wal_base_crc=f"{log.base_crc:08x}",
        )
        return CapturedState(created, rows, place)

    async def finish(self) -> None:
        """Wait for a snapshot in progress."""
        if self._task is not None:
            await asyncio.wait([self._task])
