"""Anchored patterns cost what they find, not what the graph holds: rows read from stores of two sizes are counted."""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from ugs.cypher import api as cypher_api
from ugs.graph.batches import Batch
from ugs.graph.commands import AddEdge, AddNode
from ugs.storage import Session
from ugs.system import System
from ugs_backends.memory.query.pattern_matcher import PatternMatcher

SMALL, LARGE = 60, 600
ANCHORED = [
    "MATCH (a)-[:R]->(b) WHERE id(a) = 'n7' RETURN b.i",
    "MATCH (a {i: 7})-[:R]->(b)-[:S]->(c) RETURN c.i",
    "MATCH (a:P)-->(b)-->(c)-->(d) WHERE id(a) = 'n7' RETURN count(*)",
    "MATCH (a)-[:R*1..4]->(b) WHERE id(a) = 'n7' RETURN count(DISTINCT b)",
    "MATCH (a)-[r:R*1..3]->(b) WHERE id(a) = 'n7' RETURN size(r), b.i",
    "MATCH (a)-->(b) WHERE id(a) = 'n7' OPTIONAL MATCH (b)<-[:S]-(c) RETURN b.i, c.i",
    "MATCH (a)-->(b) WHERE id(a) = 'n7' AND EXISTS { (b)-[:S]->() } RETURN b.i",
    "MATCH p = shortestPath((a)-[*..6]->(b)) WHERE id(a) = 'n7' AND id(b) = 'n12' RETURN length(p)",
]


async def grown(url: str, size: int) -> System:
    """A ring in which every node leads to the next and to the third after it: all neighbourhoods look alike."""
    system = System.at_url(url)
    await system.open()
    nodes = [AddNode(id=f"n{n}", type="P", properties={"i": n}) for n in range(size)]
    edges = [
        AddEdge(id=f"{type}{n}", source=f"n{n}", target=f"n{(n + far) % size}", type=type)
        for n in range(size)
        for type, far in (("R", 1), ("S", 3))
    ]
    for start in range(0, size, 200):
        await system.execute(Batch(operations=tuple(nodes[start : start + 200])))
    for start in range(0, len(edges), 200):
        await system.execute(Batch(operations=tuple(edges[start : start + 200])))
    return system


class Counting:
    """Counts the rows that sessions of a store read, and the arcs a search in memory looks at."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, kind: type[Session]) -> None:
        self.rows = 0
        for name in ("fetch", "find_many", "match"):
            monkeypatch.setattr(kind, name, self._counted(getattr(kind, name)))
        tick = PatternMatcher._count_step

        def counted_tick(finding: PatternMatcher, count: int) -> None:
            self.rows += count
            tick(finding, count)

        monkeypatch.setattr(PatternMatcher, "_count_step", counted_tick)

    def _counted(self, method: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def counted(session: Session, *arguments: Any, **named: Any) -> Any:
            found = await method(session, *arguments, **named)
            self.rows += len(found or ())
            return found

        return counted

    async def of(self, system: System, query: str) -> tuple[int, list[Any]]:
        """How many rows a query reads, and its answer."""
        await cypher_api.ask(system, query)  # indexes are made when they are first needed
        self.rows = 0
        rows = (await cypher_api.ask(system, query)).rows
        return self.rows, rows


@pytest.mark.parametrize("store", ["memory:", "memory:?native=off", "sqlite:///{}.db", "sqlite:///{}.db?native=off"])
async def test_anchored_patterns_read_as_much_of_a_large_graph_as_of_a_small_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store: str
) -> None:
    small = await grown(store.format(tmp_path / "small"), SMALL)
    large = await grown(store.format(tmp_path / "large"), LARGE)
    async with small.session() as session:
        counting = Counting(monkeypatch, type(session))
    for query in ANCHORED:
        assert await counting.of(small, query) == await counting.of(large, query), query
    await small.close()
    await large.close()


async def test_no_statement_of_an_anchored_pattern_scans_a_table(tmp_path: Path) -> None:
    system = await grown(f"sqlite:///{tmp_path}/plan.db", SMALL)
    with sqlite3.connect(tmp_path / "plan.db") as connection:
        for query in ANCHORED[:4]:
            step = (await cypher_api.ask(system, f"EXPLAIN {query}")).plan[0]
            assert step.operator == "StoreMatch" and step.statement
            values = ["?"] * step.statement.count("?")
            plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {step.statement}", values)]
            assert plan and not [line for line in plan if line.startswith(("SCAN s", "SCAN e"))], plan
    await system.close()
