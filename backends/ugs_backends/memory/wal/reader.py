"""Reads the log file from an offset to its end, and tells valid lines from a torn write and from damage.

An invalid line is damage (E009), with two exceptions: a later `LogRepaired` event covers exactly its bytes, or it is
the unterminated last line, which is an interrupted write. Events of a batch count only if the batch is complete; an
incomplete one at the end is an interrupted write, too. Blank lines are ignored.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from itertools import accumulate, chain
from pathlib import Path

import msgspec
from msgspec import Struct

from ugs.catalog import Catalog
from ugs.errors import WALCorrupt
from ugs.events import Event
from ugs.support.shape_errors import describe_shape_error
from ugs_backends.memory.file_format import chain_checksum, has_seal, is_sealed
from ugs_backends.memory.io.filesystem import Files
from ugs_backends.memory.wal.batch_check import LineReader, check_seals, count_consecutive, count_whole_batches
from ugs_backends.memory.wal.line_codec import MALFORMED, decode_foreign_event, decode_known_events, get_sealed_decoder
from ugs_backends.memory.wal.replay import FAILURES, CannotApply, EventApplier

MARK_INTERVAL_LINES = 128
"""The offset of every 128th event is kept in the sparse index."""

REPAIR = b'"type":"LogRepaired"'
SEAL = re.compile(rb',"crc":"[0-9a-f]{8}"\}')


class Mark(Struct):
    """How far the log has been read: the end of the last accepted event, and its values."""

    offset: int = 0
    position: int = 0
    timestamp: int = 0
    crc: int = 0
    event_id: str = ""
    sealed: bool = False


class TornTail(Struct):
    """Bytes at the end of the file that are not a complete event or batch."""

    offset: int
    length: int
    reason: str


class WalReader:
    """Reads the file, applies each event, and collects the sparse index and the byte ranges that repairs exclude."""

    def __init__(
        self, files: Files, path: Path, catalog: Catalog, actor: EventApplier, mark: Mark | None = None, base: int = 0
    ) -> None:
        self.base = base
        """Number of events before the first line of the file."""
        self.files, self.path, self.catalog, self.actor = files, path, catalog, actor
        self.mark = mark or Mark()
        self.decode = get_sealed_decoder(catalog)
        self.offsets: array[int] = array("Q")
        self.skipped: list[tuple[int, int]] = []
        self.replayed = 0
        self._batch: list[tuple[Event, int]] = []
        self._crc = self.mark.crc

    def run(self) -> TornTail | None:
        """Read to the end; returns the torn bytes found there, if any."""
        lines = LineReader(self.files.lines(self.path, self.mark.offset))
        offset = self._apply_in_bulk(lines, self.mark.offset)
        for line in lines:
            if not self._take(line, offset):
                if not line.endswith(b"\n"):
                    return self._classify_tail(line, offset)
                line, offset = self._apply_repair(line, offset, lines)
            offset = self._apply_in_bulk(lines, offset + len(line))
        if self._batch:
            end = self.files.size(self.path)
            return self._build_torn(end, end, "incomplete batch")
        return None

    # ── many valid lines at once ─────────────────────────────────────────────

    def _apply_in_bulk(self, lines: LineReader, offset: int) -> int:
        """Apply as many lines as possible in bulk; returns the offset of the next line."""
        while not self._batch and (taken := self._take_many(lines.peek(), offset)):
            lines.take(taken)
            offset = self.mark.offset
        return offset

    def _take_many(self, lines: list[bytes], offset: int) -> int:
        """Apply the prefix of sealed, consecutive lines that ends with a complete batch; returns its length."""
        if not lines or not has_seal(lines[0]):
            return 0
        crcs = check_seals(lines, self._crc)
        events = decode_known_events(self.catalog, lines[: len(crcs)])
        events = events[: count_consecutive([event.position for event in events], self.mark.position + 1)]
        events = events[: count_whole_batches([event.tx for event in events])]
        if not events:
            return 0
        try:
            self.actor.apply_all(events)
        except CannotApply as error:
            raise self._build_inapplicable_error(offset + sum(map(len, lines[: error.place])), error) from error
        self._record_applied(lines[: len(events)], events, offset, crcs[len(events) - 1])
        return len(events)

    def _record_applied(self, lines: list[bytes], events: list[Event], offset: int, crc: int) -> None:
        """Record lines as applied: sparse index, mark and checksum."""
        starts, before = list(accumulate(map(len, lines), initial=offset)), self.mark
        self.offsets.extend(starts[(self.base - before.position) % MARK_INTERVAL_LINES : -1 : MARK_INTERVAL_LINES])
        latest = max(before.timestamp, max([event.timestamp for event in events]))
        self.mark = Mark(starts[-1], before.position + len(events), latest, crc, self.decode(lines[-1]).id, True)
        self._crc = crc
        self.replayed += len(events)

    # ── one line at a time ───────────────────────────────────────────────────

    def _take(self, line: bytes, offset: int) -> bool:
        """Accept a line if it continues the lines before it; a batch is applied with its last line."""
        crc = chain_checksum(line, self._crc)
        if not is_sealed(line, crc):
            return self._take_unsealed(line, offset)
        try:
            event = self.decode(line)
        except MALFORMED:
            return False
        if event.position != self.mark.position + len(self._batch) + 1:
            return False
        if event.tx is None and not self._batch:
            self._accept(event, offset, offset + len(line), crc)
            return True
        return self._take_batched(event, offset, offset + len(line), crc)

    def _take_unsealed(self, line: bytes, offset: int) -> bool:
        if not line.strip():
            return True
        if self.mark.sealed or self._batch:
            return False
        event = decode_foreign_event(line, self.mark.position + 1, self.catalog)
        if event is None:
            return False
        self._accept(event, offset, offset + len(line), None)
        return True

    def _take_batched(self, event: Event, offset: int, end: int, crc: int) -> bool:
        tx, batch = event.tx, self._batch
        if tx is None or tx.index != len(batch) or (batch and batch[0][0].tx.id != tx.id):  # type: ignore[union-attr]
            return False
        batch.append((event, offset))
        self._crc = crc
        if len(batch) == tx.size:
            self._batch = []
            for each, at in batch:
                self._accept(each, at, end, crc)
        return True

    def _accept(self, event: Event, offset: int, end: int, crc: int | None) -> None:
        mark = self.mark
        try:
            self.actor.act(event)
        except FAILURES as error:
            raise self._build_inapplicable_error(offset, error) from error
        if (mark.position - self.base) % MARK_INTERVAL_LINES == 0:
            self.offsets.append(offset)
        mark.position += 1
        mark.offset, mark.event_id = end, event.id
        mark.timestamp = max(mark.timestamp, event.timestamp)
        self.replayed += 1
        if crc is not None:
            mark.crc = self._crc = crc
            mark.sealed = True

    # ── invalid lines ────────────────────────────────────────────────────────

    def _classify_tail(self, line: bytes, offset: int) -> TornTail | None:
        """Classify the bytes behind the last newline: an event without its newline, a torn write, or damage."""
        if self._take(line + b"\n", offset):
            if self._batch:
                return self._build_torn(offset, offset + len(line), "incomplete batch")
            self.mark.offset = offset + len(line)
            return None
        # A write that was cut off cannot contain a complete event: such a line was altered later.
        for seal in SEAL.finditer(line):
            whole = line[: seal.end()] + b"\n"
            if is_sealed(whole, chain_checksum(whole, self._crc)):
                raise self._build_damage_error(offset, "has something behind a complete event")
        return self._build_torn(offset, offset + len(line), "torn write")

    def _build_torn(self, offset: int, end: int, reason: str) -> TornTail:
        start = self._batch[0][1] if self._batch else offset
        return TornTail(start, end - start, reason)

    def _apply_repair(self, bad: bytes, offset: int, lines: Iterator[bytes]) -> tuple[bytes, int]:
        """Find and apply the `LogRepaired` event that covers the bytes from here on; without one they are damage."""
        start, at = self._batch[0][1] if self._batch else offset, offset
        self._batch, self._crc = [], self.mark.crc
        for line in chain([bad], lines):
            if REPAIR in line and self._covers(line, start, at) and self._take(line, at):
                self.skipped.append((start, at))
                return line, at
            at += len(line)
        raise self._build_damage_error(offset, "is damaged")

    def _covers(self, line: bytes, start: int, at: int) -> bool:
        try:
            told = msgspec.json.decode(line)["data"]
            return told["offset"] == start and at - start - told["length"] in (0, 1)
        except (*MALFORMED, KeyError, TypeError):
            return False

    def _build_inapplicable_error(self, offset: int, error: Exception) -> WALCorrupt:
        return self._build_damage_error(
            offset, f"holds an event that cannot be applied ({describe_shape_error(error)})"
        )

    def _build_damage_error(self, offset: int, what: str) -> WALCorrupt:
        return build_damage_error(self.files, self.path, offset, what)


def build_damage_error(files: Files, path: Path, offset: int, what: str) -> WALCorrupt:
    """The error for damage at a byte offset of the log, with its line number."""
    number = files.read(path, 0, offset).count(b"\n") + 1
    return WALCorrupt(
        f"{path.name} line {number} (byte {offset}) {what}. Restore the file from a backup.",
        file=str(path),
        line=number,
        offset=offset,
    )
