"""The server as a process, started the way an MCP client's configuration starts it."""

import asyncio
from pathlib import Path

import pytest

from tests.gateway.mcp.client import over_stdio

ONTOLOGY = {
    "node_types": ["Project", "Action"],
    "connection_types": [{"name": "NextAction", "from_types": ["Project"], "to_types": ["Action"]}],
}


@pytest.mark.clause("ONT-173")
async def test_many_calls_at_once(tmp_path: Path) -> None:
    async with over_stdio(tmp_path) as talk:
        await talk("create_ontology", **ONTOLOGY)
        calls = [talk("create_node", type="Action", content=f"number {n}", format="text") for n in range(40)]
        made = {answer["node_id"] for answer in await asyncio.gather(*calls)}
        assert set((await talk("query_nodes"))["node_ids"]) == made
        assert len(made) == 40
