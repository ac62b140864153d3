"""A10–A19: documents made to be expensive, curious or revealing."""

from __future__ import annotations

import time
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.security.conftest import Guarded, code_of

STATS = "{ stats { nodes } }"


def asked(client: TestClient, query: str, **variables: Any) -> Any:
    return client.post("/graphql", json={"query": query, "variables": variables})


def nested(levels: int) -> str:
    inner = "id"
    for _ in range(levels):
        inner = f"outgoing(first: 1) {{ nodes {{ toNode {{ {inner} }} }} }}"
    return f'{{ graphNode(id: "alice") {{ {inner} }} }}'


RECURSION = "name" + " fields { name type { name" * 8 + "} }" * 8
TOO_DEEP = {
    "levels": nested(4),
    "fragments": '{ graphNode(id: "alice") { ...a } } fragment a on GraphNode { outgoing { nodes { toNode { ...b } } } } fragment b on GraphNode { outgoing { nodes { toNode { ...c } } } } fragment c on GraphNode { outgoing { nodes { toNode { outgoing { nodes { id } } } } } }',
    "introspection": "{ __schema { types { " + RECURSION + " } } }",
}


@pytest.mark.parametrize("name", TOO_DEEP)
def test_a10_depth_is_refused_before_anything_runs(client: TestClient, name: str) -> None:
    answer = asked(client, TOO_DEEP[name])
    assert code_of(answer) in ("LIMIT_EXCEEDED", "GRAPHQL_VALIDATION_FAILED")
    assert "data" not in answer.json()


TOO_MANY = {
    "16 aliases": "{ " + " ".join(f'a{n}: graphNode(id: "alice") {{ id }}' for n in range(16)) + " }",
    "1,000 root fields": "{ " + " ".join(f"a{n}: stats {{ nodes }}" for n in range(1000)) + " }",
    "51 directives": "{ stats { " + " ".join("nodes @include(if: true)" for _ in range(51)) + " } }",
    "1,001 tokens": "{ stats { " + "nodes " * 1001 + "} }",
    "a million comments": "#\n" * 500_000 + STATS,
}


@pytest.mark.parametrize("name", TOO_MANY)
def test_a11_a19_too_many_of_anything_is_refused_at_once(client: TestClient, name: str) -> None:
    began = time.process_time()
    answer = asked(client, TOO_MANY[name])
    assert code_of(answer) == "LIMIT_EXCEEDED"
    assert time.process_time() - began < 0.25  # the whole round trip in one process, on a busy machine


def test_a12_a_69_kb_bomb_of_overlapping_fields_is_refused_in_milliseconds(client: TestClient) -> None:
    bomb = "{" + ("...on Query{" + "...on Query{stats{nodes}}" * 60 + "}") * 60 + "}"
    repeated = "{ stats { " + "nodes " * 4000 + "} }"
    for document in (bomb, repeated):
        began = time.process_time()
        assert code_of(asked(client, document)) == "LIMIT_EXCEEDED"
        assert time.process_time() - began < 0.25


@pytest.mark.parametrize(
    "query",
    [
        "{ graphNodes(first: 99999999) { nodes { id } } }",
        "{ graphNodes(first: 501) { nodes { id } } }",
        "{ graphNodes(first: 500) { nodes { outgoing(first: 500) { nodes { id } } } } }",
        "{ graphNodes(first: 100) { nodes { outgoing(first: 100) { nodes { toNode { id } } } } } }",
        "{ graphNodes(last: -1) { nodes { id } } }",
        "query ($n: Int = 400) { graphNodes(first: $n) { nodes { outgoing(first: $n) { nodes { id } } } } }",
    ],
)
def test_a13_pages_that_multiply_are_refused(client: TestClient, query: str) -> None:
    assert code_of(asked(client, query)) in ("LIMIT_EXCEEDED", "E005")


def test_a13_no_number_is_the_usual_page(client: TestClient) -> None:
    assert code_of(asked(client, "{ graphNodes(first: null) { nodes { id } } }")) is None


