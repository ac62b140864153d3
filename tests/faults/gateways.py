"""A server of our own under load, disturbed again and again, while one system keeps using it."""

from __future__ import annotations

import asyncio
import itertools
import signal
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

import psutil
import pytest

from tests import servers
from tests.faults.load import make_hub, write_surely
from tests.servers.pytest_use import in_ci
from ugs.graph.api import Graph
from ugs.system import State, System

WRITERS = 8
TIMEOUT_SECONDS = 90.0
PAUSE = 0.05


@contextmanager
def own_server(name: str) -> Iterator[servers.Server]:
    """A server that may be killed; a skip in words where none can be had."""
    try:
        private = servers.private(name)
        server = private.__enter__()
    except servers.ServerUnavailable as unavailable:
        if in_ci():
            pytest.fail(f"CI needs {name}: {unavailable}", pytrace=False)
        pytest.skip(str(unavailable))
    try:
        yield server
    finally:
        private.__exit__(None, None, None)


class Load:
    """Writers that never give up, and what they were told."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.acknowledged: list[int] = []
        self.failures = 0
        self.last = 0.0
        """When a write was acknowledged last."""

    async def keep_writing(self, start: int) -> None:
        for number in itertools.count(start, WRITERS):
            self.failures += await write_surely(self.graph, number)
            self.acknowledged.append(number)
            self.last = time.monotonic()

    async def success_after(self, moment: float) -> float:
        """How long after a moment the next write was acknowledged."""
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while self.last < moment:
            assert time.monotonic() < deadline, f"no write succeeded within {TIMEOUT_SECONDS} s"
            await asyncio.sleep(0.01)
        return self.last - moment


@asynccontextmanager
async def loaded(system: System) -> AsyncIterator[Load]:
    """Writers at work for the length of the block."""
    load = Load(Graph(system))
    await make_hub(load.graph)
    tasks = [asyncio.create_task(load.keep_writing(start)) for start in range(WRITERS)]
    try:
        yield load
    finally:
        for task in tasks:
            task.cancel()
        broken = [end for end in await asyncio.gather(*tasks, return_exceptions=True) if isinstance(end, Exception)]
    assert broken == []
    await at_rest(system)


async def at_rest(system: System) -> None:
    """Commands whose callers have gone away are still carried out; wait for them."""
    for _ in range(int(TIMEOUT_SECONDS / PAUSE)):
        if system.state is not State.PROCESSING:
            return
        await asyncio.sleep(PAUSE)
    raise AssertionError("the writer never came to rest")


async def disturb(load: Load, strike: Callable[[], None], times: int, calm: float) -> list[float]:
    """Strike the server again and again; answers how long each time until a write succeeded after it was back."""
    waits = []
    for _ in range(times):
        await asyncio.sleep(calm)
        await asyncio.to_thread(strike)
        waits.append(await load.success_after(time.monotonic()))
    return waits


@contextmanager
def stopped(server: servers.Server) -> Iterator[None]:
    """The server's processes stand still, as if the machine had gone away without a word."""
    root = server.process()
    assert root is not None
    everybody = [*root.children(recursive=True), root]
    send(everybody, signal.SIGSTOP)
    try:
        yield
    finally:
        send(everybody, signal.SIGCONT)


def send(processes: list[psutil.Process], sign: signal.Signals) -> None:
    for process in processes:
        if process.is_running():
            process.send_signal(sign)
