"""Sixteen clients on one server: no write is lost, and the registry is valid at every moment."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from tests.gateway.mcp.client import Talk
from tests.gateway.mcp.test_everywhere import STORES, emptied
from tests.gateway.processes import serving

CLIENTS, CALLS = 16, 6
ONTOLOGY: dict[str, Any] = {
    "node_types": ["Project", "Action"],
    "connection_types": [{"name": "NextAction", "from_types": ["Project"], "to_types": ["Action"]}],
}


async def write(url: str, number: int, project: str) -> list[str]:
    """One client: actions that the project leads to, each touched once more, one of them deleted."""
    async with Client(f"{url}/mcp") as client:
        talk, made = Talk(client), []
        for call in range(CALLS):
            text = f"client {number} call {call}"
            id = (await talk("create_node", type="Action", content=text, format="text"))["node_id"]
            await talk("create_connection", type="NextAction", from_node_id=project, to_node_id=id, content=text)
            await talk("update_node", node_id=id, properties={"by": number})
            made.append(id)
        await talk("delete_node", node_id=made.pop())
        return made


def check_whole(path: Path) -> None:
    """The registry as it is at this moment: valid, with both ends of every connection."""
    told = json.loads(path.read_text("utf-8"))
    for edge in told["connections"].values():
        assert edge["from"] in told["nodes"] and edge["to"] in told["nodes"]


async def watch(path: Path, stop: asyncio.Event) -> int:
    """Look at the registry again and again."""
    seen = 0
    while not stop.is_set():
        check_whole(path)
        seen += 1
        await asyncio.sleep(0.02)
    return seen


@pytest.mark.clause("ONT-11", "ONT-173", "ONT-188", "ONT-169")
@pytest.mark.parametrize("store", STORES)
async def test_sixteen_clients_lose_nothing(store: str | None, tmp_path: Path) -> None:
    base = tmp_path / "base"
    url = await emptied(store, tmp_path) or f"file:{base}/_system"
    with serving(tmp_path, "--mirror", str(base), "--store", url) as gateway:
        async with Client(f"{gateway.url}/mcp") as client:
            talk = Talk(client)
            await talk("create_ontology", **ONTOLOGY)
            project = (await talk("create_node", type="Project", content="all", format="text"))["node_id"]
            stop = asyncio.Event()
            watching = asyncio.create_task(watch(base / "_system/registry.json", stop))
            made = await asyncio.gather(*(write(gateway.url, number, project) for number in range(CLIENTS)))
            stop.set()
            assert await watching > 0
            wanted = sorted(id for ids in made for id in ids)
            assert len(wanted) == CLIENTS * (CALLS - 1)
            assert sorted((await talk("query_nodes", type="Action"))["node_ids"]) == wanted
            reached = await talk("get_connected_nodes", node_id=project, direction="out")
            assert sorted(reached["node_ids"]) == wanted
            found = await talk("query_nodes", properties={"by": 7})
            assert len(found["node_ids"]) == CALLS - 1
    told = json.loads((base / "_system/registry.json").read_text("utf-8"))
    assert sorted(told["nodes"]) == sorted([project, *wanted]) and len(told["connections"]) == len(wanted)
