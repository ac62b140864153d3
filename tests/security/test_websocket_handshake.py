"""A08: handshakes that are none hold no connection, and nothing up when the gateway is told to stop."""

from __future__ import annotations

import socket

import pytest

from tests.security.test_fastpath_protocol import answers, served
from ugs_gateway.fastpath.protocol import FastPathProtocol
from ugs_gateway.settings import Settings

UPGRADE = b"host: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n"
KEYED = UPGRADE + b"sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
BAD = [
    b"POST /graphql HTTP/1.1\r\n" + KEYED + b"\r\n",
    b"POST /graphql HTTP/1.1\r\n" + KEYED + b"content-type: application/json\r\ncontent-length: 2\r\n\r\n{}",
    b"GET /graphql HTTP/1.1\r\n" + KEYED + b"content-length: 2\r\n\r\n{}",
    b"GET /graphql HTTP/1.1\r\n" + KEYED + b"x: " + b"y" * 20_000 + b"\r\n\r\n",
    b"GET /graphql HTTP/1.1\r\n" + KEYED + b"x: y\r\n" * 300 + b"\r\n",
    b"GET /graphql HTTP/1.1\r\n" + UPGRADE + b"\r\n",
    b"GET /graphql HTTP/1.1\r\n" + UPGRADE + b"sec-websocket-version: 1\r\nsec-websocket-key: short\r\n\r\n",
]


@pytest.mark.parametrize("handshake", BAD)
def test_what_is_no_handshake_is_refused_and_closed(handshake: bytes) -> None:
    with (
        served(Settings(store="memory:"), FastPathProtocol) as port,
        socket.create_connection(("127.0.0.1", port), 10) as line,
    ):
        line.sendall(handshake)
        heard = b""
        while chunk := line.recv(4_096):
            heard += chunk
        (answer,) = answers(heard)
    assert 400 <= answer.status < 500
