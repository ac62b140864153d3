"""A thread pool for computations that take too long for the event loop.

Up to `MAX_THREADS` computations are in progress, but only one runs at a time, for `SLICE_SECONDS`, round robin. Because
of the GIL this loses no throughput, and the event loop competes with one thread only, so that it waits a few
milliseconds at most.
"""

from __future__ import annotations

import asyncio
import contextvars
import gc
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from traceback import clear_frames
from typing import TypeVar

from ugs.errors import DeadlineExceeded
from ugs.support.budget import current_budget

MAX_THREADS = 32
SLICE_SECONDS = 0.01
SWITCH_SECONDS = 0.001
"""Switch interval of the GIL: how long the event loop waits for it while a thread computes."""
STOP_SECONDS = 0.1
"""How long to wait for a cancelled computation to end."""
NEW_OBJECTS, RARER = 10_000, 100
"""Minimum first threshold, and factor for the third, of the garbage collector while threads compute."""
Result = TypeVar("Result")


class FairLock:
    """A fair (FIFO) lock: one thread computes at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: deque[threading.Lock] = deque()
        self._busy = False

    def begin(self) -> None:
        with self._lock:
            if not self._busy:
                self._busy = True
                return
            gate = threading.Lock()
            gate.acquire()
            self._waiting.append(gate)
        gate.acquire()

    def end(self) -> None:
        with self._lock:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._busy = False

    def hand_over(self) -> None:
        """Hand the lock to the next waiting thread, if any, and queue again."""
        if self._waiting:
            self.end()
            self.begin()


class RareCollections:
    """Makes full garbage collections a hundred times rarer while threads compute.

    A full collection stops all threads, for a time that grows with the number of live objects of the running queries,
    and nearly none of those are cyclic garbage.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._usual = gc.get_threshold()

    def begin(self) -> None:
        with self._lock:
            if self._users == 0:
                self._usual = gc.get_threshold()
                gc.set_threshold(max(self._usual[0], NEW_OBJECTS), self._usual[1], self._usual[2] * RARER)
            self._users += 1

    def end(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                gc.set_threshold(*self._usual)


TURNS = FairLock()
COLLECTIONS = RareCollections()
_executor: ThreadPoolExecutor | None = None


def _threads() -> ThreadPoolExecutor:
    global _executor
    if _executor is None:
        sys.setswitchinterval(min(sys.getswitchinterval(), SWITCH_SECONDS))
        _executor = ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="ugs-compute")
        # Start all threads now: starting one is slow while others compete for the GIL.
        ready = threading.Event()
        for _ in range(MAX_THREADS):
            _executor.submit(ready.wait)
        ready.set()
    return _executor


class Slice:
    """The time slice of a computing thread."""

    __slots__ = ("ends",)

    def __init__(self) -> None:
        self.ends = time.monotonic() + SLICE_SECONDS

    def hand_over(self, now: float) -> None:
        """Hand over to the next thread if the slice is over; to be called often while computing."""
        if now > self.ends:
            TURNS.hand_over()
            self.ends = time.monotonic() + SLICE_SECONDS


_own = threading.local()


def take_turn() -> None:
    """Called between the steps of work that is done in a worker thread when it is large: hands over to the next thread
    if the slice is over, and raises at the deadline of the request. Does nothing on the event loop."""
    turn: Slice | None = getattr(_own, "slice", None)
    if turn is not None:
        now, budget = time.monotonic(), current_budget()
        if now > budget.deadline:
            raise DeadlineExceeded(f"The request took longer than {budget.seconds:g} seconds")
        turn.hand_over(now)


async def compute_in_thread(compute: Callable[[], Result], stop: Callable[[], None] = lambda: None) -> Result:
    """Run a long computation in a worker thread. It must call `take_turn` or `Slice.hand_over` often.

    When the caller is cancelled, `stop` is called to end the computation, which is awaited for `STOP_SECONDS`.
    """
    context = contextvars.copy_context()

    def turn() -> Result:
        TURNS.begin()
        _own.slice = Slice()
        try:
            return compute()
        except BaseException as error:
            # What the frames hold, which may be as much as the request was allowed, is not needed any more.
            clear_frames(error.__traceback__)
            raise
        finally:
            TURNS.end()

    loop = asyncio.get_running_loop()
    COLLECTIONS.begin()
    computing = _threads().submit(context.run, turn)
    waiting = asyncio.wrap_future(computing)
    try:
        return await asyncio.shield(waiting)
    except asyncio.CancelledError:
        stop()
        waiting.add_done_callback(lambda done: done.cancelled() or done.exception())
        if not computing.cancel():
            await asyncio.wait([waiting], timeout=STOP_SECONDS)
        raise
    finally:
        # An error refers to this frame: without this it would be garbage that only a full collection finds.
        del computing, waiting
        # The computation's objects live a little longer, so do not collect at once.
        loop.call_later(1.0, COLLECTIONS.end)
