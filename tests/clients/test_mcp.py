"""The TypeScript SDK of MCP against a real gateway: answers pass its checks, and refusals reach whoever called."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.clients.node import packages, run
from tests.gateway.processes import serving

ONTOLOGY = {"node_types": ["Project"], "connection_types": []}
NODE = {"type": "Project", "format": "text"}
CALLS: list[tuple[str, dict[str, Any], str]] = [
    ("get_node", {"node_id": "nobody"}, "NODE_NOT_FOUND"),
    ("get_node_content", {"node_id": "nobody"}, "NODE_NOT_FOUND"),
    ("get_connection", {"connection_id": "nobody"}, "CONNECTION_NOT_FOUND"),
    ("create_node", {**NODE, "content": "x", "type": "Dog"}, "INVALID_NODE_TYPE"),
    ("create_node", {"type": "Project"}, "INVALID_ARGUMENT"),
    ("create_ontology", ONTOLOGY, "ONTOLOGY_ALREADY_EXISTS"),
    ("add_fact", {"subject": "Ada", "predicate": "is"}, "INVALID_ARGUMENT"),
    ("cypher", {"query": "RETURN 1 +"}, "CYPHER_SYNTAX"),
    ("program", {"action": "get", "program_id": 99}, "PROGRAM_NOT_FOUND"),
]
LARGE = 200_000


def test_refusals_are_readable(tmp_path: Path) -> None:
    packages()
    script: list[dict[str, Any]] = [{"name": "create_ontology", "arguments": ONTOLOGY}]
    script += [{"name": name, "arguments": given} for name, given, _ in CALLS]
    script += [{"name": "create_node", "arguments": NODE, "repeat": size} for size in (1_000, LARGE)]
    options = ("--store", "memory:", "--mcp-profile", "extended", "--max-body-bytes", "100000")
    with serving(tmp_path, *options) as gateway:
        found = run("mcp.mjs", f"{gateway.url}/mcp", json.dumps(script))
    first, *refusals, made, large = found["told"]
    assert first["structuredContent"] == {"success": True}
    for result, (name, _, code) in zip(refusals, CALLS, strict=True):
        assert "thrown" not in result, (name, result)
        assert result["isError"], name
        told = json.loads(result["content"][0]["text"])
        assert (told["code"], "structuredContent" in result) == (code, False), name
        assert result["_meta"]["ugs/error"] == told
    assert made["structuredContent"]["node_id"]
    assert "more than 100000 bytes" in large["thrown"]
    assert "get_connection_content" in found["tools"]
