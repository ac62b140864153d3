"""One thread that does blocking work for an event loop, in the order in which it is given.

A pool of threads does the same, with three times as much going to and fro for each piece of work.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread

Work = tuple[Callable[[], None], asyncio.AbstractEventLoop, asyncio.Future[None]]


class Worker:
    """Starts with its first piece of work."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._work: SimpleQueue[Work | None] = SimpleQueue()
        self._thread: Thread | None = None

    def do(self, work: Callable[[], None]) -> asyncio.Future[None]:
        """Hand over a piece of work; the future tells when it is done, or how it failed."""
        if self._thread is None:
            # An interpreter that ends must not wait for a thread that nobody has closed.
            self._thread = Thread(target=self._run, name=self._name, daemon=True)
            self._thread.start()
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        self._work.put((work, loop, done))
        return done

    def close(self) -> None:
        """Finish what was handed over, and end."""
        if self._thread is not None:
            self._work.put(None)
            self._thread.join()
            self._thread = None

    def _run(self) -> None:
        while (job := self._work.get()) is not None:
            work, loop, done = job
            failure: BaseException | None = None
            try:
                work()
            except BaseException as error:
                failure = error
            with suppress(RuntimeError):  # the loop is gone, and with it whoever waited
                loop.call_soon_threadsafe(_tell, done, failure)


def _tell(done: asyncio.Future[None], failure: BaseException | None) -> None:
    if done.done():
        return
    if failure is None:
        done.set_result(None)
    else:
        done.set_exception(failure)


async def ended(work: asyncio.Future[None]) -> asyncio.CancelledError | None:
    """Wait until work has ended, whatever happens to the one who waits; answers how that one was cancelled."""
    cancelled = None
    while not work.done():
        try:
            await asyncio.shield(work)
        except asyncio.CancelledError as error:
            cancelled = error
        except BaseException:
            break
    return cancelled
