"""Limits of GraphQL: every list has a price and an end, answers have a size, and long work lets others run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from graphql import (
    ExecutionResult,
    GraphQLInterfaceType,
    GraphQLList,
    GraphQLObjectType,
    get_named_type,
    get_nullable_type,
    is_leaf_type,
)

from ugs.errors import LimitExceeded, UgsError
from ugs.graph.api import Graph
from ugs.log import time_travel
from ugs.support.time_slice import SLICE_SECONDS, TimeSlice, yield_turn
from ugs.system import System
from ugs_schema import build_schema
from ugs_schema.compiler.cost import CONNECTION_FIELDS, LIST_ARGUMENTS, LIST_ROWS, MOMENT_COST, SIZE_ARGUMENTS
from ugs_schema.compiler.executor import OperationExecutor
from ugs_schema.compiler.limits import DEFAULT_LIMITS, Limits
from ugs_schema.context import RequestContext
from ugs_schema.list_page import MAX_UNPAGED_ROWS

SCHEMA = build_schema()
NODE_COUNT = 450
"""Neighbours of the hub: more than come without `first`."""


@pytest.fixture(params=["memory:", "sqlite:///{}/graph.db"], ids=["memory", "sqlite"])
async def system(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[System]:
    async with System.at_url(request.param.format(tmp_path)) as opened:
        nodes = [{"id": f"n{number}", "properties": {"number": number}} for number in range(NODE_COUNT)]
        edges = [{"id": f"e{number}", "from": "hub", "to": f"n{number}", "type": "R"} for number in range(NODE_COUNT)]
        back = [
            {"id": f"b{number}", "from": f"n{number}", "to": "hub", "type": "S"} for number in range(0, NODE_COUNT, 7)
        ]
        loop = [{"id": "loop", "from": "hub", "to": "hub", "type": "R"}]
        await Graph(opened).import_graph({"nodes": [{"id": "hub"}, *nodes], "edges": [*edges, *back, *loop]})
        yield opened


async def ask(
    system: System, query: str, variables: dict[str, Any] | None = None, operations: OperationExecutor | None = None
) -> ExecutionResult | bytes:
    operations = operations or OperationExecutor(SCHEMA)
    return await operations.answer(operations.prepare(query), RequestContext(system), variables)


async def data(system: System, query: str, **variables: Any) -> Any:
    found = await ask(system, query, variables, OperationExecutor(SCHEMA, compiling=False))
    assert isinstance(found, ExecutionResult) and not found.errors, found
    return found.data


def code(found: ExecutionResult | bytes) -> str:
    assert isinstance(found, ExecutionResult) and found.errors, found
    cause = found.errors[0].original_error
    while not isinstance(cause, UgsError):
        cause = cause.original_error  # type: ignore[union-attr]
    return cause.code


# ── prices ───────────────────────────────────────────────────────────────────

PLAIN_LISTS = {
    "Query.propertyKeys": "names, bounded by the bytes of an answer",
    "CypherResult.rows": "the engine has a budget of its own",
}
"""Lists of plain values that are more than a part of one row."""


def test_every_list_has_a_price() -> None:
    """A new list is sized by an argument, a page, or stands in `LIST_ROWS`; a list of values belongs to its row."""
    unpriced, known = [], set()
    for type in SCHEMA._schema.type_map.values():
        if not isinstance(type, GraphQLObjectType | GraphQLInterfaceType) or type.name.startswith("__"):
            continue
        for name, field in type.fields.items():
            place, target = f"{type.name}.{name}", get_named_type(field.type)
            known.add(place)
            is_list = isinstance(get_nullable_type(field.type), GraphQLList)
            if not is_list or (type.name.endswith("Connection") and name in CONNECTION_FIELDS):
                continue
            if is_leaf_type(target):
                if type.name in ("Query", "Subscription") and place not in PLAIN_LISTS:
                    unpriced.append(place)
                continue
            sizes = [name for name in field.args if name in SIZE_ARGUMENTS]
            bounded = any(isinstance(field.args[name].default_value, int) for name in sizes)
            if not bounded and not any(name in LIST_ARGUMENTS for name in field.args) and place not in LIST_ROWS:
                unpriced.append(place)
    assert unpriced == []
    assert {*LIST_ROWS, *PLAIN_LISTS} <= known


@pytest.mark.parametrize(
    "query",
    [
        '{ graphNode(id: "n1") { outgoing { nodes { toNode { outgoing { nodes { toNode { id } } } } } } } }',
        '{ graphNode(id: "n1") { outgoing { nodes { toNode { outgoing { nodes { toNode { outgoing { nodes { toNode '
        "{ id label } } } } } } } } } } }",
        "{ graphNodes { nodes { id outgoing { nodes { toNode { id outgoing { nodes { toNode { id } } } } } } } } }",
        '{ neighbors(id: "n1") { id outgoing { nodes { toNode { id } } } } }',
        '{ traverse(id: "n1") { depth node { id label outgoing { nodes { to } } } via { id } } }',
    ],
)
async def test_ordinary_nested_queries_pass(system: System, query: str) -> None:
    for compiling in (True, False):
        found = await ask(system, query, operations=OperationExecutor(SCHEMA, compiling))
        assert isinstance(found, bytes) or not found.errors


@pytest.mark.parametrize(
    "field",
    [
        "graphNodes(first: 500) { nodes { outgoing(first: 10) { nodes { id } } } }",
        'neighbors(id: "hub", first: 500) { outgoing { nodes { id } } }',
        'traverse(id: "hub") { node { outgoing { nodes { id } } } }',
        'connectedNodes(nodeId: "hub", first: 500) { incoming { nodes { id } } }',
    ],
)
async def test_fifteen_aliases_of_long_lists_are_refused(system: System, field: str) -> None:
    query = " ".join(f"a{number}: {field}" for number in range(15))
    assert code(await ask(system, f"{{ {query} }}")) == "LIMIT_EXCEEDED"


async def test_places_in_time_have_a_price_each(system: System) -> None:
    operations = OperationExecutor(SCHEMA)

    def cost(query: str, **variables: Any) -> int:
        prepared = operations.prepare(query)
        assert not prepared.errors, prepared.errors
        return operations.cost(prepared, prepared.operations[0], variables)

    same = " ".join(f'a{number}: graphNode(id: "a", at: {{position: 1}}) {{ id }}' for number in range(10))
    other = " ".join(f'a{number}: graphNode(id: "a", at: {{position: {number}}}) {{ id }}' for number in range(15))
    assert cost(f"{{ {same} }}") == 10 + MOMENT_COST
    assert cost(f"{{ {other} }}") == 15 + 15 * MOMENT_COST > DEFAULT_LIMITS.cost
    later = 'query($at: At) { graphNode(id: "a", at: $at) { id } }'
    assert (cost(later), cost(later, at=None), cost(later, at={"position": 1})) == (1, 1, 1 + MOMENT_COST)
    assert code(await ask(system, f"{{ {other} }}")) == "LIMIT_EXCEEDED"


# ── lists in parts ───────────────────────────────────────────────────────────

WALKS = {
    "neighbors": ('neighbors(id: "hub", direction: {}, first: $first, after: $after) {{ id }}', ("id",)),
    "connectedNodes": ('connectedNodes(nodeId: "hub", direction: {}, first: $first, after: $after) {{ id }}', ("id",)),
    "traverse": (
        'traverse(id: "hub", direction: {}, first: $first, after: $after) {{ node {{ id }} depth }}',
        ("node", "id"),
    ),
}


@pytest.mark.parametrize("field", WALKS)
@pytest.mark.parametrize("direction", ["OUTGOING", "INCOMING", "BOTH"])
async def test_a_list_in_parts_is_the_whole_list(system: System, field: str, direction: str) -> None:
    graph = Graph(system)
    if field == "traverse":
        whole = [step.node.id for step in await graph.traverse("hub", 3, direction.lower())]
    else:
        whole = [node.id for node in await graph.neighbors("hub", direction.lower())]
    form, path = WALKS[field]
    query = f"query($first: Int, $after: ID) {{ {form.format(direction)} }}"

    async def part(first: int, after: str | None) -> list[str]:
        rows = (await data(system, query, first=first, after=after))[field]
        return [row["id"] if len(path) == 1 else row["node"]["id"] for row in rows]

    for size in (1, 64, 500):
        found: list[str] = []
        for _ in range(3 if size == 1 else 20):
            some = await part(size, found[-1] if found else None)
            found += some
            if len(some) < size:
                break
        assert found == (whole[:3] if size == 1 else whole)
    assert await part(0, None) == []
    assert code(await ask(system, query, {"first": 3, "after": "nobody"})) == "E005"
    assert code(await ask(system, query, {"first": 501})) == "LIMIT_EXCEEDED"
    refused = await ask(system, query)
    assert len(whole) <= MAX_UNPAGED_ROWS or code(refused) == "LIMIT_EXCEEDED"


async def test_branches_come_in_parts_too(system: System) -> None:
    query = 'query($after: ID) { traverse(id: "hub", strategy: DFS, first: 200, after: $after) { node { id } } }'
    found: list[str] = []
    for _ in range(3):
        found += [
            step["node"]["id"] for step in (await data(system, query, after=found[-1] if found else None))["traverse"]
        ]
    assert len(found) == len(set(found)) == NODE_COUNT + 1


async def test_references_come_in_parts(system: System) -> None:
    await Graph(system).add_node("r", properties={"all": [f"@(n{number})" for number in range(300)]})
    query = 'query($first: Int, $after: String) { graphNode(id: "r") { references(first: $first, after: $after) { path target { ... on GraphNode { id } } } } }'
    assert code(await ask(system, query)) == "LIMIT_EXCEEDED"
    some = (await data(system, query, first=250))["graphNode"]["references"]
    rest = (await data(system, query, first=250, after=some[-1]["path"]))["graphNode"]["references"]
    assert [one["target"]["id"] for one in (*some, *rest)] == [f"n{number}" for number in range(300)]


# ── bytes ────────────────────────────────────────────────────────────────────

LARGE = 50_000


@pytest.mark.parametrize("compiling", [True, False], ids=["compiled", "executor"])
@pytest.mark.parametrize(
    "query",
    [
        '{ graphNodes(first: 100, filter: {types: ["Large"]}) { nodes { properties } } }',
        "{ " + " ".join(f'a{n}: graphNode(id: "l{n}") {{ data properties }}' for n in range(15)) + " }",
        '{ graphNode(id: "center") { outgoing(first: 40) { nodes { toNode { properties } } } } }',
        '{ neighbors(id: "center") { properties } }',
    ],
)
async def test_an_answer_that_becomes_too_large_is_refused(system: System, compiling: bool, query: str) -> None:
    nodes = [{"id": f"l{n}", "type": "Large", "properties": {"text": "x" * LARGE}} for n in range(40)]
    edges = [{"id": f"to{n}", "from": "center", "to": f"l{n}"} for n in range(40)]
    await Graph(system).import_graph({"nodes": [{"id": "center"}, *nodes], "edges": edges})
    small = OperationExecutor(SCHEMA, compiling, Limits(answer_bytes=10 * LARGE))
    for _ in range(2):  # what has been written once is not let through the second time
        assert code(await ask(system, query, operations=small)) == "ANSWER_TOO_LARGE"
        prepared = small.prepare(query)
        short = small.bind(prepared, None, None)
        assert short is None or small.answer_now(short, system.storage) is None
    large = await ask(system, query, operations=OperationExecutor(SCHEMA, compiling))
    assert isinstance(large, bytes) or not large.errors


@pytest.mark.parametrize("compiling", [True, False], ids=["compiled", "executor"])
async def test_an_event_that_is_too_large_ends_its_subscription(system: System, compiling: bool) -> None:
    small = OperationExecutor(SCHEMA, compiling, Limits(answer_bytes=LARGE))
    after = system.bus.position
    for size in (10, LARGE, 10):
        await Graph(system).add_node(f"of_{size}_{system.bus.position}", properties={"text": "x" * size})
    prepared = small.prepare(f"subscription {{ events(afterSeq: {after}) {{ seq data }} }}")
    stream = await small.subscribe(prepared, RequestContext(system))
    assert not isinstance(stream, ExecutionResult)
    first, second, *rest = [answer async for answer in stream]
    assert rest == [] and (isinstance(first, bytes) or not first.errors)
    assert isinstance(second, ExecutionResult) and code(second) == "ANSWER_TOO_LARGE"
    assert second.errors is not None and "select fewer fields" in second.errors[0].message


# ── time ─────────────────────────────────────────────────────────────────────


async def test_those_who_pause_go_on_one_at_a_time() -> None:
    order: list[str] = []

    async def long(name: str) -> None:
        for _ in range(3):
            order.append(name)
            await yield_turn()

    async def short() -> None:
        for _ in range(40):
            order.append("-")
            await asyncio.sleep(0)

    await asyncio.gather(long("a"), long("b"), long("c"), short())
    served = "".join(order)
    assert served.startswith("abc-") and "ab" not in served[3:] and "bc" not in served[3:], served


async def test_a_pause_is_taken_only_when_the_slice_is_over() -> None:
    time = TimeSlice()
    assert not time.is_over
    await asyncio.sleep(2 * SLICE_SECONDS)
    assert time.is_over
    await time.pause()
    assert not time.is_over


async def longest_hold(work: Any) -> float:
    """For how long the event loop was not free while this ran; the median of the three worst, against noise."""
    loop, gaps, last = asyncio.get_running_loop(), [], asyncio.get_running_loop().time()

    async def look() -> None:
        nonlocal last
        while True:
            await asyncio.sleep(0)
            now = loop.time()
            gaps.append(now - last)
            last = now

    looking = asyncio.create_task(look())
    await asyncio.sleep(0)
    try:
        await work
    finally:
        looking.cancel()
    return sorted(gaps)[-3:][0] if len(gaps) >= 3 else max(gaps)


async def test_a_long_answer_by_resolvers_lets_others_run(system: System) -> None:
    query = "{ graphNodes(first: 400) { nodes { id label outgoing { nodes { id toNode { id label } } } } } }"
    operations = OperationExecutor(SCHEMA, compiling=False)
    hold = await longest_hold(ask(system, query, operations=operations))
    assert hold < 0.25, hold


async def test_a_replay_lets_others_run_and_stops_in_time() -> None:
    async with System.at_url("memory:?history=off") as system:
        graph = Graph(system)
        for _ in range(4):
            await graph.import_graph({"nodes": [{"id": f"n{n}_{system.bus.position}"} for n in range(2_000)]})
        end = system.bus.position
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.001):
                await system.moments.store_at(time_travel.At(position=end - 1))
        assert await longest_hold(system.moments.store_at(time_travel.At(position=end))) < 0.25
        async with system.session_at(time_travel.At(position=end - 2)) as session:
            assert (await session.head()).position == end - 2
        assert system.moments.replayed == end


async def test_past_states_share_one_replay(monkeypatch: pytest.MonkeyPatch) -> None:
    async with System.at_url("memory:?history=off") as system:
        await Graph(system).import_graph({"nodes": [{"id": f"n{n}"} for n in range(80)]})
        for position in (70, 40, 50, 60):
            await system.moments.store_at(time_travel.At(position=position))
        assert system.moments.replayed == 70
        monkeypatch.setattr(time_travel, "MAX_EVENTS", 75)
        await system.moments.store_at(time_travel.At(position=75))
        with pytest.raises(LimitExceeded):
            await system.moments.store_at(time_travel.At(position=76))
        assert system.moments.replayed == 75
