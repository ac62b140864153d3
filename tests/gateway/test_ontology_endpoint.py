"""Typed GraphQL over HTTP: there as soon as the ontology is, on every store, and only for whoever may see it."""

import asyncio
import time
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from starlette.testclient import TestClient

from tests import servers
from tests.gateway.mcp.client import Talk
from tests.gateway.processes import serving
from tests.gateway.test_websocket import introduced, subscribe
from tests.work import TIMED
from ugs_gateway.app import create_app
from ugs_gateway.auth.api_key_file import StoredToken, create_token
from ugs_gateway.settings import Settings

CREATE = "mutation($in: CreateOntologyInput!) { createOntology(input: $in) { ontology { name } } }"
ADD = 'mutation($name: String!) { addNodeType(typeName: $name, properties: [{name: "pages", kind: INTEGER}]) { ontology { nodeTypes } } }'
STREAMED = {"accept": "text/event-stream"}
TOLD = 'data: {"data":{"projectChanged":{"change":"ADDED","node":{"status":"active"}}}}'
GTD: dict[str, Any] = {
    "nodeTypes": ["Project", "Action"],
    "connectionTypes": [
        {"name": "NextAction", "fromTypes": ["Project"], "toTypes": ["Action"]},
        {"name": "About", "fromTypes": ["Project", "Action"], "toTypes": ["Project", "Document"]},
    ],
    "properties": [
        {"type": "Project", "definitions": [{"name": "status", "enum": ["active", "done"], "default": "active"}]}
    ],
}


def ask(client: TestClient, query: str, path: str = "/graphql", **variables: Any) -> Any:
    answer = client.post(path, json={"query": query, "variables": variables})
    assert answer.status_code == 200, answer.text
    assert "errors" not in answer.json(), answer.text
    return answer.json()["data"]


def typed(client: TestClient, query: str, **variables: Any) -> Any:
    return ask(client, query, "/graphql/default", **variables)


def story(client: TestClient) -> list[Any]:
    """What a client does with a memory of its own types, and what it is answered."""
    ask(client, CREATE, **{"in": GTD})
    make = "mutation($in: Create{0}Input!) {{ made: create{0}(input: $in) {{ node {{ id }} }} }}"
    ids = [
        typed(client, make.format("Project"), **{"in": {"properties": {"n": n}, "content": f"text {n}"}})["made"][
            "node"
        ]["id"]
        for n in range(3)
    ]
    actions = [
        typed(client, make.format("Action"), **{"in": {"content": "call"}})["made"]["node"]["id"] for _ in range(2)
    ]
    join = "mutation($in: ConnectNextActionInput!) { connectNextAction(input: $in) { warnings { code } } }"
    for action in actions:
        typed(client, join, **{"in": {"from": ids[0], "to": action}})
    about = "mutation($in: ConnectAboutInput!) { connectAbout(input: $in) { warnings { code } } }"
    typed(client, about, **{"in": {"from": actions[0], "to": ids[1]}})
    typed(
        client,
        "mutation($in: UpdateProjectInput!) { updateProject(input: $in) { node { status } } }",
        **{"in": {"id": ids[2], "status": "done"}},
    )
    names = {id: f"p{n}" for n, id in enumerate(ids)} | {id: f"a{n}" for n, id in enumerate(actions)}
    found = typed(
        client,
        """query($w: ProjectWhere) { projects(where: $w, first: 5) { totalCount nodes { id status label properties
          content { body size } nextAction(first: 3) { totalCount nodes { id about(first: 3) { nodes { ... on Project { id status } } } } } } } }""",
        w={"status": {"eq": "active"}},
    )["projects"]
    text = str(sorted(found["nodes"], key=lambda node: names[node["id"]]))
    for id, name in names.items():
        text = text.replace(id, name)
    return [found["totalCount"], text]


def place(store: str, folder: Path) -> str:
    if store == "sqlite":
        return f"sqlite:///{folder}/typed.db"
    return f"{servers.require(store)}?{'schema' if store == 'postgresql' else 'namespace'}=typeddoor"


def told(url: str) -> list[Any]:
    with TestClient(create_app(Settings(store=url, request_seconds=60)), base_url="http://localhost") as client:
        client.portal.call(client.app.state.system.storage.wipe)  # type: ignore[attr-defined, union-attr]
    with TestClient(create_app(Settings(store=url, request_seconds=60)), base_url="http://localhost") as client:
        return story(client)


@pytest.mark.parametrize("store", ["sqlite", "postgresql", "neo4j"])
def test_every_store_tells_the_same_typed_story(store: str, tmp_path: Path) -> None:
    count, text = told(place(store, tmp_path))
    assert (count, text) == tuple(told("memory:"))
    assert count == 2 and "'totalCount': 2" in text and "'status': 'active'" in text


def test_a_type_can_be_asked_for_as_soon_as_it_is_added(client: TestClient) -> None:
    assert client.post("/graphql/default", json={"query": "{ ontology }"}).status_code == 404
    ask(client, CREATE, **{"in": GTD})
    assert typed(client, "{ ontology projects { totalCount } }")["projects"] == {"totalCount": 0}
    answer = client.post("/graphql/default", json={"query": "{ documents { nodes { pages } } }"})
    assert "Cannot query field 'documents'" in answer.text
    ask(client, ADD, name="Document")
    assert typed(client, "{ documents { nodes { pages aboutOf { totalCount } } } }") == {"documents": {"nodes": []}}
    define = 'mutation { addPropertyDefinitions(input: {type: "Action", definitions: [{name: "hours", kind: NUMBER}]}) { ontology { name } } }'
    ask(client, define)
    assert typed(client, "{ actions(where: {hours: {gt: 1.5}}) { nodes { hours } } }") == {"actions": {"nodes": []}}
    sdl = client.get("/graphql/default/schema.graphql").text
    assert "type Document implements MemoryNode" in sdl and "hours: Float" in sdl
    assert "Document" not in client.get("/schema.graphql").text
    assert client.get("/graphql/nobody/schema.graphql").status_code == 404
    assert "<html" in client.get("/graphql/default", headers={"accept": "text/html"}).text


