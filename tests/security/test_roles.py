"""What a role does not cover is not had by another door: the store's statements, untrusted texts, the store's files."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.gateway.processes import ugs
from tests.security.conftest import Guarded
from ugs.graph.commands import AddNode
from ugs.ontology.api import Memory
from ugs.ontology.definition import ConnectionType
from ugs.system import System
from ugs_gateway.app import create_app
from ugs_gateway.auth.api_key_file import StoredToken, create_token
from ugs_gateway.mirror.mirror import FileMirror
from ugs_gateway.settings import Settings

PLAN = "query($q: String!) { cypher(query: $q) { plan { operator details statement } explanation } }"
QUERY = "MATCH (a:person)-[:knows]->(b) RETURN b"
PROGRAM = {"version": 1, "statements": [{"op": "+", "operation": {"type": "cypher", "query": "MATCH (n) RETURN n"}}]}


@pytest.fixture(scope="module")
def trusting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    """A gateway on SQLite on which every document may run."""
    folder = tmp_path_factory.mktemp("roles")
    yield from served(folder, store=f"sqlite:///{folder}/graph.db")


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    """A gateway on which only trusted documents may run."""
    folder = tmp_path_factory.mktemp("strict")
    (folder / "documents.json").write_text("{}")
    yield from served(
        folder,
        store="memory:",
        trusted_only=True,
        trusted_documents=str(folder / "documents.json"),
        mcp_profile="extended",
    )


def served(folder: Path, **settings: Any) -> Iterator[Guarded]:
    file = folder / "tokens.jsonl"
    keys = {role: create_token(file, StoredToken("", role, (role,))) for role in ("reader", "writer", "admin")}
    with TestClient(create_app(Settings(token_file=str(file), **settings)), base_url="http://localhost") as client:
        yield Guarded(client, keys)


@pytest.mark.parametrize("role", ["reader", "writer"])
def test_only_admins_have_the_store_checked(trusting: Guarded, role: str) -> None:
    def check(key: str) -> str:
        headers = {"authorization": f"Bearer {key}", "accept": "text/event-stream"}
        asked = {"query": "subscription { verifyRun { report { ok } } }"}
        return trusting.client.post("/graphql", json=asked, headers=headers).text

    assert "FORBIDDEN" in check(trusting.keys[role]) and "verifyRun" not in check(trusting.keys[role])
    assert '"report":{"ok":true}' in check(trusting.keys["admin"])


@pytest.mark.parametrize("word", ["EXPLAIN", "PROFILE"])
def test_only_admins_see_what_the_store_is_sent(trusting: Guarded, word: str) -> None:
    def shown(role: str) -> dict[str, Any]:
        answer = trusting.ask(PLAN, trusting.keys[role], variables={"q": f"{word} {QUERY}"}).json()
        found: dict[str, Any] = answer["data"]["cypher"]
        return found

    assert any("SELECT" in (step["statement"] or "") for step in shown("admin")["plan"])
    for role in ("reader", "writer"):
        plan = shown(role)
        assert "SELECT" not in str(plan) and {step["statement"] for step in plan["plan"]} == {None}
        assert [step["operator"] for step in plan["plan"]] == [step["operator"] for step in shown("admin")["plan"]]
        assert plan["explanation"], "the plan in the words of the query is for everybody"


def call_tool(door: Guarded, role: str, name: str, arguments: dict[str, Any]) -> Any:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
    headers = {"authorization": f"Bearer {door.keys[role]}", "accept": "application/json, text/event-stream"}
    result = door.client.post("/mcp", json=body, headers=headers).json()["result"]
    return json.loads(result["content"][0]["text"]) if result.get("isError") else result["structuredContent"]


OWN_TEXTS = [
    ("cypher", {"query": "MATCH (n) RETURN n"}),
    ("cypher", {"query": "EXPLAIN MATCH (n) RETURN n"}),
    ("program", {"action": "execute", "program": PROGRAM}),
    ("program", {"action": "execute", "text": "+ MATCH (n) RETURN n"}),
    ("program", {"action": "execute", "program_id": 1, "program": PROGRAM}),
    ("program", {"action": "chain", "deck": [{"program": PROGRAM}]}),
    ("program", {"action": "chain", "deck": [{"program_id": 1}, {"text": "+ MATCH (n) RETURN n"}]}),
]


@pytest.mark.parametrize(("name", "arguments"), OWN_TEXTS)
def test_untrusted_texts_do_not_run_over_mcp_either(strict: Guarded, name: str, arguments: dict[str, Any]) -> None:
    for role in ("reader", "writer"):
        assert call_tool(strict, role, name, arguments)["code"] == "FORBIDDEN"
    assert call_tool(strict, "admin", name, arguments).get("code") != "FORBIDDEN"


def test_stored_programs_run_over_mcp_where_only_trusted_texts_may(strict: Guarded) -> None:
    kept = call_tool(strict, "writer", "program", {"action": "create", "program": PROGRAM, "name": "all"})
    again = call_tool(strict, "writer", "program", {"action": "execute", "program_id": kept["id"]})
    assert again["result"]["nodes"] == []


@pytest.mark.parametrize("store", ["sqlite", "file"])
def test_files_of_a_store_are_for_their_owner(tmp_path: Path, store: str) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    url = f"sqlite:///{folder}/graph.db" if store == "sqlite" else f"file:{folder}"

    async def write() -> dict[str, int]:
        async with System.at_url(url) as system:
            await system.execute(AddNode(id="n"))
            await system.snapshot()
            return {path.name: path.stat().st_mode & 0o777 for path in folder.rglob("*") if path.is_file()}

    modes = asyncio.run(write())
    assert set(modes.values()) == {0o600}, modes
    if store == "sqlite":
        assert set(modes) >= {"graph.db", "graph.db-wal", "graph.db-shm"}


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_files_that_commands_and_the_mirror_write_are_for_their_owner(tmp_path: Path) -> None:
    async def write() -> None:
        async with System.at_url(f"file:{tmp_path}/data") as system:
            memory = Memory(system)
            async with FileMirror(tmp_path / "mirror", system).following() as mirror:
                await memory.create_ontology(["Memo"], [ConnectionType("About", ("Memo",), ("Memo",))])
                await memory.create_node("Memo", "what nobody else may read", "markdown")
                await mirror.update()

    before = os.umask(0o022)
    try:
        asyncio.run(write())
        for words in (("backup", "log.bak"), ("export", "all.log", "--format=log"), ("export", "graph.json")):
            done = ugs(tmp_path, *words, "--store", f"file:{tmp_path}/data")
            assert done.returncode == 0, done.stderr
    finally:
        os.umask(before)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {"log.bak", "all.log", "graph.json"} <= {path.name for path in files}
    mirrored = [path for path in files if path.is_relative_to(tmp_path / "mirror")]
    assert any("nobody else" in path.read_text("utf-8") for path in mirrored)
    modes = {path.relative_to(tmp_path): path.stat().st_mode & 0o777 for path in files}
    assert set(modes.values()) == {0o600}, modes
