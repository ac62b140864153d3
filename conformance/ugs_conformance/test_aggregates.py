"""Counts, sums, averages, minima and maxima: exactly the same on every store, in groups, below a node, in the past."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ugs.graph.api import Graph
from ugs.graph.model import EDGES, NODES, Edge, Node
from ugs.log.at import At
from ugs.reads.aggregation import Aggregation, Group, Sum, Value, rank_value
from ugs.reads.filters import EVERYTHING, NOTHING, Op, Property, Where, eq
from ugs.reads.plan import Nested, Page, Read
from ugs.tables import Table
from ugs_conformance.support import query_strategies
from ugs_conformance.support.event_loop import run_on_loop
from ugs_conformance.support.harness import Harness
from ugs_conformance.support.reference_store import store_rows

RANK, ROLE, TYPE = Value("properties_text", "rank"), Value("properties_text", "role"), Value("type")
RANKS: list[Any] = [0.1, 0.2, 0.3, 1e300, -1e300, 2**63 - 1, 1, 1.0, True, False, "1", "z", None, [1], {"a": 1}]
COUNT = Page(limit=0)


async def fill(graph: Graph) -> None:
    nodes = [
        {"id": f"n{at}", "type": "odd" if at % 2 else None, "properties": {"rank": rank}}
        for at, rank in enumerate(RANKS)
    ]
    await graph.import_graph({"nodes": [*nodes, {"id": "bare"}], "edges": []})


async def aggregate(
    graph: Graph, aggregation: Aggregation, where: Where = EVERYTHING, table: Table = NODES, at: At | None = None
) -> list[Group]:
    page = await graph.system.read(Read(table, where, page=COUNT, aggregates={"asked": aggregation}), at)
    assert page.items == []
    return page.aggregates["asked"]


@run_on_loop
async def test_sums_are_exact_in_whatever_order_they_are_added(graph: Graph) -> None:
    await fill(graph)

    (whole,) = await aggregate(graph, Aggregation(sums=(RANK,), ranges=(RANK,)))

    assert whole.count == len(RANKS) + 1
    total = 2**63 + 1 + 0.6
    assert whole.sums[RANK] == Sum(8, total, total / 8)
    assert whole.ranges[RANK] == (False, "z")


@run_on_loop
async def test_decimals_add_up_as_they_are_written(graph: Graph) -> None:
    for at, rank in enumerate((0.1, 0.2)):
        await graph.add_node(f"n{at}", None, {"rank": rank})

    (whole,) = await aggregate(graph, Aggregation(sums=(RANK,)))

    assert whole.sums[RANK] == Sum(2, 0.3, 0.15)


@run_on_loop
async def test_a_sum_beyond_all_floats_is_missing(graph: Graph) -> None:
    for at in range(2):
        await graph.add_node(f"n{at}", None, {"rank": 1.7e308})

    (whole,) = await aggregate(graph, Aggregation(sums=(RANK,)))

    assert whole.sums[RANK] == Sum(2, None, 1.7e308)


@run_on_loop
async def test_groups_go_by_size_then_by_value_and_what_is_no_value_is_one_group(graph: Graph) -> None:
    await fill(graph)

    groups = await aggregate(graph, Aggregation(by=(RANK,)))

    assert [(group.keys, group.count) for group in groups] == [
        ((None,), 4),
        ((1,), 2),
        *[((value,), 1) for value in (False, True, -1e300, 0.1, 0.2, 0.3, 2**63 - 1, 1e300, "1", "z")],
    ]
    assert [type(group.keys[0]) for group in groups[1:4]] == [int, bool, bool]
    assert await aggregate(graph, Aggregation(by=(RANK,), limit=2)) == groups[:2]


@run_on_loop
async def test_groups_have_sums_and_ranges_of_their_own(graph: Graph) -> None:
    for at, (role, rank) in enumerate((("a", 1), ("a", 2.5), ("b", "x"), ("b", None), (None, 7))):
        await graph.add_node(f"n{at}", "t", {"role": role, "rank": rank})
    await graph.add_node("other", "u", {"role": "a", "rank": 100})

    groups = await aggregate(graph, Aggregation(by=(ROLE, TYPE), sums=(RANK,), ranges=(RANK,)), eq("type", "t"))

    assert groups == [
        Group(("a", "t"), 2, {RANK: Sum(2, 3.5, 1.75)}, {RANK: (1, 2.5)}),
        Group(("b", "t"), 2, {RANK: Sum(0, None, None)}, {RANK: ("x", "x")}),
        Group((None, "t"), 1, {RANK: Sum(1, 7.0, 7.0)}, {RANK: (7, 7)}),
    ]


@run_on_loop
async def test_no_rows_are_one_empty_group_and_no_groups(graph: Graph) -> None:
    await fill(graph)

    assert await aggregate(graph, Aggregation(sums=(RANK,), ranges=(TYPE,)), NOTHING) == [
        Group((), 0, {RANK: Sum(0, None, None)}, {TYPE: (None, None)})
    ]
    assert await aggregate(graph, Aggregation(by=(RANK,)), NOTHING) == []


@run_on_loop
async def test_columns_add_up_and_group_too(graph: Graph) -> None:
    for at, cost in enumerate((0.1, 0.2, 3, -1)):
        await graph.add_edge(f"e{at}", "a", "b" if at else "c", "t", cost)
    weight = Value("weight")

    assert await aggregate(graph, Aggregation((Value("target"),), (weight,), (weight,)), table=EDGES) == [
        Group(("b",), 3, {weight: Sum(3, 2.2, 0.7333333333333333)}, {weight: (-1, 3)}),
        Group(("c",), 1, {weight: Sum(1, 0.1, 0.1)}, {weight: (0.1, 0.1)}),
    ]


@run_on_loop
async def test_every_node_has_the_aggregates_of_its_own_edges_now_and_in_the_past(graph: Graph) -> None:
    for name in ("a", "b", "alone"):
        await graph.add_node(name)
    for at, (source, rank) in enumerate((("a", 1), ("a", 2), ("a", 2), ("b", 5))):
        await graph.add_edge(f"e{at}", source, "alone", None, 1, {"rank": rank})
    async with graph.system.session() as session:
        before = (await session.head()).position
    await graph.delete("e3")
    asked = {"all": Aggregation(sums=(RANK,)), "by rank": Aggregation(by=(RANK,), limit=1)}
    plan = Read(NODES, nest={"edges": Nested("outgoing", Read(EDGES, page=COUNT, aggregates=asked))})

    async def collect(at: At | None) -> dict[str, tuple[float | None, list[tuple[Any, int]]]]:
        rows = (await graph.system.read(plan, at)).items
        pages = {row.row.id: row.nest["edges"].aggregates for row in rows}
        return {
            id: (own["all"][0].sums[RANK].sum, [(group.keys[0], group.count) for group in own["by rank"]])
            for id, own in pages.items()
        }

    assert await collect(None) == {"a": (5.0, [(2, 2)]), "alone": (None, []), "b": (None, [])}
    assert await collect(At(position=before)) == {"a": (5.0, [(2, 2)]), "alone": (None, []), "b": (5.0, [(5, 1)])}


@run_on_loop
async def test_every_kind_of_filter_decides_what_is_counted(graph: Graph) -> None:
    await fill(graph)

    async def count(where: Where) -> int:
        return (await aggregate(graph, Aggregation(), where))[0].count

    assert await count(Property("properties_text", "rank", Op.EXISTS)) == len(RANKS)
    assert await count(Property("properties_text", "rank", Op.GT, 0.15)) == 6
    assert await count(eq("type", "odd")) == len(RANKS) // 2


asked = st.tuples(
    st.sampled_from([NODES, EDGES]).flatmap(
        lambda table: st.tuples(
            st.just(table), query_strategies.conditions(table, 1), query_strategies.aggregations(table)
        )
    )
)


@run_on_loop
@given(nodes=query_strategies.nodes(), edges=query_strategies.edges(), asked=st.lists(asked, min_size=4, max_size=10))
async def test_any_aggregation_is_that_of_the_reference(
    harness: Harness, nodes: list[Node], edges: list[Edge], asked: list[Any]
) -> None:
    storage, reference = await store_rows(harness, {NODES: nodes, EDGES: edges})
    async with storage.session() as session:
        for ((table, where, aggregation),) in asked:
            expected = await reference.aggregate(table, aggregation, where)
            found = await session.aggregate(table, aggregation, where)
            # Booleans equal numbers in Python.
            assert list(map(_tell_kinds_apart, found)) == list(map(_tell_kinds_apart, expected)), (where, aggregation)


def _tell_kinds_apart(group: Group) -> Any:
    ranges = {value: tuple(map(rank_value, found)) for value, found in group.ranges.items()}
    return tuple(map(rank_value, group.keys)), group.count, group.sums, ranges
