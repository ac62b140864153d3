"""Request budgets: the deadline and the memory limit of one request, and the memory limit of all requests together.

An interface opens a budget per request (`request_budget`), which is held in a context variable; code at any depth gets
it with `current_budget`. Memory is estimated by the code that builds values; it is reserved in steps, so that the
accounting is cheap, and released when the work is done. What is kept until the answer is complete is charged
(`charge`): rows that were read, texts of the answer. It is released with the request.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token
from math import inf

from ugs.errors import LimitExceeded
from ugs.support.bounded_cache import BoundedCache

DEFAULT_REQUEST_BYTES = 256 << 20
SHARE_OF_MACHINE = 0.25
SHARE_OF_CACHES = 0.25
"""Of the memory of all requests: what they leave in caches."""
FREE_BYTES, STEP_BYTES = 256 << 10, 1 << 20
"""What a request may keep before any of it is reserved, and the least that is reserved at once."""
FALLBACK_MACHINE_BYTES = 4 << 30
"""Assumed where the operating system does not report the size of the memory."""


if sys.platform == "win32":

    def machine_bytes() -> int:
        """The assumed memory of this machine; the standard library cannot query it on Windows."""
        return FALLBACK_MACHINE_BYTES

else:

    def machine_bytes() -> int:
        """The memory of this machine, or the limit of its container (cgroup) if that is lower."""
        try:
            total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        except (ValueError, OSError):
            return FALLBACK_MACHINE_BYTES
        try:
            with open("/sys/fs/cgroup/memory.max", encoding="ascii") as file:
                return min(total, int(file.read()))
        except (OSError, ValueError):
            return total


class MemoryPool:
    """The memory limit shared by all requests of the process."""

    def __init__(self, max_bytes: int | None = None, request_bytes: int = DEFAULT_REQUEST_BYTES) -> None:
        self.max_bytes = int(machine_bytes() * SHARE_OF_MACHINE) if max_bytes is None else max_bytes
        self.request_bytes = request_bytes
        self.reserved = 0
        self.released = 0
        """Bytes that were released so far."""
        self.lock = threading.Lock()

    def reserve(self, size: int) -> None:
        """Reserve memory or raise LIMIT_EXCEEDED; the caller holds the lock."""
        if self.reserved + size > self.max_bytes:
            message = "The requests under way use all the memory there is for them: try again later"
            raise LimitExceeded(message, limit=self.max_bytes)
        self.reserved += size

    def release(self, size: int) -> None:
        """Release reserved memory; the caller holds the lock."""
        self.reserved -= size
        self.released += size

    @contextmanager
    def reserving(self) -> Iterator[Callable[[int], None]]:
        """Reserve memory, step by step, for work that several requests share; released at the end of the block."""
        total = 0

        def reserve(size: int) -> None:
            nonlocal total
            with self.lock:
                self.reserve(size)
                total += size

        try:
            yield reserve
        finally:
            with self.lock:
                self.release(total)


POOL = MemoryPool()


def configure_memory(request_bytes: int, total_bytes: int, processes: int = 1) -> None:
    """Set the memory limits of one request, and of all requests with the caches they fill; a total of 0 means a quarter
    of the machine. Each of several processes has its share of the total."""
    total = (total_bytes or int(machine_bytes() * SHARE_OF_MACHINE)) // processes
    cached = int(total * SHARE_OF_CACHES)
    BoundedCache.limit_all(cached)
    POOL.request_bytes, POOL.max_bytes = request_bytes, total - cached


class Budget:
    """The deadline and memory account of one request. Thread-safe."""

    __slots__ = ("charged", "closed", "deadline", "granted", "max_bytes", "pool", "reserved", "seconds")

    def __init__(self, seconds: float = inf, max_bytes: int | None = None, pool: MemoryPool | None = None) -> None:
        self.pool = pool or POOL
        self.seconds = seconds
        self.deadline = time.monotonic() + seconds
        """On the clock of `time.monotonic`."""
        self.max_bytes = self.pool.request_bytes if max_bytes is None else max_bytes
        self.reserved = 0
        self.charged = 0
        """Bytes that are kept until the request ends."""
        self.granted = FREE_BYTES
        self.closed = False

    def charge(self, size: int) -> None:
        """Count bytes that are kept until the request ends; raises LIMIT_EXCEEDED."""
        self.charged += size
        if self.charged > self.granted and not self.closed:
            step = max(self.charged - self.granted, STEP_BYTES)
            self.reserve(step)
            self.granted += step

    def close(self) -> None:
        """Release what was charged; work that outlives the request is not counted."""
        self.closed = True
        size, self.granted = self.granted - FREE_BYTES, FREE_BYTES
        self.release(size)

    def reserve(self, size: int) -> None:
        """Reserve memory, or raise LIMIT_EXCEEDED and reserve nothing."""
        with self.pool.lock:
            if self.reserved + size > self.max_bytes:
                message = f"The request needs more than {self.max_bytes} bytes of memory: ask for less at once"
                raise LimitExceeded(message, limit=self.max_bytes)
            self.pool.reserve(size)
            self.reserved += size

    def release(self, size: int) -> None:
        if size:
            with self.pool.lock:
                self.reserved -= size
                self.pool.release(size)


_current: ContextVar[Budget | None] = ContextVar("ugs_budget", default=None)


def current_budget() -> Budget:
    """The budget of the current request; outside of a request a new one without a deadline."""
    return _current.get() or Budget()


class RequestBudget:
    """The context that `request_budget` opens: a class, since a generator costs a microsecond more on every request."""

    __slots__ = ("_budget", "_token")

    def __init__(self, seconds: float) -> None:
        self._budget = Budget(seconds)
        self._token: Token[Budget | None] | None = None

    def __enter__(self) -> Budget:
        around = _current.get()
        if around is not None and around.deadline <= self._budget.deadline:
            return around
        self._token = _current.set(self._budget)
        return self._budget

    def __exit__(self, *_: object) -> None:
        if self._token is not None:
            _current.reset(self._token)
            self._budget.close()


def request_budget(seconds: float) -> RequestBudget:
    """Open the budget of a request; inside one with an earlier deadline, that one is reused."""
    return RequestBudget(seconds)


def charge(size: int) -> None:
    """Count bytes that the current request keeps until it ends; outside of a request nothing is counted."""
    budget = _current.get()
    if budget is not None:
        budget.charge(size)
