"""Stretches of the log: many lines looked at together, since nearly all of them are what they should be."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count, islice
from zlib import crc32

from backends.memory.layout import END, SEAL
from ugs.events import Tx

STRETCH = 4_096
"""So many lines at a time: a megabyte or so."""


class Lines(Iterator[bytes]):
    """The lines of a file; one can look ahead."""

    def __init__(self, source: Iterator[bytes]) -> None:
        self._source = source
        self._ready: list[bytes] = []

    def ahead(self) -> list[bytes]:
        """The lines that come next, as many as are looked at together."""
        if len(self._ready) < STRETCH // 2:
            self._ready += islice(self._source, STRETCH - len(self._ready))
        return self._ready

    def take(self, number: int) -> None:
        """Go on behind so many lines."""
        self._ready = self._ready[number:]

    def __next__(self) -> bytes:
        return self._ready.pop(0) if self._ready else next(self._source)


def sealed(lines: Sequence[bytes], crc: int) -> list[int]:
    """The checksums of the lines, as far as each is the one its line carries."""
    crcs = [crc := crc32(b"}", crc32(line[:-END], crc)) for line in lines]
    seals = [line[-END:] for line in lines]
    if b"".join(seals) == (SEAL * len(crcs)) % tuple(crcs):
        return crcs
    return crcs[: _first(seal != SEAL % crc for seal, crc in zip(seals, crcs, strict=True))]


def consecutive(positions: list[int], start: int) -> int:
    """How many of the positions follow each other from the start."""
    if positions == list(range(start, start + len(positions))):
        return len(positions)
    return _first(position != right for position, right in zip(positions, count(start), strict=False))


def whole(batches: list[Tx | None]) -> int:
    """How many events stand for themselves or belong to batches that are all there, before the first that does not."""
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


def _first(failing: Iterator[bool]) -> int:
    """The place of the first failure."""
    return next(place for place, fails in enumerate(failing) if fails)
