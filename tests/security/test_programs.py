"""A34, A35, A50–A58: programs that want what is not theirs, want to write, or want too much."""

from __future__ import annotations

import itertools
import socket
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from ugs.cypher.graph_views import FactsContext
from ugs.errors import InvalidSyntax
from ugs.facts.access import AccessScope
from ugs.facts.api import Facts
from ugs.facts.commands.facts import NoteRef
from ugs.graph.api import Graph
from ugs.identity import LOCAL, Principal
from ugs.programs.api import DeckEntry, Programs
from ugs.programs.ast import ApiOp, CypherOp, GraphProgram, Operator, Statement
from ugs.programs.errors import ProgramInvalid
from ugs.programs.execution.executor import PreparedProgram, run_program
from ugs.programs.execution.operations import Dispatcher, RunContext
from ugs.programs.validation.validator import validate
from ugs.system import System
from ugs_gateway.app import create_app
from ugs_gateway.auth.api_key_file import StoredToken, create_token
from ugs_gateway.settings import Settings

ALL = {"version": 1, "statements": [{"op": "+", "operation": {"type": "cypher", "query": "MATCH (n) RETURN n"}}]}


@pytest.fixture
async def system() -> AsyncIterator[System]:
    async with System.at_url("memory:") as system:
        await Graph(system).load_demo()
        yield system


def asking(query: str) -> dict[str, Any]:
    return {"version": 1, "statements": [{"op": "+", "operation": {"type": "cypher", "query": query}}]}


async def unchecked(system: System, *operations: CypherOp | ApiOp, seconds: float = 2.0) -> Any:
    """Run operations as if the validator had let everything pass."""
    program = GraphProgram(1, [Statement(Operator.UNION, operation) for operation in operations])
    async with system.session() as session:
        glasses = FactsContext(AccessScope(), 0)
        world = RunContext(session, LOCAL.principal, glasses, time.monotonic() + seconds, system.vectors)
        return await run_program(Dispatcher(world), PreparedProgram(program), world.deadline)


WRITING = [
    "CREATE (x)",
    "MERGE (x:A)",
    "SET n.x = 1",
    "SET n = {}",
    "SET n += $W_IDS",
    "DELETE n",
    "DETACH DELETE n",
    "NODETACH DELETE n",
    "REMOVE n.x",
    "REMOVE n:A",
    "DROP INDEX i",
    "FOREACH (x IN [1] | CREATE (y))",
    "CALL { CREATE (x) }",
    "CALL { MATCH (m) DELETE m } IN TRANSACTIONS",
    "CALL apoc.create.node([], {})",
    "CALL db.labels() YIELD label",
    "LOAD CSV FROM 'http://127.0.0.1/x' AS row",
    "INSERT (x)",
]
AROUND = [
    "MATCH (n) {} RETURN n",
    "MATCH (n) {}",
    "{} RETURN 1",
    "EXPLAIN MATCH (n) {} RETURN n",
    "PROFILE MATCH (n) {} RETURN n",
    "CYPHER runtime=slotted MATCH (n) {} RETURN n",
    "USE neo4j MATCH (n) {} RETURN n",
    "MATCH (n) RETURN n; MATCH (n) {}",
    "MATCH (n) -- (m) {} RETURN n",
    "MATCH (n)--(m) {} RETURN n",
    "MATCH (n) /* harmless */ {} RETURN n",
    "MATCH (n) // harmless\n{} RETURN n",
    "MATCH (n) WHERE n.x = 'it\\'s' {} RETURN n",
    'MATCH (n) WHERE n.x = "\'" {} RETURN n',
    "MATCH (n) WHERE EXISTS {{ MATCH (m) {} RETURN m }} RETURN n",
    "MATCH (n) RETURN n UNION MATCH (n) {} RETURN n",
]
SPELT: list[Callable[[str], str]] = [
    str,
    str.lower,
    lambda text: text.replace(" ", "\t\n", 1),
    lambda text: text.replace("E", "\\u0045", 1),
]


