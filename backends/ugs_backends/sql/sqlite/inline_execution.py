"""Runs short reads on the event loop: a hop to the connection's thread costs more than most of them take.

A statement gets a small budget of virtual machine steps. If it needs more, it is interrupted and repeated in the
thread, and skips this path for a while, longer each time. The same happens when the file is locked. After a statement
that was slow in spite of few steps, as on a slow disk, no statement is tried for a while.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from time import monotonic
from typing import Any

from ugs_backends.sql.row_codec import Values

MAX_STEPS = 4_000
"""The step budget: at least this many, at most twice as many; some tenths of a millisecond."""
SLOW, REST = 0.02, 0.5
"""Seconds above which a statement has blocked the event loop too long, and for which none is tried afterwards."""
MAX_MISSES = 64
"""The most executions for which a statement goes to the thread before it is tried again."""
CACHE_SIZE = 1_000
HANDOVER_CODES = frozenset({sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
IS_SUPPORTED = sqlite3.threadsafety == 3
"""Whether SQLite was built so that a connection may be used by several threads in turn."""


class InlineExecution:
    """Runs the short statements of one connection inline."""

    def __init__(self) -> None:
        self._long: dict[str, list[int]] = {}
        """For interrupted statements: executions left in the thread, and the number of the last back-off."""
        self._resting = 0.0
        self._told = 0

    def is_eligible(self, text: str) -> bool:
        """Whether a statement may be tried."""
        if not IS_SUPPORTED or (self._resting and monotonic() < self._resting):
            return False
        missing = self._long.get(text)
        if missing is None:
            return True
        missing[0] -= 1
        return missing[0] < 0

    def rows(self, connection: sqlite3.Connection, text: str, values: Sequence[Any]) -> Sequence[Values] | None:
        """The records; None if the statement must be repeated in the thread."""
        began, self._told = monotonic(), 0
        connection.set_progress_handler(self._count_stop, MAX_STEPS)
        try:
            return connection.execute(text, values).fetchall()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF not in HANDOVER_CODES:
                raise
            self._remember(text)
            return None
        finally:
            connection.set_progress_handler(None, 0)
            self._resting = monotonic() + REST if monotonic() - began > SLOW else 0.0

    def _remember(self, text: str) -> None:
        if len(self._long) >= CACHE_SIZE:
            self._long.clear()
        missing = self._long.setdefault(text, [0, 4])
        missing[0] = missing[1] = min(missing[1] * 2, MAX_MISSES)

    def _count_stop(self) -> bool:
        # The step counter continues from the last run of a statement, so the first call may come at any step.
        self._told += 1
        return self._told > 1
