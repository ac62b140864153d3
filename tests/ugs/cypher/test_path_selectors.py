"""Path selectors: of all paths between two nodes the shortest, on every path through the engine."""

from __future__ import annotations

from collections import defaultdict
from random import Random
from typing import Any

import pytest

from tests.ugs.cypher import query_generator
from ugs.cypher import Limits
from ugs.cypher import api as cypher_api
from ugs.cypher.engine.run import Run
from ugs.errors import LimitExceeded
from ugs.graph.batches import Batch
from ugs.graph.commands import AddEdge, AddNode
from ugs.system import System

PATTERNS = (
    "(a)-[:R]->+(b)",
    "(a)-[:R|S]-{1,3}(b)",
    "(a)-->*(b)",
    "(a)<-[:R|S|T]-+(b)",
    "(a:A)((u)-[r]->(v) WHERE u.x < v.x){0,3}(b)",
    "(a)-->(m)-[:R]-{0,3}(b:B)",
    "(a)((u)-->(v)--(w)){1,2}(b)",
    "(a)-[r:!R]->{1,3}(c)<-[q]-(b)",
    "(a)-->+(m:A)-->*(b)",
    "((a)-[r]->{1,4}(b) WHERE size(r) <> 2)",
    "(a)-->+(m)-->(m)-->*(b)",
    "(a)-[r*1..3 {k: 1}]-(b)",
    "(a)((u)-->(v)-->(u)){1,2}(b)",
    "(a WHERE a.x > b.x)-[:R]->+(b)",
)
BEFORE = ("", "MATCH (a) ", "MATCH (b) ", "MATCH (a), (b) ", "OPTIONAL MATCH (b:C) ")
TAIL = "RETURN id(a) AS a, id(b) AS b, length(p) AS l"
Lengths = dict[tuple[str, str], list[int]]


def shortest(lengths: Lengths, count: int) -> list[tuple[str, str, int]]:
    return sorted((a, b, length) for (a, b), all_ in lengths.items() for length in sorted(all_)[:count])


def groups(lengths: Lengths, count: int) -> list[tuple[str, str, int]]:
    least = {ends: sorted(set(all_))[:count] for ends, all_ in lengths.items()}
    return sorted((*ends, length) for ends, all_ in lengths.items() for length in all_ if length in least[ends])


async def rows(system: System, text: str) -> list[tuple[Any, ...]]:
    return sorted((await cypher_api.ask(system, text)).rows)


def sparse_graph(random: Random) -> Batch:
    """A graph with so few relationships that all its paths can be listed."""
    commands = query_generator.graph(random)
    edges = [one for one in commands if isinstance(one, AddEdge)]
    return Batch(operations=tuple(one for one in commands if not isinstance(one, AddEdge) or one in edges[:8]))


@pytest.mark.parametrize("seed", range(4))
async def test_a_selector_keeps_the_shortest_of_all_paths(seed: int) -> None:
    random = Random(f"selectors {seed}")
    commands = sparse_graph(random)
    async with System.at_url("memory:") as memory, System.at_url("memory:?native=off") as stepwise:
        for system in (memory, stepwise):
            await system.execute(commands)
        for pattern in PATTERNS:
            before = random.choice(BEFORE)
            lengths: Lengths = defaultdict(list)
            for a, b, length in await rows(memory, f"{before}MATCH p = {pattern} {TAIL}"):
                lengths[a, b].append(length)
            count = random.choice((1, 2, 3))
            expected = {
                f"SHORTEST {count}": shortest(lengths, count),
                f"ANY {count} PATHS": shortest(lengths, count),
                f"SHORTEST {count} PATH GROUPS": groups(lengths, count),
                "ALL SHORTEST": groups(lengths, 1),
                "ANY SHORTEST": shortest(lengths, 1),
            }
            for selector, answer in expected.items():
                text = f"{before}MATCH p = {selector} {pattern} {TAIL}"
                assert await rows(memory, text) == answer, text
                assert await rows(stepwise, text) == answer, text


