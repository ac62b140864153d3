"""Locks on an open file, which the system frees when their holder dies: for one who writes, or for several who look.

POSIX knows both kinds. Windows locks stretches of bytes, each for one holder, and nobody else can read them then. There
the lock is therefore a row of seats far behind the end of the text: who looks takes any one, who writes takes all.
This module imports next to nothing, so that a glance costs little.
"""

from __future__ import annotations

import os
import sys

SEATS = 64
FIRST_SEAT = 1 << 30

if sys.platform == "win32":
    import msvcrt

    def lock_alone(handle: int) -> None:
        """Take the file for oneself at once, or fail with OSError."""
        _take(handle, FIRST_SEAT, SEATS)

    def lock_shared(handle: int) -> None:
        """Take the file together with others who look at once, or fail with OSError."""
        for seat in range(SEATS):
            try:
                return _take(handle, FIRST_SEAT + (os.getpid() + seat) % SEATS, 1)
            except OSError:
                continue
        raise BlockingIOError("every seat is taken")

    def _take(handle: int, place: int, length: int) -> None:
        os.lseek(handle, place, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_NBLCK, length)

else:
    import fcntl

    def lock_alone(handle: int) -> None:
        """Take the file for oneself at once, or fail with OSError."""
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def lock_shared(handle: int) -> None:
        """Take the file together with others who look at once, or fail with OSError."""
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
