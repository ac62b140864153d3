"""Hosts and origins made to pass for another: none is taken for ours, and none ends in a 500, at any door."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from tests.security.conftest import code_of
from tests.security.test_fastpath_protocol import answers, served
from ugs.errors import InvalidSyntax
from ugs_gateway.app import create_app
from ugs_gateway.fastpath.protocol import FastPathProtocol
from ugs_gateway.http.authority import Host, HostPolicy, parse_host, parse_origin
from ugs_gateway.http.header_timeout import HeaderTimeoutProtocol
from ugs_gateway.settings import Settings, is_loopback, load_settings

BAD_HOSTS = [
    "[::1",
    "::1]",
    "::1",
    "[text]",
    "[::1]x",
    "[::1]:",
    "[::1%25eth0]",
    "[127.0.0.1]",
    "localhost:",
    "localhost:evil",
    "localhost:99999",
    "localhost:-1",
    "localhost:8000:8000",
    "user@localhost",
    "user:password@localhost",
    "evil.example\\@localhost",
    "localhost/evil",
    "localhost?x",
    "localhost#x",
    "local host",
    "localhost\t",
    "127.1",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "127.0.0.1.",
    "127.0.0.256",
    "127.0.0.01",
    ".localhost",
    "localhost..",
    "-localhost",
    "loc\xe4lhost",
    "localhost,evil.example",
    "a" * 254,
    "",
]
FOREIGN_HOSTS = ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "notlocalhost", "localhost.evil"]
BAD_ORIGINS = [
    "null",
    "",
    "http://",
    "http://[evil",
    "[text]",
    "http://[text]",
    "http://evil.example\\@localhost",
    "http://evil.example@localhost",
    "http://user:password@localhost",
    "http://localhost@evil.example",
    "javascript://localhost",
    "file://localhost",
    "ftp://localhost",
    "HTTP://localhost",
    "chrome-extension://localhost",
    "http:localhost",
    "http:/localhost",
    "//localhost",
    "localhost",
    "http://localhost:evil",
    "http://localhost:99999",
    "http://localhost/",
    "http://localhost/path",
    "http://localhost?x",
    "http://localhost#x",
    "http://localhost http://localhost",
    "http://localhost,http://evil.example",
    "http://::1",
    "http://[::1",
    "http://127.1",
    "http://0x7f.1",
    "http://localhost.evil.example",
    "http://127.0.0.1.evil.example",
    "http://loc\xe4lhost",
    "http://\u2100.example",
    "https://evil.example",
    "http://" + "a" * 70_000,
]
SENDABLE = [origin for origin in BAD_ORIGINS if len(origin) < 8_000 and origin.isascii()]
STATS = b'{"query": "{ stats { nodes } }"}'
CALL = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}'
JSON = {"content-type": "application/json", "accept": "application/json, text/event-stream"}


@pytest.mark.parametrize("text", BAD_HOSTS)
def test_what_is_no_host_is_none(text: str) -> None:
    assert parse_host(text) is None
    assert not HostPolicy(any_name=True).accepts(text)
    # A bare IPv6 address may be listened on, but not be asked for.
    assert not is_loopback(text) or text == "::1"


@pytest.mark.parametrize("text", BAD_ORIGINS)
def test_what_is_no_origin_of_ours_is_none(text: str) -> None:
    found = parse_origin(text)
    assert found is None or not (found.host.is_loopback or found.is_page_of(Host("localhost")))


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("http://localhost:8000", "LOCALHOST:8000"),
        ("https://graph.example", "graph.example"),
        ("https://graph.example", "graph.example:443"),
        ("http://[::1]:8000", "[0:0::1]:8000"),
    ],
)
def test_a_page_of_the_host_it_asks_is_known(origin: str, host: str) -> None:
    page, asked = parse_origin(origin), parse_host(host)
    assert page is not None and asked is not None
    assert page.is_page_of(asked)
    assert not page.is_page_of(Host(asked.name, 8001))


@pytest.fixture(scope="module")
def local() -> Iterator[TestClient]:
    with TestClient(create_app(Settings(store="memory:")), "http://localhost", raise_server_exceptions=False) as client:
        yield client


def doors(client: TestClient) -> Iterator[tuple[str, str]]:
    """Every method of every address the gateway has; a new one is in it without anybody's help."""
    for route in client.app.routes:  # type: ignore[attr-defined]
        path = route.path.replace("{ontology}", "default").replace("{id}", "1").replace("{name}", "x.js")
        if isinstance(route, Route):
            yield from ((method, path) for method in sorted(route.methods or {"GET", "POST", "DELETE", "HEAD"}))
        else:
            assert isinstance(route, WebSocketRoute)
            yield "WEBSOCKET", path


