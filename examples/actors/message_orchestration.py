"""Example 2 of seed 003: a task is started, asked how it stands, and completed.

python examples/actors/message_orchestration.py [store URL]
"""

import asyncio
import sys

from task_graph_setup import set_up

from ugs import System
from ugs.actors.api import ActorGraph


async def main(url: str) -> None:
    async with System.at_url(url) as system:
        graph = ActorGraph(system)
        await set_up(graph)

        # Start the task.
        print(await graph.send("subtask-1", "start", {"context": {"priority": "high"}}))

        # See how it stands.
        print(await graph.send("subtask-1", "query_status", {}))

        # Complete it with a result.
        print(await graph.send("subtask-1", "complete", {"result": {"testsWritten": 5, "coverage": 85}}))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:] or ["memory:"]))
