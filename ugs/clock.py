"""Clocks: the wall clock behind an interface, a clock for tests, and the rule that keeps timestamps monotonic."""

from __future__ import annotations

import sys
import time
from datetime import UTC, datetime, timedelta
from typing import Protocol

if sys.platform == "win32":
    EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

    def utc(seconds: float) -> datetime:
        """The datetime of a Unix time; Windows' `fromtimestamp` fails before 1970 and after 3000."""
        return EPOCH + timedelta(seconds=seconds)

else:

    def utc(seconds: float) -> datetime:
        """The datetime of a Unix time."""
        return datetime.fromtimestamp(seconds, UTC)


def iso(milliseconds: int) -> str:
    """A Unix time in milliseconds as ISO 8601 text with milliseconds and `Z` (C-125)."""
    moment = utc(milliseconds // 1_000)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{milliseconds % 1_000:03}Z"


class Clock(Protocol):
    """Source of the current time; tests pass their own."""

    def now(self) -> int:
        """Unix time in milliseconds."""
        ...


class WallClock:
    """The machine's clock."""

    def now(self) -> int:
        return time.time_ns() // 1_000_000


class FixedClock:
    """A clock that tests set explicitly, also backwards."""

    def __init__(self, now: int = 1_700_000_000_000) -> None:
        self.moment = now

    def now(self) -> int:
        return self.moment


def now_at_least(clock: Clock, floor: int) -> int:
    """The current time, but not less than the floor, so that timestamps never decrease (HC-4)."""
    return max(clock.now(), floor)
