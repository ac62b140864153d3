"""Nothing but a POST or a message on a socket changes anything, and nobody is told names that they did not write."""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from itertools import product
from typing import Any

import pytest
from starlette.routing import Route
from starlette.testclient import TestClient

from tests.security.conftest import Guarded
from tests.security.test_websocket import introduced
from ugs_gateway.app import create_app
from ugs_gateway.settings import Settings

ACCEPTS = [
    "application/json",
    "application/graphql-response+json",
    "text/event-stream",
    "text/event-stream, application/json",
    "text/event-stream;q=1, */*;q=0.1",
    "*/*",
    "application/*",
    "",
]
CHANGES = {
    "/graphql": 'mutation { addNode(input: {id: "made", type: "thing"}) { node { id } } }',
    "/graphql/default": 'mutation { createProject(input: {clientMutationId: "made"}) { node { id } } }',
}
ONTOLOGY = "mutation($in: CreateOntologyInput!) { createOntology(input: $in) { ontology { name } } }"


@pytest.fixture(scope="module")
def typed() -> Iterator[TestClient]:
    with TestClient(create_app(Settings(store="memory:")), "http://localhost", raise_server_exceptions=False) as client:
        types = {"in": {"nodeTypes": ["Project"], "connectionTypes": []}}
        made = client.post("/graphql", json={"query": ONTOLOGY, "variables": types})
        assert "errors" not in made.json(), made.text
        yield client


def position(client: TestClient) -> int:
    return int(client.app.state.system.bus.position)  # type: ignore[attr-defined]


def ways(document: str) -> Iterator[dict[str, str]]:
    """Every way to name a document in an address."""
    hash = sha256(document.encode()).hexdigest()
    persisted = json.dumps({"persistedQuery": {"version": 1, "sha256Hash": hash}})
    yield {"query": document}
    two = "query Read { __typename } " + document.replace("mutation", "mutation Write")
    yield {"query": two, "operationName": "Write"}
    yield {"query": document, "extensions": persisted}
    yield {"extensions": persisted}
    yield {"documentId": f"sha256:{hash}"}


@pytest.mark.parametrize("accept", ACCEPTS)
@pytest.mark.parametrize("path", CHANGES)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_link_changes_nothing(typed: TestClient, method: str, path: str, accept: str) -> None:
    document = CHANGES[path]
    persisted = {"persistedQuery": {"version": 1, "sha256Hash": sha256(document.encode()).hexdigest()}}
    # The document is valid and known by its hash: it was sent by POST before, and refused for another reason at most.
    known = typed.post(path, json={"query": document, "extensions": persisted})
    assert known.status_code == 200 and "GRAPHQL_VALIDATION_FAILED" not in known.text
    before = position(typed)
    for params in ways(document):
        headers = {"accept": accept, "content-type": "application/json", "x-http-method-override": "POST"}
        body = json.dumps({"query": document.replace("made", "other")}).encode()
        answer = typed.request(method, path, params=params, headers=headers, content=body)
        assert answer.status_code == 405, (params, answer.text)
        assert answer.headers["allow"] == "POST"
        # A body is not looked at where the address asks nothing.
        assert typed.request(method, path, headers=headers, content=body).status_code == 400
    assert position(typed) == before


def test_no_address_of_the_gateway_changes_anything_by_get_or_head(typed: TestClient) -> None:
    before = position(typed)
    change = {"query": CHANGES["/graphql"], "program": '{"statements": []}', "name": "x"}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "create_ontology", "arguments": {}}}
    for route, method, accept in product(typed.app.routes, ("GET", "HEAD", "OPTIONS"), ACCEPTS):  # type: ignore[attr-defined]
        if isinstance(route, Route):
            path = route.path.replace("{ontology}", "default").replace("{id}", "1").replace("{name}", "x.js")
            headers = {"accept": accept, "content-type": "application/json"}
            answer = typed.request(method, path, params=change, headers=headers, content=json.dumps(call))
            assert answer.status_code < 500, (method, path)
    assert position(typed) == before


def test_reading_by_get_works_and_head_gives_the_same_without_a_body(typed: TestClient) -> None:
    for accept in ("application/json", "text/event-stream"):
        read = typed.get("/graphql", params={"query": "{ stats { nodes } }"}, headers={"accept": accept})
        assert (read.status_code, "nodes" in read.text) == (200, True)
    assert typed.head("/graphql", params={"query": "{ stats { nodes } }"}).status_code == 200
    watch = {"query": "subscription { events { seq } }"}
    assert typed.head("/graphql", params=watch, headers={"accept": "text/event-stream"}).status_code == 400


@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE", "PUT", "PATCH"])
def test_mcp_takes_post_only(typed: TestClient, method: str) -> None:
    """Without sessions a stream of its own would carry nothing and stay open for ever."""
    answer = typed.request(method, "/mcp", headers={"accept": "text/event-stream"})
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


# ── suggestions ──────────────────────────────────────────────────────────────

MISSPELT: list[dict[str, Any]] = [
    {"query": "{ statz { nodes } }"},
    {"query": "{ stats { nodez } }"},
    {"query": "{ nodes(frist: 1) { totalCount } }"},
    {"query": "subscription { eventz { seq } }"},
    {"query": "query($a: Strin) { stats { nodes } }"},
    {"query": "mutation { addNod(input: {}) { node { id } } }"},
    {"query": 'mutation { addNode(input: {ide: "x"}) { node { id } } }'},
    {
        "query": "mutation($in: AddNodeInput!) { addNode(input: $in) { node { id } } }",
        "variables": {"in": {"ide": "x"}},
    },
    {"query": "{ stats @inclde(if: true) { nodes } }"},
    {"query": "{ stats { ...on Statz { nodes } } }"},
]


@pytest.mark.parametrize("asked", MISSPELT)
def test_in_production_no_way_suggests_names(guarded: Guarded, asked: dict[str, Any]) -> None:
    login = {"authorization": f"Bearer {guarded.keys['writer']}"}
    document = asked["query"]
    persisted = {"persistedQuery": {"version": 1, "sha256Hash": sha256(document.encode()).hexdigest()}}
    told = []
    for accept in ACCEPTS:
        headers = {"accept": accept, **login}
        told.append(guarded.client.post("/graphql", json=asked, headers=headers).text)
        told.append(guarded.client.post("/graphql", json={**asked, "extensions": persisted}, headers=headers).text)
        variables = {"variables": json.dumps(asked.get("variables"))}
        told.append(guarded.client.get("/graphql", params={"query": document, **variables}, headers=headers).text)
    with guarded.client.websocket_connect("ws://localhost/graphql", subprotocols=["graphql-transport-ws"]) as socket:
        introduced(socket, **login).send_json({"type": "subscribe", "id": "1", "payload": asked})
        told.append(socket.receive_text())
    for text in told:
        assert "errors" in text or '"type":"error"' in text
        assert "Did you mean" not in text
