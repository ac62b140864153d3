"""Reading the log file from some place to its end: which lines count, which are torn, which are damage.

A line that does not fit is damage (E009), unless a `LogRepaired` further down covers exactly its bytes, or it is all
that stands at the end: a write that was cut off. Events of one batch count only when all of them are there. Blank
lines hold nothing and are overlooked.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from itertools import accumulate, chain
from pathlib import Path

import msgspec
from msgspec import Struct

from backends.memory.files import Files
from backends.memory.layout import chained, has_seal, is_sealed
from backends.memory.lines import MALFORMED, foreign_event, known_events, sealed_decoder
from backends.memory.replay import FAILURES, Actor, CannotApply
from backends.memory.stretches import Lines, consecutive, sealed, whole
from ugs.catalog import Catalog
from ugs.errors import WALCorrupt
from ugs.events import Event

STRIDE = 128
"""The place of every 128th event in the file is remembered."""

REPAIR = b'"type":"LogRepaired"'
SEAL = re.compile(rb',"crc":"[0-9a-f]{8}"\}')


class Mark(Struct):
    """A place in the log behind which everything is known."""

    offset: int = 0
    position: int = 0
    timestamp: int = 0
    crc: int = 0
    event_id: str = ""
    sealed: bool = False


class Torn(Struct):
    """Bytes at the end of the file that are no event."""

    offset: int
    length: int
    reason: str


class WalReader:
    """Walks the file, lets each event act, and keeps what the log must know of it."""

    def __init__(self, files: Files, path: Path, catalog: Catalog, actor: Actor, mark: Mark | None = None) -> None:
        self.files, self.path, self.catalog, self.actor = files, path, catalog, actor
        self.mark = mark or Mark()
        self.decode = sealed_decoder(catalog)
        self.offsets: array[int] = array("Q")
        self.skipped: list[tuple[int, int]] = []
        self.replayed = 0
        self._batch: list[tuple[Event, int]] = []
        self._crc = self.mark.crc

    def run(self) -> Torn | None:
        """Read to the end; answers with what is torn there, if anything."""
        lines = Lines(self.files.lines(self.path, self.mark.offset))
        offset = self._rush(lines, self.mark.offset)
        for line in lines:
            if not self._take(line, offset):
                if not line.endswith(b"\n"):
                    return self._end(line, offset)
                line, offset = self._after_repair(line, offset, lines)
            offset = self._rush(lines, offset + len(line))
        if self._batch:
            end = self.files.size(self.path)
            return self._torn(end, end, "incomplete batch")
        return None

    # ── lines that are what they nearly always are ───────────────────────────

    def _rush(self, lines: Lines, offset: int) -> int:
        """Take as many lines as possible a stretch at a time; answers where the next one begins."""
        while not self._batch and (taken := self._take_many(lines.ahead(), offset)):
            lines.take(taken)
            offset = self.mark.offset
        return offset

    def _take_many(self, lines: list[bytes], offset: int) -> int:
        """Let lines act that are sealed and follow each other, batches as a whole; answers how many these are."""
        if not lines or not has_seal(lines[0]):
            return 0
        crcs = sealed(lines, self._crc)
        events = known_events(self.catalog, lines[: len(crcs)])
        events = events[: consecutive([event.position for event in events], self.mark.position + 1)]
        events = events[: whole([event.tx for event in events])]
        if not events:
            return 0
        try:
            self.actor.act_all(events)
        except CannotApply as error:
            raise self._inapplicable(offset + sum(map(len, lines[: error.place])), error) from error
        self._pass(lines[: len(events)], events, offset, crcs[len(events) - 1])
        return len(events)

    def _pass(self, lines: list[bytes], events: list[Event], offset: int, crc: int) -> None:
        """Note that these lines have acted."""
        starts, before = list(accumulate(map(len, lines), initial=offset)), self.mark
        self.offsets.extend(starts[-before.position % STRIDE : -1 : STRIDE])
        latest = max(before.timestamp, max([event.timestamp for event in events]))
        self.mark = Mark(starts[-1], before.position + len(events), latest, crc, self.decode(lines[-1]).id, True)
        self._crc = crc
        self.replayed += len(events)

    # ── lines that count ─────────────────────────────────────────────────────

    def _take(self, line: bytes, offset: int) -> bool:
        """Let a line act if it fits behind the ones before."""
        crc = chained(line, self._crc)
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
        event = foreign_event(line, self.mark.position + 1, self.catalog)
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
            raise self._inapplicable(offset, error) from error
        if mark.position % STRIDE == 0:
            self.offsets.append(offset)
        mark.position += 1
        mark.offset, mark.event_id = end, event.id
        mark.timestamp = max(mark.timestamp, event.timestamp)
        self.replayed += 1
        if crc is not None:
            mark.crc = self._crc = crc
            mark.sealed = True

    # ── lines that do not ────────────────────────────────────────────────────

    def _end(self, line: bytes, offset: int) -> Torn | None:
        """Bytes behind the last newline: an event that only lacks it, a torn write, or damage."""
        if self._take(line + b"\n", offset):
            if self._batch:
                return self._torn(offset, offset + len(line), "incomplete batch")
            self.mark.offset = offset + len(line)
            return None
        for seal in SEAL.finditer(line):
            whole = line[: seal.end()] + b"\n"
            if is_sealed(whole, chained(whole, self._crc)):
                raise self._damage(offset, "has something behind a complete event")
        return self._torn(offset, offset + len(line), "torn write")

    def _torn(self, offset: int, end: int, reason: str) -> Torn:
        start = self._batch[0][1] if self._batch else offset
        return Torn(start, end - start, reason)

    def _after_repair(self, bad: bytes, offset: int, lines: Iterator[bytes]) -> tuple[bytes, int]:
        """The `LogRepaired` that covers the bytes from here on; it has acted. Without one this is damage."""
        start, at = self._batch[0][1] if self._batch else offset, offset
        self._batch, self._crc = [], self.mark.crc
        for line in chain([bad], lines):
            if REPAIR in line and self._covers(line, start, at) and self._take(line, at):
                self.skipped.append((start, at))
                return line, at
            at += len(line)
        raise self._damage(offset, "is damaged")

    def _covers(self, line: bytes, start: int, at: int) -> bool:
        try:
            told = msgspec.json.decode(line)["data"]
            return told["offset"] == start and at - start - told["length"] in (0, 1)
        except (*MALFORMED, KeyError, TypeError):
            return False

    def _inapplicable(self, offset: int, error: Exception) -> WALCorrupt:
        return self._damage(offset, f"holds an event that cannot be applied ({error})")

    def _damage(self, offset: int, what: str) -> WALCorrupt:
        number = self.files.read(self.path, 0, offset).count(b"\n") + 1
        return WALCorrupt(
            f"{self.path.name} line {number} (byte {offset}) {what}. Restore the file from a backup.",
            file=str(self.path),
            line=number,
            offset=offset,
        )
