"""Reading, changing, paging and refusals, with asyncio and without it."""

from __future__ import annotations

import asyncio
import threading
from datetime import UTC, datetime

import pytest

from tests.gateway.processes import Gateway
from ugs.system import System
from ugs_client import NO_RETRIES, AsyncClient, Client, GatewayError, Unreachable
from ugs_client.retries import Retries


def test_a_change_can_be_read_back_typed(gateway: Gateway) -> None:
    with Client(gateway.url) as graph:
        made = graph.add_node({"id": "c1", "type": "person", "properties": {"name": "Ann"}})
        assert made["node"]["version"] == 1 and made["event"]["type"] == "NodeAdded"
        node = graph.graph_node("c1", fields="label outgoing(first: 1) { nodes { id } }")
        assert node == {"label": "Ann", "outgoing": {"nodes": []}}
        assert graph.graph_node("nobody") is None


def test_pages_are_walked_to_the_end(gateway: Gateway) -> None:
    with Client(gateway.url) as graph:
        graph.import_graph({"nodes": [{"id": f"p{n:04}", "type": "page"} for n in range(450)], "edges": []})
        found = [node["id"] for node in graph.iterate_graph_nodes(filter={"type": "page"}, fields="id")]
        assert found == [f"p{n:04}" for n in range(450)]
        small = [node["id"] for node in graph.iterate_graph_nodes(filter={"type": "page"}, first=100, after=None)]
        assert small == found
        assert len(list(graph.iterate_events(element_id="p0007"))) == 1
        hits = list(graph.iterate_search("page", mode="WORDS", fields="score node { id }"))
        assert all(hit["node"]["id"] for hit in hits)


def test_a_refusal_has_its_code_and_facts(gateway: Gateway) -> None:
    with Client(gateway.url) as graph:
        graph.add_node({"id": "c2"})
        with pytest.raises(GatewayError) as refused:
            graph.add_node({"id": "c2"})
        assert (refused.value.code, refused.value.name) == ("E001", "NodeExists")
        assert refused.value.details == {"id": "c2"} and not refused.value.retryable
        with pytest.raises(GatewayError, match="VERSION_CONFLICT"):
            graph.update_node({"id": "c2", "properties": {"x": 1}, "expectedVersion": 7})
        with pytest.raises(GatewayError, match="GRAPHQL_VALIDATION_FAILED"):
            graph.graph_node("c2", fields="nothingOfThatName")


def test_who_answers_nothing_is_unreachable() -> None:
    with Client("http://127.0.0.1:9", retries=Retries(2, 0.01)) as graph, pytest.raises(Unreachable):
        graph.stats()
    with pytest.raises(ValueError, match="address of a gateway"):
        Client("localhost:8000")


def test_what_answers_but_is_no_gateway_is_told(gateway: Gateway) -> None:
    with Client(gateway.url + "/nowhere") as graph, pytest.raises(GatewayError):
        graph.stats()


def test_a_closed_idle_connection_is_replaced(gateway: Gateway) -> None:
    with Client(gateway.url, retries=NO_RETRIES) as graph:
        graph.stats()
        kept = graph._transport._kept  # type: ignore[attr-defined]
        kept.sock.shutdown(2)
        assert graph.stats()["nodes"] >= 0


def test_facts_recall_programs_and_actors(gateway: Gateway) -> None:
    with Client(gateway.url) as graph:
        graph.add_fact(
            {
                "scope": "project_shared",
                "subject": {"name": "Lena"},
                "predicate": "works at",
                "objectEntity": {"name": "Nordwind"},
                "notes": [{"text": "Lena works at Nordwind"}],
                "validFrom": datetime(2026, 1, 1, tzinfo=UTC),
            }
        )
        (fact,) = graph.iterate_facts(subject={"name": "Lena"})
        assert fact["objectEntity"] is not None and fact["objectEntity"]["canonical"] == "Nordwind"
        assert fact["validFrom"] == "2026-01-01T00:00:00.000Z" and fact["active"]
        found = graph.recall("where does Lena work")
        assert any("Nordwind" in item["text"] for item in found["items"])

        graph.add_node({"id": "goal", "type": "task", "properties": {"goal": "Go", "state": "created"}})
        answer = graph.send_message({"nodeId": "goal", "type": "start"})
        assert answer["success"] and answer["node"] is not None

        rows = graph.cypher("MATCH (n:person) RETURN n.name AS name ORDER BY name", limit=None)
        assert rows["columns"] == ["name"]
        checked = graph.validate_program(dsl="nonsense")
        assert not checked["valid"]


def test_events_are_followed_from_now_on_or_from_a_position(gateway: Gateway) -> None:
    with Client(gateway.url) as graph, Client(gateway.url) as other:
        start = graph.stats(fields="events")["events"]
        timer = threading.Timer(0.5, other.add_node, [{"id": "live"}])
        timer.start()
        event = next(graph.watch_events())
        assert (event["seq"], event["elementId"]) == (start + 1, "live")
        again = next(graph.watch_events(after_seq=start, fields="elementId"))
        assert again == {"elementId": "live", "seq": start + 1}


async def test_the_same_with_asyncio(gateway: Gateway) -> None:
    async with AsyncClient(gateway.url) as graph:
        await graph.add_node({"id": "a1", "type": "async"})
        await graph.add_edge({"from": "a1", "to": "a2", "weight": 2.5})
        assert [node["id"] async for node in graph.iterate_graph_nodes(filter={"type": "async"})] == ["a1"]
        with pytest.raises(GatewayError, match="E001"):
            await graph.add_node({"id": "a1"})
        counts = await asyncio.gather(*(graph.stats(fields="nodes") for _ in range(20)))
        assert len({count["nodes"] for count in counts}) == 1
        assert len(graph._transport._idle) <= 8  # type: ignore[attr-defined]


async def test_the_same_on_a_system_in_this_process() -> None:
    async with System.at_url("memory:") as system:
        graph = AsyncClient.on(system)
        await graph.load_demo()
        assert (await graph.stats())["nodes"] == 8
        assert [node["id"] async for node in graph.iterate_graph_nodes(filter={"type": "person"})] == [
            "alice",
            "bob",
            "charlie",
        ]
        events = graph.watch_events(after_seq=13)
        assert [(await anext(events))["seq"] for _ in range(2)] == [14, 15]
        await events.aclose()
        with pytest.raises(GatewayError, match="E001"):
            await graph.add_node({"id": "alice"})
        made = await graph.add_node({"id": "dated", "properties": {"day": datetime(2026, 1, 2, tzinfo=UTC)}})
        assert made["node"]["properties"] == {"day": "2026-01-02T00:00:00+00:00"}
