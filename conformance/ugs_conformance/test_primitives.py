"""Addresses, values, and the shape of nodes, edges and events (seed 000, sections 2 and 3)."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest

from ugs.clock import WallClock
from ugs.graph.api import Graph
from ugs.graph.model import Edge, Node
from ugs.storage import EventQuery
from ugs.values import parse_address
from ugs_conformance.support.api_under_test import graph_of
from ugs_conformance.support.pytest_plugin import clause
from ugs_conformance.support.store_fixture import NOW, StoreUnderTest, fixture

ADDRESSES = fixture("ugs_addresses")
VALID = ADDRESSES["seed_examples"] + ADDRESSES["derived_from_grammar"]

EVERY_KIND: dict[str, Any] = {
    "string": 'Zoë 🚀 "quoted" \\ / \n\t %_\'',
    "empty": "",
    "integer": 42,
    "greatest": 2**63 - 1,
    "least": -(2**63),
    "exact": 2**53 + 1,
    "float": 0.1,
    "tiny": 5e-324,
    "huge": 1.7976931348623157e308,
    "true": True,
    "false": False,
    "nothing": None,
    "list": [1, "two", [3.5, None], {"four": 4}],
    "map": {"a": {"b": {"c": [True]}}, "": "an empty key would be refused"},
    "address": "@(bob)",
}
del EVERY_KIND["map"][""]


@pytest.mark.parametrize("case", VALID, ids=lambda case: str(case["text"]))
@clause("UGS-14", "UGS-15", "UGS-16", "UGS-17", "UGS-18", "UGS-21", "UGS-189", "UGS-227", "UGS-234", "UGS-170")
def test_an_address_parses_into_scope_id_and_version_and_prints_back(case: dict[str, Any]) -> None:
    address = parse_address(case["text"])

    assert address is not None
    assert (address.id, address.version) == (case["id"], case["version"])
    assert address.scope.value == (case["scope"] or "default")
    assert str(address) == case["text"]


@pytest.mark.parametrize("case", ADDRESSES["not_addresses"], ids=lambda case: str(case["text"]))
@clause("UGS-14", "UGS-189", "UGS-234")
def test_what_breaks_the_grammar_is_no_address(case: dict[str, Any]) -> None:
    assert parse_address(case["text"]) is None


@clause("UGS-22", "UGS-33", "UGS-34", "UGS-35", "UGS-36", "UGS-37", "UGS-38", "UGS-39", "UGS-190")
async def test_a_node_has_exactly_the_seeds_fields_with_their_defaults(graph: Graph) -> None:
    await graph.add_node("bare")

    node = await graph.get("bare")

    assert isinstance(node, Node)
    assert node.as_json() == {
        "id": "bare",
        "type": None,
        "properties": {},
        "data": None,
        "created": NOW,
        "modified": NOW,
    }
    assert list(node.as_json()) == list(fixture("ugs_schema_examples")["node"])


@clause("UGS-37", "UGS-38", "UGS-45", "UGS-48", "UGS-75")
async def test_times_are_the_machines_unix_milliseconds(world: StoreUnderTest) -> None:
    """Without a clock of the test's own: what everybody gets who sets none."""
    system = await world.harness.system(WallClock())
    try:
        graph = graph_of(system)
        begun = time.time() * 1_000
        node = await graph.add_node("now")
        edge = (await graph.add_edge("loop", "now", "now")).edge
        changed = await graph.update("now", {"v": 1})
        done = time.time() * 1_000
        times = [node.created, node.modified, edge.created, changed.node.modified]
        async with system.session() as session:
            events = await session.events(EventQuery())
    finally:
        await system.close()
    times += [event.timestamp for event in events]
    assert len(events) == 3 and all(isinstance(moment, int) for moment in times)
    assert all(begun - 1 <= moment <= done for moment in times), (begun, times, done)
    assert [int(event.id.split("_")[1]) for event in events] == [event.timestamp for event in events]


