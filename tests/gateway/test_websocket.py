"""Subscriptions over WebSocket and over server-sent events."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient, WebSocketTestSession
from starlette.websockets import WebSocketDisconnect

from tests.gateway.conftest import ask
from ugs_gateway.app import create_app
from ugs_gateway.graphql import websocket
from ugs_gateway.settings import Settings

ADD = 'mutation { addNode(input: {id: "n1"}) { node { id } } }'
EVENTS = "subscription { events(afterSeq: 0) { seq type } }"


def connect(client: TestClient, **headers: str) -> Any:
    return client.websocket_connect("ws://localhost/graphql", subprotocols=["graphql-transport-ws"], headers=headers)


def introduced(socket: WebSocketTestSession) -> WebSocketTestSession:
    socket.send_json({"type": "connection_init"})
    assert socket.receive_json() == {"type": "connection_ack"}
    return socket


def subscribe(socket: WebSocketTestSession, query: str, id: str = "1") -> None:
    socket.send_json({"type": "subscribe", "id": id, "payload": {"query": query}})


def closed_with(socket: WebSocketTestSession) -> int:
    with pytest.raises(WebSocketDisconnect) as left:
        socket.receive_json()
    return left.value.code


def test_events_arrive_as_they_are_committed(client: TestClient) -> None:
    with connect(client) as socket:
        subscribe(introduced(socket), EVENTS)
        ask(client, ADD)
        assert socket.receive_json() == {
            "type": "next",
            "id": "1",
            "payload": {"data": {"events": {"seq": 1, "type": "NodeAdded"}}},
        }


def test_queries_and_mutations_answer_once_and_complete(client: TestClient) -> None:
    with connect(client) as socket:
        subscribe(introduced(socket), ADD, "m")
        assert socket.receive_json()["payload"] == {"data": {"addNode": {"node": {"id": "n1"}}}}
        assert socket.receive_json() == {"type": "complete", "id": "m"}


def test_a_stopped_subscription_is_silent_and_its_id_is_free_again(client: TestClient) -> None:
    with connect(client) as socket:
        subscribe(introduced(socket), "subscription { events { seq } }")
        socket.send_json({"type": "complete", "id": "1"})
        subscribe(socket, "{ stats { nodes } }")
        assert socket.receive_json()["payload"] == {"data": {"stats": {"nodes": 0}}}


def test_a_mistake_is_told_under_its_id_and_the_socket_lives_on(client: TestClient) -> None:
    with connect(client) as socket:
        subscribe(introduced(socket), "subscription { nonsense }")
        answer = socket.receive_json()
        assert (answer["type"], answer["id"]) == ("error", "1")
        assert answer["payload"][0]["extensions"]["code"] == "GRAPHQL_VALIDATION_FAILED"
        socket.send_json({"type": "ping"})
        assert socket.receive_json() == {"type": "pong"}


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ({"type": "subscribe", "id": "1", "payload": {"query": "{ stats { nodes } }"}}, 4401),
        ({"type": "nonsense"}, 4400),
        ({"no": "type"}, 4400),
        ([], 4400),
    ],
)
def test_who_breaks_the_rules_is_shown_out(client: TestClient, message: Any, code: int) -> None:
    with connect(client) as socket:
        socket.send_json(message)
        assert closed_with(socket) == code


def test_introducing_oneself_twice_or_one_id_twice_is_too_much(client: TestClient) -> None:
    with connect(client) as socket:
        introduced(socket).send_json({"type": "connection_init"})
        assert closed_with(socket) == 4429
    with connect(client) as socket:
        subscribe(introduced(socket), "subscription { events { seq } }")
        subscribe(socket, "subscription { events { seq } }")
        assert closed_with(socket) == 4409


def test_silence_is_not_waited_for(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(websocket, "INIT_SECONDS", 0.05)
    with connect(client) as socket:
        assert closed_with(socket) == 4408


def test_a_socket_holds_a_bounded_number_of_operations(client: TestClient) -> None:
    with connect(client) as socket:
        introduced(socket)
        for number in range(Settings().max_subscriptions + 1):
            subscribe(socket, "subscription { events { seq } }", str(number))
        assert closed_with(socket) == 4429


def test_the_legacy_protocol_is_not_spoken(client: TestClient) -> None:
    with client.websocket_connect("ws://localhost/graphql", subprotocols=["graphql-ws"]) as socket:
        assert closed_with(socket) == 4406


def test_a_foreign_page_cannot_connect(client: TestClient) -> None:
    with pytest.raises(WebSocketDisconnect) as left, connect(client, origin="https://evil.example"):
        pass
    assert left.value.code == 4403


def test_a_stream_of_server_sent_events_ends_with_complete(client: TestClient) -> None:
    answer = client.post("/graphql", json={"query": "{ stats { nodes } }"}, headers={"accept": "text/event-stream"})
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.text == 'event: next\ndata: {"data":{"stats":{"nodes":0}}}\n\nevent: complete\ndata:\n\n'


LARGE_EVENT = 'mutation($p: JSON!) { addNode(input: {id: "large", properties: $p}) { node { id } } }'


@pytest.fixture
def tight() -> Iterator[TestClient]:
    with TestClient(create_app(Settings(store="memory:", max_answer_bytes=5_000)), base_url="http://localhost") as app:
        yield app


def test_a_too_large_event_ends_its_subscription_only(tight: TestClient) -> None:
    assert "errors" not in ask(tight, LARGE_EVENT, p={"text": "x" * 10_000})
    with connect(tight) as socket:
        subscribe(introduced(socket), "subscription { events(afterSeq: 0) { seq data } }")
        told = socket.receive_json()
        assert (told["type"], told["id"]) == ("error", "1")
        assert told["payload"][0]["extensions"]["code"] == "ANSWER_TOO_LARGE"
        subscribe(socket, "{ stats { nodes } }", "2")
        assert [socket.receive_json()["id"] for _ in range(2)] == ["2", "2"]
    asked = {"query": "subscription { events(afterSeq: 0) { seq data } }"}
    answer = tight.post("/graphql", json=asked, headers={"accept": "text/event-stream"})
    assert '"code":"ANSWER_TOO_LARGE"' in answer.text and answer.text.endswith("event: complete\ndata:\n\n")