SAME_FOR_EVERYBODY = (
    *("/livez", "/readyz", "/health", "/style.css", "/graphiql", "/studio", "/docs"),
    *("/programs/schema.json", "/openapi.json"),
)
"""Addresses that hold nothing of the graph; a page of another origin cannot read them, since nothing allows it to."""


def status_of(client: TestClient, method: str, path: str, **headers: str) -> int:
    if method != "WEBSOCKET":
        body = (CALL if path == "/mcp" else STATS) if method in ("POST", "PUT") else None
        return client.request(method, path, content=body, headers={**JSON, **headers}).status_code
    try:
        with client.websocket_connect(f"ws://localhost{path}", subprotocols=["graphql-transport-ws"], headers=headers):
            return 101
    except WebSocketDisconnect as refused:
        return int(getattr(refused, "status_code", 403))


@pytest.mark.parametrize("origin", SENDABLE)
def test_no_door_fails_or_opens_for_an_odd_origin(local: TestClient, origin: str) -> None:
    for method, path in doors(local):
        status = status_of(local, method, path, origin=origin)
        assert status < 500, (method, path)
        if path != "/" and not path.startswith(SAME_FOR_EVERYBODY):
            assert status == 403, (method, path, status)


@pytest.mark.parametrize("host", [host for host in BAD_HOSTS if host.isascii() and host.isprintable() and host])
def test_no_door_fails_or_opens_for_an_odd_host(local: TestClient, host: str) -> None:
    for method, path in doors(local):
        assert status_of(local, method, path, host=host) == 400, (method, path)


@pytest.mark.parametrize("host", [*FOREIGN_HOSTS, "192.168.1.2", "0.0.0.0"])
def test_a_local_gateway_answers_to_this_machine_only(local: TestClient, host: str) -> None:
    for method, path in doors(local):
        assert status_of(local, method, path, host=host, origin=f"http://{host}") == 421, (method, path)


def test_two_origins_are_one_too_many(local: TestClient) -> None:
    headers = [*JSON.items(), ("origin", "http://localhost"), ("origin", "http://evil.example")]
    assert local.post("/graphql", content=STATS, headers=headers).status_code == 403


# ── open to other machines ───────────────────────────────────────────────────


def opened(**settings: str) -> TestClient:
    made = Settings(store="memory:", host="0.0.0.0", allow_open=True, **settings)  # type: ignore[arg-type]
    return TestClient(create_app(made), "http://127.0.0.1:8000")


def change(client: TestClient, host: str) -> int:
    body = {"query": "mutation { loadDemo { nodes } }"}
    return client.post("/graphql", json=body, headers={"host": host, "origin": f"http://{host}"}).status_code


def test_a_rebound_name_changes_nothing_where_nobody_logs_in() -> None:
    with opened() as client:
        for host in [*FOREIGN_HOSTS, "evil.example:8000"]:
            for method, path in doors(client):
                assert status_of(client, method, path, host=host, origin=f"http://{host}") == 421, (method, path)
            assert change(client, host) == 421
        refused = client.get("/", headers={"host": "evil.example"}).json()["error"]
        assert "allowed_hosts" in refused and "UGS_ALLOWED_HOSTS" in refused
        for host in ("192.168.1.2:8000", "[2001:db8::1]", "localhost:8000"):
            assert client.get("/livez", headers={"host": host}).status_code == 200
        assert change(client, "192.168.1.2:8000") == 200


