"""What those who run the gateway see: metrics, plans and traces."""

from __future__ import annotations

import re
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.gateway.conftest import ask
from ugs_gateway.app import create_app
from ugs_gateway.observability.tracing import Tracing, provider_for
from ugs_gateway.settings import Settings
from ugs_schema import build_schema
from ugs_schema.compiler.executor import OperationExecutor
from ugs_schema.compiler.limits import Limits


def numbers(client: TestClient) -> dict[str, float]:
    text = client.get("/metrics").text
    return {name: float(value) for name, value in re.findall(r"^(ugs_\S+) (\S+)$", text, re.MULTILINE)}


def test_metrics_tell_what_was_asked_and_how_it_went(demo: TestClient) -> None:
    ask(demo, "{ stats { nodes } }")
    ask(demo, "{ stats { nodes } }")
    ask(demo, "{ nope }")
    demo.post("/graphql", content=b"x")
    found = numbers(demo)
    assert found['ugs_requests_total{outcome="ok"}'] == 2
    assert found['ugs_requests_total{outcome="errors"}'] == 1
    assert found['ugs_requests_total{outcome="refused"}'] == 1
    assert found["ugs_request_seconds_count"] == 4
    assert found["ugs_events_position"] == 15
    assert found["ugs_documents"] == 2
    assert found['ugs_document_lookups_total{found="yes"}'] == 1
    assert found["ugs_subscriptions"] == 0


def test_metrics_count_sockets_and_subscriptions(client: TestClient) -> None:
    with client.websocket_connect("ws://localhost/graphql", subprotocols=["graphql-transport-ws"]) as socket:
        socket.send_json({"type": "connection_init"})
        socket.receive_json()
        query = {"query": "subscription { events(afterSeq: 0) { seq } }"}
        socket.send_json({"type": "subscribe", "id": "1", "payload": query})
        ask(client, 'mutation { addNode(input: {id: "n"}) { node { id } } }')
        socket.receive_json()
        found = numbers(client)
        assert (found["ugs_sockets"], found["ugs_subscriptions"]) == (1, 1)


def test_metrics_can_be_switched_off() -> None:
    with TestClient(create_app(Settings(store="memory:", metrics=False)), base_url="http://localhost") as client:
        assert client.get("/metrics").status_code == 404


def explained(client: TestClient, query: str) -> Any:
    answer = client.post("/graphql", json={"query": query, "extensions": {"explain": True}}).json()
    assert "data" in answer
    return answer["extensions"]["explain"]


def test_a_plan_is_shown_to_those_who_ask_for_it(demo: TestClient) -> None:
    told = explained(demo, "{ graphNodes(first: 10) { nodes { id outgoing(first: 5) { nodes { id } } } } }")
    assert (told["cost"], told["way"]) == (1 + 10 * (1 + 1 + 5), "compiled")
    plan = told["roots"][0]["plan"]
    assert (plan["table"], plan["page"]["limit"]) == ("nodes", 10)
    assert next(iter(plan["nested"].values()))["table"] == "edges"
    assert explained(demo, "{ stats { nodes } }")["way"] == "resolvers"


def test_a_store_shows_its_statements(tmp_path: Any) -> None:
    with TestClient(create_app(Settings(store=f"sqlite:///{tmp_path}/g.db")), base_url="http://localhost") as client:
        told = explained(client, "{ graphNodes(first: 10) { totalCount nodes { id } } }")
    (statement,) = told["roots"][0]["statements"]
    assert "SELECT" in statement and '"nodes"' in statement


@pytest.mark.parametrize(
    ("query", "cost"),
    [
        ("{ stats { nodes } }", 1),
        ('{ graphNode(id: "a") { id outgoing(first: 3) { totalCount } } }', 1 + 1 + 3),
        ("{ graphNodes { nodes { id } pageInfo { endCursor } } }", 1 + 50),
        ("{ graphNodes(first: 100) { edges { node { outgoing(first: 10) { nodes { id } } } } } }", 1 + 100 * 12),
        ("query ($n: Int!) { graphNodes(first: $n) { nodes { id } } }", 1 + 7),
        ("{ hubs(limit: 4) { node { id } degree } }", 1 + 4 * 2),
        ('{ nodes(ids: ["a", "b"]) { id } }', 1 + 2),
    ],
)
def test_a_query_has_a_price_that_can_be_worked_out_by_hand(query: str, cost: int) -> None:
    operations = OperationExecutor(build_schema(), limits=Limits())
    prepared = operations.prepare(query)
    assert not prepared.errors
    assert operations.cost(prepared, prepared.operations[0], {"n": 7}) == cost


def test_a_span_is_made_for_each_operation(client: TestClient) -> None:
    pytest.importorskip("opentelemetry.sdk")
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter = InMemorySpanExporter()
    tracing = Tracing("")
    tracing._provider = provider_for("http://127.0.0.1:9", lambda address: exporter)
    tracing._tracer = tracing._provider.get_tracer("test")
    operation = OperationExecutor(build_schema()).prepare("query Hello { stats { nodes } }").operations[0]
    with tracing.span(operation):
        pass
    tracing.close()
    (span,) = exporter.get_finished_spans()
    assert (span.name, dict(span.attributes or {})["graphql.operation.name"]) == ("query Hello", "Hello")