@pytest.mark.clause("PROG-26", "PROG-27", "PROG-5")
async def test_a50_a51_a_thousand_ways_to_write_are_refused_and_would_write_nothing(system: System) -> None:
    before = await system.digest()
    attempts = {spell(around.format(what)) for what, around, spell in itertools.product(WRITING, AROUND, SPELT)}
    attempts |= {"SHOW PROCEDURES", "TERMINATE TRANSACTIONS 'x'", "CREATE DATABASE x", "ALTER USER u SET PASSWORD 'p'"}
    assert len(attempts) > 1_000
    for query in sorted(attempts):
        assert not validate(asking(query)).valid, query
    for query in sorted(attempts)[::7]:
        found = await unchecked(system, CypherOp(query))
        assert found.aborted is not None, query
    assert await system.digest() == before


GREEDY = [
    "MATCH (a), (b), (c), (d), (e), (f), (g), (h), (i), (j), (k), (l) RETURN count(*)",
    "MATCH (n) UNWIND range(1, 100000000) AS x RETURN collect(x)",
    "MATCH (n) RETURN reduce(s = 'ab', x IN range(1, 60) | s + s)",
    "MATCH (n) RETURN [x IN range(1, 9000) | [y IN range(1, 9000) | x * y]]",
    "MATCH (n) WHERE 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!' =~ '(a+)+b' RETURN n",
]
TOO_LONG = ["[*]", "[*..7]", "[*0..]", "[r*]", "[:T*]", "[r:T*2..]", "[*7]", "[* {k: 1}]"]


@pytest.mark.clause("PROG-93", "PROG-121")
async def test_a52_a53_what_would_grow_without_end_is_refused_or_cut(system: System) -> None:
    for path in TOO_LONG:
        assert [issue.rule_id for issue in validate(asking(f"MATCH (a)-{path}-(b) RETURN a")).errors] == ["V030"]
    assert not validate(asking("MATCH ((a)-[]->(b)){1,99} RETURN a")).valid
    for query in GREEDY:
        began = time.monotonic()
        found = await unchecked(system, CypherOp(query), seconds=0.6)
        assert found.aborted is not None or not found.result.nodes, query
        assert time.monotonic() - began < 3, query


@pytest.mark.clause("PROG-4", "PROG-89", "PROG-91")
async def test_a54_a55_size_is_checked_before_anything_runs(system: System) -> None:
    statement = ALL["statements"][0]  # type: ignore[index]

    def branch(inner: Any, times: int) -> dict[str, Any]:
        operation = {"type": "conditional", "condition": {"test": "empty"}, "then": [inner] * times, "else": [inner]}
        return {"op": "+", "operation": operation}

    doubling: Any = statement
    for _ in range(8):
        doubling = branch(doubling, 2)
    deepest: Any = statement
    for _ in range(3_000):
        deepest = branch(deepest, 1)
    large: list[tuple[Any, str]] = [
        ({**ALL, "statements": [statement] * 101}, "V006"),
        ({**ALL, "statements": [statement] * 10_000}, "V006"),
        ({**ALL, "statements": [branch(branch(branch(branch(statement, 1), 1), 1), 1)]}, "V007"),
        ({**ALL, "statements": [doubling]}, "V006"),
        ({**ALL, "statements": [deepest]}, "V000"),
        (asking("MATCH (n) WHERE " + "(" * 600 + "true" + ")" * 600 + " RETURN n"), "V031"),
        (asking("MATCH (n) RETURN n " + "/* */" * 300_000), "V031"),
        (asking(" UNION ".join(["MATCH (n) RETURN n"] * 800)), "V031"),
        (asking(" UNION ".join(["MATCH (n) RETURN n"] * 10_000)), "V031"),
    ]
    programs = Programs(system)
    with pytest.raises(InvalidSyntax, match="1 to 10 programs, got 11"):
        await programs.execute_deck([DeckEntry(program=ALL)] * 11)
    for raw, rule in large:
        began = time.process_time()
        with pytest.raises(ProgramInvalid) as refused:
            await programs.execute(raw)
        assert rule in {issue.rule_id for issue in refused.value.validation.errors}
        assert time.process_time() - began < 1.5


