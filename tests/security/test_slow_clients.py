"""Clients that do not read are cut, whatever they asked for; those that read slowly get everything."""

from __future__ import annotations

import json
import socket
import time
import urllib.request
from collections.abc import Iterator

import psutil
import pytest

from tests.security.test_fastpath_protocol import served
from ugs_gateway.fastpath.protocol import FastPathProtocol
from ugs_gateway.http import send_deadline
from ugs_gateway.http.header_timeout import HeaderTimeoutProtocol
from ugs_gateway.settings import Settings

TEXT = "x" * 700_000
NODES = 14
"""Together more than the system keeps for a connection."""
ADD = "mutation($in: AddNodeInput!) { addNode(input: $in) { node { id } } }"
READ = {"query": "{ %s }" % " ".join(f'n{n}: graphNode(id: "n{n}") {{ properties }}' for n in range(NODES))}
WATCH = {"query": "subscription { events(afterSeq: 0) { seq data } }"}


@pytest.fixture(scope="module", params=[FastPathProtocol, HeaderTimeoutProtocol])
def port(request: pytest.FixtureRequest) -> Iterator[int]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(send_deadline, "STALL_SECONDS", 1.0)
        with served(Settings(store="memory:", max_cost=100_000), request.param) as port:
            for number in range(NODES):
                new = {"id": f"n{number}", "type": "thing", "properties": {"text": TEXT}}
                post(port, {"query": ADD, "variables": {"in": new}})
            yield port


def post(port: int, body: object) -> bytes:
    headers = {"content-type": "application/json"}
    asked = urllib.request.Request(f"http://127.0.0.1:{port}/graphql", json.dumps(body).encode(), headers)
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(asked, timeout=30) as answer:
        told: bytes = answer.read()
    assert b'"errors"' not in told[:100], told[:300]
    return told


def http(method: str, path: str, body: object = None, accept: str = "application/json", *more: str) -> bytes:
    content = b"" if body is None else json.dumps(body).encode()
    lines = [
        f"{method} {path} HTTP/1.1",
        "host: localhost",
        f"accept: {accept}",
        "content-type: application/json",
        *more,
    ]
    return "\r\n".join([*lines, f"content-length: {len(content)}", "", ""]).encode() + content


def frame(message: object) -> bytes:
    """A masked text frame; the mask changes nothing."""
    text = json.dumps(message).encode()
    return b"\x81\xfe" + len(text).to_bytes(2, "big") + bytes(4) + text


HANDSHAKE = (
    b"GET /graphql HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n"
    b"sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-protocol: graphql-transport-ws\r\n\r\n"
)
INTRODUCED = frame({"type": "connection_init", "payload": {"padding": "x" * 200}})
WAYS = {
    "an answer": [http("POST", "/graphql", READ)],
    "an answer and the end": [http("POST", "/graphql", READ, "application/json", "connection: close")],
    "an answer twice": [http("POST", "/graphql", READ) * 2],
    "the log": [http("GET", "/log")],
    "server-sent events": [http("POST", "/graphql", WATCH, "text/event-stream")],
    "one server-sent event": [http("POST", "/graphql", READ, "text/event-stream")],
    "a socket": [HANDSHAKE, INTRODUCED, frame({"type": "subscribe", "id": "a" * 128, "payload": WATCH})],
}


def connected(port: int, buffer_bytes: int = 4_096) -> socket.socket:
    line = socket.socket()
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer_bytes)
    line.settimeout(30)
    line.connect(("127.0.0.1", port))
    return line


def is_served(port: int, line: socket.socket) -> bool:
    """Whether the gateway, in this process, still holds its end of a connection."""
    peer = line.getsockname()[1]
    return any(
        found.laddr and found.laddr.port == port and found.raddr and found.raddr.port == peer
        for found in psutil.Process().net_connections("tcp")
    )


