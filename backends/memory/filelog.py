"""The event log in a file: appended in one write per commit, read back by place, never held in memory.

`events.wal` only ever grows. Where every 128th event begins is remembered, so any part of the log is a short read
away; which events an element has is indexed when somebody first asks.
"""

from __future__ import annotations

import asyncio
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from backends.memory.files import Files
from backends.memory.layout import chained, crc_in, has_seal, is_sealed
from backends.memory.lines import MALFORMED, foreign_event, whole_lines
from backends.memory.log import Log, selected
from backends.memory.recovery import Recovered
from backends.memory.settings import Fsync
from backends.memory.walreader import STRIDE
from backends.memory.worker import Worker
from ugs.catalog import Catalog
from ugs.errors import StorageIOError, WALCorrupt
from ugs.events import Event, Head, from_line
from ugs.storage import EventQuery

BLOCKS_AT_ONCE = 32


class FileLog(Log):
    """A log in `{folder}/events.wal`."""

    def __init__(self, files: Files, path: Path, fsync: Fsync, catalog: Catalog) -> None:
        super().__init__()
        self.files, self.path, self.fsync, self.catalog = files, path, fsync, catalog
        self.offsets: array[int] = array("Q")
        self.skipped: list[tuple[int, int]] = []
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
        """Continue the log that was found in the file."""
        reader = found.reader
        self.head, self.last_id, self.sealed = found.head, reader.mark.event_id, reader.mark.sealed
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
        """Close the file, with everything in it on disk."""
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
        """Make the events durable, in the log's own thread; they become visible by `advance`."""
        return self._thread.do(partial(self.append, events))

    def append(self, events: Sequence[Event]) -> None:
        """Write the lines at once and force them to the disk; after a failure nothing more is written (R1)."""
        lines = whole_lines(events)
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
        """Force what was written to the disk."""
        if self.dirty and self._handle is not None and self.fsync is not Fsync.OFF:
            self.files.fsync(self._handle)
        self.dirty = False

    def force(self) -> None:
        """Force everything to the disk, whatever the settings."""
        if self._handle is not None and self.failed is None:
            try:
                self.files.fsync(self._handle)
            except OSError as error:
                self.fail(error)
                raise

    async def flush_in_thread(self) -> None:
        """For the once-a-second mode; a failure ends writing."""
        try:
            await self._thread.do(self.flush)
        except OSError as error:
            self.fail(error)

    def fail(self, error: OSError) -> None:
        """Remember that the end of the file is unknown; only opening again can find out."""
        self.failed = error.strerror or str(error)

    def advance(self, events: Sequence[Event]) -> None:
        for event, length in zip(events, self._lengths, strict=True):
            if (event.position - 1) % STRIDE == 0:
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
        await self._thread.do(self._start_over)

    def _start_over(self) -> None:
        if self._handle is not None:
            self.files.close(self._handle)
        self.files.close(self.files.open_new(self.path))
        self.offsets, self.skipped, self._elements = array("Q"), [], None
        self.sealed, self.failed, self.dirty, self.last_id = False, None, False, ""
        self.start()

    # ── reading ──────────────────────────────────────────────────────────────

    async def events(self, query: EventQuery) -> list[Event]:
        head = self.head
        if query.element is not None:
            positions = await self._positions_of(query.element)
            return await asyncio.to_thread(self._of_element, positions, query)
        return await asyncio.to_thread(self._in_range, query, head)

    def _in_range(self, query: EventQuery, head: Head) -> list[Event]:
        first = max(query.after, 0) + 1
        last = head.position if query.until is None else min(query.until, head.position)
        return selected(self._walk(first, last, query), query)

    def _walk(self, first: int, last: int, query: EventQuery) -> Iterator[Event]:
        """Events between two positions, read in chunks in the direction of the query."""
        limit = query.limit if query.limit is not None and query.types is None else STRIDE * BLOCKS_AT_ONCE
        step = max(1, min(limit, STRIDE * BLOCKS_AT_ONCE))
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
        """The events at these positions, straight from the file."""
        block, end = (first - 1) // STRIDE, (last - 1) // STRIDE + 1
        start = self.offsets[block]
        stop = self.offsets[end] if end < len(self.offsets) else self.size
        lines = self._lines(start, stop)
        position, previous = block * STRIDE, None
        events = []
        for line in lines:
            position += 1
            if first <= position <= last:
                events.append(self._event(line, position, previous))
            elif position > last:
                break
            previous = line
        return events

    def _lines(self, start: int, stop: int) -> Iterable[bytes]:
        """The lines between two offsets, without blank ones and without what a repair has covered."""
        data = self.files.read(self.path, start, stop - start)
        for low, high in reversed(self.skipped):
            if low < stop and high > start:
                data = data[: max(low - start, 0)] + b"\n" + data[max(high - start, 0) :]
        return [line + b"\n" for line in data.split(b"\n") if line.strip()]

    def _event(self, line: bytes, position: int, previous: bytes | None) -> Event:
        if not has_seal(line):
            foreign = foreign_event(line, position, self.catalog)
            if foreign is None:
                raise self._damage(position)
            return foreign
        if previous is not None and has_seal(previous) and not is_sealed(line, chained(line, crc_in(previous))):
            raise self._damage(position)
        try:
            event = from_line(line, position, self.catalog.rules.element_of)
        except MALFORMED as error:
            raise self._damage(position) from error
        return event

    def _damage(self, position: int) -> WALCorrupt:
        return WALCorrupt(f"{self.path.name} is damaged at event {position}", file=str(self.path), position=position)

    # ── events of one element ────────────────────────────────────────────────

    async def _positions_of(self, element: str) -> list[int]:
        if self._elements is None:
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
        step = STRIDE * BLOCKS_AT_ONCE
        for first in range(1, last + 1, step):
            _note(elements, self.read(first, min(last, first + step - 1)))
        return elements

    def _of_element(self, positions: list[int], query: EventQuery) -> list[Event]:
        low = bisect_right(positions, query.after)
        high = len(positions) if query.until is None else bisect_left(positions, query.until + 1)
        chosen = positions[low:high]
        ordered = reversed(chosen) if query.newest else chosen
        return selected((event for position in ordered for event in self.read(position, position)), query)


def _note(elements: dict[str, list[int]], events: Iterable[Event]) -> None:
    for event in events:
        if event.element is not None:
            elements.setdefault(event.element, []).append(event.position)
