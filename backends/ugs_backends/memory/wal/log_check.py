"""Verifies the part of the log that a snapshot covers, which is not replayed when the store is opened.

Each sealed line continues the checksum of the line before; a break in the chain is damage, reported with its line and
byte. Foreign lines have no checksum: only that they decode as events is checked. Costs one pass over the bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from zlib import crc32

import msgspec
from msgspec import Struct

from ugs.catalog import Catalog
from ugs_backends.memory.file_format import ACKNOWLEDGED, chain_checksum, has_seal, is_sealed, read_checksum
from ugs_backends.memory.io.filesystem import Files
from ugs_backends.memory.wal.batch_check import check_seals
from ugs_backends.memory.wal.line_codec import MALFORMED, decode_foreign_event

LINES_PER_BATCH = 4_096
MAX_DAMAGES = 100
BATCH_BYTES = 4 << 20
"""A covered part up to this size is verified before the store opens: some hundredths of a second."""


class CoveredRange(Struct, frozen=True):
    """What a snapshot records about the part of the log that it covers."""

    end: int
    """Number of bytes covered, from the start of the file."""
    first_crc: int
    """The checksum that the first line continues."""
    last_crc: int
    """The checksum of the last line."""
    skipped: Sequence[tuple[int, int]] = ()
    """Byte ranges that repairs exclude."""


class Damage(Struct, frozen=True):
    """A line that differs from what was written."""

    line: int
    offset: int
    crc: int
    """Checksum of its current bytes, so that new damage at the same place differs from acknowledged damage."""


def find_damage(files: Files, path: Path, covered: CoveredRange, catalog: Catalog) -> list[Damage]:
    """The damaged lines of the covered part; stops at `MAX_DAMAGES`. The chain resumes behind each damaged line."""
    check = _Check(covered, catalog)
    lines = files.lines(path)
    while check.offset < covered.end and (some := list(islice(lines, LINES_PER_BATCH))):
        check.take(some)
        if len(check.found) >= MAX_DAMAGES:
            return check.found
    if not check.found and (check.offset != covered.end or check.crc != covered.last_crc):
        # Whole lines are missing at the end or have been replaced.
        check.found.append(Damage(check.number + 1, check.offset, 0))
    return check.found


class _Check:
    """State of the verification pass."""

    def __init__(self, covered: CoveredRange, catalog: Catalog) -> None:
        self.covered, self.catalog = covered, catalog
        self.crc, self.offset, self.number = covered.first_crc, 0, 0
        self.protected = False
        self.found: list[Damage] = []

    def take(self, lines: list[bytes]) -> None:
        """Check lines, in bulk as long as the checksum chain holds."""
        while lines and self.offset < self.covered.end:
            crcs = check_seals(lines, self.crc) if has_seal(lines[0]) else []
            count = self._count_within(lines, len(crcs))
            if count:
                self.crc, self.protected = crcs[count - 1], True
                self.offset += sum(map(len, lines[:count]))
                self.number += count
            lines = lines[count:]
            if lines and self.offset < self.covered.end:
                self._check_line(lines.pop(0))

    def _count_within(self, lines: list[bytes], count: int) -> int:
        """How many of the first `count` lines end within the covered part."""
        if self.offset + sum(map(len, lines[:count])) <= self.covered.end:
            return count
        end, place = self.offset, 0
        while place < count and end + len(lines[place]) <= self.covered.end:
            end, place = end + len(lines[place]), place + 1
        return place

    def _check_line(self, line: bytes) -> None:
        """Check one line that the bulk check did not accept."""
        if not self._is_sound(line):
            self.found.append(Damage(self.number + 1, self.offset, crc32(line)))
            self.crc = read_checksum(line) if _has_number(line) else self.crc
        self.offset += len(line)
        self.number += 1

    def _is_sound(self, line: bytes) -> bool:
        if not line.strip() or any(low <= self.offset < high for low, high in self.covered.skipped):
            return True
        if is_sealed(line, chain_checksum(line, self.crc)):
            self.crc, self.protected = read_checksum(line), True
            return True
        # The position matters only for a byte order mark, which only the first line may have.
        return not self.protected and decode_foreign_event(line, min(self.number, 1) + 1, self.catalog) is not None


def _has_number(line: bytes) -> bool:
    if not has_seal(line):
        return False
    try:
        read_checksum(line)
    except ValueError:
        return False
    return True


# ── acknowledged damage ──────────────────────────────────────────────────────


def read_acknowledged(files: Files, folder: Path) -> list[Damage]:
    """The damage that an operator has acknowledged; empty when the file is missing or malformed."""
    path = folder / ACKNOWLEDGED
    if not files.exists(path):
        return []
    try:
        return msgspec.json.decode(files.read(path), type=list[Damage])
    except MALFORMED:
        return []


def acknowledge(files: Files, folder: Path, damages: Sequence[Damage]) -> None:
    """Store the list of acknowledged damage."""
    files.replace_with(folder / ACKNOWLEDGED, msgspec.json.encode(list(damages)))
