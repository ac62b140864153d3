"""The server as a process, started the way an MCP client's configuration starts it."""

import asyncio
from pathlib import Path

import pytest

from tests.mcp.talking import over_stdio

ONTOLOGY = {
    "node_types": ["Project", "Action"],
    "connection_types": [{"name": "NextAction", "from_types": ["Project"], "to_types": ["Action"]}],
}


@pytest.mark.clause("ONT-15", "ONT-19", "ONT-20", "ONT-106", "ONT-110", "ONT-171", "ONT-174", "ONT-193", "ONT-198")
async def test_scenario_1_through_the_protocol_and_a_restart(tmp_path: Path) -> None:
    async with over_stdio(tmp_path) as talk:
        await talk("create_ontology", **ONTOLOGY)
        project = (await talk("create_node", type="Project", content="# Kitchen", format="markdown"))["node_id"]
        action = (await talk("create_node", type="Action", content="# Call", format="markdown"))["node_id"]
        made = await talk("create_connection", type="NextAction", from_node_id=project, to_node_id=action)
    async with over_stdio(tmp_path) as talk:
        assert (await talk("get_node", node_id=project))["type"] == "Project"
        assert await talk("get_node_content", node_id=action) == {"content": "# Call"}
        assert (await talk("get_connection", **made))["to_node_id"] == action
        out = await talk("get_connected_nodes", node_id=project, connection_type="NextAction", direction="out")
        assert out == {"node_ids": [action]}
        assert await talk("get_ontology") == ONTOLOGY


@pytest.mark.clause("ONT-173")
async def test_many_calls_at_once(tmp_path: Path) -> None:
    async with over_stdio(tmp_path) as talk:
        await talk("create_ontology", **ONTOLOGY)
        calls = [talk("create_node", type="Action", content=f"number {n}", format="text") for n in range(40)]
        made = {answer["node_id"] for answer in await asyncio.gather(*calls)}
        assert set((await talk("query_nodes"))["node_ids"]) == made
        assert len(made) == 40
