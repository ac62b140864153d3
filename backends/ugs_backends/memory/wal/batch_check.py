"""Checks of many log lines at once: checksums, positions and batches.

Nearly all lines are valid, so each check first compares whole lists and searches for the first failure only if they
differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count, islice
from zlib import crc32

from ugs.events import Tx
from ugs_backends.memory.file_format import END, SEAL

LINES_PER_BATCH = 4_096
"""Number of lines checked together: about a megabyte."""


class LineReader(Iterator[bytes]):
    """An iterator over the lines of a file with look-ahead."""

    def __init__(self, source: Iterator[bytes]) -> None:
        self._source = source
        self._ready: list[bytes] = []

    def peek(self) -> list[bytes]:
        """The next lines, at most `LINES_PER_BATCH`, without consuming them."""
        if len(self._ready) < LINES_PER_BATCH // 2:
            self._ready += islice(self._source, LINES_PER_BATCH - len(self._ready))
        return self._ready

    def take(self, number: int) -> None:
        """Consume this many of the lines ahead."""
        self._ready = self._ready[number:]

    def __next__(self) -> bytes:
        return self._ready.pop(0) if self._ready else next(self._source)


def check_seals(lines: Sequence[bytes], crc: int) -> list[int]:
    """The chained checksums of the lines, up to the first line that carries another one."""
    crcs = [crc := crc32(b"}", crc32(line[:-END], crc)) for line in lines]
    seals = [line[-END:] for line in lines]
    if b"".join(seals) == (SEAL * len(crcs)) % tuple(crcs):
        return crcs
    return crcs[: _find_first(seal != SEAL % crc for seal, crc in zip(seals, crcs, strict=True))]


def count_consecutive(positions: list[int], start: int) -> int:
    """The length of the prefix of positions that count up from `start`."""
    if positions == list(range(start, start + len(positions))):
        return len(positions)
    return _find_first(position != right for position, right in zip(positions, count(start), strict=False))


def count_whole_batches(batches: list[Tx | None]) -> int:
    """The length of the prefix that consists of single events and complete batches."""
    if batches.count(None) == len(batches):
        return len(batches)
    place = 0
    while place < len(batches):
        first = batches[place]
        size = 1 if first is None else first.size
        if first is not None and not _is_batch(batches[place : place + size], first):
            break
        place += size
    return place


def _is_batch(batch: list[Tx | None], first: Tx) -> bool:
    return batch == [Tx(first.id, index, first.size) for index in range(first.size)]


def _find_first(failing: Iterator[bool]) -> int:
    """The index of the first failure."""
    return next(place for place, fails in enumerate(failing) if fails)
