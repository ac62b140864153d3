"""Streams end when the key or token they were opened with does: on every kind of stream, busy or silent."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx2
import jwt
import pytest
import uvicorn
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from tests import servers
from tests.servers.places import free_port
from ugs.identity import LOCAL
from ugs.keys.api import KeyRequest, Keyring
from ugs.system import System
from ugs_gateway.app import create_app
from ugs_gateway.auth import authenticator
from ugs_gateway.auth.api_key_file import StoredToken, create_token
from ugs_gateway.auth.authenticator import Authenticator
from ugs_gateway.graphql import stream_access
from ugs_gateway.graphql.stream_access import AccessEnded, StreamAccess
from ugs_gateway.rest.event_log import stream_lines
from ugs_gateway.settings import Settings

SECRET = "a secret of more than thirty-two characters"
WATCH = "subscription { events { seq } }"
CREATE = 'mutation { createApiKey(input: {name: "guest", roles: [READER]}) { token apiKey { id } } }'
REVOKE = "mutation($id: ID!) { revokeApiKey(input: {id: $id}) { apiKey { works } } }"
ADD = "mutation { addNode(input: {}) { node { id } } }"
LIMIT_SECONDS = 30.0
"""What is promised; with the short intervals of these tests it takes a second or two."""


class Running:
    """A gateway on a port of its own, with a root key that is an admin's."""

    def __init__(self, url: str, root: str, file: Path) -> None:
        self.url, self.root, self.file = url, root, file

    def ask(self, query: str, token: str | None = None, **variables: Any) -> Any:
        headers = {"authorization": f"Bearer {token or self.root}"}
        body = {"query": query, "variables": variables}
        return httpx2.post(f"{self.url}/graphql", json=body, headers=headers, timeout=30).json()

    @contextmanager
    def busy(self, wanted: bool) -> Iterator[None]:
        """Nodes are added all the time, if so wanted."""
        stop = threading.Event()

        def add() -> None:
            with httpx2.Client(headers={"authorization": f"Bearer {self.root}"}, timeout=30) as client:
                while not stop.wait(0.05):
                    with suppress(httpx2.HTTPError):
                        client.post(f"{self.url}/graphql", json={"query": ADD})

        thread = threading.Thread(target=add)
        if wanted:
            thread.start()
        try:
            yield
        finally:
            stop.set()
            if wanted:
                thread.join(30)


@contextmanager
def running(store: str, file: Path, root: str) -> Iterator[Running]:
    settings = Settings(
        store=store, token_file=str(file), jwt_key_file=str(file.parent / "secret"), store_keys=True, port=free_port()
    )
    config = uvicorn.Config(create_app(settings), port=settings.port, log_level="error", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve()))
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.02)
        yield Running(f"http://127.0.0.1:{settings.port}", root, file)
    finally:
        server.should_exit = True
        thread.join(30)


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream_access, "CHECK_SECONDS", 0.2)
    monkeypatch.setattr(authenticator, "FILE_CHECK_SECONDS", 0.2)
    monkeypatch.setattr(authenticator, "LEEWAY_SECONDS", 0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "secret").write_text(SECRET)
    return tmp_path


@pytest.fixture
def gateway(folder: Path) -> Iterator[Running]:
    file = folder / "tokens.jsonl"
    root = create_token(file, StoredToken("", "root", ("admin",)))
    with running(f"sqlite:///{folder}/graph.db", file, root) as gateway:
        yield gateway


# ── the credentials, and how each ends ───────────────────────────────────────


def stored(gateway: Running) -> tuple[str, Callable[[], None]]:
    made = gateway.ask(CREATE)["data"]["createApiKey"]
    return made["token"], lambda: gateway.ask(REVOKE, id=made["apiKey"]["id"])


def in_file(gateway: Running) -> tuple[str, Callable[[], None]]:
    before = gateway.file.read_bytes()
    token = create_token(gateway.file, StoredToken("", "guest", ("reader",)))
    time.sleep(0.5)
    return token, lambda: gateway.file.write_bytes(before) and None


def deleted_file(gateway: Running) -> tuple[str, Callable[[], None]]:
    token = create_token(gateway.file, StoredToken("", "guest", ("reader",)))
    time.sleep(0.5)
    return token, gateway.file.unlink


def expiring(gateway: Running) -> tuple[str, Callable[[], None]]:
    claims = {"sub": "guest", "exp": time.time() + 2, "roles": ["reader"]}
    return jwt.encode(claims, SECRET, "HS256"), lambda: time.sleep(2)


CREDENTIALS = {"stored": stored, "file": in_file, "deleted file": deleted_file, "token": expiring}


# ── the streams: each returns once the gateway has ended it ──────────────────


