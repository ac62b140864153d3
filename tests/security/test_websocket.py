"""A20–A23: sockets that break the rules."""

from __future__ import annotations

import time
from typing import Any

import jwt
import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from tests.security.conftest import SECRET, Guarded
from ugs_gateway.graphql import stream_access, websocket

WATCH = {"query": "subscription { events { seq } }"}


def connect(client: TestClient, protocol: str = "graphql-transport-ws", **headers: str) -> Any:
    return client.websocket_connect("ws://localhost/graphql", subprotocols=[protocol], headers=headers)


def closed_with(socket: Any) -> int:
    try:
        while True:
            socket.receive_json()
    except WebSocketDisconnect as left:
        return left.code


def introduced(socket: Any, **payload: str) -> Any:
    socket.send_json({"type": "connection_init", "payload": payload})
    assert socket.receive_json() == {"type": "connection_ack"}
    return socket


def test_a20_nothing_before_the_introduction(client: TestClient) -> None:
    with connect(client) as socket:
        socket.send_json({"type": "subscribe", "id": "1", "payload": WATCH})
        assert closed_with(socket) == 4401
    with connect(client, "graphql-ws") as socket:
        assert closed_with(socket) == 4406


def test_a21_the_rules_of_the_protocol_hold(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    with connect(client) as socket:
        introduced(socket).send_json({"type": "connection_init"})
        assert closed_with(socket) == 4429
    with connect(client) as socket:
        introduced(socket)
        for _ in range(2):
            socket.send_json({"type": "subscribe", "id": "1", "payload": WATCH})
        assert closed_with(socket) == 4409
    with connect(client) as socket:
        introduced(socket)
        for number in range(51):
            socket.send_json({"type": "subscribe", "id": str(number), "payload": WATCH})
        assert closed_with(socket) == 4429
    monkeypatch.setattr(websocket, "INIT_SECONDS", 0.05)
    with connect(client) as socket:
        assert closed_with(socket) == 4408


def test_a21_a_flood_of_pings_is_only_answered(client: TestClient) -> None:
    with connect(client) as socket:
        introduced(socket)
        for _ in range(200):
            socket.send_json({"type": "ping"})
        assert all(socket.receive_json() == {"type": "pong"} for _ in range(200))


@pytest.mark.parametrize("text", ["", "null", "[]", "{}", '{"type": 5}', '{"type": "nope"}', "{" * 50_000, '"\\ud800"'])
def test_a21_messages_that_make_no_sense_close_the_socket(client: TestClient, text: str) -> None:
    with connect(client) as socket:
        socket.send_text(text)
        assert closed_with(socket) == 4400


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://localhost.evil.example", "https://app.example.evil"]
)
def test_a22_a_foreign_page_cannot_upgrade(guarded: Guarded, origin: str) -> None:
    with pytest.raises(WebSocketDisconnect) as left, connect(guarded.client, origin=origin, cookie="a=b"):
        pass
    assert left.value.code == 4403


def test_a23_an_expired_token_ends_the_subscription(guarded: Guarded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream_access, "CHECK_SECONDS", 0.2)
    monkeypatch.setattr("ugs_gateway.auth.authenticator.LEEWAY_SECONDS", 0)
    claims = {"sub": "jo", "aud": "ugs", "exp": time.time() + 2, "roles": ["reader"]}
    token = jwt.encode(claims, SECRET, "HS256")
    with connect(guarded.client) as socket:
        introduced(socket, authorization=f"Bearer {token}")
        socket.send_json({"type": "subscribe", "id": "1", "payload": WATCH})
        assert closed_with(socket) == 4403
