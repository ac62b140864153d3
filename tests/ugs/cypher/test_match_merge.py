"""MATCH after MATCH: one question where that is the same, two where it is not, and always the same answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from random import Random

import pytest

from ugs.cypher import api as cypher_api
from ugs.cypher import execution, single_statement
from ugs.cypher.analysis.match_merge import merge_matches
from ugs.cypher.parser import parse
from ugs.graph.batches import Batch
from ugs.graph.commands import AddEdge, AddNode
from ugs.system import System

MERGED = [
    "MATCH (a)-[:R]->(b) MATCH (b)-[:S]->(c) RETURN a.i, b.i, c.i",
    "MATCH (a:P {i: $i})-[:R]->(b) MATCH (b)<-[:S]-(c:Q) WHERE c.i > a.i RETURN c.i",
    "MATCH (a)-[:R]->(b) WHERE id(a) = 'n1' OR a.i IN [2, 3] MATCH (a)-[s:S|T]-(b) RETURN count(s)",
    "MATCH (a)-[:R]->(b) MATCH (b:Q)-[:S]->(c {i: a.i}) RETURN *",
    "MATCH (a)-[:R]->(b) MATCH (b)-[:S]->(c) MATCH (c)-[:T]->(a) RETURN a.i, count(*)",
    "MATCH (a)-[:R]->(b)-[:R]->(c) MATCH (c)-[:S]->(a) WHERE NOT b.i = 2 RETURN b.i",
    "MATCH (a)-[:RELATED]->(b) MATCH (b)-[:R]->(c) RETURN a.i, c.i",
]
APART = [
    "MATCH (a)-[:R]->(b) MATCH (b)-[:R]->(c) RETURN a.i, c.i",
    "MATCH (a)-[:R]->(b) MATCH (b)-->(c) RETURN a.i, c.i",
    "MATCH (a)-[r:R]->(b) MATCH (c)-[:S|R]->(b) RETURN c.i",
    "MATCH (a)-[r:R]->(b) MATCH (a)-[r:S]->(c) RETURN c.i",
    "MATCH (a)-[:R]->(b) MATCH (c)-[:S]->(d) WHERE c.i = 1 RETURN d.i",
    "MATCH (a)-[:R]->(b) MATCH (b)-[:S*1..2]->(c) RETURN c.i",
    "MATCH p = (a)-[:R]->(b) MATCH (b)-[:S]->(c) RETURN length(p), c.i",
    "MATCH (a)-[:R]->(b) OPTIONAL MATCH (b)-[:S]->(c) RETURN c.i",
    "MATCH (a)-[:R]->(b) WITH b MATCH (b)-[:S]->(c) RETURN c.i",
    "MATCH (a)-[:R]->(b) WHERE EXISTS { (b)-[:T]->() } MATCH (b)-[:S]->(c) RETURN c.i",
    "MATCH (a)-[:R]->(b) WHERE 6 / (a.i + 1) > 1 MATCH (b)-[:S]->(c) RETURN c.i",
]


def clauses(query: str) -> int:
    (part,) = merge_matches(parse(query).query).parts
    return len(part.clauses)


def test_two_are_one_only_where_it_makes_no_difference() -> None:
    assert [clauses(query) for query in MERGED] == [2] * len(MERGED)
    assert [clauses(query) == len(parse(query).query.parts[0].clauses) for query in APART] == [True] * len(APART)


@pytest.fixture(params=["memory:", "sqlite:///{}/merging.db", "sqlite:///{}/merging.db?native=off"])
async def system(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[System]:
    """A small graph with loops, parallel edges and edges without a type."""
    random, names = Random(3), [f"n{number}" for number in range(6)]
    nodes = [AddNode(id=name, type=random.choice("PQ"), properties={"i": n % 4}) for n, name in enumerate(names)]
    ends = [(random.choice(names), random.choice(names), random.choice(("R", "R", "S", "T", None))) for _ in range(90)]
    edges = [AddEdge(id=f"e{n}", source=a, target=b, type=type) for n, (a, b, type) in enumerate(ends)]
    async with System.at_url(request.param.format(tmp_path)) as opened:
        await opened.execute(Batch(operations=(*nodes, *edges)))
        yield opened


@pytest.fixture
def unmerged(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Plans of queries as they were written."""
    forget()
    with monkeypatch.context() as patched:
        patched.setattr(execution, "merge_matches", lambda query: query)
        yield
    forget()


def forget() -> None:
    for kept in (execution.prepare, execution.plan_for, single_statement.plan_single_statement):
        kept.cache_clear()


async def answers(system: System) -> list[Counter[str]]:
    found = [await cypher_api.ask(system, query, {"i": 1}) for query in (*MERGED, *APART)]
    return [Counter(map(repr, cypher_api.json_rows(one))) for one in found]


async def test_the_answers_are_those_of_the_query_as_written(
    system: System, unmerged: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = await answers(system)
    forget()
    monkeypatch.setattr(execution, "merge_matches", merge_matches)

    assert await answers(system) == written
    assert all(written[: len(MERGED)])


async def test_two_clauses_that_are_merged_are_one_question(tmp_path: Path) -> None:
    async with System.at_url(f"sqlite:///{tmp_path}/one.db") as system:
        for query in MERGED:
            assert (await cypher_api.ask(system, query, {"i": 1})).fetches <= 1, query
            plan = (await cypher_api.ask(system, f"EXPLAIN {query}", {"i": 1})).plan
            assert [step.operator for step in plan][:1] == ["StoreMatch"] and plan[0].statement, query
