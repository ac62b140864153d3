"""The event log in a file: one write per commit, read by offset, never held in memory.

`events.wal` is append-only. A sparse index holds the offset of every 128th event, so reading any range is one short
read. The index from elements to positions is built by a full scan at the first query by element.
"""

from __future__ import annotations

import asyncio
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from ugs.catalog import Catalog
from ugs.errors import StorageIOError, WALCorrupt
from ugs.events import Event, Head, from_line
from ugs.storage import EventQuery
from ugs_backends.memory.file_format import chain_checksum, has_seal, is_sealed, read_checksum
from ugs_backends.memory.io.filesystem import Files
from ugs_backends.memory.io.worker_thread import Worker
from ugs_backends.memory.recovery import Recovered
from ugs_backends.memory.settings import Fsync
from ugs_backends.memory.wal.line_codec import MALFORMED, decode_foreign_event, encode_lines
from ugs_backends.memory.wal.memory_log import Log
from ugs_backends.memory.wal.reader import MARK_INTERVAL_LINES, build_damage_error

BLOCKS_PER_READ = 32


class FileLog(Log):
    """A log in `{folder}/events.wal`."""

    def __init__(self, files: Files, path: Path, fsync: Fsync, catalog: Catalog) -> None:
        super().__init__()
        self.files, self.path, self.fsync, self.catalog = files, path, fsync, catalog
        self.offsets: array[int] = array("Q")
        self.skipped: list[tuple[int, int]] = []
        self.base, self.base_crc = 0, 0
        """Number of events before the first line (removed from the file), and the checksum of the last of them."""
        self.sealed = False
        self.last_id = ""
        self.size = 0
        self.failed: str | None = None
        self.dirty = False
        self._handle: int | None = None
        self._lacks_newline = False
        self._thread = Worker("ugs-wal")
        self._lengths: list[int] = []
        self._elements: dict[str, list[int]] | None = None
        self._newcomers: list[list[Event]] = []

    def take_over(self, found: Recovered) -> None:
        """Continue the log that recovery read from the file."""
        reader = found.reader
        self.head, self.last_id, self.sealed = found.head, reader.mark.event_id, reader.mark.sealed
        self.base, self.base_crc = reader.base, found.base_crc
        self.offsets, self.skipped = reader.offsets, reader.skipped

    # ── writing ──────────────────────────────────────────────────────────────

    def start(self) -> None:
        """Open the file for appending, creating it durably."""
        fresh = not self.files.exists(self.path)
        self._handle = self.files.open_for_append(self.path)
        if fresh:
            self.files.fsync_folder(self.path.parent)
        self.size = self.files.size(self.path)
        self._lacks_newline = self.size > 0 and self.files.read(self.path, self.size - 1, 1) != b"\n"

    def stop(self) -> None:
        """Flush and close the file; after a failed write it is closed without a flush."""
        if self._handle is not None:
            if self.failed is None:
                self.flush()
            self.files.close(self._handle)
            self._handle = None
        self._thread.close()

    def check(self, pending: Sequence[Event], events: Sequence[Event]) -> None:
        super().check(pending, events)
        sealed = self.sealed or any(event.crc is not None for event in pending)
        for event in events:
            if sealed and event.crc is None:
                raise WALCorrupt(f"Event {event.position} has no checksum, but the log before it is protected")
            sealed = sealed or event.crc is not None

    def write(self, events: Sequence[Event]) -> asyncio.Future[None]:
        """Make the events durable in the log's worker thread; `advance` makes them visible to readers."""
        return self._thread.submit(partial(self.append, events))

    def append(self, events: Sequence[Event]) -> None:
        """Write the lines in one call and fsync as configured; after a failure the log accepts no more writes (R1)."""
        lines = encode_lines(events)
        if self._lacks_newline:
            lines[0] = b"\n" + lines[0]
        try:
            self._force(b"".join(lines))
        except OSError as error:
            self.fail(error)
            raise StorageIOError(
                f"Writing {self.path} failed: {error.strerror}. The change is not acknowledged, and the store only "
                "reads from now on. Free the disk or repair it, then open the store again.",
                file=str(self.path),
            ) from error
        self._lacks_newline = False
        self._lengths = [len(line) for line in lines]

    def _force(self, data: bytes) -> None:
        if self._handle is None:
            raise OSError(9, "the file is closed")
        self.files.write_all(self._handle, data)
        self.dirty = True
        if self.fsync is Fsync.ALWAYS:
            self.flush()

    def flush(self) -> None:
        """Fsync what was written since the last flush, unless `fsync` is off."""
        if self.dirty and self._handle is not None and self.fsync is not Fsync.OFF:
            self.files.fsync(self._handle)
        self.dirty = False

    def force(self) -> None:
        """Fsync regardless of the settings; a failure marks the log as failed."""
        if self._handle is not None and self.failed is None:
            try:
                self.files.fsync(self._handle)
            except OSError as error:
                self.fail(error)
                raise

    async def flush_in_thread(self) -> None:
        """Flush in the worker thread (fsync once a second); a failure marks the log as failed."""
        try:
            await self._thread.submit(self.flush)
        except OSError as error:
            self.fail(error)

    def fail(self, error: OSError) -> None:
        """Mark the log as failed: what the file ends with is unknown until the store is opened again."""
        self.failed = error.strerror or str(error)

    def advance(self, events: Sequence[Event]) -> None:
        for event, length in zip(events, self._lengths, strict=True):
            if (event.position - 1 - self.base) % MARK_INTERVAL_LINES == 0:
                self.offsets.append(self.size)
            self.size += length
        if events:
            self.sealed = self.sealed or events[-1].crc is not None
            self.last_id = events[-1].id
        self._lengths = []
        self.head = self.head_after(events)
        for waiting in self._newcomers:
            waiting.extend(events)
        if self._elements is not None:
            _note(self._elements, events)

    async def wipe(self) -> None:
        await super().wipe()
        await self._thread.submit(self._start_over)

    def _start_over(self) -> None:
        if self._handle is not None:
            self.files.close(self._handle)
        self.files.close(self.files.open_new(self.path))
        self.offsets, self.skipped, self._elements = array("Q"), [], None
        self.sealed, self.failed, self.dirty, self.last_id = False, None, False, ""
        self.base, self.base_crc = 0, 0
        self.start()

    # ── reading ──────────────────────────────────────────────────────────────

    async def events(self, query: EventQuery) -> list[Event]:
        head = self.head
        if query.element is not None:
            positions = await self._find_positions(query.element)
            return await asyncio.to_thread(self._read_positions, positions, query)
        if query.elements is not None:
            found = [position for element in query.elements for position in await self._find_positions(element)]
            return await asyncio.to_thread(self._read_positions, sorted(found), query)
        return await asyncio.to_thread(self._read_range, query, head)

    def _read_range(self, query: EventQuery, head: Head) -> list[Event]:
        first = max(query.after, self.base) + 1
        last = head.position if query.until is None else min(query.until, head.position)
        return query.select(self._walk(first, last, query))

    def _walk(self, first: int, last: int, query: EventQuery) -> Iterator[Event]:
        """Yield the events between two positions in the query's direction, read in chunks."""
        limit = (
            query.limit if query.limit is not None and query.types is None else MARK_INTERVAL_LINES * BLOCKS_PER_READ
        )
        step = max(1, min(limit, MARK_INTERVAL_LINES * (BLOCKS_PER_READ if query.max_bytes is None else 1)))
        while first <= last:
            if query.newest:
                low = max(first, last - step + 1)
                yield from reversed(self.read(low, last))
                last = low - 1
            else:
                high = min(last, first + step - 1)
                yield from self.read(first, high)
                first = high + 1

    def read(self, first: int, last: int) -> list[Event]:
        """Read the events of a range of positions from the file; a sealed line is checked against the line before."""
        start, stop, position = self._find_block(first, last)
        lines = self._read_lines(start, stop)
        previous = None
        events = []
        for line in lines:
            position += 1
            if first <= position <= last:
                events.append(self._decode_event(line, position, previous))
            elif position > last:
                break
            previous = line
        return events

    def _find_block(self, first: int, last: int) -> tuple[int, int, int]:
        """Byte range of the blocks that hold these positions, and the position before the first event of the range."""
        block, end = (first - 1 - self.base) // MARK_INTERVAL_LINES, (last - 1 - self.base) // MARK_INTERVAL_LINES + 1
        stop = self.offsets[end] if end < len(self.offsets) else self.size
        return self.offsets[block], stop, self.base + block * MARK_INTERVAL_LINES

    def _read_lines(self, start: int, stop: int) -> Iterable[bytes]:
        """The lines between two offsets, without blank ones and without the bytes that a repair has excluded."""
        data = self.files.read(self.path, start, stop - start)
        for low, high in reversed(self.skipped):
            if low < stop and high > start:
                data = data[: max(low - start, 0)] + b"\n" + data[max(high - start, 0) :]
        return [line + b"\n" for line in data.split(b"\n") if line.strip()]

    def _decode_event(self, line: bytes, position: int, previous: bytes | None) -> Event:
        if not has_seal(line):
            foreign = decode_foreign_event(line, position, self.catalog)
            if foreign is None:
                raise self._build_damage_error(position, line)
            return foreign
        if (
            previous is not None
            and has_seal(previous)
            and not is_sealed(line, chain_checksum(line, read_checksum(previous)))
        ):
            raise self._build_damage_error(position, line)
        try:
            event = from_line(line, position, self.catalog.rules.element_of)
        except MALFORMED as error:
            raise self._build_damage_error(position, line) from error
        return event

    def _build_damage_error(self, position: int, line: bytes) -> WALCorrupt:
        """The error for a damaged line, with its offset found by searching the event's block."""
        start, stop, _ = self._find_block(position, position)
        place = self.files.read(self.path, start, stop - start).find(line.rstrip(b"\n"))
        return build_damage_error(
            self.files, self.path, start + max(place, 0), f"is damaged: it should be event {position}"
        )

    # ── events of one element ────────────────────────────────────────────────

    async def _find_positions(self, element: str) -> list[int]:
        if self._elements is None:
            # The scan runs in a thread; events committed meanwhile are collected here and added afterwards.
            waiting: list[Event] = []
            self._newcomers.append(waiting)
            try:
                elements = await asyncio.to_thread(self._index_elements, self.head.position)
            finally:
                self._newcomers.remove(waiting)
            if self._elements is None:
                _note(elements, waiting)
                self._elements = elements
        return self._elements.get(element, [])

    def _index_elements(self, last: int) -> dict[str, list[int]]:
        elements: dict[str, list[int]] = {}
        step = MARK_INTERVAL_LINES * BLOCKS_PER_READ
        for first in range(self.base + 1, last + 1, step):
            _note(elements, self.read(first, min(last, first + step - 1)))
        return elements

    def _read_positions(self, positions: list[int], query: EventQuery) -> list[Event]:
        low = bisect_right(positions, query.after)
        high = len(positions) if query.until is None else bisect_left(positions, query.until + 1)
        chosen = positions[low:high]
        ordered = reversed(chosen) if query.newest else chosen
        return query.select(event for position in ordered for event in self.read(position, position))


def _note(elements: dict[str, list[int]], events: Iterable[Event]) -> None:
    for event in events:
        if event.element is not None:
            elements.setdefault(event.element, []).append(event.position)
