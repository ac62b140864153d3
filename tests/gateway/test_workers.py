"""`ugs serve --workers N`: the workers are one gateway for those who ask, and outlive each other."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from uuid import uuid4

import psutil
import pytest
from starlette.testclient import TestClient
from websockets.sync.client import connect

from tests import servers
from tests.gateway.processes import Gateway, serving, ugs
from ugs.connect import storage_for
from ugs.extraction.api import Extractions, is_extracting
from ugs.feature_registry import CATALOG
from ugs.keys.api import KEYS_STORE_NAME
from ugs_gateway.app import create_app
from ugs_gateway.observability.counters import COLUMNS, GAUGES, Column, Counters
from ugs_gateway.server import CannotListen
from ugs_gateway.settings import Settings, load_settings
from ugs_gateway.workers import bind_all

WORKERS = 4
WAIT_SECONDS = 60.0
ADD = "mutation($id: ID!) { addNode(input: {id: $id}) { node { id } } }"
READ = "query($id: ID!) { node(id: $id) { id } }"
DEFINE = 'mutation { createOntology(input: {name: "plants", nodeTypes: ["Tree"]}) { ontology { name } } }'


def until(true: Callable[[], Any], what: str) -> Any:
    """Wait for a condition; answers its value."""
    deadline = time.monotonic() + WAIT_SECONDS
    while not (found := true()):
        assert time.monotonic() < deadline, what
        time.sleep(0.05)
    return found


class Line:
    """A connection to one worker. One that was idle for so long that the worker closed it is made again, to the same."""

    def __init__(self, gateway: Gateway, token: str = "") -> None:
        self.gateway, self.token = gateway, token
        self.tag: str | None = None
        """The ETag of the last answer."""
        self._connect()
        self.worker = self._accepted_by()

    def _connect(self) -> None:
        self.http = HTTPConnection("127.0.0.1", self.gateway.port, timeout=WAIT_SECONDS)
        self.http.connect()
        self.port = self.http.sock.getsockname()[1]
        self._send("/livez", None, {})

    def _accepted_by(self) -> int | None:
        for pid in workers(self.gateway):
            try:
                found = psutil.Process(pid).net_connections(kind="tcp")
            except psutil.NoSuchProcess:
                continue
            if any(self.port in each.raddr[1:] for each in found):
                return pid
        return None

    def _reach_again(self) -> bool:
        self.http.close()
        self._connect()
        return self._accepted_by() == self.worker

    def _send(self, path: str, body: Any, headers: dict[str, str]) -> tuple[int, str]:
        self.http.request("GET" if body is None else "POST", path, None if body is None else json.dumps(body), headers)
        answer = self.http.getresponse()
        self.tag = answer.headers["etag"]
        return answer.status, answer.read().decode()

    def request(self, path: str, body: Any = None, tag: str | None = None) -> tuple[int, str]:
        headers = {"content-type": "application/json"}
        if self.token:
            headers["authorization"] = f"Bearer {self.token}"
        if tag:
            headers["if-none-match"] = tag
        try:
            return self._send(path, body, headers)
        except ConnectionError:
            until(self._reach_again, "the worker cannot be reached again")
            return self._send(path, body, headers)

    def ask(self, query: str, path: str = "/graphql", **variables: Any) -> Any:
        return json.loads(self.request(path, {"query": query, "variables": variables})[1])


def workers(gateway: Gateway) -> list[int]:
    """The worker processes of a gateway."""
    return [child.pid for child in psutil.Process(gateway.process.pid).children() if is_worker(child)]


def is_worker(process: psutil.Process) -> bool:
    try:
        return "spawn_main" in " ".join(process.cmdline())
    except psutil.NoSuchProcess:
        return False


@contextmanager
def lines(gateway: Gateway, token: str = "") -> Iterator[list[Line]]:
    """A connection to each worker."""
    with ExitStack() as opened:
        found: dict[int | None, Line] = {}

        def every_worker_reached() -> bool:
            line = Line(gateway, token)
            opened.callback(lambda: line.http.close())
            found.setdefault(line.worker, line)
            return len(found.keys() - {None}) == len(workers(gateway))

        until(every_worker_reached, f"only {len(found)} workers answer")
        yield [line for pid, line in found.items() if pid is not None]


@contextmanager
def place(store: str, folder: Path) -> Iterator[str]:
    """The URL of a fresh store, dropped at the end."""
    if store == "sqlite":
        yield f"sqlite:///{folder}/graph.db"
        return
    url = f"{servers.require(store)}?{'schema' if store == 'postgresql' else 'namespace'}=workers_{uuid4().hex[:8]}"
    try:
        yield url
    finally:
        asyncio.run(dropped(url))


async def dropped(url: str) -> None:
    home = storage_for(url)
    for storage in (home.sibling(KEYS_STORE_NAME), home):
        assert storage is not None
        await storage.open(CATALOG)
        await storage.drop()
        await storage.close()


class Shared(Gateway):
    """A gateway of four workers where callers log in, and a key of an admin."""

    folder: Path
    store: str
    token: str


@pytest.fixture(scope="module", params=["sqlite", "postgresql", "neo4j"])
def gateway(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    folder = tmp_path_factory.mktemp("workers")
    with place(request.param, folder) as store:
        made = ugs(folder, "key", "add", "root", "--role", "admin", "--store", store)
        with serving(folder, "--store", store, "--store-keys", "on", "--workers", str(WORKERS)) as running:
            shared = Shared(running.process, running.port, running.log)
            shared.folder, shared.store, shared.token = folder, store, json.loads(made.stdout)["token"]
            yield shared


def test_a_change_through_one_worker_is_read_through_all(gateway: Shared) -> None:
    with lines(gateway, gateway.token) as doors:
        for number, door in enumerate(doors):
            assert door.ask(ADD, id=f"n{number}") == {"data": {"addNode": {"node": {"id": f"n{number}"}}}}
            for other in doors:
                assert other.ask(READ, id=f"n{number}") == {"data": {"node": {"id": f"n{number}"}}}
        assert {door.worker for door in doors} == set(workers(gateway))


def test_a_subscription_hears_of_the_changes_of_all_workers(gateway: Shared) -> None:
    with (
        lines(gateway, gateway.token) as doors,
        connect(
            f"ws://127.0.0.1:{gateway.port}/graphql",
            subprotocols=["graphql-transport-ws"],  # type: ignore[list-item]
        ) as socket,
    ):
        token = {"authorization": f"Bearer {gateway.token}"}
        socket.send(json.dumps({"type": "connection_init", "payload": token}))
        assert json.loads(socket.recv(WAIT_SECONDS))["type"] == "connection_ack"
        begun = doors[0].ask("{ stats { events } }")["data"]["stats"]["events"]
        watch = f"subscription {{ events(afterSeq: {begun}) {{ data }} }}"
        socket.send(json.dumps({"type": "subscribe", "id": "1", "payload": {"query": watch}}))
        added = [f"heard_{number}" for number in range(WORKERS)]
        for door, id in zip(doors, added, strict=True):
            door.ask(ADD, id=id)
        heard = [json.loads(socket.recv(WAIT_SECONDS))["payload"]["data"]["events"]["data"]["id"] for _ in added]
        assert heard == added


def test_an_ontology_of_one_worker_is_a_schema_of_all(gateway: Shared) -> None:
    with lines(gateway, gateway.token) as doors:
        made = doors[0].ask(DEFINE)
        assert "errors" not in made, made
        for door in doors:
            until(lambda: door.request("/graphql/plants/schema.graphql")[0] == 200, "the schema is not there")  # noqa: B023
            assert door.ask("{ __typename }", path="/graphql/plants") == {"data": {"__typename": "Query"}}


def test_an_unchanged_answer_is_not_claimed_after_a_change_elsewhere(gateway: Shared) -> None:
    query = "{ stats { nodes } }"
    named = f"/graphql?documentId=sha256:{sha256(query.encode()).hexdigest()}"
    known = {"query": query, "extensions": {"persistedQuery": {"version": 1, "sha256Hash": named.rpartition(":")[2]}}}
    with lines(gateway, gateway.token) as doors:
        for door in doors:
            assert door.request("/graphql", known)[0] == 200
        before = doors[0].request(named)[1]
        tag = doors[0].tag
        assert tag
        assert [door.request(named, tag=tag)[0] for door in doors] == [304] * WORKERS
        doors[1].ask(ADD, id="later")
        for door in doors:
            status, answer = door.request(named, tag=tag)
            assert status == 200
            assert answer != before


def test_a_revoked_key_is_refused_by_all_workers(gateway: Shared) -> None:
    made = ugs(gateway.folder, "key", "add", "guest", "--role", "reader", "--store", gateway.store)
    key = json.loads(made.stdout)
    with lines(gateway, key["token"]) as doors:
        for door in doors:
            until(lambda: "data" in door.ask("{ stats { nodes } }"), "the new key is not known")  # noqa: B023
        assert ugs(gateway.folder, "key", "revoke", key["id"], "--store", gateway.store).returncode == 0
        for door in doors:
            until(lambda: "errors" in door.ask("{ stats { nodes } }"), "the key still works")  # noqa: B023


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Gateway]:
    """Two workers on SQLite, without login."""
    with serving(tmp_path, "--store", "sqlite:///graph.db", "--workers", "2") as running:
        yield running


def test_metrics_are_those_of_all_workers_and_survive_one(alone: Gateway) -> None:
    with lines(alone) as doors:
        for door in doors:
            assert door.ask("{ stats { nodes } }")["data"]
        for door in doors:
            until(lambda: numbers(door)['ugs_requests_total{outcome="ok"}'] == 2, "requests are missing")  # noqa: B023
        victim = doors[0].worker
        assert victim
        psutil.Process(victim).kill()
        assert doors[1].ask(ADD, id="kept")["data"]
    until(lambda: len(set(workers(alone)) - {victim}) == 2, "nobody took the place of the dead worker")
    with lines(alone) as doors:
        until(lambda: numbers(doors[0])["ugs_events_position"] == 1, "the position is not that of the newest event")
        for door in doors:
            assert door.ask(READ, id="kept") == {"data": {"node": {"id": "kept"}}}
        until(lambda: numbers(doors[0])['ugs_requests_total{outcome="ok"}'] == 2 * 2 + 1, "requests are missing")


def numbers(door: Line) -> dict[str, float]:
    found = re.findall(r"^(ugs_\S+) (\S+)$", door.request("/metrics")[1], re.MULTILINE)
    return {name: float(value) for name, value in found}


def test_all_workers_stop_with_the_gateway(alone: Gateway) -> None:
    pids = workers(alone)
    assert len(pids) == 2
    assert alone.process.stdout
    assert alone.process.stdout.readline() == f"UGS Gateway is ready: {alone.url}/\n"
    alone.process.send_signal(signal.SIGTERM)
    said, _ = alone.process.communicate(timeout=WAIT_SECONDS)
    assert (alone.process.returncode, said) == (0, "")
    assert not any(psutil.pid_exists(pid) for pid in pids)


def test_no_worker_outlives_a_killed_supervisor(alone: Gateway) -> None:
    pids = workers(alone)
    alone.process.kill()
    until(lambda: not any(psutil.pid_exists(pid) for pid in pids), "workers serve on without their supervisor")


def test_workers_do_not_join_a_port_that_others_serve() -> None:
    held = bind_all(Settings(port=0, workers=2))
    try:
        port = held[0].getsockname()[1]
        assert [each.getsockname()[1] for each in held] == [port, port]
        held[0].listen()
        with pytest.raises(CannotListen, match="in use"):
            bind_all(Settings(port=port, workers=2))
    finally:
        for each in held:
            each.close()


@pytest.mark.parametrize("store", ["file:./data", "memory:", "sqlite:"])
def test_a_store_of_one_process_says_what_to_do(tmp_path: Path, store: str) -> None:
    refused = ugs(tmp_path, "serve", "--store", store, "--workers", "2", "--port", "0")
    assert refused.returncode == 3
    assert "workers = 2 needs a store that several processes can open" in refused.stderr
    assert not (tmp_path / "data").exists()


def test_a_store_that_does_not_open_is_told_before_workers_start(tmp_path: Path) -> None:
    (tmp_path / "graph.db").write_text("this is no database " * 100)
    refused = ugs(tmp_path, "serve", "--store", "sqlite:///graph.db", "--workers", "2", "--port", "0")
    alone = ugs(tmp_path, "serve", "--store", "sqlite:///graph.db", "--port", "0")
    assert (refused.returncode, refused.stderr) == (alone.returncode, alone.stderr)
    assert refused.returncode


def test_one_worker_reads_the_notes_of_all_and_writes_the_mirror(tmp_path: Path) -> None:
    settings = Settings(store=f"sqlite:///{tmp_path}/graph.db", extractor="patterns", mirror=str(tmp_path / "files"))
    with TestClient(create_app(settings, worker=1), base_url="http://localhost") as client:
        queue = Extractions(client.app.state.system)  # type: ignore[attr-defined]
        assert is_extracting(queue.facts.system) and not (tmp_path / "files").exists()
        note = client.portal.call(queue.remember, "Alice prefers green tea.")  # type: ignore[union-attr]
    with TestClient(create_app(settings), base_url="http://localhost") as client:
        queue = Extractions(client.app.state.system)  # type: ignore[attr-defined]
        until(lambda: client.portal.call(queue.state, note.note_id).state == "done", "nobody reads the note")  # type: ignore[union-attr]
        assert (tmp_path / "files").exists()


def test_auto_is_one_worker_for_each_core() -> None:
    assert load_settings({"workers": "auto"}).workers == len(psutil.Process().cpu_affinity() or ())
    assert load_settings({"workers": "3"}).workers == 3


def test_a_replaced_worker_counts_on_but_holds_nothing(tmp_path: Path) -> None:
    file = tmp_path / "counters"
    Counters.reserve(file, 2)
    first, second = Counters.shared(file, 0), Counters.shared(file, 1)
    first.own[Column.OK], second.own[Column.OK] = 3, 4
    first.own[Column.SOCKETS], first.own[COLUMNS - 1] = 5, 6
    first.own[Column.POSITION], second.own[Column.POSITION] = 7, 8
    again = Counters.shared(file, 0)
    assert (again.total(Column.OK), again.total(COLUMNS - 1), again.greatest(Column.POSITION)) == (7, 6, 8)
    assert [again.total(gauge) for gauge in GAUGES] == [0, 0, 0]