@pytest.mark.parametrize("way", WAYS)
def test_a_client_that_does_not_read_is_cut(port: int, way: str) -> None:
    with connected(port) as line:
        for piece in WAYS[way]:
            line.sendall(piece)
            time.sleep(0.1)
        assert is_served(port, line)
        deadline = time.monotonic() + 30
        while is_served(port, line):
            assert time.monotonic() < deadline, "it is still waited for"
            time.sleep(0.1)
    assert not send_deadline.SendDeadline.waiting


def test_a_client_that_reads_slowly_gets_everything(port: int) -> None:
    whole = len(post(port, READ))
    heard, begun = 0, time.monotonic()
    with connected(port, 16_384) as line:
        line.sendall(http("POST", "/graphql", READ, "application/json", "connection: close"))
        while chunk := line.recv(200_000):
            heard += len(chunk)
            time.sleep(0.01)
    assert heard > whole > 9_000_000
    assert time.monotonic() - begun > 3 * send_deadline.STALL_SECONDS


def test_a_flood_of_pings_that_nobody_reads_stays_small(port: int) -> None:
    ping = b"\x89\xfd" + bytes(4) + b"x" * 125
    with connected(port) as line:
        line.sendall(HANDSHAKE + INTRODUCED)
        before = psutil.Process().memory_info().rss
        line.settimeout(3)
        try:
            for _ in range(2_000):
                line.sendall(ping * 100)
        except (TimeoutError, ConnectionError):
            pass
        assert psutil.Process().memory_info().rss - before < 20_000_000


def test_what_waits_for_all_has_a_bound(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Long before their time is up those that wait longest make room for others."""
    monkeypatch.setattr(send_deadline, "STALL_SECONDS", 60.0)
    monkeypatch.setattr(send_deadline, "MAX_WAITING_BYTES", 20_000_000)
    lines = [connected(port) for _ in range(8)]
    for line in lines:
        line.sendall(http("POST", "/graphql", READ))
        time.sleep(0.2)
    deadline = time.monotonic() + 30
    while sum(found.bytes for found in list(send_deadline.SendDeadline.waiting)) > 20_000_000:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert not is_served(port, lines[0])
    assert is_served(port, lines[-1])
    for line in lines:
        line.close()
    while send_deadline.SendDeadline.waiting:
        assert time.monotonic() < deadline
        time.sleep(0.1)


@pytest.mark.parametrize("path", ["/graphql", "/mcp", "/programs", "/programs/validate", "/programs/execute"])
def test_a_body_that_never_ends_is_not_waited_for(path: str) -> None:
    settings = Settings(store="memory:", request_seconds=1.0)
    with served(settings, FastPathProtocol) as port, connected(port) as line:
        accept = "application/json, text/event-stream"
        line.sendall(http("POST", path, {"x": 1}, accept).replace(b"content-length: ", b"content-length: 9"))
        heard = line.recv(1_000)
        assert heard.startswith((b"HTTP/1.1 408", b"HTTP/1.1 503")), heard


EXTENSIONS = [
    b"permessage-deflate; client_max_window_bits",
    b"x" * 7_000,
    b",".join([b"permessage-deflate"] * 300),
    b"a" + b";b=1" * 1_500,
    b'a;b="' + b"\\" * 7_000,
    b"," * 7_000,
    b"\xff;=;,=\x80",
    b"",
]


@pytest.mark.parametrize("proposed", EXTENSIONS)
def test_proposed_extensions_hold_nothing_up(proposed: bytes) -> None:
    header = b"sec-websocket-extensions: " + proposed + b"\r\n"
    handshake = HANDSHAKE[:-2] + header * 9 + b"\r\n"
    with served(Settings(store="memory:"), FastPathProtocol) as port, connected(port) as line:
        spent, began = time.process_time(), time.monotonic()
        line.sendall(handshake.replace(b"graphql-transport-ws", b"unknown"))
        heard = b""
        while chunk := line.recv(65_536):
            heard += chunk
        # Refused for its protocol, and closed although the client does not say goodbye.
        assert b"sec-websocket-extensions" not in heard.lower()
        assert time.monotonic() - began < 8
        assert time.process_time() - spent < 3
