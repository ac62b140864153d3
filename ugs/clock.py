"""Time that never goes back: the wall clock behind an interface, the rule that steps it forward, and its moments."""

from __future__ import annotations

import sys
import time
from datetime import UTC, datetime, timedelta
from typing import Protocol

if sys.platform == "win32":
    EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

    def utc(seconds: float) -> datetime:
        """The moment a Unix time means; the system's own calendar there ends before 1970 and after 3000."""
        return EPOCH + timedelta(seconds=seconds)

else:

    def utc(seconds: float) -> datetime:
        """The moment a Unix time means."""
        return datetime.fromtimestamp(seconds, UTC)


class Clock(Protocol):
    """Where the system takes the time from; tests bring their own."""

    def now(self) -> int:
        """Unix time in milliseconds."""
        ...


class WallClock:
    """The machine's clock."""

    def now(self) -> int:
        return time.time_ns() // 1_000_000


class FixedClock:
    """A clock that tests set by hand, also backwards."""

    def __init__(self, now: int = 1_700_000_000_000) -> None:
        self.moment = now

    def now(self) -> int:
        return self.moment


def not_before(clock: Clock, floor: int) -> int:
    """The wall clock, or the floor when the clock has fallen behind it (HC-4)."""
    return max(clock.now(), floor)