@clause("UGS-27", "UGS-40", "UGS-41", "UGS-42", "UGS-43", "UGS-44", "UGS-45", "UGS-29", "UGS-191")
async def test_an_edge_has_exactly_the_seeds_fields_with_their_defaults(graph: Graph) -> None:
    await graph.add_edge("bare", "a", "b")

    edge = await graph.get("bare")

    assert isinstance(edge, Edge)
    assert edge.as_json() == {
        "id": "bare",
        "from": "a",
        "to": "b",
        "type": None,
        "weight": 1,
        "properties": {},
        "created": NOW,
    }
    assert list(edge.as_json()) == list(fixture("ugs_schema_examples")["edge"])


@clause("UGS-24", "UGS-39", "UGS-45", "UGS-19", "UGS-194")
async def test_the_seeds_own_examples_come_back_as_they_are_printed(world: StoreUnderTest) -> None:
    examples = fixture("ugs_schema_examples")
    node, edge = examples["node"], examples["edge"]
    await world.graph.add_node(node["id"], node["type"], node["properties"])
    world.clock.moment = edge["created"]
    await world.graph.add_edge(edge["id"], edge["from"], edge["to"], edge["type"], properties=edge["properties"])

    exported = await world.graph.export_graph()

    assert exported == {"nodes": [node], "edges": [edge]}


@clause("UGS-46", "UGS-47", "UGS-48", "UGS-49", "UGS-50")
async def test_an_event_has_id_timestamp_type_and_data(world: StoreUnderTest) -> None:
    await world.graph.add_node("alice", "person", {"name": "Alice"})

    (event,) = await world.events()

    assert (event.id, event.timestamp, event.type) == (f"evt_{NOW}_1", NOW, "NodeAdded")
    assert re.fullmatch(r"evt_\d+_\d+", event.id)
    assert event.payload == {
        "id": "alice",
        "type": "person",
        "properties": {"name": "Alice"},
        "data": None,
        "created": NOW,
        "modified": NOW,
    }


@clause("UGS-31", "UGS-192", "UGS-193", "UGS-194", "UGS-7", "UGS-19")
async def test_every_kind_of_value_is_kept_exactly_in_properties_and_data(graph: Graph) -> None:
    await graph.add_node("full", "kinds", EVERY_KIND, data=EVERY_KIND)
    await graph.add_edge("joins", "full", "full", properties=EVERY_KIND)

    node, edge = await graph.get("full"), await graph.get("joins")

    assert isinstance(node, Node) and isinstance(edge, Edge)
    assert exactly(node.properties) == exactly(EVERY_KIND)
    assert exactly(node.data) == exactly(EVERY_KIND)
    assert exactly(edge.properties) == exactly(EVERY_KIND)


@pytest.mark.parametrize("data", ["text", 7, 2.5, True, False, [], {}, [[]], "", 0, "@(full)"])
@clause("UGS-36", "UGS-31", "UGS-192")
async def test_data_may_be_any_json(graph: Graph, data: Any) -> None:
    await graph.add_node("n", data=data)

    node = await graph.get("n")

    assert isinstance(node, Node)
    assert exactly(node.data) == exactly(data)


@pytest.mark.parametrize("weight", [1, 0, -2, 0.5, -0.25, 1e300, 2**53, 3.0])
@clause("UGS-29", "UGS-42")
async def test_a_weight_is_any_number_and_whole_ones_stay_whole(graph: Graph, weight: float) -> None:
    await graph.add_edge("e", "a", "b", "t", weight)

    edge = await graph.get("e")

    assert isinstance(edge, Edge)
    shown = edge.as_json()["weight"]
    assert shown == weight
    assert isinstance(shown, int) is (float(weight).is_integer() and abs(weight) < 2**53)


@clause("UGS-28")
async def test_an_edge_is_directed(graph: Graph) -> None:
    await graph.add_node("a")
    await graph.add_node("b")
    await graph.add_edge("e", "a", "b")

    assert [node.id for node in await graph.neighbors("a", "outgoing")] == ["b"]
    assert await graph.neighbors("b", "outgoing") == []
    assert [node.id for node in await graph.neighbors("b", "incoming")] == ["a"]


def exactly(value: Any) -> Any:
    """The value with the type of every part beside it: 1, 1.0 and True are equal in Python, and not the same."""
    if isinstance(value, dict):
        return {key: exactly(item) for key, item in value.items()}
    if isinstance(value, list):
        return [exactly(item) for item in value]
    return type(value).__name__, value
