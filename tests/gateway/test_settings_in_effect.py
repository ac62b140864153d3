"""Settings that change what a running gateway does, each seen from outside."""

from __future__ import annotations

import gzip
import json
import signal
import socket
import threading
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from starlette.testclient import TestClient

from tests.gateway.processes import DIRECT, Gateway, serving
from tests.servers.places import free_port
from tests.work import TIMED
from ugs.support.budget import POOL
from ugs_gateway.app import create_app
from ugs_gateway.settings import Settings

INTROSPECTION = "{ __schema { types { name description fields { name description } } } }"


@pytest.mark.parametrize("compression", [True, False])
def test_large_answers_are_compressed_unless_that_is_off(compression: bool) -> None:
    with TestClient(
        create_app(Settings(store="memory:", compression=compression)), base_url="http://localhost"
    ) as client:
        headers = {"accept-encoding": "gzip"}
        with client.stream("POST", "/graphql", json={"query": INTROSPECTION}, headers=headers) as answer:
            raw = b"".join(answer.iter_raw())

    assert answer.headers.get("content-encoding") == ("gzip" if compression else None)
    assert json.loads(gzip.decompress(raw) if compression else raw)["data"]["__schema"]


async def tools(url: str) -> set[str]:
    async with Client(streamable_http_client(f"{url}/mcp")) as client:
        return {tool.name for tool in (await client.list_tools()).tools}


async def test_the_mcp_profile_decides_which_tools_there_are(tmp_path: Path) -> None:
    with serving(tmp_path, "--store", "memory:") as core:
        few = await tools(core.url)
    with serving(tmp_path, "--store", "memory:", "--mcp-profile", "extended") as extended:
        many = await tools(extended.url)

    assert len(few) == 18
    assert few < many and "cypher" in many


async def test_answers_of_mcp_tools_have_at_most_so_many_bytes(tmp_path: Path) -> None:
    with serving(tmp_path, "--store", "memory:", "--mcp-max-bytes", "20000") as gateway:
        async with Client(streamable_http_client(f"{gateway.url}/mcp")) as client:
            await client.call_tool("create_ontology", {"node_types": ["Note"], "connection_types": []})
            for number in range(60):
                properties = {"text": f"{number} " + "x" * 900}
                arguments = {"type": "Note", "properties": properties, "content": "c", "format": "text"}
                made = await client.call_tool("create_node", arguments)
                assert not made.is_error, made
            found = await client.call_tool("query_nodes", {"type": "Note"})

    assert len("".join(part.text for part in found.content)) <= 20_000  # type: ignore[union-attr]


def status_for(gateway: Gateway, client: str) -> int:
    """The status of a query that a proxy passes on for a client."""
    headers = {"content-type": "application/json", "x-forwarded-for": client}
    request = urllib.request.Request(f"{gateway.url}/graphql", b'{"query":"{ __typename }"}', headers)
    try:
        with DIRECT.open(request, timeout=10) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as refused:
        return refused.code


@pytest.mark.parametrize(("trusted", "others"), [("127.0.0.1", 200), ("192.0.2.1", 429)])
def test_only_a_trusted_proxy_may_say_who_asks(tmp_path: Path, trusted: str, others: int) -> None:
    options = ("--store", "memory:", "--max-requests-per-minute", "2", "--trusted-proxies", trusted)
    with serving(tmp_path, *options) as gateway:
        first = [status_for(gateway, "203.0.113.9") for _ in range(4)]
        other = status_for(gateway, "203.0.113.10")

    assert first[0] == 200 and first[-1] == 429
    assert other == others


class Collector(BaseHTTPRequestHandler):
    """Notes what is sent to it."""

    seen: list[tuple[str, bytes]]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.seen.append((self.path, gzip.decompress(body) if self.headers["content-encoding"] == "gzip" else body))
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Stay quiet."""


def test_traces_are_sent_to_the_endpoint(tmp_path: Path) -> None:
    Collector.seen = []
    server = HTTPServer(("127.0.0.1", free_port()), Collector)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    endpoint = f"http://127.0.0.1:{server.server_port}"
    try:
        with serving(tmp_path, "--store", "memory:", "--otlp-endpoint", endpoint) as gateway:
            gateway.ask("query CountThem { stats { nodes } }")
            gateway.process.send_signal(signal.SIGTERM)
            gateway.process.communicate(timeout=30)
    finally:
        server.shutdown()

    assert [path for path, _ in Collector.seen] and {path for path, _ in Collector.seen} == {"/v1/traces"}
    assert any(b"query CountThem" in body for _, body in Collector.seen)


@TIMED
def test_a_gateway_that_is_told_to_stop_waits_no_longer_than_it_is_told(tmp_path: Path) -> None:
    with (
        serving(tmp_path, "--store", "memory:", "--drain-seconds", "1") as gateway,
        socket.create_connection(("127.0.0.1", gateway.port)) as half,
    ):
        half.sendall(b"POST /graphql HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{")
        time.sleep(0.2)
        begun = time.monotonic()
        gateway.process.send_signal(signal.SIGTERM)
        gateway.process.communicate(timeout=60)

        assert time.monotonic() - begun < 8  # the default


LIMITED: list[tuple[str, int, dict[str, Any]]] = [
    ("max_body_bytes", 1_024, {"query": "{ __typename }" + " " * 2_000}),
    ("max_json_depth", 4, {"query": "{ __typename }", "variables": {"deep": [[[[[1]]]]]}}),
    ("max_directives", 1, {"query": "{ __typename @skip(if: false) @include(if: true) }"}),
    ("max_page", 3, {"query": "{ graphNodes(first: 4) { nodes { id } } }"}),
    (
        "request_memory_bytes",
        1 << 20,
        {"query": '{ cypher(query: "UNWIND range(1, 20000) AS i RETURN collect(i)") { rows } }'},
    ),
]


@pytest.mark.parametrize(("name", "value", "body"), LIMITED, ids=[name for name, _, _ in LIMITED])
def test_a_lower_limit_refuses_what_the_default_allows(
    name: str, value: int, body: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for limit in ("request_bytes", "max_bytes"):
        monkeypatch.setattr(POOL, limit, getattr(POOL, limit))  # `create_app` sets them for the whole process
    answers = []
    for settings in (Settings(store="memory:"), Settings(store="memory:", **{name: value})):  # type: ignore[arg-type]
        with TestClient(create_app(settings), base_url="http://localhost") as client:
            answers.append(client.post("/graphql", json=body).json())

    allowed, refused = answers
    assert "errors" not in allowed and "INTERNAL" not in str(refused)
    assert refused["errors"][0]["extensions"]["code"] == ("E006" if name == "max_json_depth" else "LIMIT_EXCEEDED")
