"""The compiled way and the ordinary executor give the same bytes for random operations."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from schema.context import RequestContext
from schema.operations import Operations
from ugs import Graph, System

NODE_FIELDS = [
    "id", "type", "scope", "properties", "data", "created", "modifiedAt", "version", "label", "__typename",
    'property(key: "name")', "property(key: $key)", "degree", "degree(direction: INCOMING)",
]  # fmt: skip
EDGE_FIELDS = ["id", "type", "from", "to", "weight", "dangling", "createdAt", "properties", "__typename", "version"]
PAGE_INFO = "pageInfo { hasNextPage hasPreviousPage startCursor endCursor __typename }"
EDGE_ARGUMENTS = [
    "", "(first: 1)", "(last: 1)", "(first: $n)", '(type: "reports_to")', "(orderBy: [{field: WEIGHT, direction: DESC}])",
    "(filter: {minWeight: 0.5})", "(first: 0)",
]  # fmt: skip
NODE_ARGUMENTS = [
    "", "(first: 2)", "(last: 3)", "(first: $n)", '(filter: {type: "task"})', "(orderBy: [{field: TYPE}, {field: CREATED}])",
    '(filter: {or: [{type: $type}, {properties: [{key: $key, op: EXISTS}]}]}, first: 4)',
    '(filter: {not: {match: {status: "pending"}}}, orderBy: [{field: MODIFIED, direction: DESC}])',
    "(filter: {text: \"api\"})",
]  # fmt: skip
DIRECTIVES = ["", "", "", " @include(if: $yes)", " @skip(if: $yes)", " @include(if: false)"]


@st.composite
def fields(draw: st.DrawFn, depth: int, on_node: bool) -> str:
    """A selection set on a node or an edge."""
    chosen = draw(st.lists(st.sampled_from(NODE_FIELDS if on_node else EDGE_FIELDS), min_size=1, max_size=2))
    parts = [f"f{i}: {field}{draw(st.sampled_from(DIRECTIVES))}" for i, field in enumerate(chosen)]
    parts.append(draw(st.sampled_from(["id", "__typename"])))
    if depth > 0:
        for i in range(draw(st.integers(0, 2))):
            parts.append(f"n{i}: " + draw(related(depth - 1, on_node)))
    body = " ".join(parts)
    wrapped = f"... on {'GraphNode' if on_node else 'GraphEdge'} {{ {body} }}"
    return draw(st.sampled_from([body, wrapped, f"... {{ {body} }}"]))


@st.composite
def related(draw: st.DrawFn, depth: int, on_node: bool) -> str:
    if not on_node:
        return f"{draw(st.sampled_from(['fromNode', 'toNode']))} {{ {draw(fields(depth, True))} }}"
    side = draw(st.sampled_from(["outgoing", "incoming"]))
    return f"{side}{draw(st.sampled_from(EDGE_ARGUMENTS))} {{ {draw(connection(depth, False))} }}"


@st.composite
def connection(draw: st.DrawFn, depth: int, on_node: bool) -> str:
    options = [
        "totalCount",
        PAGE_INFO,
        "__typename",
        f"nodes {{ {draw(fields(depth, on_node))} }}",
        f"edges {{ cursor node {{ {draw(fields(depth, on_node))} }} __typename }}",
    ]
    return " ".join(draw(st.lists(st.sampled_from(options), min_size=1, max_size=4, unique=True)))


@st.composite
def operations_asked(draw: st.DrawFn) -> str:
    roots = []
    for i in range(draw(st.integers(1, 2))):
        kind = draw(st.sampled_from(["graphNode", "graphEdge", "graphNodes", "graphEdges", "findByProperty", "roots"]))
        roots.append(f"r{i}: " + draw(root(kind)))
    declared = '$id: ID = "alice", $n: Int = 1, $key: String! = "name", $type: String, $yes: Boolean! = true'
    used = " ".join(roots)
    kept = ", ".join(one for one in declared.split(", ") if one.split(":")[0] in used)
    return f"query Asked{f'({kept})' if kept else ''} {{ {used} }}"


@st.composite
def root(draw: st.DrawFn, kind: str) -> str:
    depth = draw(st.integers(0, 2))
    if kind == "graphNode":
        id = draw(st.sampled_from(["$id", '"bob"', '"nobody"', '"no good"']))
        return f"graphNode(id: {id}) {{ {draw(fields(depth, True))} }}"
    if kind == "graphEdge":
        return f'graphEdge(id: "e5") {{ {draw(fields(depth, False))} }}'
    if kind == "graphEdges":
        return f"graphEdges{draw(st.sampled_from(EDGE_ARGUMENTS[:4]))} {{ {draw(connection(depth, False))} }}"
    if kind == "findByProperty":
        return f'findByProperty(key: "status", value: "pending") {{ {draw(connection(depth, True))} }}'
    if kind == "roots":
        return f"roots(first: 2) {{ {draw(connection(depth, True))} }}"
    return f"graphNodes{draw(st.sampled_from(NODE_ARGUMENTS))} {{ {draw(connection(depth, True))} }}"


async def both_answers(
    operations: Operations, system: System, query: str, variables: dict[str, Any]
) -> tuple[Any, Any]:
    prepared = operations.prepare(query)
    assume(not any("at most" in error.message for error in prepared.errors))
    assert prepared.errors == [], (query, prepared.errors)
    assume(operations.cost(prepared, prepared.operations[0], variables) <= operations.limits.cost)
    context = RequestContext(system)
    fast = await operations.answer(prepared, context, variables)
    slow = await operations.execute(prepared, context, variables)
    assert isinstance(fast, bytes), query
    assert slow.errors is None, (query, slow.errors)
    return fast, msgspec.json.encode({"data": slow.data})


@pytest.fixture
async def rich(system: System) -> System:
    """The demo with the odd things: dangling edges, loops, weights, no type, unicode and nested data."""
    graph = Graph(system)
    await graph.add_node(
        "user:me",
        None,
        {"name": 'Zo\u00eb "Z" \u2603 \U0001f600', "n": 1.5, "none": None, "deep": {"a": [1, {}]}},
        {"x": [1]},
    )
    await graph.add_edge("loop", "user:me", "user:me", None, 2.5)
    await graph.add_edge("dangling", "alice", "nobody", 'odd "type"', 1e21, {"k": "v"})
    return system


@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much, HealthCheck.too_slow],
)
@given(query=operations_asked(), yes=st.booleans())
@example(
    query='query Asked { r0: graphNode(id: "user:me") { outgoing { nodes { toNode { label degree } } } } }', yes=True
)
async def test_both_ways_give_the_same_bytes(operations: Operations, rich: System, query: str, yes: bool) -> None:
    variables = {name: value for name, value in {"yes": yes, "type": None}.items() if f"${name}:" in query}
    fast, slow = await both_answers(operations, rich, query, variables)
    assert fast == slow