async def test_the_path_and_all_variables_of_a_selected_pattern_fit_together() -> None:
    async with System.at_url("memory:") as system:
        await system.execute(sparse_graph(Random("bindings")))
        for before in BEFORE:
            text = (
                f"{before}MATCH p = SHORTEST 2 (a)((u)-[r]->(v)--(w)){{0,2}}(m)-[q]-(b) "
                "RETURN [n IN nodes(p) | id(n)], [e IN relationships(p) | id(e)], id(a), "
                "[n IN u | id(n)], [n IN v | id(n)], [n IN w | id(n)], [e IN r | id(e)], id(m), id(q), id(b)"
            )
            found = (await cypher_api.ask(system, text)).rows
            assert found
            for nodes, edges, a, us, vs, ws, rs, m, q, b in found:
                assert (nodes[0], nodes[-2], nodes[-1], edges[-1]) == (a, m, b, q)
                assert (us, vs, ws, rs) == (nodes[:-2:2], nodes[1:-1:2], nodes[2:-1:2], edges[:-1:2])
                assert len(set(edges)) == len(edges)


async def line(system: System, length: int, *more: AddEdge) -> None:
    nodes = [AddNode(id=f"n{number:03}", properties={"x": number}) for number in range(length)]
    edges = [
        AddEdge(id=f"e{number:03}", source=f"n{number:03}", target=f"n{number + 1:03}", type="R")
        for number in range(length - 1)
    ]
    await system.execute(Batch(operations=(*nodes, *edges, *more)))


async def test_of_equally_long_paths_the_same_are_taken_on_every_path() -> None:
    """Three ways lead from end to end; which ones are kept depends on the ids of the relationships only."""
    edges = [AddEdge(id=f"x{key}", source="n000", target="n001", type="R") for key in "cab"]
    for url in ("memory:", "memory:?native=off"):
        async with System.at_url(url) as system:
            await line(system, 3, *edges)
            text = "MATCH SHORTEST 2 (a {x: 0})-[r]->+(b {x: 2}) RETURN [e IN r | id(e)]"
            assert [row[0] for row in (await cypher_api.ask(system, text)).rows] == [["e000", "e001"], ["xa", "e001"]]


async def test_a_search_ends_where_no_further_path_can_be() -> None:
    """Only one path leads to each node, in a graph with more relationships than a path may have."""
    async with System.at_url("memory:") as system:
        loop = AddEdge(id="loop", source="n000", target="n000", type="S")
        await line(system, 90, loop, *(AddEdge(source="n000", target="n000", type="T") for _ in range(50)))
        undirected = "MATCH p = SHORTEST 3 (a {x: 0})-[:R]-+(b) RETURN count(p), max(length(p))"
        assert (await cypher_api.ask(system, undirected)).rows == [(89, 89)]
        cyclic = "MATCH p = SHORTEST 2 (a {x: 5})-[:R|S]-+(b) WHERE b.x < 5 RETURN count(p), max(length(p))"
        assert (await cypher_api.ask(system, cyclic)).rows == [(6, 6)]


async def test_paths_stay_within_their_limit() -> None:
    async with System.at_url("memory:") as system:
        await line(system, 60)
        with pytest.raises(LimitExceeded):
            await cypher_api.ask(system, "MATCH SHORTEST 1 (a {x: 0})-->+(b {x: 59}) RETURN b", limits=Limits(path=50))
        found = await cypher_api.ask(
            system, "MATCH SHORTEST 1 (a {x: 0})-[r]->+(b {x: 49}) RETURN size(r)", limits=Limits(path=50)
        )
        assert found.rows == [(49,)]


async def count_work(length: int, text: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """The rows and relationships that a query looks at in a line of nodes."""
    runs: list[Run] = []
    original = Run.start_from

    def start_from(run: Run, width: int) -> None:
        runs.append(run)
        original(run, width)

    monkeypatch.setattr(Run, "start_from", start_from)
    async with System.at_url("memory:") as system:
        await line(system, length)
        assert len((await cypher_api.ask(system, text)).rows) == 1
    monkeypatch.undo()
    return runs[-1].work


async def test_a_search_to_a_known_node_looks_no_further(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "MATCH SHORTEST 1 (a)-->+(b) WHERE id(a) = 'n000' AND id(b) = 'n002' RETURN b"
    assert await count_work(20, text, monkeypatch) == await count_work(80, text, monkeypatch)
