"""Whole patterns in one question: what is asked for, what is left to check, and when the steps are taken after all."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ugs import cypher
from ugs.cypher import api as cypher_api
from ugs.cypher.engine import view
from ugs.cypher.single_statement import run_single_statement
from ugs.graph.batches import Batch
from ugs.graph.commands import AddEdge, AddNode
from ugs.system import System


@pytest.fixture
async def system(tmp_path: Path) -> AsyncIterator[System]:
    """Five people who all know each other, on a store with statements to look at."""
    async with System.at_url(f"sqlite:///{tmp_path}/joining.db") as opened:
        names = [f"p{number}" for number in range(5)]
        nodes = [AddNode(id=name, type="P", properties={"i": number}) for number, name in enumerate(names)]
        edges = [AddEdge(id=None, source=a, target=b, type="KNOWS") for a in names for b in names if a != b]
        await opened.execute(Batch(operations=(*nodes, *edges)))
        yield opened


async def profile(system: System, query: str, **more: Any) -> tuple[cypher.PlanStep, list[Any]]:
    """The first step of a plan, and the answer."""
    found = await cypher_api.ask(system, f"PROFILE {query}", **more)
    return found.plan[0], found.rows


async def test_a_count_comes_back_as_a_number(system: System) -> None:
    step, rows = await profile(system, "MATCH (a:P)-[:KNOWS]->(b)-[:KNOWS]->(c) RETURN count(*)")

    assert (step.operator, step.rows, rows) == ("StoreMatch", 1, [(80,)])
    assert "count(*)" in (step.statement or "")


async def test_a_grouping_comes_back_with_a_row_for_each_group(system: System) -> None:
    step, rows = await profile(system, "MATCH (a:P)-[r]->(b)-->(c) RETURN a.i AS i, count(c) AS n, sum(1) AS s")

    assert (step.rows, sorted(rows)) == (5, [(number, 16, 16) for number in range(5)])
    assert "GROUP BY" in (step.statement or "")


async def test_distinct_values_come_back_once(system: System) -> None:
    step, rows = await profile(system, "MATCH (a:P)-[*1..2]->(b) RETURN DISTINCT b.i AS i ORDER BY i")

    assert (step.rows, rows) == (5, [(number,) for number in range(5)])


async def test_a_limit_goes_along_and_so_does_the_limit_of_the_caller(system: System) -> None:
    step, rows = await profile(system, "MATCH (a)-->(b) RETURN a.i SKIP 1 LIMIT 2")
    assert (step.rows, len(rows)) == (3, 2)

    step, rows = await profile(system, "MATCH (a)-->(b) RETURN a.i", limit=4)
    assert (step.rows, len(rows)) == (5, 4)


async def test_what_the_store_cannot_say_is_checked_afterwards(system: System) -> None:
    step, rows = await profile(system, "MATCH (a:P)-->(b) WHERE a.i < b.i AND a.i IN [0, 1] RETURN count(*)")

    assert (step.operator, step.rows, rows) == ("StoreMatch", 7, [(7,)])


async def test_labels_beside_the_type_are_seen(system: System) -> None:
    await system.execute(AddNode(id="x", type="Q", properties={"_labels": ["P"], "i": 9}))
    await system.execute(AddEdge(id=None, source="x", target="p0", type="KNOWS"))

    step, rows = await profile(system, "MATCH (a:P)-[:KNOWS]->(b:P) RETURN count(*)")

    assert (step.operator, rows) == ("StoreMatch", [(21,)])


ONE_QUESTION = [
    ("MATCH (a)-[:KNOWS]->(b) WHERE id(a) = 'p0' RETURN b.i AS i ORDER BY i", [(1,), (2,), (3,), (4,)]),
    ("MATCH (a {i: 0})-->(b)-->(c) RETURN count(*)", [(16,)]),
    ("MATCH (a:P {i: 0})-->(b:P {i: 1}) RETURN a.i + b.i", [(1,)]),
    ("MATCH (a)-->(b) WHERE a.i < b.i WITH a.i AS i, count(*) AS n WHERE n > 3 RETURN i", [(0,)]),
    ("MATCH (a:P)-->(b:P) RETURN count(*)", [(20,)]),
    ("MATCH (a:P)-->(b:P {i: 99}) RETURN count(*)", [(0,)]),
    ("MATCH (a:Q)-->(b) RETURN b.i", []),
    ("MATCH (a:P) RETURN a.i LIMIT 2", [(0,), (1,)]),
    ("MATCH (a:P) WHERE a.i > 2 RETURN a.i", [(3,), (4,)]),
    ("MATCH (a) WHERE id(a) = 'p3' RETURN a.i", [(3,)]),
    ("MATCH (a:P) RETURN count(*)", [(5,)]),
    ("MATCH (a:P) RETURN labels(a)[0] AS l, max(a.i), collect(a.i)", [("P", 4, [0, 1, 2, 3, 4])]),
    ("MATCH (a:P)-[*1..2]->(b:P) RETURN labels(b)[0] AS l, count(DISTINCT b) AS n", [("P", 5)]),
]
SEVERAL = [
    ("MATCH (a {i: 0})-[r*1..2]->(b {i: 1}) RETURN size(r) AS n ORDER BY n", [(1,), (2,), (2,), (2,)]),
    ("MATCH (a {i: 0})-->(b {i: 1}) MATCH (b)-->(a) RETURN a.i", [(0,)]),
    ("MATCH (a {i: 0})-->(b {i: 1}) WHERE EXISTS { (b)-->(a) } RETURN a.i", [(0,)]),
    ("MATCH (a:P)-->(b) RETURN b.i LIMIT 0", []),
]


@pytest.mark.parametrize(("query", "expected"), [*ONE_QUESTION, *SEVERAL])
async def test_a_query_that_is_one_question_needs_no_transaction(system: System, query: str, expected: Any) -> None:
    async with system.storage.autocommit_session() as session:
        found = await run_single_statement(session, query, {}, cypher.Limits())

    assert (found is not None) == ((query, expected) in ONE_QUESTION or "LIMIT 0" in query)
    assert found is None or (found.rows == expected and found.fetches <= 1)
    assert (await cypher_api.ask(system, query)).rows == expected


ALONE = [
    "MATCH (n) RETURN n.v AS v",
    "MATCH (n:A) RETURN n.v AS v, id(n) AS id LIMIT 7",
    "MATCH (n) RETURN collect(n.v) AS all",
    "MATCH (n) RETURN sum(n.f) AS f, avg(n.f) AS a",
    "MATCH (n) RETURN DISTINCT n.v AS v",
    "MATCH (n) RETURN n.v AS v, count(*) AS n, min(n.w) AS least",
    "MATCH (n) RETURN labels(n) AS l, collect(DISTINCT n.v) AS vs",
    "MATCH (n:A) WHERE n.v <> 2 RETURN n ORDER BY n.v SKIP 2 LIMIT 5",
    "MATCH (n:A {v: 1}) WHERE n.f > 0.5 RETURN max(n.w) AS most",
]


async def test_single_nodes_come_in_the_same_order_on_every_store(tmp_path: Path) -> None:
    random = Random(8)
    nodes = [
        AddNode(
            id=f"n{random.randrange(10**6)}",
            type=random.choice("AB"),
            properties={"v": random.randrange(4), "w": random.choice((1, 1.0, 2)), "f": random.random()},
        )
        for _ in range(80)
    ]
    urls = ["memory:", f"sqlite:///{tmp_path}/on.db", f"sqlite:///{tmp_path}/off.db?native=off"]
    shown = []
    for url in urls:
        async with System.at_url(url) as opened:
            await opened.execute(Batch(operations=tuple(nodes)))
            shown.append([repr((await cypher_api.ask(opened, query)).rows) for query in ALONE])
    assert shown[0] == shown[1] == shown[2]


async def test_too_many_matches_come_step_by_step(system: System, monkeypatch: pytest.MonkeyPatch) -> None:
    query = "MATCH (a:P)-->(b)-->(c) RETURN collect(a.i + b.i + c.i) AS sums"
    at_once = await cypher_api.ask(system, query)
    monkeypatch.setattr(view, "MAX_IN_PROCESS_MATCHES", 79)
    monkeypatch.setattr(view, "MAX_MATCHES", 79)

    found = await cypher_api.ask(system, query)

    assert sorted(found.rows[0][0]) == sorted(at_once.rows[0][0])
    assert found.fetches > at_once.fetches


@pytest.mark.parametrize(
    "query",
    [
        "MATCH (a:P)-[*1..9]->(b) WHERE a.i = 0 AND b.i = 1 RETURN count(*)",
        "MATCH (a:P)-[:KNOWS]->(b)-[*1..2]->(c) WHERE a.i = 0 RETURN count(*)",
        "MATCH p = shortestPath((a:P)-[*]->(b:P)) WHERE a.i = 0 AND b.i = 1 RETURN length(p)",
        "MATCH (a:P), (b:P) RETURN count(*)",
    ],
)
async def test_other_patterns_are_answered_step_by_step(system: System, query: str, tmp_path: Path) -> None:
    async with System.at_url(f"sqlite:///{tmp_path}/joining.db?native=off") as plain:
        assert (await cypher_api.ask(system, query)).rows == (await cypher_api.ask(plain, query)).rows


@pytest.mark.parametrize("label", ["x' OR 1=1 --", "P' OR 'a'='a", 'P"; DROP TABLE nodes', "ä", "P P"])
async def test_only_plain_letters_of_labels_stand_in_a_statement(system: System, label: str) -> None:
    query = f"MATCH (a:`{label}`)-[:`{label}`]->(b:P) RETURN b.i"
    (step, *_), found = (await cypher_api.ask(system, f"EXPLAIN {query}")).plan, await cypher_api.ask(system, query)

    assert label not in (step.statement or label) and "'P'" in (step.statement or "")
    assert found.rows == []


async def test_one_statement_serves_all_values_of_a_shape(system: System) -> None:
    query = "MATCH (a)-[:KNOWS]->(b:P) WHERE id(a) = $id RETURN b.i AS i ORDER BY i"
    for own in range(5):
        rows = (await cypher_api.ask(system, query, {"id": f"p{own}"})).rows
        assert rows == [(other,) for other in range(5) if other != own]
    assert (await cypher_api.ask(system, query, {"id": "text 0"})).rows == []
    one, yes = "MATCH (a {i: 1})-->(b) RETURN count(b)", "MATCH (a {i: true})-->(b) RETURN count(b)"
    assert [(await cypher_api.ask(system, query)).rows for query in (one, yes, one)] == [[(4,)], [(0,)], [(4,)]]


ASPECTS = [
    "MATCH (a)-->(b) RETURN labels(b) AS l, count(*) AS n ORDER BY l",
    "MATCH (a)-->(b) RETURN b.i AS i, labels(b) AS l ORDER BY i, l",
    "MATCH (a)-->(b:P) RETURN labels(b) AS l, b:Q AS q, count(*) AS n ORDER BY n",
    "MATCH (a)-[r]->(b) RETURN type(r) AS t, r.w AS w, count(*) AS n ORDER BY t, w",
    "MATCH (a)-[r]->(b) RETURN id(b) AS i, count(DISTINCT r) AS n, count(DISTINCT a) AS m ORDER BY i",
    "MATCH (a)-->(b) RETURN properties(b) AS p, keys(b) AS k, count(b) AS n ORDER BY p.i",
    "MATCH (a)-[*1..3]->(b) RETURN count(DISTINCT b) AS n",
    "MATCH (a)-[*0..2]->(b) WHERE id(a) = 'p0' RETURN DISTINCT id(b) AS i ORDER BY i",
    "MATCH (a)-[*1..2]->(b:P) WHERE id(a) = 'x' RETURN DISTINCT id(b) AS i, b.i AS v ORDER BY i",
    "MATCH (a)-[*1..9]->(b) WHERE id(a) = 'x' RETURN count(DISTINCT b)",
    "MATCH (a)-[:KNOWS]->(b)-[:LIKES]->(c) RETURN id(a) AS a, id(c) AS c ORDER BY a, c",
    "MATCH p = shortestPath((a)-[*]->(b)) WHERE id(a) = 'x' RETURN id(b) AS b, [r IN relationships(p) | id(r)] AS r "
    "ORDER BY b",
    "MATCH p = shortestPath((a:Q)-[:KNOWS*..3]-(b)) WHERE length(p) > 1 RETURN id(b) AS b, nodes(p) AS n ORDER BY b",
    "MATCH p = allShortestPaths((a)-[r*]->(b {i: 2})) WHERE id(a) = 'x' RETURN count(p), count(r)",
    "MATCH p = shortestPath((a)-[*]->(b)) WHERE id(a) = 'x' AND id(b) = 'x' RETURN p",
    "MATCH shortestPath((a)-[:LIKES]->(b)) RETURN id(a), id(b)",
]


@pytest.mark.parametrize("url", ["memory:", "sqlite:///{}/s.db"])
async def test_what_is_asked_for_in_part_is_the_same_as_a_whole(tmp_path: Path, url: str) -> None:
    commands: list[AddNode | AddEdge] = [
        *(AddNode(id=f"p{n}", type="P", properties={"i": n % 3}) for n in range(5)),
        AddNode(id="x", type="Q", properties={"_labels": ["P", "R"], "i": 7}),
        *(AddEdge(id=f"e{n}", source=f"p{n % 5}", target=f"p{n * n % 5}", type="KNOWS") for n in range(12)),
        *(AddEdge(id=f"x{n}", source="x", target=f"p{n}", type="KNOWS", properties={"w": n % 2}) for n in (3, 1, 2)),
        AddEdge(id="l1", source="p2", target="x", type="LIKES"),
        AddEdge(id="l2", source="p4", target="nobody", type="LIKES"),
        AddEdge(id="l3", source="p1", target="p1", type=None),
    ]
    plain = f"sqlite:///{tmp_path}/plain.db?native=off"
    async with System.at_url(url.format(tmp_path)) as ours, System.at_url(plain) as steps:
        for system in (ours, steps):
            await system.execute(Batch(operations=tuple(commands)))
        for query in ASPECTS:
            assert (await cypher_api.ask(ours, query)).rows == (await cypher_api.ask(steps, query)).rows, query


async def test_a_mistake_in_a_value_is_one_only_where_there_is_a_row(system: System) -> None:
    assert (await cypher_api.ask(system, "MATCH (a:Nobody)-->(b) WHERE b.i = 1 / 0 RETURN b")).rows == []
    with pytest.raises(cypher.CypherError):
        await cypher_api.ask(system, "MATCH (a:P)-->(b) WHERE b.i = 1 / 0 RETURN b")
