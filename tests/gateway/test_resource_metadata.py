"""A client that is refused at `/mcp` finds out where to log in (RFC 9728), and is served when it has."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import httpx2
import jwt
import msgspec
import pytest
from mcp.client.auth.utils import extract_resource_metadata_from_www_auth
from mcp.shared.auth import ProtectedResourceMetadata
from starlette.testclient import TestClient

from ugs.errors import InvalidSyntax
from ugs_gateway.app import create_app
from ugs_gateway.auth.resource_metadata import challenge, metadata_url
from ugs_gateway.settings import Settings, load_settings

SECRET = "a secret that only the issuer and the gateway know"
ISSUER = "https://login.example/"
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
MCP = {"accept": "application/json, text/event-stream"}


def settings(folder: Path, **more: Any) -> Settings:
    (folder / "key").write_text(SECRET)
    given = {
        "store": "memory:",
        "jwt_key_file": str(folder / "key"),
        "jwt_issuer": ISSUER,
        "jwt_audience": "https://graph.example/mcp",
        "public_url": "https://graph.example",
        "allowed_hosts": "graph.example",
        **more,
    }
    return load_settings(given, {}, None)


def token(resource: str) -> str:
    """What the issuer gives who asks it for this resource."""
    claims = {"sub": "jo", "iss": ISSUER, "aud": resource, "exp": time.time() + 60, "roles": ["reader"]}
    return jwt.encode(claims, SECRET, "HS256")


def test_a_scripted_client_goes_from_401_to_a_tool_call(tmp_path: Path) -> None:
    with TestClient(create_app(settings(tmp_path)), base_url="https://graph.example") as client:
        refused = client.post("/mcp", json=LIST, headers=MCP)
        assert refused.status_code == 401
        said = httpx2.Response(
            401, headers=dict(refused.headers), request=httpx2.Request("POST", "https://graph.example/mcp")
        )
        place = extract_resource_metadata_from_www_auth(said)
        assert place == "https://graph.example/.well-known/oauth-protected-resource/mcp"
        found = ProtectedResourceMetadata.model_validate_json(client.get(place).content)
        assert [str(server) for server in found.authorization_servers] == [ISSUER]
        granted = {"authorization": f"Bearer {token(str(found.resource))}"}
        assert client.post("/mcp", json=LIST, headers={**MCP, **granted}).status_code == 200
        call = {**LIST, "method": "tools/call", "params": {"name": "query_nodes", "arguments": {}}}
        answer = client.post("/mcp", json=call, headers={**MCP, **granted}).json()
        assert answer["result"]["structuredContent"] == {"node_ids": []}
        for wrong in (token("https://other.example/mcp"), "rubbish"):
            again = client.post("/mcp", json=LIST, headers={**MCP, "authorization": f"Bearer {wrong}"})
            assert again.status_code == 401 and place in again.headers["www-authenticate"]


def test_both_addresses_tell_the_same_to_everybody_and_take_nothing_else(tmp_path: Path) -> None:
    with TestClient(create_app(settings(tmp_path)), base_url="https://graph.example") as client:
        own, root = (client.get(f"/.well-known/oauth-protected-resource{path}") for path in ("/mcp", ""))
        assert own.json() == root.json() and own.json()["resource"] == "https://graph.example/mcp"
        assert own.headers["access-control-allow-origin"] == "*"
        assert client.post("/.well-known/oauth-protected-resource").status_code == 405
        assert client.get("/.well-known/oauth-protected-resource/graphql").status_code == 404


@pytest.mark.parametrize("missing", ["public_url", "jwt_issuer"])
def test_without_an_issuer_or_an_address_there_is_nothing_to_tell(tmp_path: Path, missing: str) -> None:
    given = msgspec.structs.replace(settings(tmp_path), **{missing: ""})
    assert challenge(given) == "Bearer"
    with TestClient(create_app(given), base_url="http://localhost") as client:
        assert client.get("/.well-known/oauth-protected-resource").status_code == 404
        assert client.post("/mcp", json=LIST, headers=MCP).headers["www-authenticate"] == "Bearer"


def test_the_path_of_a_public_address_stands_behind_the_well_known_one(tmp_path: Path) -> None:
    behind = settings(tmp_path, public_url="https://example.org/ugs/")
    assert metadata_url(behind) == "https://example.org/.well-known/oauth-protected-resource/ugs/mcp"


@pytest.mark.parametrize(
    "url",
    [
        "graph.example",
        "ftp://h",
        "https://",
        'https://h"x',
        "https://h/?q=1",
        "https://h/a b",
        "https://u:p@h",
        "https://h/#x",
    ],
)
def test_a_public_address_is_a_plain_url(tmp_path: Path, url: str) -> None:
    with pytest.raises(InvalidSyntax, match="public_url"):
        settings(tmp_path, public_url=url)
