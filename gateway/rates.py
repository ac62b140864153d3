"""How often one caller may ask: a bucket that fills by the minute, for each key or address.

The address is the one the connection comes from; a header that claims another counts only behind a proxy that the
settings name.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

from ugs.errors import UgsError

KEPT = 10_000


class TooManyRequests(UgsError):
    """This caller has asked too often."""

    code = "TOO_MANY_REQUESTS"
    summary = "One caller has asked too often within a minute"
    retryable = True


class Rates:
    """Buckets by caller; the longest unseen are forgotten, which only makes them full again."""

    def __init__(self, per_minute: int, now: Callable[[], float] = time.monotonic) -> None:
        self.per_minute, self._now = per_minute, now
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, caller: str, amount: float = 1) -> None:
        """Take from the caller's bucket, or refuse with the seconds to wait."""
        if not self.per_minute:
            return
        now, each = self._now(), self.per_minute / 60
        level, seen = self._buckets.pop(caller, (float(self.per_minute), now))
        level = min(self.per_minute, level + (now - seen) * each)
        enough = level >= amount
        self._buckets[caller] = (level - amount if enough else level, now)
        if len(self._buckets) > KEPT:
            self._buckets.popitem(last=False)
        if not enough:
            wait = max(1, round((amount - level) / each))
            raise TooManyRequests(f"At most {self.per_minute} requests a minute: wait {wait} s", seconds=wait)