def test_names_from_the_settings_are_answered_to() -> None:
    with opened(allowed_hosts="graph.example, Other.example") as client:
        for host in ("graph.example", "GRAPH.example:8000", "other.example", "10.0.0.1"):
            assert client.get("/livez", headers={"host": host}).status_code == 200
        assert client.get("/livez", headers={"host": "sub.graph.example"}).status_code == 421
        assert client.get("/livez", headers={"host": "evil.example"}).status_code == 421
        assert change(client, "graph.example") == 200


def test_a_page_of_another_machine_is_foreign_although_its_host_is_an_address() -> None:
    with opened() as client:
        answer = client.post("/graphql", content=STATS, headers={**JSON, "origin": "http://192.168.1.3"})
        assert (answer.status_code, code_of(answer)) == (403, "FORBIDDEN")
        assert client.post("/mcp", content=CALL, headers={**JSON, "origin": "http://localhost"}).status_code == 403


@pytest.mark.parametrize("text", ["graph.example:80", "http://graph.example", "a b", "*", "[::1", "x@y"])
def test_a_name_that_is_none_is_told_at_the_start(text: str) -> None:
    with pytest.raises(InvalidSyntax, match="allowed_hosts must be host names"):
        load_settings({"allowed_hosts": text})


def test_the_fast_path_keeps_the_same_rules() -> None:
    """The same request, known already, under another host and from another page, on one connection."""
    first = b"POST /graphql HTTP/1.1\r\nhost: %b\r\ncontent-type: application/json\r\n%bcontent-length: %d\r\n\r\n%b"
    asked = [
        (b"127.0.0.1", b"", 200),
        (b"127.0.0.1", b"origin: http://127.0.0.1\r\n", 200),
        (b"127.0.0.1", b"origin: http://[evil\r\n", 403),
        (b"127.0.0.1", b"origin: http://evil.example\\@127.0.0.1\r\n", 403),
        (b"evil.example", b"origin: http://evil.example\r\n", 421),
        (b"[::1", b"", 400),
        (b"127.0.0.1", b"", 200),
    ]
    settings = Settings(store="memory:", host="0.0.0.0", allow_open=True)
    with served(settings, FastPathProtocol) as port, socket.create_connection(("127.0.0.1", port), 10) as line:
        for host, more, status in asked:
            line.sendall(first % (host, more, len(STATS), STATS))
            (answer,) = answers(line.recv(65_536))
            assert answer.status == status, (host, more)


@pytest.mark.parametrize("protocol", [FastPathProtocol, HeaderTimeoutProtocol])
def test_the_host_of_an_absolute_target_counts(protocol: type[HeaderTimeoutProtocol]) -> None:
    ask = b"POST %b HTTP/1.1\r\nhost: %b\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b"
    asked = [
        (b"http://localhost/graphql", b"localhost", 200),
        (b"http://localhost:8000/graphql", b"localhost:8000", 200),
        (b"http://evil.example/graphql", b"localhost", 400),
        (b"http://localhost/graphql", b"evil.example", 400),
        (b"http://user@localhost/graphql", b"localhost", 400),
        (b"http://evil.example/graphql", b"evil.example", 421),
        (b"http://[::1/graphql", b"localhost", 400),
        (b"http://localhost.evil.example?/graphql", b"localhost", 400),
    ]
    with served(Settings(store="memory:"), protocol) as port:
        for target, host, status in asked:
            with socket.create_connection(("127.0.0.1", port), 10) as line:
                line.sendall(ask % (target, host, len(STATS), STATS))
                assert line.recv(65_536).startswith(b"HTTP/1.1 %d" % status), (target, host)


@pytest.mark.parametrize("target", [b"//[evil", b"http://[evil/", b"http://evil.example/livez", b"*", b"/[", b"/%"])
def test_odd_targets_are_no_failure(target: bytes) -> None:
    settings = Settings(store="memory:")
    with served(settings, FastPathProtocol) as port, socket.create_connection(("127.0.0.1", port), 10) as line:
        line.sendall(b"GET %b HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n" % target)
        heard = b""
        while chunk := line.recv(65_536):
            heard += chunk
        assert heard.startswith((b"HTTP/1.1 4", b"HTTP/1.1 200"))
