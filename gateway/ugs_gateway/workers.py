"""Several worker processes on one address: started, watched, replaced when they die, and stopped together.

Every worker is a whole gateway with its own connections to the store. On Linux each has a listening socket of its own
on the shared port, so that the kernel spreads connections evenly; the supervisor holds all of them, so that connections
which wait for a dead worker are answered by its successor. Elsewhere all workers accept from one socket.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import signal
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from msgspec.structs import replace

from ugs.connect import storage_for
from ugs.errors import InvalidSyntax, UgsError
from ugs.system import System
from ugs_gateway.app import create_app
from ugs_gateway.auth.authenticator import check_safe
from ugs_gateway.observability.counters import Counters
from ugs_gateway.observability.metrics import Metrics
from ugs_gateway.observability.structured_logs import Log, set_up_logs
from ugs_gateway.os_support import SHARES_PORTS, STOPPING, return_freed_memory
from ugs_gateway.server import Server, bind, check_open, ignore_stop_signals, run, serving_config, url_of
from ugs_gateway.settings import Settings

log = Log("ugs_gateway.workers")

READY: Final = "ready"
STOP: Final = "stop"

LOOK_SECONDS = 0.2
PUBLISH_SECONDS = 1.0
FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 30.0
GRACE_SECONDS = 5.0
"""Time to close the store after the requests under way have ended."""

SPAWN = multiprocessing.get_context("spawn")


class WorkerFailed(UgsError):
    """A worker process ended before it was ready."""

    code = "WORKER_FAILED"
    summary = "A worker process ended before it was ready"


def serve_with_workers(settings: Settings, ready: Callable[[str], None]) -> None:
    """Serve with `settings.workers` processes until a stop signal; what prevents the store from opening is raised."""
    check_open(settings)
    check_safe(settings)
    check_shareable(settings)
    listeners = bind_all(settings)
    try:
        # Once, before the workers: errors reach the caller unchanged, and only one process migrates an older layout.
        asyncio.run(_open_once(settings))
        with TemporaryDirectory(prefix="ugs-") as folder:
            counters = Path(folder) / "counters"
            Counters.reserve(counters, settings.workers)
            workers = [Worker(settings, number, listener, counters) for number, listener in enumerate(listeners)]
            Supervisor(workers, settings.drain_seconds + GRACE_SECONDS).run(
                lambda: ready(url_of(settings, listeners[0]))
            )
    finally:
        for listener in listeners:
            listener.close()


def check_shareable(settings: Settings) -> None:
    """Refuse several workers on a store that one process keeps for itself."""
    if not storage_for(settings.store).capabilities.concurrent_writers:
        raise InvalidSyntax(
            f"workers = {settings.workers} needs a store that several processes can open, and this one is kept by a "
            "single process. Use sqlite:///graph.db, postgresql://… or neo4j://… (`ugs copy` moves the data), or one."
        )


def bind_all(settings: Settings) -> list[socket.socket]:
    """A listening socket for each worker, all on one port."""
    # Bound exclusively first: a port shared by the workers of another gateway would be joined instead of refused.
    first = bind(settings)
    if not SHARES_PORTS:
        return [first] * settings.workers
    settings = replace(settings, port=first.getsockname()[1])
    first.close()
    return [bind(settings, shared=True) for _ in range(settings.workers)]


async def _open_once(settings: Settings) -> None:
    system = System.at_url(settings.store)
    await system.open()
    await system.close()


class Worker:
    """One place among the workers, and the process that holds it now."""

    def __init__(self, settings: Settings, number: int, listener: socket.socket, counters: Path) -> None:
        self.number = number
        self._settings, self._listener, self._counters = settings, listener, counters
        self._failures = 0
        self.is_ready = False
        self.starts_at = 0.0
        """When the process is started again, on the monotonic clock."""

    def start(self) -> None:
        """Start a process."""
        self.is_ready = False
        self.pipe, theirs = SPAWN.Pipe()
        self.process: SpawnProcess = SPAWN.Process(
            target=work, args=(self._settings, self.number, self._listener, self._counters, theirs), daemon=False
        )
        self.process.start()
        theirs.close()

    def hear(self) -> None:
        """Take what the process has said."""
        try:
            if self.pipe.poll() and self.pipe.recv() == READY:
                self.is_ready, self._failures = True, 0
        except (EOFError, OSError):
            pass  # it has ended, and its exit code tells

    def put_off(self) -> None:
        """Decide when to start again: at once after a first failure, later after each further one."""
        pause = min(FIRST_PAUSE_SECONDS * (2**self._failures - 1), LONGEST_PAUSE_SECONDS)
        self._failures = min(self._failures + 1, 16)
        self.starts_at = time.monotonic() + pause

    def tell_to_stop(self) -> None:
        """Ask the process to finish the requests under way and to end."""
        with suppress(OSError):  # it has ended already
            self.pipe.send(STOP)

    def end(self, deadline: float) -> None:
        """Wait for the process until the deadline, then kill it."""
        self.process.join(max(0.0, deadline - time.monotonic()))
        if self.process.is_alive():
            log.warning("a worker did not stop in time", worker=self.number)
            self.process.kill()
            self.process.join()
        self.pipe.close()


class Supervisor:
    """Keeps the workers running until a stop signal."""

    def __init__(self, workers: list[Worker], stop_seconds: float) -> None:
        self._workers, self._stop_seconds = workers, stop_seconds
        self._stopping = False

    def run(self, ready: Callable[[], None]) -> None:
        """Start all, call `ready` once all serve, and replace those that end."""
        for number in STOPPING:
            signal.signal(number, self._stop)
        running: list[Worker] = []
        try:
            for worker in self._workers:
                worker.start()
                running.append(worker)
            self._wait_until_ready()
            if not self._stopping:
                ready()
            while not self._stopping:
                self._look(running)
        finally:
            deadline = time.monotonic() + self._stop_seconds
            for worker in running:
                worker.tell_to_stop()
            for worker in running:
                worker.end(deadline)

    def _stop(self, *_: object) -> None:
        self._stopping = True

    def _wait_until_ready(self) -> None:
        while not self._stopping and not all(worker.is_ready for worker in self._workers):
            self._listen(self._workers)
            for worker in self._workers:
                if worker.process.exitcode is not None and not self._stopping:
                    raise WorkerFailed(
                        f"Worker {worker.number} ended before it was ready (exit code {worker.process.exitcode}). "
                        "What it logged says why."
                    )

    def _look(self, running: list[Worker]) -> None:
        self._listen(running)
        for worker in self._workers:
            if worker in running and worker.process.exitcode is not None and not self._stopping:
                log.warning("a worker ended", worker=worker.number, exit_code=worker.process.exitcode)
                worker.pipe.close()
                worker.put_off()
                running.remove(worker)
            if worker not in running and worker.starts_at <= time.monotonic() and not self._stopping:
                worker.start()
                running.append(worker)

    @staticmethod
    def _listen(workers: list[Worker]) -> None:
        """Wait a little for words or ends of workers."""
        waiting = [worker for worker in workers if not worker.is_ready]
        wait([*(worker.pipe for worker in waiting), *(worker.process.sentinel for worker in workers)], LOOK_SECONDS)
        for worker in waiting:
            worker.hear()


def work(settings: Settings, number: int, listener: socket.socket, counters: Path, pipe: Connection) -> None:
    """Be a worker: serve until the supervisor says so or is gone."""
    set_up_logs(settings.log_level, settings.log_format)
    return_freed_memory()
    app = create_app(settings, counters=Counters.shared(counters, number), worker=number)
    server = Server(serving_config(app, settings), lambda: pipe.send(READY))
    ignore_stop_signals()
    metrics: Metrics = app.state.admission.metrics
    threading.Thread(target=_obey, args=(server, metrics, pipe), daemon=True).start()
    run(server, app, listener)


def _obey(server: Server, metrics: Metrics, pipe: Connection) -> None:
    """In a thread: publish what the event loop counts, until the supervisor says stop or has died."""
    try:
        while not pipe.poll(PUBLISH_SECONDS):
            metrics.publish()
        pipe.recv()
    except (EOFError, OSError):
        pass
    server.should_exit = True
