"""What seed 004 takes for granted: one server for a folder, standard MCP, parts that can be told apart, content at rest."""

import asyncio
import json
import os
import sqlite3
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import asyncpg
import msgspec
import pytest

from tests import servers
from tests.gateway.mcp.client import UGS, Talk, near, over_stdio
from ugs.graph.model import Edge, Node
from ugs.ontology.definition import ConnectionType, Ontology
from ugs.ontology.errors import InvalidTopology
from ugs.ontology.model import Content, Enforcement
from ugs.values import to_text
from ugs_conformance.support.store_fixture import fixture
from ugs_gateway.mcp.server import Profile
from ugs_gateway.mirror.registry import record, registry_text

GTD = fixture("ont_ontology")
SCHEMA = "content_trouble"


# ── the parts of the seed ────────────────────────────────────────────────────


@pytest.mark.clause("ONT-199")
def test_an_ontology_validates_by_itself() -> None:
    """Without a store, a registry or a server."""
    types = tuple(msgspec.convert(one, ConnectionType) for one in GTD["connection_types"])
    ontology = Ontology("default", tuple(GTD["node_types"]), types, Enforcement.OFF, created=0)
    assert ontology.as_json() == GTD
    assert ontology.is_valid("NextAction", "Project", "Action")
    assert not ontology.is_valid("NextAction", "Action", "Project")
    with pytest.raises(InvalidTopology):
        ontology.connection_type("NextAction").check_ends("Action", "Project")


@pytest.mark.clause("ONT-199", "ONT-181", "ONT-183", "ONT-185")
def test_a_registry_is_written_from_records_alone() -> None:
    """Without an ontology or a store."""
    node = Node("mem_a_1", "Project", to_text({"status": "active"}), None, 0, 1_500, 2)
    edge = Edge("conn_b_2", "mem_a_1", "mem_a_1", "Near", 1, to_text({}), 0, 0, 1, 3)
    content = Content("mem_a_1", "node", "markdown", "utf-8", 3, "md")
    told = json.loads(registry_text({node.id: record(node, content)}, {edge.id: record(edge, None)}))
    assert told["nodes"]["mem_a_1"] == {
        "id": "mem_a_1",
        "type": "Project",
        "created": "1970-01-01T00:00:00.000Z",
        "modified": "1970-01-01T00:00:01.500Z",
        "properties": {"status": "active"},
        "content": {"path": "_content/nodes/mem_a_1.md", "format": "markdown", "encoding": "utf-8"},
    }
    assert (told["connections"]["conn_b_2"]["from"], told["connections"]["conn_b_2"]["to"]) == ("mem_a_1", "mem_a_1")


# ── one server, standard input and output, a folder ──────────────────────────


@pytest.mark.clause("ONT-188")
async def test_a_folder_has_one_server_at_a_time(tmp_path: Path) -> None:
    """The second one passes messages on to the first, which goes on when the second ends."""
    async with over_stdio(tmp_path) as talk:
        await talk("create_ontology", **GTD)
        environment = {**os.environ, "BASE_PATH": str(tmp_path)}
        second = await asyncio.to_thread(
            subprocess.run, [UGS, "mcp"], env=environment, capture_output=True, stdin=subprocess.DEVNULL, timeout=60
        )
        assert (second.returncode, second.stdout) == (0, b"")
        async with over_stdio(tmp_path) as guest:
            assert (await guest("get_ontology"))["node_types"] == GTD["node_types"]
        assert (await talk("get_ontology"))["node_types"] == GTD["node_types"]
    async with over_stdio(tmp_path) as talk:
        assert await talk("get_ontology") == GTD


HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "by hand", "version": "1"},
}


