"""The eighteen tools: their shapes, their answers and their refusals."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from mcp import MCPError

from tests.gateway.mcp.client import near
from ugs.errors import StorageIOError
from ugs_conformance.support.store_fixture import fixture
from ugs_gateway.mcp.server import Profile, code_of
from ugs_gateway.mcp.tools.core import TOOLS

SEED = fixture("ont_tools")
GTD = next(tool["example_args"] for tool in SEED["tools"] if tool["name"] == "create_ontology")
CHANGING = {"create_node", "update_node", "delete_node", "create_connection", "update_connection", "delete_connection"}
CHANGING |= {"create_ontology", "add_node_type", "add_connection_type"}


@pytest.mark.clause("ONT-8", "ONT-18", "ONT-199")
async def test_exactly_the_eighteen_tools() -> None:
    async with near() as talk:
        tools = (await talk.client.list_tools()).tools
        assert talk.client.server_info.name == "graph-memory-core" == SEED["server"]
    assert [tool.name for tool in tools] == [tool["name"] for tool in SEED["tools"]]
    for tool in tools:
        assert tool.title and tool.description and len(tool.description) < 120
        assert tool.annotations is not None and tool.annotations.open_world_hint is False
        assert tool.annotations.read_only_hint is (tool.name not in CHANGING)


@pytest.mark.parametrize("wanted", SEED["tools"], ids=lambda tool: tool["name"])
@pytest.mark.clause(
    "ONT-43", "ONT-56", "ONT-67", "ONT-78", "ONT-81", "ONT-83", "ONT-87", "ONT-90", "ONT-93", "ONT-97", "ONT-99"
)
async def test_a_tool_takes_and_answers_what_the_seed_says(wanted: dict[str, Any]) -> None:
    async with near() as talk:
        [tool] = [tool for tool in (await talk.client.list_tools()).tools if tool.name == wanted["name"]]
    names = {name.rstrip("?") for name in wanted["input"]}
    required = {name for name in wanted["input"] if not name.endswith("?")} - {"encoding"}
    assert tool.input_schema["type"] == "object"
    assert tool.input_schema.get("properties", {}).keys() == names
    assert set(tool.input_schema.get("required", [])) == required
    assert tool.input_schema["additionalProperties"] is False
    answers = wanted["returns"]
    fields = {"content"} if isinstance(answers, str) else {"success"} if answers is None else set(answers)
    assert tool.output_schema is not None and tool.output_schema["properties"].keys() == fields


@pytest.mark.clause("ONT-32", "ONT-197")
async def test_before_there_is_an_ontology() -> None:
    async with near() as talk:
        refusal = await talk.refused("create_node", type="Project", content="", format="markdown")
        assert refusal["code"] == "ONTOLOGY_NOT_FOUND" and "has not been created yet" in refusal["message"]
        for tool, arguments in (
            ("get_ontology", {}),
            ("add_node_type", {"type_name": "x"}),
            ("validate_connection", {"connection_type": "a", "from_node_type": "b", "to_node_type": "c"}),
        ):
            assert (await talk.refused(tool, **arguments))["code"] == "ONTOLOGY_NOT_FOUND"
        assert await talk("query_nodes") == {"node_ids": []}


@pytest.mark.clause("ONT-1", "ONT-2", "ONT-3", "ONT-4", "ONT-5")
async def test_every_tool_does_its_work() -> None:
    async with near() as talk:
        assert await talk("create_ontology", **GTD) == {"success": True}
        project = (await talk("create_node", type="Project", content="# Kitchen", format="markdown"))["node_id"]
        action = (await talk("create_node", type="Action", content="call", format="text", properties={"n": 1}))[
            "node_id"
        ]
        edge = await talk(
            "create_connection", type="NextAction", from_node_id=project, to_node_id=action, content="why"
        )
        edge_id = edge["connection_id"]
        assert (await talk("get_node", node_id=project))["content_format"] == "markdown"
        assert await talk("get_node_content", node_id=project) == {"content": "# Kitchen"}
        assert await talk("update_node", node_id=action, properties={"m": True}) == {"success": True}
        assert (await talk("get_node", node_id=action))["properties"] == {"n": 1, "m": True}
        assert (await talk("get_connection", connection_id=edge_id))["has_content"] is True
        assert await talk("update_connection", connection_id=edge_id, properties={"p": "high"}) == {"success": True}
        assert await talk("query_nodes", type="Action", properties={"n": 1}) == {"node_ids": [action]}
        assert await talk("query_connections", properties={"p": "high"}) == {"connection_ids": [edge_id]}
        assert await talk("get_connected_nodes", node_id=project, direction="out") == {"node_ids": [action]}
        assert await talk("search_content", query="KITCHEN") == {"node_ids": [project]}
        asked = {"connection_type": "NextAction", "from_node_type": "Project", "to_node_type": "Action"}
        assert await talk("validate_connection", **asked) == {"valid": True}
        await talk("add_node_type", type_name="Document")
        await talk("add_connection_type", type_name="About", from_types=["Document"], to_types=["Project"])
        ontology = await talk("get_ontology")
        assert ontology["node_types"] == [*GTD["node_types"], "Document"]
        assert ontology["connection_types"][:3] == GTD["connection_types"]
        await talk("delete_connection", connection_id=edge_id)
        await talk("delete_node", node_id=project)
        assert await talk("query_nodes") == {"node_ids": [action]}


REFUSALS = [
    ("create_node", {"type": "Epic", "content": "", "format": ""}, "INVALID_NODE_TYPE"),
    ("create_node", {"type": "Project", "content": "", "format": "", "encoding": "utf-16"}, "INVALID_ENCODING"),
    ("create_node", {"type": "Project", "content": "!", "format": "", "encoding": "base64"}, "INVALID_ENCODING"),
    (
        "create_node",
        {"type": "Project", "content": "", "format": "", "properties": {"a": []}},
        "INVALID_PROPERTY_VALUE",
    ),
    ("create_node", {"type": "Project", "content": "", "format": "", "properties": {"": 1}}, "INVALID_ARGUMENT"),
    ("create_node", {"type": "Project"}, "INVALID_ARGUMENT"),
    ("create_node", {"type": 1, "content": "", "format": ""}, "INVALID_ARGUMENT"),
    ("get_node", {}, "INVALID_ARGUMENT"),
    ("get_node", {"node_id": "x", "extra": 1}, "INVALID_ARGUMENT"),
    ("get_node", {"node_id": "x"}, "NODE_NOT_FOUND"),
    ("update_node", {"node_id": "x", "properties": {}}, "NODE_NOT_FOUND"),
    ("delete_node", {"node_id": "../x"}, "NODE_NOT_FOUND"),
    ("get_connection", {"connection_id": "x"}, "CONNECTION_NOT_FOUND"),
    ("create_connection", {"type": "None", "from_node_id": "a", "to_node_id": "b"}, "INVALID_CONNECTION_TYPE"),
    ("create_connection", {"type": "NextAction", "from_node_id": "a", "to_node_id": "b"}, "NODE_NOT_FOUND"),
    ("get_connected_nodes", {"node_id": "x", "direction": "up"}, "INVALID_ARGUMENT"),
    ("search_content", {"query": "x", "limit": 0}, "INVALID_ARGUMENT"),
    ("search_content", {"query": "x", "limit": "1"}, "INVALID_ARGUMENT"),
    ("create_ontology", GTD, "ONTOLOGY_ALREADY_EXISTS"),
    ("add_node_type", {"type_name": "Project"}, "TYPE_ALREADY_EXISTS"),
    ("add_node_type", {"type_name": ""}, "INVALID_ARGUMENT"),
    ("add_connection_type", {"type_name": "NextAction", "from_types": ["a"], "to_types": ["b"]}, "TYPE_ALREADY_EXISTS"),
    ("add_connection_type", {"type_name": "X", "from_types": [], "to_types": ["b"]}, "INVALID_ARGUMENT"),
]


@pytest.mark.clause("ONT-126", "ONT-196", "ONT-197")
async def test_refusals_have_the_documented_codes() -> None:
    async with near() as talk:
        await talk("create_ontology", **GTD)
        for tool, arguments, code in REFUSALS:
            assert ((await talk.refused(tool, **arguments))["code"], tool, arguments) == (code, tool, arguments)


@pytest.mark.clause("ONT-8")
async def test_the_read_only_profile_changes_nothing() -> None:
    async with near(profile=Profile.READ_ONLY) as talk:
        offered = {tool.name for tool in (await talk.client.list_tools()).tools}
        assert offered == {tool["name"] for tool in SEED["tools"]} - CHANGING
        with pytest.raises(MCPError, match="Unknown tool: delete_node"):
            await talk.client.call_tool("delete_node", {"node_id": "x"})


@pytest.mark.clause("ONT-41", "ONT-42", "ONT-55", "ONT-196")
async def test_trouble_with_the_store_has_the_seeds_codes(tmp_path: Path) -> None:
    async with near(f"sqlite:///{tmp_path}/memory.db") as talk:
        await talk("create_ontology", **GTD)
        made = await talk("create_node", type="Project", content="x", format="text")
        with sqlite3.connect(tmp_path / "memory.db") as other:
            other.execute("DROP TABLE content_bodies")
        assert (await talk.refused("get_node_content", **made))["code"] == "CONTENT_READ_FAILED"
        node = {"type": "Project", "content": "y", "format": "text"}
        assert (await talk.refused("create_node", **node))["code"] == "FILE_CREATION_FAILED"
        assert (await talk("query_nodes"))["node_ids"] == [made["node_id"]]
    assert code_of(TOOLS[1], StorageIOError("The disk does not answer")) == "E007"
