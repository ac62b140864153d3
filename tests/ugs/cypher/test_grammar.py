"""The grammar at its edges: whatever is cut off or left out is understood or refused, and never an internal error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import pytest

from tests.ugs.cypher import feature_queries, query_generator, tck
from ugs.cypher import CypherError, prepare
from ugs.cypher import api as cypher_api
from ugs.cypher.errors import CypherSyntaxError
from ugs.cypher.lexer import tokenize
from ugs.errors import UgsError
from ugs.graph.commands import AddEdge, AddNode
from ugs.system import System

QUERIES = [
    "MATCH (a:A {x: 1})-[r:R|S*1..3 {y: $p}]->(b)<--(c) WHERE a.x > 1 AND NOT b:B OR c IS NOT NULL RETURN a, r AS s, b.z",
    "OPTIONAL MATCH p = shortestPath((a)-[*..4]-(b)) WITH p, nodes(p) AS n ORDER BY length(p) DESC SKIP 1 LIMIT 2 RETURN *",
    "UNWIND [1, 2.5, -3, 'x', \"y\", null, true, 0x1F] AS x RETURN DISTINCT x, count(*), collect(DISTINCT x) ORDER BY x",
    "RETURN CASE 1 WHEN 1 THEN 'a' ELSE 'b' END AS c, CASE WHEN true THEN 1 END",
    "RETURN [x IN range(1, 5) WHERE x % 2 = 0 | x ^ 2] AS l, all(y IN [1] WHERE y > 0), reduce(s = 0, z IN [1] | s + z)",
    "MATCH (n) RETURN n {.x, .*, y: n.z, n}, n['x'], [1, 2, 3][0..2], [1, 2][..1], $p.q",
    "MATCH (n) WHERE EXISTS { MATCH (n)-->(m) WHERE m.x = 1 } RETURN COUNT { (n)--() } AS c",
    "RETURN [(a)-->(b) WHERE b.x = 1 | b.x] AS xs",
    "MATCH (n) WHERE n.name STARTS WITH 'a' OR n.name ENDS WITH 'b' OR n.name CONTAINS 'c' OR n.name =~ 'd.*' RETURN n",
    "RETURN 1 AS a UNION ALL RETURN 2 AS a UNION ALL RETURN 3 AS a;",
    "EXPLAIN MATCH (`odd name`:`L x`) RETURN `odd name`.`a b`, date('2024-02-29').year, duration({days: 1})",
    "WITH 1 AS a, {k: [1, {l: null}]} AS m WHERE a <> 2 XOR m.k[0] <= 1 RETURN a IN m.k, -a, +a, NOT true",
]
QUERIES += [query_generator.ours(text) for texts in feature_queries.QUERIES.values() for text in texts[:5:2]]
ENDS = ["RETURN 1 +", "MATCH (n) RETURN", "MATCH (n) RETURN n ORDER BY", "RETURN n,", "RETURN NOT", "RETURN 1 LIMIT"]
ENDS += ["MATCH (n) RETURN n SKIP", "MATCH (n) WHERE", "UNWIND", "RETURN [", "RETURN {a:", "WITH", "RETURN CASE WHEN"]

TCK_CHUNKS = 8
"""Every query of the TCK is tried, in this many tests; edits that differ only in the space at their end count once."""


def edits(query: str) -> Iterator[str]:
    """The query cut before and behind every token, and without each of them."""
    for token in tokenize(query)[:-1]:
        yield query[: token.start]
        yield query[: token.end]
        yield query[: token.start] + query[token.end :]


def judge(query: str) -> bool:
    """Whether a query is understood; anything but an error of the language goes on to the caller."""
    try:
        prepare(query)
    except CypherError:
        return False
    return True


@pytest.mark.parametrize("query", ENDS)
def test_a_query_that_ends_in_the_middle_says_what_is_missing(query: str) -> None:
    with pytest.raises(CypherSyntaxError, match="the end of the query"):
        prepare(query)


@pytest.mark.parametrize("query", QUERIES)
def test_every_query_is_understood_whole_and_judged_in_part(query: str) -> None:
    assert judge(query)
    for edited in edits(query):
        judge(edited)


async def test_what_is_understood_in_part_runs_or_is_refused() -> None:
    async with System.at_url("memory:") as system:
        for id in ("a", "b"):
            await system.execute(AddNode(id=id, type="A", properties={"x": 1, "name": id}))
        await system.execute(AddEdge(source="a", target="b", type="R"))
        for edited in dict.fromkeys(edited for query in QUERIES for edited in edits(query) if judge(edited)):
            with suppress(UgsError):  # whatever else is raised would be an internal error
                await cypher_api.ask(system, edited, {"p": {"q": 1}})


@pytest.mark.skipif(not tck.DATA.exists(), reason="The TCK data is not here: set UGS_TCK_DATA")
@pytest.mark.parametrize("chunk", range(TCK_CHUNKS))
def test_no_part_of_a_query_of_the_tck_is_too_much(chunk: int) -> None:
    queries = sorted({record["query"] for record in tck.records()})[chunk::TCK_CHUNKS]
    seen: set[str] = set()
    for query in queries:
        with suppress(CypherError):  # text that has no tokens
            seen.update(edited.rstrip() for edited in edits(query))
    for edited in seen:
        judge(edited)
    assert len(seen) > 10_000


@pytest.mark.parametrize(
    "query", ["MATCH p = (a)-->(b) RETURN p.x", "MATCH p = (a) WITH p AS q WHERE q.x = 1 RETURN q"]
)
def test_a_property_of_a_path_is_a_mistake_of_the_text(query: str) -> None:
    with pytest.raises(CypherSyntaxError) as refused:
        prepare(query)
    assert (refused.value.phase, refused.value.detail) == ("compile time", "InvalidArgumentType")


@pytest.mark.parametrize(
    "value",
    [
        {"@date": "2024-02-31"},
        [{"@date": "2024-02-31"}],
        {"k": {"@time": "25:00"}},
        {"@duration": "x"},
        {"@point": {"x": 1}},
        [{"@point": {"x": 1, "y": None}}],
    ],
    ids=str,
)
async def test_a_moment_that_there_is_not_is_no_parameter(value: object) -> None:
    async with System.at_url("memory:") as system:
        with pytest.raises(CypherError, match=r"Parameter \$p"):
            await cypher_api.ask(system, "RETURN $p AS p", {"p": value})
        found = await cypher_api.ask(system, "RETURN $p.year AS y", {"p": {"@date": "2024-02-29"}})
        assert cypher_api.json_rows(found) == [[2024]]
