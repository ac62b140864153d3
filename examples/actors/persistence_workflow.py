"""Example 4 of seed 003: a graph goes into a JSON file and comes back with new actors.

python examples/actors/persistence_workflow.py [file] [store URL] [another store URL]
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from task_graph_setup import set_up

from ugs import System
from ugs.actors.api import ActorGraph, make_actor


def save(dump: dict[str, list[dict[str, Any]]], file: Path) -> None:
    file.write_text(json.dumps(dump, indent=2))


async def main(file: str = "graph.json", url: str = "memory:", other_url: str = "memory:") -> None:
    async with System.at_url(url) as system:
        graph = ActorGraph(system)
        await set_up(graph)
        await graph.send("subtask-1", "start")
        save(await graph.dump(), Path(file))
    async with System.at_url(other_url) as system:
        graph = ActorGraph(system)
        # Every node gets a new actor from the factory; edges keep their ids, and the next one gets the next number.
        await graph.restore(load(Path(file)), factory=make_actor)
        print((await graph.send("subtask-1", "query_status"))["state"])
        print((await graph.add_edge("root", "subtask-1", "references"))["id"])


def load(file: Path) -> dict[str, list[dict[str, Any]]]:
    dump: dict[str, list[dict[str, Any]]] = json.loads(file.read_text())
    return dump


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
