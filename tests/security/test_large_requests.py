"""Large requests do not block the event loop: what grows with them happens in a thread, in pieces, or is refused."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Iterator
from itertools import pairwise
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.gateway.conftest import ask
from ugs import cypher, large_json
from ugs.cypher import api as cypher_api
from ugs.graph import queries
from ugs.graph.api import Graph
from ugs.system import System
from ugs_backends.memory.query import degree_counts
from ugs_gateway.app import create_app
from ugs_gateway.settings import Settings
from ugs_schema import build_schema
from ugs_schema.compiler.executor import OperationExecutor
from ugs_schema.context import RequestContext

CYPHER = 'query($p: JSON) { cypher(query: "RETURN size($l) AS n", params: $p) { rows } }'
FILTER = "query($f: NodeFilter) { graphNodes(filter: $f) { nodes { id } } }"


@pytest.fixture
def client() -> Iterator[TestClient]:
    with TestClient(create_app(Settings(store="memory:")), base_url="http://localhost") as client:
        yield client


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The threads that parse, check and decode JSON, in order."""
    threads: list[str] = []

    def recording(name: str, module: Any) -> None:
        original = getattr(module, name)

        def recorded(*args: Any, **kwargs: Any) -> Any:
            threads.append(threading.current_thread().name)
            return original(*args, **kwargs)

        monkeypatch.setattr(module, name, recorded)

    recording("parse_json", large_json)
    recording("check_value", large_json)
    recording("_decode_param", cypher_api)
    return threads


@pytest.mark.parametrize(
    "values", [[[]] * 40_000, [{"a": 1}] * 15_000, list(range(30_000))], ids=["lists", "maps", "numbers"]
)
def test_large_parameters_are_handled_in_a_thread(client: TestClient, checked: list[str], values: list[Any]) -> None:
    assert ask(client, CYPHER, p={"l": values})["data"]["cypher"]["rows"] == [[len(values)]]
    assert checked and all(name.startswith("ugs-compute") for name in checked), checked


def test_small_parameters_are_not(client: TestClient, checked: list[str]) -> None:
    assert ask(client, CYPHER, p={"l": [1, 2]})["data"]["cypher"]["rows"] == [[2]]
    assert not any(name.startswith("ugs-compute") for name in checked)


def test_what_is_wrong_with_a_large_value_is_told_as_ever(client: TestClient, checked: list[str]) -> None:
    deep: list[Any] = []
    for _ in range(33):
        deep = [deep]
    told = [ask(client, CYPHER, p={"l": [*([[]] * count), deep]})["errors"][0]["message"] for count in (1, 40_000)]
    assert all("nested deeper than 32" in message for message in told) and "value.l[40000]" in told[1]
    checked.clear()
    broken = b'{"query": "{ stats { nodes } }", "variables": {"a": [' + b"[]," * 40_000 + b"]}}"
    answer = client.post("/graphql", content=broken, headers={"content-type": "application/json"})
    assert answer.status_code == 400 and answer.json()["errors"][0]["extensions"]["code"] == "E006"
    assert all(name.startswith("ugs-compute") for name in checked)


def test_large_messages_of_a_socket_are_handled_in_a_thread(client: TestClient, checked: list[str]) -> None:
    with client.websocket_connect("ws://localhost/graphql", subprotocols=["graphql-transport-ws"]) as socket:
        socket.send_json({"type": "connection_init"})
        assert socket.receive_json()["type"] == "connection_ack"
        checked.clear()
        variables = {"p": {"l": [[]] * 30_000}}
        payload = {"query": CYPHER, "variables": variables}
        socket.send_text(json.dumps({"type": "subscribe", "id": "1", "payload": payload}, separators=(",", ":")))
        assert socket.receive_json()["payload"]["data"]["cypher"]["rows"] == [[30_000]]
    assert checked and all(name.startswith("ugs-compute") for name in checked), checked


@pytest.mark.parametrize(
    ("query", "variables"),
    [
        (FILTER, {"f": {"types": ["a"] * 30_000}}),
        (FILTER, {"f": {"or": [{"types": ["a"]}] * 4_000}}),
        ("query($t: [String!]) { graphNodes(filter: {types: $t}) { nodes { id } } }", {"t": ["a"] * 30_000}),
        ("query($t: [String!]) { traverse(id: \"a\", edgeTypes: $t) { depth } }", {"t": ["a"] * 30_000}),
    ],
)  # fmt: skip
def test_long_lists_in_variables_are_refused(client: TestClient, query: str, variables: dict[str, Any]) -> None:
    found = ask(client, query, **variables)
    assert found["errors"][0]["extensions"]["code"] == "LIMIT_EXCEEDED", found
    assert found["errors"][0]["extensions"]["details"]["limit"] == 10_000


@pytest.fixture
async def hub() -> AsyncIterator[System]:
    async with System.at_url("memory:") as system:
        nodes = [{"id": "hub"}, *({"id": f"n{n}"} for n in range(6_000))]
        edges = [{"id": f"e{n}", "from": "hub", "to": f"n{n}"} for n in range(6_000)]
        await Graph(system).import_graph({"nodes": nodes, "edges": edges})
        yield system


class Turns:
    """Counts how often the event loop served others."""

    async def __aenter__(self) -> Turns:
        self.count = 0
        self._task = asyncio.create_task(self._look())
        await asyncio.sleep(0)
        self.count = 0
        return self

    async def _look(self) -> None:
        while True:
            self.count += 1
            await asyncio.sleep(0)

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()


async def test_hubs_make_rows_only_of_nodes_on_the_page(hub: System, monkeypatch: pytest.MonkeyPatch) -> None:
    made = 0
    original = degree_counts.with_counts

    def counted(*args: Any) -> Any:
        nonlocal made
        made += 1
        return original(*args)

    monkeypatch.setattr(degree_counts, "with_counts", counted)
    found = await Graph(hub).hubs(5)
    assert [one.node.id for one in found] == ["hub", "n0", "n1", "n10", "n100"]
    assert made < 20


async def test_root_fields_take_turns_with_others(hub: System, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    async def busy(*_: Any) -> list[Any]:
        seen.append(turns.count)
        end = time.perf_counter() + 0.015
        while time.perf_counter() < end:
            pass
        return []

    monkeypatch.setattr(queries, "hubs", busy)
    operations = OperationExecutor(build_schema())
    prepared = operations.prepare("{ " + " ".join(f"a{n}: hubs(limit: 1) {{ degree }}" for n in range(5)) + " }")
    async with Turns() as turns:
        await operations.answer(prepared, RequestContext(hub))
    assert len(seen) == 5 and all(later > earlier for earlier, later in pairwise(seen[1:])), seen


async def test_rows_of_a_hub_become_values_in_portions(hub: System) -> None:
    async with Turns() as turns, hub.session() as session:
        view = cypher.graph_views.view_of(session, "GRAPH", cypher.execution.build_admin_context())
        assert len(await view.relationships(["hub"], True, None)) == 6_000
        assert turns.count >= 3
        turns.count = 0
        assert len(await view.nodes_by_id([f"n{n}" for n in range(6_000)])) == 6_000
        assert turns.count >= 3


async def test_a_long_import_lets_others_run() -> None:
    async with System.at_url("memory:") as system, Turns() as turns:
        await Graph(system).import_graph({"nodes": [{"id": f"n{n}"} for n in range(12_000)]})
        assert turns.count >= 10
