"""Nodes in the order of how many edges touch them: the same on every store, a page at a time, now and in the past."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ugs.graph.api import Graph
from ugs.graph.model import EDGES, NODES, Edge, Node
from ugs.log.at import At
from ugs.reads.filters import Where, eq
from ugs.reads.plan import Order, Page, Read, ResultPage, full_order, place_of, sorted_rows
from ugs.storage import Session
from ugs_conformance.support import query_strategies
from ugs_conformance.support.harness import Harness
from ugs_conformance.support.pytest_plugin import clause
from ugs_conformance.support.reference_store import Reference, store_rows
from ugs_conformance.support.store_fixture import ids

SEEN = NODES.counting(["degree"])
BUSIEST_FIRST = (Order("degree", descending=True),)


async def add_graph(graph: Graph) -> None:
    """A hub, a loop, parallel edges, an edge to nowhere, and a node by itself."""
    pairs = [text.split() for text in ("hub a", "hub b", "c hub", "loop loop", "a b", "a b")]
    kinds = {"hub": None, "a": "letter", "b": "letter", "c": "letter", "loop": None, "alone": None}
    await graph.import_graph(
        {
            "nodes": [{"id": name, "type": kind} for name, kind in kinds.items()],
            "edges": [{"id": f"e{at}", "from": source, "to": target} for at, (source, target) in enumerate(pairs)],
        }
    )
    await graph.add_edge("to_nowhere", "hub", "gone")


async def by_degree(graph: Graph, *order: Order, at: At | None = None, **asked: Any) -> ResultPage:
    return await graph.system.read(Read(SEEN, order=order or BUSIEST_FIRST, **asked), at)


def degrees_of(rows: ResultPage) -> list[tuple[str, int]]:
    return [(row.id, row.degree) for row in rows.rows]


@clause("UGS-106")
async def test_a_loop_counts_twice_parallel_edges_each_and_ties_go_by_id(graph: Graph) -> None:
    await add_graph(graph)

    assert degrees_of(await by_degree(graph)) == [
        ("hub", 4),
        ("a", 3),
        ("b", 3),
        ("loop", 2),
        ("c", 1),
        ("alone", 0),
    ]
    assert degrees_of(await by_degree(graph, Order("degree"))) == [
        ("alone", 0), ("c", 1), ("loop", 2), ("a", 3), ("b", 3), ("hub", 4)
    ]  # fmt: skip
    assert ids(await graph.hubs(3)) == ["hub", "a", "b"]


@clause("UGS-106")
async def test_degrees_are_one_key_among_others_and_go_with_conditions(graph: Graph) -> None:
    await add_graph(graph)
    by_type = (Order("type"), Order("degree", descending=True), Order("id", descending=True))

    assert degrees_of(await by_degree(graph, *by_type)) == [
        ("hub", 4), ("loop", 2), ("alone", 0), ("b", 3), ("a", 3), ("c", 1)
    ]  # fmt: skip
    letters = await by_degree(graph, where=eq("type", "letter"), page=Page(limit=2), total=True)
    assert (degrees_of(letters), letters.more, letters.total) == ([("a", 3), ("b", 3)], True, 3)
    assert degrees_of(await by_degree(graph, where=eq("id", "loop"))) == [("loop", 2)]


@clause("UGS-106")
async def test_degrees_follow_every_change_and_can_be_asked_of_the_past(graph: Graph) -> None:
    await add_graph(graph)
    async with graph.system.session() as session:
        before = (await session.head()).position
    await graph.delete("e4")
    await graph.add_edge("e9", "alone", "alone")

    assert degrees_of(await by_degree(graph)) == [
        ("hub", 4),
        ("a", 2),
        ("alone", 2),
        ("b", 2),
        ("loop", 2),
        ("c", 1),
    ]
    past = await by_degree(graph, at=At(position=before), page=Page(limit=3))
    assert degrees_of(past) == [("hub", 4), ("a", 3), ("b", 3)]


@clause("UGS-106")
async def test_a_page_goes_on_behind_the_degree_that_was_seen(graph: Graph) -> None:
    await add_graph(graph)
    await graph.add_edge("more", "c", "c")  # c has three now, and stands in front of where the page ended

    page = await by_degree(graph, page=Page(limit=3, after=(2, "loop")))

    assert degrees_of(page) == [("alone", 0)]


asked = st.tuples(query_strategies.counted_orders(NODES), query_strategies.conditions(NODES, 1), st.integers(1, 4))


@clause("UGS-106")
@given(nodes=query_strategies.nodes(), edges=query_strategies.edges(), asked=st.lists(asked, min_size=3, max_size=6))
async def test_pages_by_degree_meet_every_node_once_both_ways(
    harness: Harness, nodes: list[Node], edges: list[Edge], asked: list[tuple[tuple[Order, ...], Where, int]]
) -> None:
    storage, reference = await store_rows(harness, {NODES: nodes, EDGES: edges})
    async with storage.session() as session:
        for order, where, size in asked:
            expected = await in_order(reference, edges, order, where)
            assert await collect_pages(session, order, where, size, backward=False) == expected, (order, where)
            assert (await collect_pages(session, order, where, size, backward=True))[::-1] == expected, (order, where)


async def in_order(reference: Reference, edges: Sequence[Edge], order: tuple[Order, ...], where: Where) -> list[Any]:
    """All nodes with their degrees, counted by hand."""
    ends = Counter([end for edge in edges for end in (edge.source, edge.target)])
    rows = [SEEN.row(*_values(row), ends[row.id]) for row in await reference.fetch(NODES, where)]
    return sorted_rows(rows, full_order(SEEN, order))


def _values(row: Node) -> list[Any]:
    return [getattr(row, name) for name in NODES.names]


async def collect_pages(
    session: Session, order: tuple[Order, ...], where: Where, size: int, backward: bool
) -> list[Any]:
    """All pages one after the other, in the direction of the walk."""
    found: list[Any] = []
    page = Page(limit=size, backward=backward)
    while True:
        rows = await session.read(Read(SEEN, where, order, page))
        found += rows.rows[::-1] if backward else rows.rows
        if not rows.more:
            return found
        page = Page(size, place_of(found[-1], full_order(SEEN, order)), backward)
