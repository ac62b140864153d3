"""What child processes do. They live in this module, apart from the tests, so that a fork has them at hand."""

from __future__ import annotations

import asyncio
import resource
import signal
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path

from tests.faults.disk import Fault, FaultyDisk
from tests.faults.load import make_hub, write
from tests.faults.script import run_script
from tests.servers.places import free_port
from ugs.errors import UgsError, VersionConflict
from ugs.graph.api import Graph
from ugs.system import System

SLEEP_SECONDS = 600.0
INCREMENTS = 25


def hold_folder(pipe: Connection, url: str) -> None:
    """Open the store and keep it."""

    async def run() -> None:
        async with System.at_url(url) as system:
            await Graph(system).add_node("mine")
            pipe.send("open")
            await asyncio.sleep(SLEEP_SECONDS)

    asyncio.run(run())


def delete_star(pipe: Connection, url: str) -> None:
    """Delete a node with all its edges, and say so when it is acknowledged."""

    async def run() -> None:
        async with System.at_url(url) as system:
            pipe.send("open")
            await Graph(system).delete("star")
            pipe.send("deleted")
            await asyncio.sleep(SLEEP_SECONDS)

    asyncio.run(run())


def live_on_faulty_disk(pipe: Connection, folder: Path, fault: Fault) -> None:
    """Say what was acknowledged until the disk ends this process."""
    asyncio.run(run_script(FaultyDisk(fault), folder, pipe.send))


def write_under_limit(pipe: Connection, folder: Path, limit: int) -> None:
    """Write while no file can grow beyond a size."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))

    async def run() -> None:
        async with System.at_url(f"file:{folder}") as system:
            await make_hub(Graph(system))
            for number in range(500):
                await write(Graph(system), number)
                pipe.send(number)

    try:
        asyncio.run(run())
    except UgsError as error:
        pipe.send(error.code)


def serve_store(pipe: Connection, url: str) -> None:
    """A gateway on the store; says where it is when it can serve."""
    from ugs_gateway.server import serve
    from ugs_gateway.settings import Settings

    serve(Settings(store=url, port=free_port(), request_seconds=240), pipe.send)


def increment(pipe: Connection, url: str) -> None:
    """Add one, many times, each time to what was just read."""
    try:
        asyncio.run(_increment(url))
        pipe.send("done")
    except Exception as error:
        pipe.send(repr(error))


async def _increment(url: str) -> None:
    async with System.at_url(url) as system:
        for _ in range(INCREMENTS):
            await _add_one(Graph(system))


async def _add_one(graph: Graph) -> None:
    """Read, add one, and do it again when somebody was faster."""
    while True:
        node = await graph.get("counter")
        assert node is not None
        with suppress(VersionConflict):
            await graph.update("counter", {"value": node.properties["value"] + 1}, expected_version=node.version)
            return
