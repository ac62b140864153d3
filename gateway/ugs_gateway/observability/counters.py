"""The numbers behind the metrics: one row for each worker process, in memory that all of them share."""

from __future__ import annotations

import mmap
from enum import IntEnum, auto
from pathlib import Path

BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
"""Upper bounds of the latency histogram in seconds; a last bucket has none."""


class Column(IntEnum):
    """The place of each number in a row; the buckets of the histogram follow the last one."""

    OK = 0
    ERRORS = auto()
    REFUSED = auto()
    SECONDS = auto()
    LOOKUPS_HIT = auto()
    LOOKUPS_MISSED = auto()
    DOCUMENTS = auto()
    SUBSCRIPTIONS = auto()
    SOCKETS = auto()
    POSITION = auto()
    WEBHOOKS_DELIVERED = auto()
    WEBHOOKS_FAILED = auto()
    WEBHOOKS_DEAD = auto()
    FIRST_BUCKET = auto()


GAUGES = (Column.DOCUMENTS, Column.SUBSCRIPTIONS, Column.SOCKETS)
"""What a worker holds; the other numbers only grow."""

COLUMNS = Column.FIRST_BUCKET + len(BUCKETS) + 1
NUMBER_BYTES = 8


class Counters:
    """The row of this worker, which it alone writes, and the rows of all.

    A replaced worker goes on counting in the row of its predecessor, so totals never fall. No locks: every number is
    eight aligned bytes with one writer.
    """

    def __init__(self, rows: memoryview[float], worker: int = 0) -> None:
        self._rows = rows
        self.own = rows[worker * COLUMNS : (worker + 1) * COLUMNS]
        for gauge in GAUGES:
            self.own[gauge] = 0.0

    @classmethod
    def private(cls) -> Counters:
        """Counters of a gateway that is one process."""
        return cls(memoryview(bytearray(COLUMNS * NUMBER_BYTES)).cast("d"))

    @classmethod
    def shared(cls, file: Path, worker: int) -> Counters:
        """The row of a worker in the file that `reserve` has made."""
        with file.open("r+b") as opened:
            return cls(memoryview(mmap.mmap(opened.fileno(), 0)).cast("d"), worker)

    @staticmethod
    def reserve(file: Path, workers: int) -> None:
        """Make the file for so many workers, all numbers zero."""
        file.write_bytes(bytes(workers * COLUMNS * NUMBER_BYTES))

    def total(self, column: int) -> float:
        """The sum over all workers."""
        return sum(self._rows[column::COLUMNS])

    def greatest(self, column: int) -> float:
        """The greatest of all workers."""
        return max(self._rows[column::COLUMNS])
