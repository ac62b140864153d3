"""A01–A08: bodies, headers and connections made to hurt, against a real process where the bytes matter."""

from __future__ import annotations

import gzip
import socket
import time
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from tests.gateway.processes import Gateway, serving
from tests.security.conftest import Guarded, code_of

JSON = {"content-type": "application/json"}
STATS = b'{"query": "{ stats { nodes } }"}'


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    with serving(tmp_path_factory.mktemp("raw"), "--store", "memory:") as gateway:
        yield gateway


def raw(gateway: Gateway, *pieces: bytes, wait: float = 20.0) -> bytes:
    """What a connection answers to bytes as they are; ends when the gateway closes it."""
    port = int(gateway.url.rpartition(":")[2])
    heard = b""
    with socket.create_connection(("127.0.0.1", port), timeout=wait) as line:
        try:
            for piece in pieces:
                line.sendall(piece)
            while chunk := line.recv(65536):
                heard += chunk
        except (ConnectionError, TimeoutError):
            pass
    return heard


def request(*headers: bytes, path: bytes = b"/livez", body: bytes = b"", method: bytes = b"GET") -> bytes:
    return b"\r\n".join([method + b" " + path + b" HTTP/1.1", *headers, b"Connection: close", b"", body])


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1]) if answer else 0


def test_a01_a_body_that_declares_too_much_is_not_read(gateway: Gateway) -> None:
    head = request(
        b"Host: localhost",
        b"Content-Type: application/json",
        b"Content-Length: 99999999",
        path=b"/graphql",
        method=b"POST",
    )
    assert status(raw(gateway, head)) == 413


def test_a01_a_body_without_length_is_read_to_the_limit_only(client: TestClient) -> None:
    chunks = (b"x" * 65536 for _ in range(100))
    assert client.post("/graphql", content=chunks, headers=JSON).status_code == 413


def test_a01_compressed_bodies_are_refused_unread(client: TestClient) -> None:
    bomb = gzip.compress(b" " * 10_000_000)
    assert client.post("/graphql", content=bomb, headers={**JSON, "content-encoding": "gzip"}).status_code == 415


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 100_000,
        b'{"query": %s}' % (b"9" * 5000),
        b'{"query": NaN}',
        b'{"a": 1e999}',
        b'{"query": "\xff"}',
        b'{"query": "\\ud800"}',
    ],
)
def test_a02_broken_json_is_a_400(client: TestClient, body: bytes) -> None:
    assert client.post("/graphql", content=body, headers=JSON).status_code == 400


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])
def test_a03_forms_cannot_ask(client: TestClient, kind: str) -> None:
    assert client.post("/graphql", content=STATS, headers={"content-type": kind}).status_code == 415
    assert client.get("/graphql", params={"query": "mutation { loadDemo { nodes } }"}).status_code == 405


FOREIGN = ["https://evil.example", "null", "https://app.example.evil", "https://notapp.example", "http://app.example"]


@pytest.mark.parametrize("origin", FOREIGN)
def test_a04_foreign_pages_are_refused_and_allowed_nothing(guarded: Guarded, origin: str) -> None:
    headers = {"origin": origin, "authorization": f"Bearer {guarded.keys['reader']}"}
    answer = guarded.client.post("/graphql", content=STATS, headers={**JSON, **headers})
    assert (answer.status_code, code_of(answer)) == (403, "FORBIDDEN")
    asks = {"origin": origin, "access-control-request-method": "POST"}
    preflight = guarded.client.options("/graphql", headers=asks)
    assert preflight.status_code >= 400
    for found in (answer, preflight):
        assert "access-control-allow-origin" not in found.headers


def test_a04_a_page_on_the_list_is_allowed_without_credentials(guarded: Guarded) -> None:
    origin = {"origin": "https://app.example"}
    preflight = guarded.client.options(
        "/graphql",
        headers={**origin, "access-control-request-method": "POST", "access-control-request-headers": "authorization"},
    )
    assert preflight.status_code == 200
    headers = {**JSON, **origin, "authorization": f"Bearer {guarded.keys['reader']}"}
    answer = guarded.client.post("/graphql", content=STATS, headers=headers)
    for found in (preflight, answer):
        assert found.headers["access-control-allow-origin"] == "https://app.example"
        assert "access-control-allow-credentials" not in found.headers


@pytest.mark.parametrize("host", [b"x/abc?", b"x#", b"a b", b"localhost:80:80", b"evil@localhost"])
def test_a05_a_host_that_makes_no_sense_is_a_400(gateway: Gateway, host: bytes) -> None:
    assert status(raw(gateway, request(b"Host: " + host))) == 400


def test_a05_two_hosts_are_one_too_many(gateway: Gateway) -> None:
    assert status(raw(gateway, request(b"Host: localhost", b"Host: localhost"))) == 400
    assert status(raw(gateway, request(b"Host: evil.example"))) == 421


@pytest.mark.parametrize("path", [b"/" + b"a" * 40_000, b"/" + b"a.b+" * 10_000, b"/a://u:" * 5_000, b"/%3A" * 10_000])
def test_a05_a_long_path_costs_next_to_nothing(gateway: Gateway, path: bytes) -> None:
    """Masking it in the log once took time quadratic in its length and held everybody up."""
    before = gateway.cpu_seconds()
    assert status(raw(gateway, request(b"Host: localhost", path=path))) == 414
    assert gateway.cpu_seconds() - before < 1


SMUGGLED = {
    "length and chunks": (b"Content-Length: 4", b"Transfer-Encoding: chunked"),
    "two lengths": (b"Content-Length: 4", b"Content-Length: 40"),
    "no number": (b"Content-Length: -1",),
    "unknown encoding": (b"Transfer-Encoding: xchunked",),
}


@pytest.mark.parametrize("name", SMUGGLED)
def test_a06_smuggling_is_refused(gateway: Gateway, name: str) -> None:
    head = request(b"Host: localhost", *SMUGGLED[name], path=b"/graphql", method=b"POST", body=b"0\r\n\r\n")
    assert status(raw(gateway, head)) in (400, 415)


def test_a06_headers_have_a_limit(gateway: Gateway) -> None:
    assert status(raw(gateway, request(b"Host: localhost", b"X: " + b"x" * 65536))) in (400, 431)
    assert status(raw(gateway, request(b"Host: localhost", *[b"X: x"] * 10_000))) in (400, 431)


def test_a07_headers_that_never_end_are_not_waited_for(gateway: Gateway) -> None:
    began = time.monotonic()
    assert raw(gateway, b"GET /livez HTTP/1.1\r\nHost: local", wait=40) == b""
    assert time.monotonic() - began < 30
    assert gateway.get("/livez")[0] == 200
