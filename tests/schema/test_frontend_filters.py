"""Filters by fields, null properties and related rows, and orders by properties: what is found is what they say."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests import servers
from ugs import Graph, System
from ugs_schema.compiler.executor import OperationExecutor
from ugs_schema.context import RequestContext

NODES = "query($f: NodeFilter, $o: [NodeOrder!], $n: Int, $a: String) { graphNodes(filter: $f, orderBy: $o, first: $n, after: $a) { totalCount nodes { id } pageInfo { hasNextPage endCursor } } }"
EDGES = "query($f: EdgeFilter, $o: [EdgeOrder!]) { graphEdges(filter: $f, orderBy: $o, first: 50) { totalCount nodes { id } } }"
PEOPLE = {"type": "person"}
RANKS = {"p1": 2, "p2": "two", "p3": None, "p4": -1.5, "p5": True, "p6": 10}
"""The property rank by node; q1 has none."""


async def fill(system: System) -> None:
    """People with ranks, who own things that belong to rooms; one thing belongs nowhere, one room does not exist."""
    graph = Graph(system)
    people = [{"id": id, "type": "person", "properties": {"rank": rank}} for id, rank in RANKS.items()]
    things = [{"id": f"t{n}", "type": "thing", "properties": {"size": n}} for n in range(4)]
    rooms = [{"id": id, "type": "room", "properties": {"floor": floor}} for id, floor in (("r1", 1), ("r2", 2))]
    edges = [
        ("o1", "p1", "t1", "owns"), ("o2", "p1", "t2", "owns"), ("o3", "p2", "t2", "owns"), ("o4", "p3", "t0", "owns"),
        ("l1", "p4", "t3", "likes"), ("i1", "t1", "r1", "in"), ("i2", "t2", "r2", "in"), ("i3", "t3", "gone", "in"),
        ("n1", "r1", "r2", "above"), ("k1", "p5", "p6", "knows"),
    ]  # fmt: skip
    nodes = [*people, {"id": "q1", "type": "person", "properties": {}}, *things, *rooms]
    wanted = [
        {"id": id, "from": source, "to": target, "type": kind, "properties": {"rank": number % 3}}
        for number, (id, source, target, kind) in enumerate(edges)
    ]
    await graph.import_graph({"nodes": nodes, "edges": wanted})


@pytest.fixture(params=["memory", "sqlite", "postgresql", "neo4j"])
async def rooms(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[System]:
    name = request.param
    places = {"postgresql": "?schema=frontend_filters", "neo4j": "?namespace=frontendfilters"}
    if name in places:
        url = servers.require(name).partition("?")[0] + places[name]
    else:
        url = "memory:" if name == "memory" else f"sqlite:///{tmp_path / 'rooms.db'}"
    async with System.at_url(url) as system:
        await system.storage.wipe()
    async with System.at_url(url) as system:
        await fill(system)
        yield system


async def both_ways(operations: OperationExecutor, system: System, query: str, **variables: Any) -> Any:
    """The answer, compiled and by resolvers, which must be the same characters."""
    prepared = operations.prepare(query)
    assert not prepared.errors, prepared.errors
    context = RequestContext(system)
    fast = await operations.answer(prepared, context, variables)
    slow = await operations.execute(prepared, context, variables)
    assert isinstance(fast, bytes), slow.errors
    assert fast == msgspec.json.encode({"data": slow.data})
    (found,) = msgspec.json.decode(fast)["data"].values()
    return found


def owns(**node: Any) -> dict[str, Any]:
    return {"type": "owns", "toNode": node}


BIG = {"properties": [{"key": "size", "op": "GTE", "value": 2}]}
UPSTAIRS = {"outgoing": {"some": {"toNode": {"properties": [{"key": "floor", "value": 2}]}}}}
NODE_CASES: list[tuple[dict[str, Any], str]] = [
    ({"outgoing": {"some": {"type": "owns"}}}, "p1 p2 p3"),
    ({**PEOPLE, "outgoing": {"none": {"type": "owns"}}}, "p4 p5 p6 q1"),
    ({"outgoing": {"some": owns(**BIG)}}, "p1 p2"),
    ({"outgoing": {"some": {}, "every": owns(**BIG)}}, "p2"),
    ({"outgoing": {"some": owns(**UPSTAIRS)}}, "p1 p2"),
    ({"outgoing": {"some": owns(outgoing={"some": {"toNode": {"outgoing": {"some": {"type": "above"}}}}})}}, "p1"),
    ({"incoming": {"some": {"type": "in", "fromNode": {"ids": ["t1"]}}}}, "r1"),
    ({"type": "thing", "incoming": {"none": {"fromNode": {"type": "person"}}}}, ""),
    ({"type": "thing", "outgoing": {"none": {"toNode": {}}}}, "t0 t3"),
    ({"not": {"outgoing": {"some": {}}}, "type": "person"}, "p6 q1"),
    ({**PEOPLE, "properties": [{"key": "rank", "op": "IS_NULL"}]}, "p3 q1"),
    ({**PEOPLE, "properties": [{"key": "rank", "op": "IS_NULL", "value": False}]}, "p1 p2 p4 p5 p6"),
    ({**PEOPLE, "properties": [{"key": "rank", "op": "IN", "value": [2, "two"]}]}, "p1 p2"),
    ({"fields": [{"field": "ID", "op": "STARTS_WITH", "value": "r"}]}, "r1 r2"),
    ({"fields": [{"field": "ID", "op": "GT", "value": "q1"}, {"field": "ID", "op": "LT", "value": "t1"}]}, "r1 r2 t0"),
    ({"fields": [{"field": "TYPE", "op": "IN", "value": ["room", None]}]}, "r1 r2"),
    ({"fields": [{"field": "TYPE", "op": "IS_NULL"}]}, ""),
    ({"fields": [{"field": "TYPE", "op": "IS_NULL", "value": False}, {"field": "VERSION", "op": "GT", "value": 1}]}, ""),
]  # fmt: skip
EDGE_CASES: list[tuple[dict[str, Any], str]] = [
    ({"toNode": {"type": "room"}}, "i1 i2 n1"),
    ({"type": "owns", "fromNode": {"properties": [{"key": "rank", "value": 2}]}}, "o1 o2"),
    ({"type": "in", "not": {"toNode": {}}}, "i3"),
    ({"toNode": UPSTAIRS}, "o2 o3 i1"),
    ({"fields": [{"field": "TO", "op": "STARTS_WITH", "value": "r"}, {"field": "WEIGHT", "op": "LTE", "value": 1}]}, "i1 i2 n1"),
]  # fmt: skip
PRESENT = ["p5", "p4", "p1", "p6", "p2"]
"""In the order of rank: booleans, numbers, texts."""
ORDER_CASES: list[tuple[dict[str, Any], list[str]]] = [
    ({}, ["p3", "q1", *PRESENT]),
    ({"nulls": "LAST"}, [*PRESENT, "p3", "q1"]),
    ({"direction": "DESC"}, [*PRESENT[::-1], "p3", "q1"]),
    ({"direction": "DESC", "nulls": "FIRST"}, ["p3", "q1", *PRESENT[::-1]]),
    ({"direction": "DESC", "nulls": "LAST"}, [*PRESENT[::-1], "p3", "q1"]),
]


async def test_filters_by_related_rows_and_fields_find_what_they_say(
    operations: OperationExecutor, rooms: System
) -> None:
    for given, expected in NODE_CASES:
        found = await both_ways(operations, rooms, NODES, f=given, n=50)
        assert [node["id"] for node in found["nodes"]] == expected.split(), given
        assert found["totalCount"] == len(expected.split()), given
    for given, expected in EDGE_CASES:
        found = await both_ways(operations, rooms, EDGES, f=given)
        assert sorted(node["id"] for node in found["nodes"]) == sorted(expected.split()), given


async def test_lists_are_sorted_by_a_property_a_page_at_a_time(operations: OperationExecutor, rooms: System) -> None:
    for order, expected in ORDER_CASES:
        found: list[str] = []
        after = None
        while True:
            page = await both_ways(
                operations, rooms, NODES, f=PEOPLE, o=[{"property": "rank", **order}], n=3, **({"a": after} if after else {})
            )  # fmt: skip
            found += [node["id"] for node in page["nodes"]]
            after = page["pageInfo"]["endCursor"]
            if not page["pageInfo"]["hasNextPage"]:
                break
        assert found == expected, order
    edges = await both_ways(operations, rooms, EDGES, o=[{"property": "rank", "direction": "DESC"}, {"field": "ID"}])
    assert [edge["id"] for edge in edges["nodes"]] == ["i1", "n1", "o3", "i3", "l1", "o2", "i2", "k1", "o1", "o4"]
    nested = """{ graphNode(id: "p1") { outgoing(orderBy: [{property: "rank", direction: DESC}], first: 1) {
      nodes { id } edges { cursor } } } }"""
    found_below = await both_ways(operations, rooms, nested)
    assert [edge["id"] for edge in found_below["outgoing"]["nodes"]] == ["o2"]


async def test_find_by_property_finds_null(operations: OperationExecutor, rooms: System) -> None:
    query = "query($v: JSON) { findByProperty(key: \"rank\", value: $v) { nodes { id } } }"  # fmt: skip
    found = await both_ways(operations, rooms, query, v=None)
    assert [node["id"] for node in found["nodes"]] == ["p3"]


DEEP = {"outgoing": {"some": {"toNode": {"outgoing": {"some": {"toNode": {"outgoing": {"some": {"toNode": {"outgoing": {"some": {}}}}}}}}}}}}  # fmt: skip


@pytest.mark.parametrize(
    ("variables", "code"),
    [
        ({"f": DEEP}, "LIMIT_EXCEEDED"),
        ({"f": {"or": [{"outgoing": {"some": {}}}] * 33}}, "LIMIT_EXCEEDED"),
        ({"f": {"fields": [{"field": "ID", "op": "LT", "value": 3}]}}, "E005"),
        ({"f": {"fields": [{"field": "CREATED", "op": "LT", "value": "x"}]}}, "E005"),
        ({"f": {"fields": [{"field": "CREATED", "op": "EQ", "value": True}]}}, "E005"),
        ({"f": {"fields": [{"field": "VERSION", "op": "CONTAINS", "value": 1}]}}, "E005"),
        ({"f": {"fields": [{"field": "ID", "op": "IN", "value": "a"}]}}, "E005"),
        ({"o": [{}]}, "E005"),
        ({"o": [{"field": "ID", "property": "x"}]}, "E005"),
        ({"o": [{"field": "ID", "nulls": "LAST"}]}, "E005"),
        ({"o": [{"property": ""}]}, "E006"),
        ({"o": [{"property": f"k{n}"} for n in range(9)]}, "LIMIT_EXCEEDED"),
        ({"o": [{"property": "rank"}], "a": "aWQ.p1"}, "E005"),
    ],
)
async def test_bad_filters_and_orders_are_refused_in_words(ask: Any, variables: dict[str, Any], code: str) -> None:
    answer = await ask(NODES, **variables)
    assert answer["errors"][0]["extensions"]["code"] == code, answer