@pytest.mark.clause("ONT-20", "ONT-193")
def test_standard_input_and_output_carry_the_protocol_and_nothing_else(tmp_path: Path) -> None:
    """Told by hand, without any SDK: each line is a JSON-RPC message, and the folder is made where it was missing."""
    messages: list[dict[str, Any]] = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
        {"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "create_ontology", "arguments": GTD}},
    ]
    base = tmp_path / "not" / "there yet"
    with subprocess.Popen(
        [UGS, "mcp"], env={**os.environ, "BASE_PATH": str(base)}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:  # fmt: skip
        assert server.stdin is not None and server.stdout is not None
        answers = {}
        for message in messages:
            server.stdin.write(json.dumps(message) + "\n")
            server.stdin.flush()
            if "id" in message:
                answer = json.loads(server.stdout.readline())
                answers[answer["id"]] = answer["result"]
        server.stdin.close()
        assert server.stdout.read() == "" and server.wait(30) == 0
    assert answers[1]["serverInfo"]["name"] == "graph-memory-core"
    assert len(answers[2]["tools"]) == 18
    assert answers[3]["structuredContent"] == {"success": True}
    assert (base / "_system" / "ontology.yaml").exists()


# ── content at rest ──────────────────────────────────────────────────────────

Break = Callable[[], Awaitable[None]]


@asynccontextmanager
async def on_sqlite(tmp_path: Path) -> AsyncIterator[tuple[Talk, Break]]:
    async def drop() -> None:
        with sqlite3.connect(tmp_path / "memory.db") as other:
            other.execute("DROP TABLE content_bodies")

    async with near(f"sqlite:///{tmp_path}/memory.db", Profile.EXTENDED) as talk:
        yield talk, drop


@asynccontextmanager
async def on_postgresql(tmp_path: Path) -> AsyncIterator[tuple[Talk, Break]]:
    url = servers.require("postgresql").partition("?")[0]
    other = await asyncpg.connect(url)

    async def drop() -> None:
        await other.execute(f"DROP TABLE {SCHEMA}.content_bodies CASCADE")

    try:
        await other.execute(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
        async with near(f"{url}?schema={SCHEMA}", Profile.EXTENDED) as talk:
            yield talk, drop
    finally:
        await other.execute(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
        await other.close()


@pytest.mark.parametrize("store", [on_sqlite, on_postgresql])
@pytest.mark.clause("ONT-42", "ONT-55", "ONT-41", "ONT-46", "ONT-191")
async def test_content_that_cannot_be_read_is_missed_by_whoever_reads_it_and_by_nobody_else(
    store: Any, tmp_path: Path
) -> None:
    async with store(tmp_path) as (talk, break_content):
        await talk("create_ontology", **GTD)
        node = {"type": "Project", "content": "# Kitchen", "format": "markdown"}
        project = await talk("create_node", **node)
        action = await talk("create_node", **{**node, "type": "Action"})
        ends = {"from_node_id": project["node_id"], "to_node_id": action["node_id"]}
        link = await talk("create_connection", type="NextAction", **ends, content="why")
        assert await talk("get_node_content", **project) == {"content": "# Kitchen"}
        await break_content()
        assert (await talk.refused("get_node_content", **project))["code"] == "CONTENT_READ_FAILED"
        assert (await talk.refused("create_node", **node))["code"] == "FILE_CREATION_FAILED"
        again = {"type": "NextAction", **ends, "content": "why"}
        assert (await talk.refused("create_connection", **again))["code"] == "FILE_CREATION_FAILED"
        assert (await talk("get_node", **project))["content_format"] == "markdown"
        assert (await talk("query_nodes", type="Project"))["node_ids"] == [project["node_id"]]
        assert (await talk("get_connection", **link))["has_content"]
        assert (await talk("query_connections", **ends))["connection_ids"] == [link["connection_id"]]
        assert await talk("get_connected_nodes", **project, direction="out") == {"node_ids": [action["node_id"]]}
        assert len((await talk("list_nodes"))["nodes"]) == 2
        assert [one["has_content"] for one in (await talk("list_connections"))["connections"]] == [True]
