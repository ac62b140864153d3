"""Reading the log file from some place to its end: which lines count, which are torn, which are damage.

A line that does not fit is damage (E009), unless a `LogRepaired` further down covers exactly its bytes, or it is all
that stands at the end: a write that was cut off. Events of one batch count only when all of them are there. Blank
lines hold nothing and are overlooked.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from zlib import crc32

import msgspec
from msgspec import Struct

from backends.memory.files import Files
from backends.memory.layout import END, chained, is_sealed
from backends.memory.lines import MALFORMED, foreign_event, known_decoder, sealed_decoder
from ugs.catalog import Catalog
from ugs.errors import WALCorrupt
from ugs.events import Event

STRIDE = 128
"""The place of every 128th event in the file is remembered."""

REPAIR = b'"type":"LogRepaired"'
SEAL = re.compile(rb',"crc":"[0-9a-f]{8}"\}')


FAILURES = (*MALFORMED, WALCorrupt, KeyError, TypeError)
"""What a reducer may raise when the data of an event is not what its type promises."""


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

    def __init__(
        self, files: Files, path: Path, catalog: Catalog, act: Callable[[Event], None], mark: Mark | None = None
    ) -> None:
        self.files, self.path, self.catalog, self.act = files, path, catalog, act
        self.mark = mark or Mark()
        self.decode = sealed_decoder(catalog)
        self.offsets: array[int] = array("Q")
        self.skipped: list[tuple[int, int]] = []
        self.replayed = 0
        self._batch: list[tuple[Event, int]] = []
        self._crc = self.mark.crc

    def run(self) -> Torn | None:
        """Read to the end; answers with what is torn there, if anything."""
        lines = self.files.lines(self.path, self.mark.offset)
        offset = self.mark.offset
        while (stop := self._rush(lines, offset)) is not None:
            line, offset = stop
            if not self._take(line, offset):
                if not line.endswith(b"\n"):
                    return self._end(line, offset)
                line, offset = self._after_repair(line, offset, lines)
            offset += len(line)
        if self._batch:
            end = self.files.size(self.path)
            return self._torn(end, end, "incomplete batch")
        return None

    def _rush(self, lines: Iterator[bytes], offset: int) -> tuple[bytes, int] | None:
        """Take line after line as long as they are what they nearly always are: sealed, and events of their own.

        Answers with the first other one. This loop runs once for every event of a log, hence so little is called.
        """
        if self._batch:
            return next(((line, offset) for line in lines), None)
        mark, decode, act = self.mark, known_decoder(self.catalog), self.act
        position, crc, latest, last, stop = mark.position, self._crc, mark.timestamp, None, None
        for line in lines:
            checked = crc32(b"}", crc32(line[:-END], crc))
            if not line.endswith(b',"crc":"%08x"}\n' % checked):
                stop = (line, offset)
                break
            try:
                event = decode(line)
            except MALFORMED:
                event = None
            if event is None or event.position != position + 1 or event.tx is not None:
                stop = (line, offset)
                break
            try:
                act(event)
            except FAILURES as error:
                raise self._damage(offset, f"holds an event that cannot be applied ({error})") from error
            if position % STRIDE == 0:
                self.offsets.append(offset)
            position, crc, last = position + 1, checked, line
            offset += len(line)
            if event.timestamp > latest:
                latest = event.timestamp
        if last is not None:
            self.replayed += position - mark.position
            self._crc = crc
            self.mark = Mark(offset, position, latest, crc, self.decode(last).id, True)
        return stop

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
            self.act(event)
        except FAILURES as error:
            raise self._damage(offset, f"holds an event that cannot be applied ({error})") from error
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

    def _damage(self, offset: int, what: str) -> WALCorrupt:
        number = self.files.read(self.path, 0, offset).count(b"\n") + 1
        return WALCorrupt(
            f"{self.path.name} line {number} (byte {offset}) {what}. Restore the file from a backup.",
            file=str(self.path),
            line=number,
            offset=offset,
        )