def server_sent_events(gateway: Running, token: str, opened: threading.Event) -> None:
    headers = {"authorization": f"Bearer {token}", "accept": "text/event-stream"}
    body = {"query": WATCH}
    with httpx2.stream("POST", f"{gateway.url}/graphql", json=body, headers=headers, timeout=LIMIT_SECONDS) as answer:
        assert answer.status_code == 200
        opened.set()
        lines = list(answer.iter_lines())
    assert "event: complete" in lines


def web_socket(gateway: Running, token: str, opened: threading.Event) -> None:
    with connect(f"{gateway.url.replace('http', 'ws')}/graphql", subprotocols=["graphql-transport-ws"]) as socket:  # type: ignore[list-item]
        socket.send(json.dumps({"type": "connection_init", "payload": {"authorization": f"Bearer {token}"}}))
        assert json.loads(socket.recv(10))["type"] == "connection_ack"
        socket.send(json.dumps({"type": "subscribe", "id": "1", "payload": {"query": WATCH}}))
        opened.set()
        with suppress(ConnectionClosed):
            while True:
                socket.recv(LIMIT_SECONDS)
        assert socket.close_code == 4403


STREAMS = {"sse": server_sent_events, "socket": web_socket}


def ended(stream: Callable[..., None], gateway: Running, token: str, end: Callable[[], Any]) -> float:
    """How long a stream went on after its credential ended."""
    opened, failures = threading.Event(), []

    def follow() -> None:
        try:
            stream(gateway, token, opened)
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=follow, daemon=True)
    thread.start()
    assert opened.wait(10), failures
    end()
    began = time.monotonic()
    thread.join(LIMIT_SECONDS)
    assert not thread.is_alive() and not failures, failures
    return time.monotonic() - began


@pytest.mark.parametrize("is_busy", [True, False], ids=["busy", "silent"])
@pytest.mark.parametrize("credential", CREDENTIALS)
@pytest.mark.parametrize("stream", STREAMS)
def test_a_stream_ends_with_its_credential(gateway: Running, stream: str, credential: str, is_busy: bool) -> None:
    token, end = CREDENTIALS[credential](gateway)
    with gateway.busy(is_busy):
        assert ended(STREAMS[stream], gateway, token, end) < LIMIT_SECONDS


@pytest.mark.parametrize("store", ["sqlite", "postgresql", "neo4j"])
def test_a_key_that_another_gateway_revokes_ends_streams_here(folder: Path, store: str) -> None:
    option = "schema" if store == "postgresql" else "namespace"
    url = f"sqlite:///{folder}/graph.db" if store == "sqlite" else f"{servers.require(store)}?{option}=revocation"
    file = folder / "tokens.jsonl"
    root = create_token(file, StoredToken("", "root", ("admin",)))
    with running(url, file, root) as here, running(url, file, root) as there, here.busy(True):
        for stream in (server_sent_events, web_socket):
            token, end = stored(there)
            deadline = time.monotonic() + 20
            while "errors" in here.ask("{ stats { nodes } }", token) and time.monotonic() < deadline:
                time.sleep(0.1)
            assert ended(stream, here, token, end) < LIMIT_SECONDS


def change_roles(gateway: Running, user: str, *roles: str) -> None:
    lines = [json.loads(line) for line in gateway.file.read_text().splitlines()]
    told = [{**line, "roles": list(roles)} if line["user"] == user else line for line in lines]
    gateway.file.write_text("".join(json.dumps(line) + "\n" for line in told))
    time.sleep(0.6)


@pytest.mark.parametrize("is_busy", [True, False], ids=["busy", "silent"])
def test_an_open_socket_has_the_rights_its_key_has_now(gateway: Running, is_busy: bool) -> None:
    token = create_token(gateway.file, StoredToken("", "boss", ("admin",)))
    time.sleep(0.5)
    with connect(f"{gateway.url.replace('http', 'ws')}/graphql", subprotocols=["graphql-transport-ws"]) as socket:  # type: ignore[list-item]

        def begin(id: str, query: str) -> None:
            socket.send(json.dumps({"type": "subscribe", "id": id, "payload": {"query": query}}))

        def told(id: str, *kinds: str) -> Any:
            while True:
                message = json.loads(socket.recv(LIMIT_SECONDS))
                if message.get("id") == id and message["type"] in kinds:
                    return message

        socket.send(json.dumps({"type": "connection_init", "payload": {"authorization": f"Bearer {token}"}}))
        begin("before", "mutation { snapshot { snapshot { eventCount } } }")
        assert "errors" not in told("before", "next")["payload"]
        begin("watch", WATCH)
        with gateway.busy(is_busy):
            change_roles(gateway, "boss", "reader")
            assert told("watch", "error")["payload"][0]["extensions"]["code"] == "FORBIDDEN"
        begin("read", "{ stats { nodes } }")
        assert "errors" not in told("read", "next")["payload"]
        for id, query in (("admin", "mutation { snapshot { snapshot { eventCount } } }"), ("write", ADD)):
            begin(id, query)
            assert told(id, "error")["payload"][0]["extensions"]["code"] == "FORBIDDEN"
        begin("again", WATCH)
        gateway.ask(ADD)
        assert told("again", "next")["payload"]["data"]


