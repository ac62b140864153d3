"""The server over HTTP, in a real gateway, called by the official client."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.gateway.mcp.client import Talk
from tests.gateway.processes import serving
from ugs_gateway.auth.api_key_file import StoredToken, create_token

ONTOLOGY: dict[str, Any] = {"node_types": ["Project"], "connection_types": []}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}


@pytest.mark.clause("ONT-8")
async def test_the_gateways_login_and_roles_hold(tmp_path: Path) -> None:
    file = tmp_path / "tokens.jsonl"
    keys = {role: create_token(file, StoredToken("", f"the_{role}", (role,))) for role in ("reader", "writer")}
    with serving(tmp_path, "--token-file", str(file)) as gateway:
        async with logged_in(gateway.url, keys["writer"]) as talk:
            await talk("create_ontology", **ONTOLOGY)
        async with logged_in(gateway.url, keys["reader"]) as talk:
            assert await talk("get_ontology") == ONTOLOGY
            assert (await talk.refused("add_node_type", type_name="X"))["code"] == "FORBIDDEN"
        async with httpx2.AsyncClient(timeout=60) as http:
            stranger = await http.post(f"{gateway.url}/mcp", json=LIST)
        assert stranger.status_code == 401 and stranger.headers["www-authenticate"] == "Bearer"


@asynccontextmanager
async def logged_in(url: str, key: str) -> AsyncIterator[Talk]:
    async with (
        httpx2.AsyncClient(headers={"authorization": f"Bearer {key}"}, timeout=60) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client,
    ):
        yield Talk(client)


@pytest.mark.clause("ONT-8")
async def test_foreign_web_pages_are_refused(tmp_path: Path) -> None:
    with serving(tmp_path) as gateway:
        headers = {"accept": "application/json, text/event-stream"}
        async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
            evil = await http.post(f"{gateway.url}/mcp", json=LIST, headers={"origin": "https://evil.example"})
            rebound = await http.post(f"{gateway.url}/mcp", json=LIST, headers={"host": "evil.example"})
        assert evil.status_code == 403
        assert rebound.status_code in (403, 421)
