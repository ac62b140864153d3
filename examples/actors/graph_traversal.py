"""Example 3 of seed 003: child tasks and dependencies, by hand and with the built-in helpers.

python examples/actors/graph_traversal.py [store URL]
"""

import asyncio
import sys

from task_graph_setup import set_up

from ugs import System
from ugs.actors.api import ActorGraph


async def child_tasks(graph: ActorGraph, task_id: str) -> list[str]:
    return [edge["fromId"] for edge in await graph.get_edges_to(task_id) if edge["type"] == "spawned_by"]


async def dependencies(graph: ActorGraph, task_id: str) -> list[str]:
    return [edge["toId"] for edge in await graph.get_edges_from(task_id) if edge["type"] == "depends_on"]


async def main(url: str) -> None:
    async with System.at_url(url) as system:
        graph = ActorGraph(system)
        await set_up(graph)
        await graph.add_edge("root", "subtask-1", "depends_on", {"reason": "Must complete subtask-1 first"})
        print(await child_tasks(graph, "root"), await graph.get_child_tasks("root"))
        print(await dependencies(graph, "root"), await graph.get_dependencies("root"))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:] or ["memory:"]))
