"""The compiled way and the ordinary executor give the same bytes for random operations."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, Phase, assume, example, given, settings
from hypothesis import strategies as st

from tests import servers
from ugs import Graph, System
from ugs.graph.content import NewContent
from ugs_schema.compiler.executor import OperationExecutor
from ugs_schema.compiler.row_types import ROW_TYPES, OneProperty, RelatedCount, RelatedMany, RelatedOne, RowField
from ugs_schema.context import RequestContext

ARGUMENTS: Mapping[type[RowField], list[str]] = {
    OneProperty: ['(key: "name")', "(key: $key)"],
    RelatedCount: ["", "(direction: INCOMING)"],
}
"""What declared fields are asked with; all others have no arguments but those of their lists."""
CONTENT_FIELDS = " ".join(["__typename", *ROW_TYPES["Content"].by_name, "again: body"])


def list_fields(row_type: str) -> list[str]:
    """The declared fields of a type that show a value or content, as they are written in a query."""
    values = [one for one in ROW_TYPES[row_type].fields if not isinstance(one, RelatedMany | RelatedOne)]
    found = [one.name + arguments for one in values for arguments in ARGUMENTS.get(type(one), [""])]
    return [*found, "__typename", f"content {{ {CONTENT_FIELDS} }}"]


NODE_FIELDS, EDGE_FIELDS = list_fields("GraphNode"), list_fields("GraphEdge")
PAGE_INFO = "pageInfo { hasNextPage hasPreviousPage startCursor endCursor __typename }"
EDGE_ARGUMENTS = [
    "", "(first: 1)", "(last: 1)", "(first: $n)", '(type: "reports_to")', "(orderBy: [{field: WEIGHT, direction: DESC}])",
    "(filter: {minWeight: 0.5})", "(first: 0)", '(filter: {toNode: {type: "person"}})', '(orderBy: [{property: "k"}])',
]  # fmt: skip
NODE_ARGUMENTS = [
    "", "(first: 2)", "(last: 3)", "(first: $n)", '(filter: {type: "task"})', "(orderBy: [{field: TYPE}, {field: CREATED}])",
    '(filter: {or: [{type: $type}, {properties: [{key: $key, op: EXISTS}]}]}, first: 4)',
    '(filter: {not: {match: {status: "pending"}}}, orderBy: [{field: MODIFIED, direction: DESC}])',
    "(filter: {text: \"api\"})", "(orderBy: [{field: DEGREE, direction: DESC}], first: 3)",
    "(orderBy: [{field: TYPE}, {field: DEGREE}], last: 4)",
    '(orderBy: [{property: "name", direction: DESC, nulls: LAST}], first: 3)', '(orderBy: [{property: $key}], last: 3)',
    '(filter: {outgoing: {some: {type: "reports_to", toNode: {type: "person"}}}}, first: 4)',
    '(filter: {properties: [{key: $key, op: IS_NULL}], incoming: {none: {}}}, first: 4)',
]  # fmt: skip
NODE_AGGREGATES = [
    "aggregate { count }",
    'aggregate { count sum(property: "n") low: min(property: $key) max(field: CREATED) __typename }',
    "aggregate { groupBy(by: [{property: $key}, {field: TYPE}], first: $n) { keys count min(field: ID) __typename } }",
    'a: aggregate { g: groupBy(by: [{property: "deep"}]) { keys count avg(field: VERSION) avg2: avg(property: "n") } }',
]
EDGE_AGGREGATES = [
    "aggregate { count sum(field: WEIGHT) avg(field: WEIGHT) min(field: WEIGHT) max(field: WEIGHT) }",
    "aggregate { groupBy(by: [{field: TYPE}], first: 2) { keys count sum(field: WEIGHT) most: max(field: TO) } }",
]
WRITTEN_BY_STORES = [
    '{ graphNode(id: "bob") { id outgoing(first: 50) { totalCount nodes { id type weight from to toNode { id data } } } } }',
    '{ graphNode(id: "bob") { outgoing(first: 3) { edges { cursor node { id weight } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } }',
    "{ graphNodes(first: 2) { edges { cursor node { id type properties data created } } pageInfo { hasNextPage startCursor endCursor } } }",
    "{ graphNodes(last: 3) { edges { cursor node { id type } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }",
    "{ graphNodes(last: 50) { nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } totalCount } }",
    '{ graphNodes(last: 2, before: "aWQ.bob") { nodes { id outgoing(last: 1) { nodes { id } pageInfo { hasPreviousPage startCursor } } } pageInfo { hasNextPage hasPreviousPage } } }',
    "{ graphNodes(first: 0) { edges { cursor } pageInfo { hasNextPage startCursor endCursor } } }",
    '{ graphNodes(filter: {type: "none"}) { nodes { id } pageInfo { hasNextPage endCursor } totalCount } }',
    "{ graphNodes(orderBy: [{field: CREATED, direction: DESC}], first: 3) { edges { cursor node { id } } pageInfo { endCursor } } }",
    "{ graphNodes(orderBy: [{field: DEGREE, direction: DESC}], first: 3) { edges { cursor node { id } } pageInfo { endCursor } } }",
    "{ graphEdges(first: 100) { nodes { id type weight properties } pageInfo { hasNextPage endCursor } } }",
    '{ graphEdge(id: "dangling") { id type weight toNode { id } fromNode { id outgoing(first: 1) { pageInfo { hasNextPage } } } } }',
]
"""Selections that a database can write alone."""
DIRECTIVES = ["", "", "", " @include(if: $yes)", " @skip(if: $yes)", " @include(if: false)"]


@st.composite
def fields(draw: st.DrawFn, depth: int, on_node: bool) -> str:
    """A selection set on a node or an edge."""
    chosen = draw(st.lists(st.sampled_from(NODE_FIELDS if on_node else EDGE_FIELDS), min_size=1, max_size=2))
    parts = [f"f{i}: {place_directive(field, draw(st.sampled_from(DIRECTIVES)))}" for i, field in enumerate(chosen)]
    parts.append(draw(st.sampled_from(["id", "__typename"])))
    if depth > 0:
        for i in range(draw(st.integers(0, 2))):
            parts.append(f"n{i}: " + draw(related(depth - 1, on_node)))
    body = " ".join(parts)
    wrapped = f"... on {'GraphNode' if on_node else 'GraphEdge'} {{ {body} }}"
    return draw(st.sampled_from([body, wrapped, f"... {{ {body} }}"]))


def place_directive(field: str, directive: str) -> str:
    name, brace, below = field.partition(" {")
    return f"{name}{directive}{brace}{below}"


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
        draw(st.sampled_from(NODE_AGGREGATES if on_node else EDGE_AGGREGATES)),
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
    declared = (
        '$id: ID = "alice", $n: Int = 1, $key: String! = "name", $type: String, $yes: Boolean! = true, '
        "$place: Position! = 12, $at: At, $then: At = {position: 15}"
    )
    used = " ".join(roots)
    kept = ", ".join(one for one in declared.split(", ") if re.search(rf"{re.escape(one.split(':')[0])}\b", used))
    return f"query Asked{f'({kept})' if kept else ''} {{ {used} }}"


@st.composite
def root(draw: st.DrawFn, kind: str) -> str:
    """A root field, now or at a place in time."""
    field = draw(root_now(kind))
    at = draw(st.sampled_from(MOMENTS))
    name, rest = re.split(r"\b", field, maxsplit=2)[1:]
    if not at:
        return field
    return f"{name}(at: {at}, {rest[1:]}" if rest.startswith("(") else f"{name}(at: {at}){rest}"


MOMENTS = [
    "",
    "",
    "",
    "null",
    "$at",
    "$then",
    "{position: 9}",
    "{position: $place}",
    '{instant: "2999-01-01T00:00:00Z"}',
]


@st.composite
def root_now(draw: st.DrawFn, kind: str) -> str:
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


def is_allowed(operations: OperationExecutor, query: str, variables: dict[str, Any]) -> bool:
    """Whether the limits let a query through."""
    prepared = operations.prepare(query)
    if any("at most" in error.message for error in prepared.errors):
        return False
    return operations.cost(prepared, prepared.operations[0], variables) <= operations.limits.cost


async def both_answers(
    operations: OperationExecutor, system: System, query: str, variables: dict[str, Any]
) -> tuple[Any, Any]:
    prepared = operations.prepare(query)
    assert prepared.errors == [], (query, prepared.errors)
    context = RequestContext(system)
    fast = await operations.answer(prepared, context, variables)
    slow = await operations.execute(prepared, context, variables)
    assert isinstance(fast, bytes), query
    assert slow.errors is None, (query, slow.errors)
    return fast, msgspec.json.encode({"data": slow.data})


async def enrich(system: System) -> None:
    """The odd things beside the demo: dangling edges, loops, weights, no type, unicode and nested data."""
    graph = Graph(system)
    await graph.add_node(
        "user:me",
        None,
        {"name": 'Zo\u00eb "Z" \u2603 \U0001f600', "n": 1.5, "none": None, "deep": {"a": [1, {}]}},
        {"x": [1]},
        content=NewContent('# "Me" \u2603', "markdown"),
    )
    await graph.add_node("bytes", "file", content=NewContent("AAEC/w==", "png", "base64"))
    await graph.add_edge("loop", "user:me", "user:me", None, 2.5)
    await graph.add_edge("dangling", "alice", "nobody", 'odd "type"', 1e21, {"k": "v"})
    for number, weight in enumerate((-0.0, 3, -2.25, 1e15, 123456789012345.6, 1e-7, 5e-324, 0.001, 4e307)):
        await graph.add_edge(f"heavy{number}", "bob", "user:me", None, weight)


@pytest.fixture
async def rich(system: System) -> System:
    await enrich(system)
    return system


@asynccontextmanager
async def rich_store(name: str, folder: Path) -> AsyncIterator[System]:
    """The same data in another store."""
    places = {"postgresql": "?schema=both_ways", "neo4j": "?namespace=bothways"}
    url = (
        f"sqlite:///{folder / 'both.db'}"
        if name == "sqlite"
        else servers.require(name).partition("?")[0] + places[name]
    )
    async with System.at_url(url) as system:
        await system.storage.wipe()
    async with System.at_url(url) as system:
        await Graph(system).load_demo()
        await enrich(system)
        yield system


@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much, HealthCheck.too_slow],
)
@given(query=operations_asked(), yes=st.booleans())
@example(
    query='query Asked { r0: graphNode(id: "user:me") { outgoing { nodes { toNode { label degree } } } } }', yes=True
)
async def test_both_ways_give_the_same_bytes(
    operations: OperationExecutor, rich: System, query: str, yes: bool
) -> None:
    variables = {name: value for name, value in {"yes": yes, "type": None}.items() if f"${name}:" in query}
    assume(is_allowed(operations, query, variables))
    fast, slow = await both_answers(operations, rich, query, variables)
    assert fast == slow


@pytest.mark.parametrize("store", ["sqlite", "postgresql", "neo4j"])
async def test_every_store_writes_the_same_bytes(operations: OperationExecutor, tmp_path: Path, store: str) -> None:
    """What a store writes itself is what the executor makes of its rows, also when many ask at once."""
    async with rich_store(store, tmp_path) as system:
        asked: list[tuple[str, dict[str, Any]]] = []

        @settings(
            max_examples=40,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.generate],
            derandomize=True,
        )
        @given(query=operations_asked(), yes=st.booleans())
        def collect(query: str, yes: bool) -> None:
            asked.append(
                (query, {name: value for name, value in {"yes": yes, "type": None}.items() if f"${name}:" in query})
            )

        collect()
        asked += [(query, {}) for query in WRITTEN_BY_STORES]
        for position in (7, 15, system.bus.position):
            asked += [(query.replace("(", f"(at: {{position: {position}}}, ", 1), {}) for query in WRITTEN_BY_STORES]
        for query, variables in asked:
            if not is_allowed(operations, query, variables):
                continue
            fast, slow = await both_answers(operations, system, query, variables)
            assert fast == slow, query
            prepared = operations.prepare(query)
            again = (operations.answer(prepared, RequestContext(system), variables) for _ in range(3))
            assert set(await asyncio.gather(*again)) == {slow}, query
        if store != "neo4j":
            assert system.moments.replayed == 0
