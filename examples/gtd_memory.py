"""Getting things done with a memory: what an agent does through MCP, as a program.

It starts the server the way an MCP client's configuration does, and talks to it with the official client:

    python examples/gtd_memory.py ~/gtd-memory

Run it twice: the second time everything is still there, and only the review is told.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

from mcp import Client
from mcp.client.stdio import StdioServerParameters

ONTOLOGY = {
    "node_types": ["Project", "Action", "Person"],
    "connection_types": [
        {"name": "NextAction", "from_types": ["Project"], "to_types": ["Action"]},
        {
            "name": "WaitingFor",
            "from_types": ["Action", "Project"],
            "to_types": ["Person"],
            "required_properties": ["since", "follow_up_date"],
        },
    ],
}


class Memory:
    """The tools by name."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def __call__(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """What a tool answers; what it refuses is raised in its own words."""
        result = await self.client.call_tool(tool, arguments)
        answer: dict[str, Any] = result.structured_content
        if result.is_error:
            raise RuntimeError(f"{answer['code']}: {answer['message']}")
        return answer


async def capture(memory: Memory) -> None:
    """A project, its next actions, and somebody to wait for."""
    await memory("create_ontology", **ONTOLOGY)
    kitchen = await remember(memory, "Project", "# Kitchen\n\nA farmhouse sink, by June.", status="active")
    call = await remember(memory, "Action", "Call three plumbers", status="next", context="phone")
    measure = await remember(memory, "Action", "Measure the wall", status="next", context="home")
    ann = await remember(memory, "Person", "Ann, plumber")
    for action in (call, measure):
        await memory("create_connection", type="NextAction", from_node_id=kitchen, to_node_id=action)
    waiting = {"since": "2026-05-01", "follow_up_date": "2026-05-08"}
    await memory("create_connection", type="WaitingFor", from_node_id=call, to_node_id=ann, properties=waiting)


async def remember(memory: Memory, type: str, content: str, **properties: str) -> str:
    made = await memory("create_node", type=type, content=content, format="markdown", properties=properties)
    id: str = made["node_id"]
    return id


async def review(memory: Memory) -> None:
    """What is to be done, project by project, and who is waited for."""
    for project in (await memory("query_nodes", type="Project", properties={"status": "active"}))["node_ids"]:
        print((await memory("get_node_content", node_id=project))["content"].splitlines()[0])
        found = await memory("get_connected_nodes", node_id=project, connection_type="NextAction", direction="out")
        for action in found["node_ids"]:
            print("  next:", (await memory("get_node_content", node_id=action))["content"])
            await tell_waiting(memory, action)
    phone = await memory("query_nodes", type="Action", properties={"status": "next", "context": "phone"})
    print("calls to make:", len(phone["node_ids"]))


async def tell_waiting(memory: Memory, action: str) -> None:
    for id in (await memory("query_connections", from_node_id=action, type="WaitingFor"))["connection_ids"]:
        waiting = await memory("get_connection", connection_id=id)
        who = await memory("get_node_content", node_id=waiting["to_node_id"])
        print(f"    waiting for {who['content']}, ask again on {waiting['properties']['follow_up_date']}")


async def main(folder: Path) -> None:
    """Begin once, then review."""
    server = StdioServerParameters(command="ugs", args=["mcp"], env={**os.environ, "BASE_PATH": str(folder)})
    async with Client(server) as client:
        memory = Memory(client)
        if not (await memory("query_nodes"))["node_ids"]:
            await capture(memory)
        await review(memory)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1] if len(sys.argv) > 1 else "gtd-memory").resolve()))
