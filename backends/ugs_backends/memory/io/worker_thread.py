"""A single thread that runs blocking work for an event loop in FIFO order.

A thread pool would do the same with three times the overhead per job.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread

Work = tuple[Callable[[], None], asyncio.AbstractEventLoop, asyncio.Future[None]]


class Worker:
    """A worker thread, started with its first job."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._work: SimpleQueue[Work | None] = SimpleQueue()
        self._thread: Thread | None = None

    def submit(self, work: Callable[[], None]) -> asyncio.Future[None]:
        """Queue a job; the future completes when it is done, or with its exception."""
        if self._thread is None:
            # A daemon thread: a worker that was not closed must not block the interpreter's exit.
            self._thread = Thread(target=self._run, name=self._name, daemon=True)
            self._thread.start()
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        self._work.put((work, loop, done))
        return done

    def close(self) -> None:
        """Finish the queued jobs, then stop the thread."""
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
            with suppress(RuntimeError):  # the loop is closed, and nobody waits any more
                loop.call_soon_threadsafe(_complete_future, done, failure)


def _complete_future(done: asyncio.Future[None], failure: BaseException | None) -> None:
    if done.done():
        return
    if failure is None:
        done.set_result(None)
    else:
        done.set_exception(failure)


async def wait_until_ended(work: asyncio.Future[None]) -> asyncio.CancelledError | None:
    """Wait until the work has ended even if the waiting task is cancelled; returns that cancellation, if any."""
    cancelled = None
    while not work.done():
        try:
            await asyncio.shield(work)
        except asyncio.CancelledError as error:
            cancelled = error
        except BaseException:
            break
    return cancelled