def test_nothing_is_delivered_once_a_key_is_revoked(gateway: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    """The check at each delivery does not wait for the interval of silent streams."""
    monkeypatch.setattr(stream_access, "CHECK_SECONDS", 600.0)
    token, revoke = stored(gateway)
    headers = {"authorization": f"Bearer {token}", "accept": "text/event-stream"}
    with httpx2.stream(
        "POST", f"{gateway.url}/graphql", json={"query": WATCH}, headers=headers, timeout=LIMIT_SECONDS
    ) as answer:
        lines = answer.iter_lines()
        gateway.ask(ADD)
        assert next(lines) == "event: next"
        revoke()
        gateway.ask(ADD)
        assert [line for line in lines if line.startswith("event")] == ["event: complete"]


async def test_a_download_of_the_log_breaks_off_with_its_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "tokens.jsonl"
    header = f"Bearer {create_token(file, StoredToken('', 'root', ('admin',)))}"
    keeper = Authenticator(Settings(token_file=str(file)))
    access = StreamAccess(keeper, header, keeper.principal(header))

    async def two_chunks(*given: Any) -> AsyncIterator[list[bytes]]:
        yield [b"first"]
        yield [b"second"]

    monkeypatch.setattr("ugs_gateway.rest.event_log.export_lines", two_chunks)
    async with System.at_url("memory:") as system:
        chunks = stream_lines(system, 0, 2, access)
        assert await anext(chunks) == b"first"
        file.unlink()
        await asyncio.sleep(0.3)
        with pytest.raises(AccessEnded):
            await anext(chunks)


async def test_a_keyring_hears_of_keys_again_after_any_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ugs.keys.api.RETRY_DELAY_SECONDS", 0.05)
    place = f"sqlite:///{tmp_path}/graph.db"
    async with System.at_url(place) as home, Keyring.beside(home) as here:
        follow, failures = here.system.bus.follow, []

        def fail_once(*given: Any) -> AsyncIterator[Any]:
            if not failures:
                failures.append(given)
                raise RuntimeError("a driver failed in a way nobody thought of")
            return follow(*given)

        monkeypatch.setattr(here.system.bus, "follow", fail_once)
        here._following.cancel()  # type: ignore[union-attr]
        here._following = asyncio.create_task(here._follow(0))
        async with System.at_url(place) as other, Keyring.beside(other) as there:
            made = await there.create(KeyRequest("guest"), LOCAL.principal)
            assert made.token is not None
            assert await comes_true(lambda: here.principal(made.token or "") is not None)
            await there.revoke(made.key.id, LOCAL.principal)
            assert await comes_true(lambda: here.principal(made.token or "") is None)
    assert failures


async def comes_true(condition: Callable[[], bool]) -> bool:
    """Whether something is so within a few seconds."""
    for _ in range(400):
        if condition():
            return True
        await asyncio.sleep(0.05)
    return False


@pytest.mark.parametrize("stream", [server_sent_events])
def test_a_stream_ends_when_the_rights_of_its_key_change(gateway: Running, stream: Callable[..., None]) -> None:
    token = create_token(gateway.file, StoredToken("", "boss", ("admin",)))
    time.sleep(0.5)
    assert ended(stream, gateway, token, lambda: change_roles(gateway, "boss", "reader")) < LIMIT_SECONDS


def test_mcp_has_no_streams_that_could_outlive_a_key(gateway: Running) -> None:
    headers = {"authorization": f"Bearer {gateway.root}", "accept": "text/event-stream"}
    assert httpx2.get(f"{gateway.url}/mcp", headers=headers, timeout=30).status_code == 405


def test_an_mcp_session_id_is_worth_nothing(gateway: Running) -> None:
    """Every request is authenticated by itself, so nobody's session can be taken over, nor outlive its key."""
    token, revoke = stored(gateway)
    initialize = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    }
    headers = {"accept": "application/json, text/event-stream", "authorization": f"Bearer {token}"}
    begun = httpx2.post(f"{gateway.url}/mcp", json=initialize, headers=headers, timeout=30)
    assert begun.status_code == 200 and "mcp-session-id" not in begun.headers
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}}
    with_id = {**headers, "mcp-session-id": "0" * 32}
    without_key = {name: value for name, value in with_id.items() if name != "authorization"}
    assert httpx2.post(f"{gateway.url}/mcp", json=listing, headers=without_key, timeout=30).status_code == 401
    revoke()
    assert httpx2.post(f"{gateway.url}/mcp", json=listing, headers=with_id, timeout=30).status_code == 401
