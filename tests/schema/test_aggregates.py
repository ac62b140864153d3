"""Aggregates over GraphQL: what is counted is what the filter finds, within limits, for whoever may read it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest

from tests.schema.test_frontend_filters import fill
from ugs import Graph, System
from ugs.errors import InvalidJSON, InvalidSyntax, LimitExceeded, UgsError
from ugs.reads.aggregation import Aggregation
from ugs_schema.compiler.executor import OperationExecutor
from ugs_schema.context import RequestContext


@pytest.fixture
async def rooms() -> AsyncIterator[System]:
    async with System.at_url("memory:") as system:
        await fill(system)
        yield system


async def both_ways(operations: OperationExecutor, system: System, query: str, **variables: Any) -> Any:
    """The answer, compiled and by resolvers, which must be the same characters."""
    prepared = operations.prepare(query)
    assert not prepared.errors, prepared.errors
    fast = await operations.answer(prepared, RequestContext(system), variables)
    slow = await operations.execute(prepared, RequestContext(system), variables)
    assert slow.errors is None, slow.errors
    assert isinstance(fast, bytes)
    assert fast == msgspec.json.encode({"data": slow.data})
    return slow.data


async def refuse(operations: OperationExecutor, system: System, query: str) -> BaseException | None:
    """What refused a query."""
    prepared = operations.prepare(query)
    assert not prepared.errors, prepared.errors
    found = await operations.execute(prepared, RequestContext(system), {})
    assert found.errors is not None
    assert found.data is None
    return found.errors[0].original_error


async def test_the_filter_of_the_list_decides_what_is_counted(operations: OperationExecutor, rooms: System) -> None:
    query = """query($f: NodeFilter) { graphNodes(filter: $f, first: 1) {
        nodes { id }
        aggregate { count sum(property: "rank") avg(property: "rank") min(property: "rank") max(property: "rank") }
    } }"""

    everybody = await both_ways(operations, rooms, query, f={"type": "person"})
    owners = await both_ways(operations, rooms, query, f={"outgoing": {"some": {"type": "owns"}}})

    assert everybody["graphNodes"] == {
        "nodes": [{"id": "p1"}],
        "aggregate": {"count": 7, "sum": 10.5, "avg": 3.5, "min": True, "max": "two"},
    }
    assert owners["graphNodes"]["aggregate"] == {"count": 3, "sum": 2.0, "avg": 2.0, "min": 2, "max": "two"}


async def test_groups_come_by_size(operations: OperationExecutor, rooms: System) -> None:
    found = await both_ways(
        operations,
        rooms,
        """query($by: [NodeGroupKey!]!, $key: String!) { graphNodes { aggregate {
            groupBy(by: $by, first: 2) { keys count max(field: ID) size: sum(property: $key) } } } }""",
        by=[{"field": "TYPE"}],
        key="size",
    )

    assert found["graphNodes"]["aggregate"]["groupBy"] == [
        {"keys": ["person"], "count": 7, "max": "q1", "size": None},
        {"keys": ["thing"], "count": 4, "max": "t3", "size": 6.0},
    ]


async def test_every_node_has_aggregates_of_its_edges(operations: OperationExecutor, rooms: System) -> None:
    found = await both_ways(
        operations,
        rooms,
        """{ graphNodes(filter: {ids: ["p1", "q1"]}) { nodes { id outgoing(filter: {type: "owns"}) {
            aggregate { count sum(property: "rank") groupBy(by: [{field: TO}]) { keys count } } } } } }""",
    )

    assert found["graphNodes"]["nodes"] == [
        {
            "id": "p1",
            "outgoing": {
                "aggregate": {
                    "count": 2,
                    "sum": 1.0,
                    "groupBy": [{"keys": ["t1"], "count": 1}, {"keys": ["t2"], "count": 1}],
                }
            },
        },
        {"id": "q1", "outgoing": {"aggregate": {"count": 0, "sum": None, "groupBy": []}}},
    ]


async def test_all_lists_of_nodes_have_aggregates_also_in_the_past(
    operations: OperationExecutor, rooms: System
) -> None:
    async with rooms.session() as session:
        before = (await session.head()).position
    await Graph(rooms).delete("p1")
    query = "query($at: At!) { roots(at: $at) { aggregate { count } } graphEdges(at: $at) { aggregate { count } } }"
    prepared = operations.prepare(query)

    found = await operations.execute(prepared, RequestContext(rooms), {"at": {"position": before}})
    now = await both_ways(
        operations,
        rooms,
        """{ roots { aggregate { count } } graphEdges { aggregate { count } }
        findByProperty(key: "size", value: 2) { aggregate { count } } }""",
    )

    assert found.data == {"roots": {"aggregate": {"count": 6}}, "graphEdges": {"aggregate": {"count": 10}}}
    assert now == {
        "roots": {"aggregate": {"count": 6}},
        "graphEdges": {"aggregate": {"count": 8}},
        "findByProperty": {"aggregate": {"count": 1}},
    }


async def test_rows_are_not_read_for_aggregates_alone(
    operations: OperationExecutor, rooms: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    plans = []
    read = System.read

    async def note(self: System, plan: Any, *rest: Any) -> Any:
        plans.append(plan)
        return await read(self, plan, *rest)

    monkeypatch.setattr(System, "read", note)
    prepared = operations.prepare("{ graphNodes { aggregate { count } } }")
    await operations.execute(prepared, RequestContext(rooms), {})

    assert [(plan.page.limit, plan.aggregates) for plan in plans] == [(0, {"aggregate": Aggregation()})]


WRONG = [
    ("sum", InvalidSyntax),
    ('sum(field: ID, property: "rank")', InvalidSyntax),
    ('sum(property: "")', InvalidJSON),
    ("groupBy(by: []) { count }", InvalidSyntax),
    ("groupBy(by: [{}]) { count }", InvalidSyntax),
    ("groupBy(by: [{field: ID}], first: -1) { count }", InvalidSyntax),
    ("groupBy(by: [{field: ID}], first: 501) { count }", LimitExceeded),
    ("groupBy(by: [" + "{field: ID}, " * 5 + "]) { count }", LimitExceeded),
]


@pytest.mark.parametrize(("asked", "kind"), WRONG)
async def test_what_makes_no_sense_is_refused(
    operations: OperationExecutor, rooms: System, asked: str, kind: type[UgsError]
) -> None:
    assert type(await refuse(operations, rooms, f"{{ graphNodes {{ aggregate {{ {asked} }} }} }}")) is kind


def cost_of(operations: OperationExecutor, query: str) -> int:
    prepared = operations.prepare(query)
    return operations.cost(prepared, prepared.operations[0], {})


async def test_an_aggregate_costs_once_for_each_list_and_its_groups_each(operations: OperationExecutor) -> None:
    plain = cost_of(operations, "{ graphNodes(first: 10) { nodes { id } } }")
    counted = cost_of(operations, "{ graphNodes(first: 10) { nodes { id } aggregate { count } } }")
    one, many = (
        cost_of(
            operations, f"{{ graphNodes {{ aggregate {{ groupBy(by: [{{field: ID}}], first: {n}) {{ count }} }} }} }}"
        )
        for n in (1, 101)
    )
    nested = cost_of(operations, "{ graphNodes(first: 10) { nodes { outgoing(first: 1) { aggregate { count } } } } }")

    assert counted == plain + 101
    assert many == one + 100
    assert nested > 10 * 101