@pytest.mark.clause("PROG-40", "PROG-42")
async def test_a56_values_are_bound_and_never_read_as_text(system: System) -> None:
    evil = ["' OR true //", "') DETACH DELETE n //", '"}) RETURN n', "$W_IDS", "$$who", "\\'; DROP INDEX i", "{x: 1}"]
    before = [node.id for node in await Graph(system).list_nodes()]
    raw = {**asking("MATCH (n) WHERE n.label = $who RETURN n"), "params": [{"name": "who", "type": "string"}]}
    raw["statements"].append(
        {"op": "+", "operation": {"type": "api", "endpoint": "/concepts/details", "params": {"concept_id": "$who"}}}
    )
    for text in evil:
        found = await Programs(system).execute(raw, {"who": text})
        assert found.aborted is None and found.result.is_empty
        await Graph(system).add_node(f"n{evil.index(text)}", "evil", {"concept_id": text, "label": text})
        found = await Programs(system).execute(raw, {"who": text})
        assert found.result.ids == [text] and found.aborted is None
        again = asking("MATCH (n:evil) RETURN n")
        again["statements"].append(
            {
                "op": "&",
                "operation": asking("MATCH (n) WHERE n.concept_id IN $W_IDS RETURN n")["statements"][0]["operation"],
            }
        )
        assert text in (await Programs(system).execute(again)).result.ids
    for number in range(len(evil)):
        await Graph(system).delete(f"n{number}")
    assert [node.id for node in await Graph(system).list_nodes()] == before


