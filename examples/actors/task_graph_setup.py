"""Example 1 of seed 003: a root task, a subtask, and the edge between them.

python examples/actors/task_graph_setup.py [store URL]
"""

import asyncio
import sys
from datetime import UTC, datetime

from ugs import System
from ugs.actors.api import ActorGraph, make_actor


async def set_up(graph: ActorGraph) -> None:
    system = graph.get_system()

    # Create and register the root task.
    root = {
        "id": "root",
        "type": "task",
        "goal": "Complete project",
        "state": "created",
        "createdAt": datetime.now(UTC),
    }
    await graph.register_node("root", make_actor(root, system), root)

    # Create the subtask.
    subtask = {"id": "subtask-1", "type": "task", "goal": "Write tests", "state": "created"}
    await graph.register_node("subtask-1", make_actor(subtask, system), subtask)

    # Say who made whom.
    await graph.add_edge("subtask-1", "root", "spawned_by")


async def main(url: str) -> None:
    async with System.at_url(url) as system:
        graph = ActorGraph(system)
        await set_up(graph)
        print(await graph.get_node_ids())
        print(await graph.get_edges_from("subtask-1"))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:] or ["memory:"]))
