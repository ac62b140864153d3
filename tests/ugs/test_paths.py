"""Cheapest paths against every path there is, on small random graphs."""

from __future__ import annotations

import asyncio
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from ugs.changes import TableWrites
from ugs.errors import NegativeCycle
from ugs.feature_registry import CATALOG
from ugs.graph.model import EDGES, NODES, Edge, Node
from ugs.graph.paths.shortest_path import Path, shortest_path
from ugs.values import to_text
from ugs_conformance.support.reference_store import Reference

IDS = "abcde"
arrows = st.tuples(st.sampled_from(IDS), st.sampled_from(IDS), st.sampled_from([0, 1, 2, 3, 0.5]))


async def graph_of(arrows: list[tuple[str, str, float]]) -> Reference:
    session = Reference(CATALOG)
    nodes = [Node(id, None, to_text({}), None, 0, 0, 1) for id in IDS]
    edges = [
        Edge(f"e{n}", source, target, None, weight, to_text({}), 0, 0, 1, n)
        for n, (source, target, weight) in enumerate(arrows)
    ]
    await session.append((), {NODES: TableWrites(inserts=nodes), EDGES: TableWrites(inserts=edges)})
    return session


def best_by_hand(arrows: list[tuple[str, str, float]], start: str, goal: str) -> tuple[float, int, list[str]] | None:
    """Cost, edges and ids of the best simple path, by trying all."""
    cost: dict[tuple[str, str], float] = {}
    for source, target, weight in arrows:
        cost[source, target] = min(weight, cost.get((source, target), weight))
    found, todo = [], [[start]]
    while todo:
        path = todo.pop()
        if path[-1] == goal:
            found.append((sum(cost[pair] for pair in pairwise(path)), len(path) - 1, path))
            continue
        todo += [[*path, other] for source, other in cost if source == path[-1] and other not in path]
    return min(found, default=None)


async def asked(arrows: list[tuple[str, str, float]], start: str, goal: str) -> Path | None:
    return await shortest_path(await graph_of(arrows), start, goal)


@settings(max_examples=150, deadline=None)
@given(st.lists(arrows, max_size=10), st.sampled_from(IDS), st.sampled_from(IDS))
def test_the_path_is_the_cheapest_then_the_shortest_then_the_first(
    arrows: list[tuple[str, str, float]], start: str, goal: str
) -> None:
    path = asyncio.run(asked(arrows, start, goal))

    shown = None if path is None else (path.weight, len(path.edges), [node.id for node in path.nodes])
    assert shown == best_by_hand(arrows, start, goal)


negative = st.tuples(st.sampled_from(IDS), st.sampled_from(IDS), st.sampled_from([-1, 1, 2, 3]))


@settings(max_examples=100, deadline=None)
@given(st.lists(negative, max_size=8))
def test_negative_weights_give_the_cheapest_path_or_say_that_there_is_none(
    arrows: list[tuple[str, str, float]],
) -> None:
    try:
        path = asyncio.run(asked(arrows, "a", "b"))
    except NegativeCycle:
        return
    expected = best_by_hand(arrows, "a", "b")
    assert (None if path is None else path.weight) == (None if expected is None else expected[0])