@pytest.mark.parametrize("length", [2, 1000])
def test_a14_batches_are_refused(client: TestClient, length: int) -> None:
    answer = client.post("/graphql", json=[{"query": STATS}] * length)
    assert (answer.status_code, code_of(answer)) == (400, "E005")


CURIOUS = {
    "schema": "{ __schema { types { name } } }",
    "type": '{ __type(name: "Query") { name } }',
    "alias": "{ harmless: __schema { types { name } } }",
    "fragment": "{ ...f } fragment f on Query { __schema { types { name } } }",
}


@pytest.mark.parametrize("name", CURIOUS)
def test_a15_the_schema_is_hidden_in_production(guarded: Guarded, name: str) -> None:
    query = CURIOUS[name]
    assert code_of(guarded.ask(query, guarded.keys["reader"])) == "FORBIDDEN"
    assert code_of(guarded.ask(query, guarded.keys["admin"])) is None
    headers = {"authorization": f"Bearer {guarded.keys['reader']}"}
    assert code_of(guarded.client.get("/graphql", params={"query": query}, headers=headers)) == "FORBIDDEN"
    assert guarded.client.get("/schema.graphql").status_code == 401
    assert guarded.client.get("/schema.graphql", headers=headers).status_code == 403


def test_a15_nor_over_a_socket(guarded: Guarded) -> None:
    with guarded.client.websocket_connect("ws://localhost/graphql", subprotocols=["graphql-transport-ws"]) as socket:
        token = {"authorization": f"Bearer {guarded.keys['reader']}"}
        socket.send_json({"type": "connection_init", "payload": token})
        socket.receive_json()
        socket.send_json({"type": "subscribe", "id": "1", "payload": {"query": CURIOUS["schema"]}})
        assert socket.receive_json()["payload"][0]["extensions"]["code"] == "FORBIDDEN"


GUESSES = ("stat", "graphNod", "graphNodez", "nodees", "historyy", "serch", "hub", "evnts")


@pytest.mark.parametrize("guess", GUESSES)
def test_a16_guesses_recover_nothing_in_production(guarded: Guarded, guess: str) -> None:
    stranger = guarded.ask(f"{{ {guess} }}", None)
    assert code_of(stranger) == "UNAUTHENTICATED"
    known = guarded.ask(f"{{ {guess} }}", guarded.keys["reader"]).text
    assert "Did you mean" not in known
    assert "Did you mean" in guarded.ask(f"{{ {guess} }}", guarded.keys["admin"]).text


@pytest.mark.parametrize(
    "query", [STATS, '{ graphNode(id: "alice") { id } }', "{ history { seq } }", "{ hubs { degree } }"]
)
def test_a17_a_secret_in_an_exception_stays_inside(
    client: TestClient, query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(**_: Any) -> None:
        raise RuntimeError("password=hunter2 at /srv/secret.py")

    monkeypatch.setattr(client.app.state.system.storage, "session", fail)  # type: ignore[attr-defined]
    answer = asked(client, query)
    assert answer.status_code == 200
    assert "hunter2" not in answer.text and "secret.py" not in answer.text
    assert code_of(answer) == "INTERNAL"


DEEP: Any = 0
for _ in range(32):
    DEEP = {"a": DEEP}
VARIABLES: dict[str, Any] = {
    "a wrong type": 5,
    "an object": {"a": 1},
    "32 levels": DEEP,
    "100,000 items": ["x"] * 100_000,
    "almost a MiB": "x" * 1_000_000,
    "true": True,
}


@pytest.mark.parametrize("name", VARIABLES)
def test_a18_variables_of_any_shape_are_answered(client: TestClient, name: str) -> None:
    began = time.process_time()
    answer = asked(client, "query ($id: ID!) { graphNode(id: $id) { id } }", id=VARIABLES[name])
    assert answer.status_code in (200, 400)
    assert answer.json().get("errors") or answer.json() == {"data": {"graphNode": None}}
    assert time.process_time() - began < 0.5
