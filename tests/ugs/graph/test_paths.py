"""Paths against an exhaustive search: every graph small enough to try all ways through it."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from ugs.graph.api import Graph
from ugs.graph.batches import Batch
from ugs.graph.commands import AddEdge, AddNode
from ugs.graph.model import EDGES, NODES, Edge
from ugs.system import System

WEIGHTS = {
    "ones": lambda random: 1,
    "small integers with zero": lambda random: random.randrange(3),
    "tenths": lambda random: random.randrange(1, 8) / 10,
    "mixed": lambda random: random.choice([0, 1, 2, 0.5, 0.1, 0.7]),
}


def all_simple_paths(edges: list[Edge], start: str, goal: str) -> Iterator[list[Edge]]:
    def walk(current: str, taken: list[Edge], seen: set[str]) -> Iterator[list[Edge]]:
        if current == goal:
            yield taken
            return
        for edge in edges:
            if edge.source == current and edge.target not in seen:
                yield from walk(edge.target, [*taken, edge], seen | {edge.target})

    yield from walk(start, [], {start})


def rank(path: list[Edge]) -> tuple[float, int, list[tuple[str, int, str]]]:
    cost: float = 0
    for edge in path:
        cost = cost + edge.weight
    return cost, len(path), [(edge.target, edge.seq, edge.id) for edge in path]


async def random_graph(graph: Graph, random: Random, weights: str, nodes: int = 7, edges: int = 14) -> None:
    ids = [f"n{number}" for number in range(nodes)]
    adds = [AddNode(id=id) for id in ids]
    ends = [*ids, "missing"]
    links = [
        AddEdge(
            id=f"e{number:02d}",
            source=random.choice(ends),
            target=random.choice(ends),
            weight=WEIGHTS[weights](random),
        )
        for number in range(edges)
    ]
    await graph.do(Batch(operations=(*adds, *links)))


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("seed", range(25))
async def test_the_path_is_the_cheapest_then_the_shortest_then_the_one_with_the_smallest_ids(weights, seed):
    async with System.at_url("memory:") as system:
        graph, random = Graph(system), Random(seed)
        await random_graph(graph, random, weights)
        async with system.session() as session:
            known = {node.id for node in await session.fetch(NODES)}
            edges = [e for e in await session.fetch(EDGES) if e.source in known and e.target in known]
        for start in sorted(known):
            for goal in sorted(known - {start}):
                expected = min(all_simple_paths(edges, start, goal), key=rank, default=None)
                found = await graph.path(start, goal)
                if expected is None:
                    assert found is None
                else:
                    assert found is not None and [edge.id for edge in found.edges] == [edge.id for edge in expected]
                    assert found.weight == pytest.approx(rank(expected)[0])


async def test_a_negative_weight_beyond_the_goal_does_not_mislead_the_search():
    async with System.at_url("memory:") as system:
        graph = Graph(system)
        adds = [AddNode(id=id) for id in "abcx"]
        links = [("ab", 2), ("bc", 2), ("ac", 5), ("xc", -50), ("ax", 100)]
        links_to_add = [AddEdge(id=f"e_{ends}", source=ends[0], target=ends[1], weight=w) for ends, w in links[:4]]
        await graph.do(Batch(operations=(*adds, *links_to_add)))

        found = await graph.path("a", "c")

        assert found is not None and [node.id for node in found.nodes] == ["a", "b", "c"] and found.weight == 4


async def test_a_long_chain_is_followed_to_its_end():
    async with System.at_url("memory:") as system:
        graph = Graph(system)
        await graph.do(Batch(operations=tuple(AddNode(id=f"n{i}") for i in range(600))))
        links = (AddEdge(id=f"e{i}", source=f"n{i}", target=f"n{i + 1}", weight=0.1) for i in range(599))
        await graph.do(Batch(operations=tuple(links)))

        found = await graph.path("n0", "n599")

        assert found is not None and len(found.edges) == 599
        assert await graph.path("n599", "n0") is None