def test_typed_nodes_are_watched_over_a_socket(client: TestClient) -> None:
    watch = "subscription { projectChanged(afterSeq: 0) { change node { status } } }"
    path = "ws://localhost/graphql/default"
    with client.websocket_connect(path, subprotocols=["graphql-transport-ws"]) as socket:
        subscribe(introduced(socket), watch, "early")
        assert socket.receive_json()["payload"][0]["extensions"]["code"] == "ONTOLOGY_NOT_FOUND"
        ask(client, CREATE, **{"in": GTD})
        subscribe(socket, watch, "1")
        typed(client, "mutation { createProject(input: {}) { node { id } } }")
        told = {"projectChanged": {"change": "ADDED", "node": {"status": "active"}}}
        assert socket.receive_json() == {"type": "next", "id": "1", "payload": {"data": told}}
        ask(client, ADD, name="Document")
        subscribe(socket, "subscription { documentChanged(afterSeq: 0) { id } }", "2")
        made = typed(client, "mutation { createDocument(input: {pages: 3}) { node { id } } }")["createDocument"]["node"]
        assert socket.receive_json()["payload"] == {"data": {"documentChanged": made}}
    plain = client.post("/graphql/default", json={"query": watch})
    assert plain.status_code == 400 and "event-stream" in plain.text


def test_many_types_added_while_others_ask(client: TestClient) -> None:
    ask(client, CREATE, **{"in": GTD})
    slowest = 0.0
    for number in range(12):
        ask(client, ADD, name=f"Kind{number}")
        started = time.perf_counter()
        assert typed(client, f"{{ kind{number}s {{ totalCount }} }}") == {f"kind{number}s": {"totalCount": 0}}
        slowest = max(slowest, time.perf_counter() - started)
    assert slowest < 1


def test_roles_hold_at_the_typed_door_too(tmp_path: Path) -> None:
    file = tmp_path / "tokens.jsonl"
    keys = {role: create_token(file, StoredToken("", f"the_{role}", (role,))) for role in ("reader", "writer")}
    settings = Settings(store="memory:", token_file=str(file), mode="production")  # type: ignore[arg-type]
    with TestClient(create_app(settings), base_url="http://localhost") as client:
        login = {role: {"authorization": f"Bearer {key}"} for role, key in keys.items()}
        body = {"query": CREATE, "variables": {"in": GTD}}
        assert client.post("/graphql", json=body, headers=login["writer"]).status_code == 200
        create = {"query": "mutation { createAction(input: {}) { node { id } } }"}
        assert client.post("/graphql/default", json=create).status_code == 401
        assert client.get("/graphql/default/schema.graphql").status_code == 401
        assert client.post("/graphql/default", json=create, headers=login["reader"]).status_code == 403
        assert client.get("/graphql/default/schema.graphql", headers=login["reader"]).status_code == 403
        assert client.post("/graphql/default", json=create, headers=login["writer"]).json()["data"]["createAction"][
            "node"
        ]["id"]
        look = {"query": "{ actions { nodes { id type } } __schema { types { name } } }"}
        assert client.post("/graphql/default", json=look, headers=login["reader"]).status_code == 403


@TIMED
async def test_what_an_agent_adds_is_in_the_schema_within_a_second(tmp_path: Path) -> None:
    with serving(tmp_path) as gateway:
        async with Client(f"{gateway.url}/mcp") as client:
            talk = Talk(client)
            await talk("create_ontology", node_types=["Project"], connection_types=[])
            await talk("create_node", type="Project", content="# Kitchen", format="markdown")
            started = time.monotonic()
            status, _ = await asyncio.to_thread(gateway.get, "/graphql/default?query={projects{nodes{content{body}}}}")
            assert status == 200 and time.monotonic() - started < 1
            await talk("add_node_type", type_name="Document")
            _, text = await asyncio.to_thread(gateway.get, "/graphql/default?query={documents{totalCount}}")
            assert '"totalCount":0' in text


async def test_typed_nodes_are_watched_by_server_sent_events(tmp_path: Path) -> None:
    watch = {"query": "subscription { projectChanged(afterSeq: 0) { change node { status } } }"}
    make = {"query": "mutation { createProject(input: {}) { node { id } } }"}
    with serving(tmp_path) as gateway:
        async with httpx2.AsyncClient(base_url=gateway.url, timeout=30, trust_env=False) as client:
            await client.post("/graphql", json={"query": CREATE, "variables": {"in": GTD}})
            await client.post("/graphql/default", json=make)
            async with client.stream("POST", "/graphql/default", json=watch, headers=STREAMED) as stream:
                lines = (line async for line in stream.aiter_lines() if line.startswith("data: "))
                assert await anext(lines) == TOLD  # what happened before, since the log's beginning
                await client.post("/graphql/default", json=make)
                assert await anext(lines) == TOLD
