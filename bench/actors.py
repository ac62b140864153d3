"""Messages per second: `python -m bench.actors`.

A message that changes its node, beside the plain command that changes the same node, and a message that only asks,
beside a plain read. Callers keep to nodes of their own, as a flood over many nodes would.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import cycle

from bench.features import Call, Figure, empty_url, measure_rate, parser, report
from ugs.actors.api import ActorGraph
from ugs.graph.api import Graph
from ugs.graph.commands import AddNode, Update
from ugs.system import System

NODES = 1_000
CALLERS = (1, 256)


def works(system: System) -> Iterator[tuple[str, str, Call]]:
    """Kinds of work, each done by actors and by hand."""
    actors, graph = ActorGraph(system), Graph(system)
    turns = cycle(range(NODES))
    counted = iter(range(10**12))

    async def send_update(_: int) -> None:
        await actors.send(f"n{next(turns)}", "update", {"properties": {"n": next(counted)}})

    async def update(_: int) -> None:
        await system.execute(Update(id=f"n{next(turns)}", properties={"n": next(counted)}))

    async def send_get(_: int) -> None:
        await actors.send(f"n{next(turns)}", "get")

    async def get(_: int) -> None:
        await graph.get(f"n{next(turns)}")

    yield "a message that changes its node", "actor", send_update
    yield "a message that changes its node", "command", update
    yield "a message that asks", "actor", send_get
    yield "a message that asks", "read", get


async def measure(store: str, seconds: float) -> list[Figure]:
    """All kinds of work on one store."""
    with empty_url(store) as url:
        async with System.at_url(url) as system:
            await system.storage.wipe()
            await Graph(system).batch([AddNode(id=f"n{n}", type="task") for n in range(NODES)])
            return [
                await measure_rate(store, work, side, callers, seconds, call)
                for work, side, call in works(system)
                for callers in CALLERS
            ]


async def run(stores: list[str], seconds: float) -> list[Figure]:
    return [figure for store in stores for figure in await measure(store, seconds)]


def main(arguments: list[str] | None = None) -> None:
    asked = parser("actors", "messages to nodes beside plain commands").parse_args(arguments)
    report(asyncio.run(run(asked.stores.split(","), asked.seconds)), asked.output)


if __name__ == "__main__":
    main()
