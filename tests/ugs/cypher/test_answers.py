"""What the TCK does not ask: strings, numbers, regular expressions, reduce, shortest paths, plans, limits, views."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from fractions import Fraction
from random import Random
from typing import Any

import pytest

from ugs import cypher
from ugs.cypher import CypherError, StoredGraph
from ugs.cypher import api as cypher_api
from ugs.cypher.temporal.constructors import check_parts
from ugs.errors import InvalidSyntax
from ugs.graph.commands import AddEdge, AddNode
from ugs.reads.filters import eq
from ugs.storage import Session
from ugs.system import System


@asynccontextmanager
async def ring(url: str) -> AsyncIterator[Session]:
    """A ring of six nodes with a short cut, and a node of a second type."""
    async with System.at_url(url) as system:
        for number in range(6):
            await system.execute(AddNode(id=f"n{number}", type="N", properties={"i": number}))
        await system.execute(AddNode(id="m", type="M"))
        for number in range(6):
            end = f"n{(number + 1) % 6}"
            await system.execute(AddEdge(id=f"e{number}", source=f"n{number}", target=end, type="R", weight=number))
        await system.execute(AddEdge(id="cut", source="n0", target="n3", type="S"))
        async with system.session() as open_session:
            yield open_session


@pytest.fixture
async def session() -> AsyncIterator[Session]:
    async with ring("memory:") as open_session:
        yield open_session


@pytest.fixture
async def plain() -> AsyncIterator[Session]:
    """On a store that is asked step by step."""
    async with ring("memory:?native=off") as open_session:
        yield open_session


async def value(session: Session, expression: str, **params: Any) -> Any:
    return (await cypher.run(session, f"RETURN {expression} AS value", params)).rows[0][0]


VALUES: list[tuple[str, Any]] = [
    ("left('hello', 2) + right('hello', 2)", "helo"),
    ("trim('  x ') + '|' + lTrim(' y') + rTrim('z ')", "x|yz"),
    ("replace('banana', 'an', 'AN')", "bANANa"),
    ("replace('日本', '', '.') + replace('', '', 'x')", ".日.本.x"),
    ("split('a,b;c', [',', ';'])", ["a", "b", "c"]),
    ("substring('hello', 1, 3)", "ell"),
    ("toUpper('aß') + toLower('ÄÖ')", "ASSäö"),
    ("reverse('abc') + toString(reverse([1, 2])[0])", "cba2"),
    ("round(2.5)", 3.0),
    ("round(-1.5)", -1.0),
    ("round(3.14159, 2)", 3.14),
    ("ceil(1.2) + floor(1.8)", 3.0),
    ("toString(ceil(-0.5))", "-0.0"),
    ("sqrt(16) + abs(-3) + sign(-9)", 6.0),
    ("log(e()) + cos(0)", 2.0),
    ("isNaN(0.0 / 0.0)", True),
    ("1 / 0.0", math.inf),
    ("7 / 2", 3),
    ("-7 % 3", -1),
    ("2 ^ 3", 8.0),
    ("reduce(total = 0, x IN [1, 2, 3] | total + x)", 6),
    ("'Neo' =~ 'n.*'", False),
    ("'Neo' =~ '(?i)n.*'", True),
    ("'a.b' =~ 'a\\\\.b'", True),
    ("null =~ 'x'", None),
    ("toInteger('12.9') + toInteger(' 7')", 19),
    ("toFloat('x')", None),
    ("toIntegerList(['1', 'x', null])", [1, None, None]),
    ("nullIf(1, 1)", None),
    ("isEmpty([]) AND isEmpty('') AND NOT isEmpty([1])", True),
    ("toString(1.0E10) + toString(true)", "1.0E10true"),
    ("[1, 2, 3][-1]", 3),
    ("{a: {b: 1}}.a.b", 1),
    ("CASE 3 WHEN 1 THEN 'one' WHEN 3 THEN 'three' END", "three"),
    ("toString(date('2024-02-29') + duration('P1Y'))", "2025-02-28"),
    ("toString(duration.between(date('2024-01-31'), date('2024-03-01')))", "P1M1D"),
]


@pytest.mark.parametrize(("expression", "expected"), VALUES, ids=[expression for expression, _ in VALUES])
async def test_an_expression_has_its_value(session: Session, expression: str, expected: Any) -> None:
    found = await value(session, expression)

    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("expression", "detail"),
    [
        ("9223372036854775807 + 1", "IntegerOverflow"),
        ("1 / 0", "DivisionByZero"),
        ("$missing", "MissingParameter"),
        ("left('a', -1)", "NegativeIntegerArgument"),
        ("date('2024-02-30')", "InvalidArgumentValue"),
        ("toUpper()", "InvalidNumberOfArguments"),
        ("toUper('a')", "UnknownFunction"),
    ],
)
async def test_a_mistake_has_its_name(session: Session, expression: str, detail: str) -> None:
    with pytest.raises(CypherError) as failed:
        await value(session, expression)

    assert failed.value.detail == detail


async def test_a_misspelt_word_brings_a_suggestion(session: Session) -> None:
    with pytest.raises(CypherError, match=r"Did you mean toUpper\?"):
        await value(session, "toUper('a')")
    with pytest.raises(CypherError, match=r"Did you mean RETURN\?"):
        await cypher.run(session, "MATCH (n) RETRUN n")


async def paths(session: Session, query: str) -> list[list[str]]:
    return [[node.id for node in row[0].nodes] for row in (await cypher.run(session, query)).rows]


async def test_shortest_paths_are_shortest(session: Session) -> None:
    ends = "(a {i: 0})-[%s]-(b {i: 4})"

    one = await paths(session, f"MATCH p = shortestPath({ends % '*'}) RETURN p")
    both = await paths(session, f"MATCH p = allShortestPaths({ends % '*'}) RETURN p")
    assert sorted(both) == [["n0", "n3", "n4"], ["n0", "n5", "n4"]]
    assert len(one) == 1 and one[0] in both
    assert await paths(session, f"MATCH p = shortestPath({ends % ':R*'}) RETURN p") == [["n0", "n5", "n4"]]
    assert await paths(session, f"MATCH p = shortestPath({ends % '*..1'}) RETURN p") == []
    assert await paths(session, "MATCH p = shortestPath((a:N {i: 0})-[*]-(b:M)) RETURN p") == []


async def test_a_shortest_path_is_a_value_too(session: Session) -> None:
    query = "MATCH (a {i: 0}), (b {i: 3}) RETURN length(shortestPath((a)-[*]->(b))) AS n"

    assert (await cypher.run(session, query)).rows == [(1,)]


async def test_the_rarer_label_is_where_a_plan_starts(plain: Session) -> None:
    assert "NodeScan  (m:M)" in await cypher.explain(plain, "MATCH (n:N)-->(m:M) RETURN n")
    assert (await cypher.explain(plain, "MATCH (n:N)-->(m:M) WHERE id(n) = 'n0' RETURN m")).startswith("NodeById")


async def test_profile_counts_rows_and_explain_runs_nothing(plain: Session) -> None:
    profile = await cypher.run(plain, "PROFILE MATCH (n:N)-[:R]->(m) RETURN m.i AS i")
    explain = await cypher.run(plain, "EXPLAIN MATCH (n:N) RETURN n")

    assert [(step.operator, step.rows) for step in profile.plan] == [("NodeScan", 6), ("Expand", 6), ("Project", 6)]
    assert len(profile.rows) == 6
    assert (explain.rows, explain.fetches, explain.plan[0].operator) == ([], 0, "NodeScan")


async def test_what_the_caller_may_not_see_is_not_there(session: Session) -> None:
    seen = StoredGraph(session, nodes=eq("type", "N") & ~eq("id", "n1"), edges=~eq("id", "e3"))

    assert (await cypher.run(seen, "MATCH (n) RETURN count(n) AS n")).rows == [(5,)]
    assert (await cypher.run(seen, "MATCH (n {i: 0})-->(m) RETURN m.i AS i")).rows == [(3,)]
    assert (await cypher.run(seen, "MATCH (n) WHERE id(n) = 'n1' RETURN n")).rows == []
    assert (await cypher.run(seen, "MATCH ({i: 3})-->(m) RETURN m")).rows == []


async def test_an_unknown_view_is_named(session: Session) -> None:
    with pytest.raises(InvalidSyntax, match="GRAPH"):
        await cypher.run(session, "RETURN 1 AS x", view="NOPE")


async def test_a_cancelled_query_stops(session: Session) -> None:
    query = "MATCH (a), (b), (c), (d), (e), (f), (g), (h) RETURN count(*) AS n"
    task = asyncio.create_task(cypher.run(session, query))
    await asyncio.sleep(0.2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 3)


async def test_a_limit_asks_the_store_for_little(session: Session) -> None:
    assert (await cypher.run(session, "MATCH (n) RETURN n LIMIT 2")).fetches == 1


async def test_a_long_query_sees_one_state_while_others_write() -> None:
    async with System.at_url("memory:") as system:
        for number in range(30):
            await system.execute(AddNode(id=f"n{number}"))

        async def write() -> None:
            for number in range(10):
                await system.execute(AddNode(id=f"late{number}"))
                await asyncio.sleep(0.01)

        async with system.session() as session:
            writing = asyncio.create_task(write())
            await asyncio.sleep(0)
            query = "MATCH (a), (b), (c) WITH count(*) AS three MATCH (n) RETURN three, count(n) AS n"
            three, count = (await cypher.run(session, query)).rows[0]
            await writing

    assert three == count**3


@pytest.fixture
async def system() -> AsyncIterator[System]:
    async with System.at_url("memory:") as opened:
        yield opened


FLOATS = [0.1, 1e16, -1e16, 0.2, 3, 0.3, 2**62, -(2**62), 1e-9]


@pytest.mark.parametrize("seed", range(8))
async def test_sums_of_floats_do_not_depend_on_the_order_of_the_rows(system: System, seed: int) -> None:
    shuffled = FLOATS * 3
    Random(seed).shuffle(shuffled)
    found = await cypher_api.ask(system, "UNWIND $n AS x RETURN sum(x) AS s, avg(x) AS a", {"n": shuffled})
    exact = sum(map(Fraction, FLOATS * 3))
    assert cypher_api.json_rows(found) == [[float(exact), float(exact) / 27]]


async def test_sums_at_the_edges_of_numbers(system: System) -> None:
    for numbers, total in (
        ([2**63 - 1, 1, -1], 2**63 - 1),
        ([1, 2], 3),
        ([1e308, 1e308, -1e308], 1e308),
        ([1e308, 1e308], "Infinity"),
        ([0.5] * 30_001, 15_000.5),
    ):
        found = await cypher_api.ask(system, "UNWIND $n AS x RETURN sum(x) AS s", {"n": numbers})
        assert cypher_api.json_rows(found) == [[total]]
    with pytest.raises(CypherError, match="64-bit"):
        await cypher_api.ask(system, "UNWIND $n AS x RETURN sum(x) AS s", {"n": [2**63 - 1, 1]})
    assert cypher_api.json_rows(await cypher_api.ask(system, "UNWIND [1, 2] AS x RETURN avg(x) AS a")) == [[1.5]]


def test_parts_of_a_moment_are_whole_numbers_and_others_are_not_asked_to_be() -> None:
    allowed = ("year", "hour", "epochSeconds", "timezone")
    check_parts({"year": 1984, "hour": 2, "epochSeconds": 3, "timezone": "+01:00"}, allowed, "moment")
    for name, value in (("year", 1.5), ("hour", "2"), ("epochSeconds", True), ("epochSeconds", 1.5)):
        with pytest.raises(CypherError, match=f"{name} must be a whole number"):
            check_parts({name: value}, allowed, "moment")
    with pytest.raises(CypherError, match="has no week"):
        check_parts({"week": 1}, allowed, "moment")
