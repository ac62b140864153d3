"""The server over HTTP, in a real gateway, called by the official client."""

from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client

from tests.gateway.processes import serving
from tests.mcp.talking import Talk

ONTOLOGY: dict[str, Any] = {"node_types": ["Project"], "connection_types": []}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}


@pytest.mark.clause("ONT-8", "ONT-15")
async def test_typed_memory_over_http_and_a_restart(tmp_path: Path) -> None:
    with serving(tmp_path) as gateway:
        async with Client(f"{gateway.url}/mcp") as client:
            talk = Talk(client)
            assert len((await client.list_tools()).tools) == 18
            await talk("create_ontology", **ONTOLOGY)
            made = await talk("create_node", type="Project", content="# Kitchen", format="markdown")
            assert (await talk.refused("get_node", node_id="x"))["code"] == "NODE_NOT_FOUND"
    with serving(tmp_path) as gateway:
        async with Client(f"{gateway.url}/mcp") as client:
            assert await Talk(client)("get_node_content", **made) == {"content": "# Kitchen"}


@pytest.mark.clause("ONT-8")
async def test_foreign_web_pages_are_refused(tmp_path: Path) -> None:
    with serving(tmp_path) as gateway:
        headers = {"accept": "application/json, text/event-stream"}
        async with httpx2.AsyncClient(headers=headers) as http:
            evil = await http.post(f"{gateway.url}/mcp", json=LIST, headers={"origin": "https://evil.example"})
            rebound = await http.post(f"{gateway.url}/mcp", json=LIST, headers={"host": "evil.example"})
        assert evil.status_code == 403
        assert rebound.status_code in (403, 421)
