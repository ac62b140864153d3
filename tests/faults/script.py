"""A short life of a store on a faulty disk: open, write, take snapshots, and go on after every refusal."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

from tests.faults.disk import FaultyDisk, storage_on
from tests.faults.load import make_hub, write
from ugs.errors import UgsError
from ugs.graph.api import Graph
from ugs.system import System

WRITES = 9
SNAPSHOTS = (3, 6)


def nothing(*_: int) -> None:
    """For those who do not listen."""


async def run_script(disk: FaultyDisk, folder: Path, say: Callable[[int], None] = nothing) -> list[str]:
    """Say each number that was acknowledged; answers the codes of the refusals."""
    refused: list[str] = []
    system = System(storage_on(disk, folder))
    try:
        await system.open()
    except UgsError as error:
        return [error.code]
    await attempt(refused, make_hub(Graph(system)))
    for number in range(WRITES):
        await attempt(refused, write(Graph(system), number), partial(say, number))
        if number in SNAPSHOTS:
            await attempt(refused, system.snapshot())
    await Graph(system).stats()
    await attempt(refused, system.close())
    return refused


async def attempt(refused: list[str], work: Awaitable[object], done: Callable[[], None] = nothing) -> None:
    try:
        await work
    except UgsError as error:
        refused.append(error.code)
    else:
        done()
