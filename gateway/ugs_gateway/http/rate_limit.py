"""Rate limiting: a token bucket per caller.

Callers without login are identified by the address of the connection; X-Forwarded-For counts only behind a proxy that
the settings name.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable

from ugs.errors import UgsError
from ugs.support.bounded_cache import BoundedCache

MAX_BUCKETS, BUCKET_BYTES = 10_000, 512


class TooManyRequests(UgsError):
    """This caller has asked too often."""

    code = "TOO_MANY_REQUESTS"
    summary = "One caller has asked too often within a minute"
    retryable = True


class RateLimiter:
    """Token buckets by caller. The least recently used are evicted, which only refills them."""

    def __init__(self, per_minute: int, now: Callable[[], float] = time.monotonic) -> None:
        self.per_minute, self._now = per_minute, now
        self._buckets: BoundedCache[Hashable, tuple[float, float]] = BoundedCache(
            MAX_BUCKETS, MAX_BUCKETS * BUCKET_BYTES
        )

    def take(self, caller: Hashable, amount: float = 1) -> None:
        """Take tokens from the caller's bucket, or raise `TooManyRequests` with the seconds to wait."""
        if not self.per_minute:
            return
        now, each = self._now(), self.per_minute / 60
        level, seen = self._buckets.get(caller, (float(self.per_minute), now))
        level = min(self.per_minute, level + (now - seen) * each)
        enough = level >= amount
        self._buckets.put(caller, (level - amount if enough else level, now), BUCKET_BYTES)
        if not enough:
            wait = max(1, round((amount - level) / each))
            raise TooManyRequests(f"At most {self.per_minute} requests a minute: wait {wait} s", seconds=wait)
