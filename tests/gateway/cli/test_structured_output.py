"""Structured output is the default of every command that answers with data, and of every refusal."""

from __future__ import annotations

import json

import pytest

from tests.gateway.cli.conftest import Ugs
from ugs_conformance.support.pytest_plugin import clause
from ugs_gateway.cli.command_table import COMMANDS

CALLS = {
    "add-node": ("x",),
    "add-edge": ("e9", "alice", "bob"),
    "get": ("alice",),
    "update": ("alice", "k=v"),
    "delete": ("bob",),
    "resolve": ("@(alice)",),
    "search": ("alice",),
    "list": ("person",),
    "find-by-property": ("name", "Alice"),
    "neighbors": ("alice",),
    "traverse": ("alice",),
    "path": ("alice", "api_proj"),
    "cypher": ("MATCH (n) RETURN count(n)",),
    "facts": ("Nobody",),
    "program": ("list",),
    "send": ("alice", "query"),
    "clear-scope": ("scratch",),
    "versions": ("alice",),
    "watch": ("--after", "0", "--count", "1"),
    "export": (),
    "key": ("list",),
    "config": ("show",),
    "token": ("list", "nowhere.json"),
    "copy": ("nowhere:", "nothing:"),
    "import": ("nowhere.json",),
    "ingest": ("nowhere.json",),
}
NOT_ANSWERS = {
    "exit": "ends a session and has nothing to answer",
    "quit": "ends a session and has nothing to answer",
    "health": "passes on the words of the gateway, for health checks of containers",
    "serve": "runs a server",
    "mcp": "speaks MCP on standard output",
    "mirror": "keeps a folder of files up to date",
    "completion": "prints a script for a shell",
    "complete": "prints words for a shell",
    "conformance": "runs pytest",
}
"""Commands whose output is no answer, with the reason."""


@clause("UGS-2")
@pytest.mark.parametrize("name", [entry.name for entry in COMMANDS if entry.name not in NOT_ANSWERS])
def test_every_answer_and_every_refusal_is_json_unless_asked_otherwise(demo: Ugs, name: str) -> None:
    ran = demo(name, *CALLS.get(name, ()))

    answer = json.loads(ran.out)
    assert isinstance(answer, dict | list)
    if ran.code != 0:
        assert answer["error"], ran
