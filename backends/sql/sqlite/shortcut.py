"""Short statements where they are asked for: a hop to the thread of a connection costs more than most of them take.

A statement gets a small number of steps of SQLite's machine. Whatever needs more is stopped and done over in the
thread, and the more often that happens the longer it goes there at once. So it does while somebody locks the file, and
for a while after a statement has taken long although it took few steps, as it does when the disk is slow.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from time import monotonic
from typing import Any

from backends.sql.rows import Values

STEPS = 4_000
"""So many at least, and twice as many at most: some tenths of a millisecond."""
SLOW, REST = 0.02, 0.5
"""Seconds after which a statement has kept others waiting for too long, and for how long none is tried then."""
MOST_MISSED = 64
"""How often a statement goes to the thread at most before it is tried again."""
KEPT = 1_000
PASSED_ON = frozenset({sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
USABLE = sqlite3.threadsafety == 3
"""Whether a connection may be used by another thread than its own, one after the other."""


class Shortcut:
    """Runs short statements of one connection at once."""

    def __init__(self) -> None:
        self._long: dict[str, list[int]] = {}
        """For statements that were stopped: how often they still go to the thread, and how often they did last time."""
        self._resting = 0.0
        self._told = 0

    def takes(self, text: str) -> bool:
        """Whether a statement may be tried."""
        if not USABLE or (self._resting and monotonic() < self._resting):
            return False
        missing = self._long.get(text)
        if missing is None:
            return True
        missing[0] -= 1
        return missing[0] < 0

    def rows(self, connection: sqlite3.Connection, text: str, values: Sequence[Any]) -> Sequence[Values] | None:
        """The rows; None where the thread has to find them."""
        began, self._told = monotonic(), 0
        connection.set_progress_handler(self._stops, STEPS)
        try:
            return connection.execute(text, values).fetchall()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF not in PASSED_ON:
                raise
            self._remember(text)
            return None
        finally:
            connection.set_progress_handler(None, 0)
            self._resting = monotonic() + REST if monotonic() - began > SLOW else 0.0

    def _remember(self, text: str) -> None:
        if len(self._long) >= KEPT:
            self._long.clear()
        missing = self._long.setdefault(text, [0, 4])
        missing[0] = missing[1] = min(missing[1] * 2, MOST_MISSED)

    def _stops(self) -> bool:
        # SQLite goes on counting where the last run of a statement ended, so the first call may come at any step.
        self._told += 1
        return self._told > 1