@pytest.mark.clause("PROG-29", "PROG-94", "PROG-102")
async def test_a57_only_six_endpoints_and_no_network(system: System, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_network(*arguments: Any, **more: Any) -> Any:
        raise AssertionError("a program must not open connections")

    for path in (
        "/search/concepts/../admin",
        "//host/search/concepts",
        "http://127.0.0.1/search/concepts",
        "/SEARCH/concepts",
        "/search/concepts/",
        "/search/concepts\x00",
        " /search/concepts",
        "/search/concepts?query=x",
    ):
        operation = {"type": "api", "endpoint": path, "params": {"query": "x"}}
        found = validate({**ALL, "statements": [{"op": "+", "operation": operation}]})
        assert [issue.rule_id for issue in found.errors] == ["V000" if "\x00" in path else "V020"], path
    monkeypatch.setattr(socket.socket, "connect", no_network)
    every = {
        "/search/concepts": {"query": "Alice"},
        "/search/sources": {"query": "Alice"},
        "/vocabulary/status": {},
        "/concepts/batch": {"concept_ids": ["alice", 1, None, {"a": 1}]},
        "/concepts/details": {"concept_id": "alice"},
        "/concepts/related": {"concept_id": "alice", "relationship_types": ["x", 2]},
    }
    raw = {
        **ALL,
        "statements": [
            {"op": "+", "operation": {"type": "api", "endpoint": path, "params": params}}
            for path, params in every.items()
        ],
    }
    assert (await Programs(system).execute(raw)).aborted is None


@pytest.mark.clause("PROG-84", "PROG-124")
def test_a35_a_program_changed_in_the_database_is_refused(tmp_path: Path) -> None:
    settings = Settings(store=f"sqlite:///{tmp_path}/graph.db")
    with TestClient(create_app(settings), base_url="http://localhost") as client:
        number = client.post("/programs", json={"program": ALL}).json()["id"]
        assert client.post("/programs/execute", json={"program_id": number}).status_code == 200
        with sqlite3.connect(tmp_path / "graph.db") as database:
            changed = database.execute(
                "UPDATE programs SET definition = replace(definition, 'RETURN n', 'RETURN n LIMIT 5')"
            )
            assert changed.rowcount == 1
        for body in ({"program_id": number}, {"deck": [{"program": ALL}, {"program_id": number}]}):
            refused = client.post("/programs/execute", json=body)
            assert (refused.status_code, refused.json()["code"]) == (409, "DIGEST_MISMATCH")
        assert client.get(f"/programs/{number}").status_code == 409


class Tenants:
    """A gateway that two tenants share, with three people."""

    def __init__(self, client: TestClient, keys: dict[str, str]) -> None:
        self.client, self.keys = client, keys

    def ask(self, who: str, method: str, path: str, body: Any = None) -> Any:
        return self.client.request(method, path, json=body, headers={"authorization": f"Bearer {self.keys[who]}"})


@pytest.fixture
def shared(tmp_path: Path) -> Iterator[Tenants]:
    file = tmp_path / "tokens.jsonl"
    people = {
        "ann": ("acme", "writer"),
        "eve": ("acme", "writer"),
        "root": ("acme", "admin"),
        "mallory": ("other", "admin"),
    }
    keys = {
        name: create_token(file, StoredToken("", name, (role,), tenant=tenant))
        for name, (tenant, role) in people.items()
    }
    with TestClient(create_app(Settings(store="memory:", token_file=str(file))), base_url="http://localhost") as client:
        yield Tenants(client, keys)


@pytest.mark.clause("PROG-113", "PROG-114", "PROG-115")
def test_a34_a58_nobody_gets_at_what_belongs_to_another(shared: Tenants) -> None:
    add = 'mutation { addNode(input: {id: "secret", type: "Concept"}) { node { id } } }'
    assert shared.ask("ann", "POST", "/graphql", {"query": add}).status_code == 200
    mine = shared.ask("ann", "POST", "/programs", {"program": ALL}).json()["id"]
    system = shared.ask("root", "POST", "/programs", {"program": ALL, "system": True}).json()["id"]
    deck = {"deck": [{"program_id": system}, {"program_id": mine}]}
    for who, status in (("eve", 403), ("mallory", 404)):
        assert shared.ask(who, "GET", f"/programs/{mine}").status_code == status
        assert shared.ask(who, "PUT", f"/programs/{mine}", {"name": "x"}).status_code == status
        assert shared.ask(who, "DELETE", f"/programs/{mine}").status_code == status
        assert shared.ask(who, "POST", "/programs/execute", {"program_id": mine}).status_code == status
        assert shared.ask(who, "POST", "/programs/execute", deck).status_code == status
        assert mine not in [item["id"] for item in shared.ask(who, "GET", "/programs").json()]
    assert shared.ask("eve", "PUT", f"/programs/{system}", {"name": "x"}).status_code == 403
    assert shared.ask("eve", "DELETE", f"/programs/{system}").status_code == 403
    assert shared.ask("ann", "POST", "/programs/execute", deck).status_code == 200
    found = shared.ask("ann", "POST", "/programs/execute", {"program": ALL}).json()["result"]["nodes"]
    assert [node["concept_id"] for node in found] == ["secret"]
    for view in ("GRAPH", "FACTS", "ALL"):
        theirs = shared.ask("mallory", "POST", "/programs/execute", {"program": ALL, "view": view}).json()
        assert theirs["result"] == {"nodes": [], "links": []}


async def test_a58_facts_of_another_project_stay_out_of_w(system: System) -> None:
    ours = Principal("ann", frozenset({"writer"}), "default", "ours", "a")
    theirs = Principal("bob", frozenset({"writer"}), "default", "theirs", "b")
    await Facts(system, ours).add_fact("Ada", "knows", object="Grace", notes=[NoteRef(text="she said so")])
    seen = await Programs(system, ours).execute(asking("MATCH (a)-[r]->(b) RETURN a, r, b"), view="FACTS")
    assert len(seen.result.nodes) == 2 and len(seen.result.links) == 1
    hidden = await Programs(system, theirs).execute(asking("MATCH (a)-[r]->(b) RETURN a, r, b"), view="FACTS")
    assert hidden.result.is_empty and hidden.aborted is None
