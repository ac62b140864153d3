"""Cooperative scheduling on the event loop: long computations yield, so that short requests are served in between.

Code that loops over rows holds a `TimeSlice` and pauses when it is over. Paused tasks resume one at a time, in FIFO
order, and between any two of them the event loop runs everything else that is ready. So a short request waits for one
slice, however many long ones are running. A pause is also a point where an expired request can be cancelled.
"""

from __future__ import annotations

import asyncio
from collections import deque
from time import perf_counter
from weakref import WeakKeyDictionary

SLICE_SECONDS = 0.01
"""Longest run without a pause; half of the 20 ms that other requests may have to wait."""


class Turns:
    """The FIFO queue of paused tasks of one event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._is_running = False

    async def take(self) -> None:
        """Suspend until all ready callbacks, and the tasks that paused earlier, have run."""
        turn = self._loop.create_future()
        self._waiting.append(turn)
        if not self._is_running:
            self._is_running = True
            self._loop.call_soon(self._next)
        await turn

    def _next(self) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                break
        if self._waiting:
            # Scheduling twice passes through the selector, so new I/O is seen before the next task resumes.
            self._loop.call_soon(self._loop.call_soon, self._next)
        else:
            self._is_running = False


_turns: WeakKeyDictionary[asyncio.AbstractEventLoop, Turns] = WeakKeyDictionary()


async def yield_turn() -> None:
    """Pause the current task in the queue of its event loop."""
    loop = asyncio.get_running_loop()
    turns = _turns.get(loop)
    if turns is None:
        turns = _turns[loop] = Turns(loop)
    await turns.take()


class TimeSlice:
    """The time for which a task may run before it should pause."""

    __slots__ = ("_end",)

    def __init__(self) -> None:
        self._end = perf_counter() + SLICE_SECONDS

    @property
    def is_over(self) -> bool:
        return perf_counter() >= self._end

    async def pause(self) -> None:
        """Pause if the slice is over, and begin a new one; otherwise return at once."""
        if perf_counter() >= self._end:
            await yield_turn()
            self._end = perf_counter() + SLICE_SECONDS
