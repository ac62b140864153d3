"""Nothing but reading can be said: every other text is refused with its place, and quickly."""

from __future__ import annotations

import itertools
import time

import pytest

from tests.work import TIMED
from ugs import cypher
from ugs.cypher import CypherError, CypherRefused, prepare
from ugs.cypher.engine.limits import Limits
from ugs.errors import DeadlineExceeded, LimitExceeded, UgsError
from ugs.graph.commands import AddEdge, AddNode
from ugs.system import System

WRITES = [
    "CREATE (n)",
    "CREATE (n) RETURN n",
    "MATCH (n) DELETE n",
    "MATCH (n) DETACH DELETE n",
    "MATCH (n) SET n.x = 1",
    "MATCH (n) SET n += {x: 1} RETURN n",
    "MATCH (n) REMOVE n.x",
    "MERGE (n:A) ON CREATE SET n.x = 1",
    "MATCH (n) FOREACH (x IN [1] | SET n.x = x)",
    "UNWIND [1] AS x CREATE (n {x: x})",
    "MATCH (n) WITH n DELETE n",
    "RETURN 1 UNION CREATE (n) RETURN n",
    "CREATE INDEX FOR (n:A) ON (n.x)",
    "DROP INDEX i",
    "CREATE CONSTRAINT FOR (n:A) REQUIRE n.x IS UNIQUE",
    "CREATE USER eve SET PASSWORD 'x'",
    "CREATE DATABASE d",
    "LOAD CSV FROM 'file:///etc/passwd' AS line RETURN line",
    "LOAD CSV WITH HEADERS FROM 'http://127.0.0.1/' AS line RETURN line",
    "CALL dbms.components()",
    "CALL dbms.listConfig() YIELD name RETURN name",
    "CALL { CREATE (n) }",
    "CALL { MATCH (n) DELETE n } IN TRANSACTIONS",
    "MATCH (n) CALL { WITH n SET n.x = 1 } RETURN n",
    "USE system MATCH (n) RETURN n",
    "SHOW USERS",
    "SHOW SETTINGS",
    "SHOW TRANSACTIONS",
    "TERMINATE TRANSACTIONS 'neo4j-transaction-1'",
    "GRANT ROLE admin TO eve",
    "DENY MATCH {*} ON GRAPH * TO eve",
    "REVOKE ROLE admin FROM eve",
    "ALTER USER neo4j SET PASSWORD 'x'",
    "START DATABASE d",
    "STOP DATABASE d",
    "INSERT (n)",
    "RETURN 1; MATCH (n) DELETE n",
    "RETURN 1; RETURN 2",
    "MATCH (n) WHERE EXISTS { CREATE (m) } RETURN n",
    "RETURN COUNT { MATCH (n) DELETE n }",
    "RETURN COLLECT { MERGE (n) RETURN n }",
]
DISGUISES = [
    lambda text: text,
    str.lower,
    lambda text: text.swapcase(),
    lambda text: "/* read */ " + text,
    lambda text: "// RETURN 1\n" + text,
    lambda text: text.replace(" ", " /* x */ "),
    lambda text: text.replace(" ", "\u00a0"),
    lambda text: text.replace(" ", "\n\t"),
    lambda text: "EXPLAIN " + text,
    lambda text: "PROFILE " + text,
    lambda text: "CYPHER 5 " + text,
    lambda text: "CYPHER runtime=slotted " + text,
    lambda text: text + ";",
]
HOSTILE = [disguise(text) for text, disguise in itertools.product(WRITES, DISGUISES)]
ESCAPES = [
    "MATCH (n:`A\\u0060) DETACH DELETE n //`) RETURN n",
    "MATCH (n:`A``) DETACH DELETE n //`) RETURN n",
    "MATCH (n {`x\\u0060: 1}) DELETE n //`: 1}) RETURN n",
    "\\u0043REATE (n)",
    "ＣＲＥＡＴＥ (n)",
    "MATCH (n) RETURN n.`a\\u0060` + 1",
]


@pytest.mark.parametrize("text", HOSTILE + ESCAPES)
def test_what_does_more_than_read_is_refused(text: str) -> None:
    with pytest.raises(CypherError) as refused:
        prepare(text)

    assert refused.value.phase == "compile time"
    assert "line" in refused.value.details or refused.value.at is None


def test_there_are_more_than_five_hundred_hostile_texts() -> None:
    assert len(HOSTILE) + len(ESCAPES) > 500


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("MATCH (n) SET n.x = 1", "writes"),
        ("CALL dbms.listConfig()", "procedures"),
        ("LOAD CSV FROM 'x' AS l RETURN l", "files"),
        ("SHOW USERS", "administration"),
        ("RETURN 1; RETURN 2", "several statements"),
    ],
)
def test_a_refusal_names_its_rule_and_its_place(text: str, rule: str) -> None:
    with pytest.raises(CypherRefused) as refused:
        prepare(text)

    assert refused.value.details["rule"] == rule
    assert refused.value.details["line"] == 1


@pytest.mark.parametrize(
    "text",
    ["RETURN 'CREATE (n)' AS x", "MATCH (n:Delete {set: 1}) RETURN n.create", "RETURN {merge: 1}.merge AS `DROP`"],
)
def test_words_in_strings_keys_and_labels_are_no_clauses(text: str) -> None:
    assert prepare(text).columns


@TIMED
@pytest.mark.parametrize(
    "text",
    [
        "RETURN " + "(" * 600 + "1" + ")" * 600,
        "RETURN " + "[" * 101 + "]" * 101,
        "RETURN " + "NOT " * 3000 + "true",
        "RETURN " + "1+" * 7000 + "1",
        "RETURN " + "-" * 5000 + "a",
        "RETURN 1 AS a" + " UNION RETURN 1 AS a" * 800,
        "RETURN '" + "x" * (1 << 20) + "'",
        "RETURN " + "{x:({x:(" * 40 + "1" + ")})}" * 40,
        "RETURN " + "[x IN " * 90 + "[]" + "]" * 90 + " + " * 300 + "1",
        "RETURN a" + ".b" * 5000,
        "RETURN a" + "[0]" * 4000,
        "RETURN CASE " * 400,
    ],
    ids=range(12),
)
def test_size_and_nesting_are_bounded(text: str) -> None:
    began = time.monotonic()

    with pytest.raises(CypherError):
        prepare(text)

    assert time.monotonic() - began < 2


def test_a_long_chain_of_alternatives_is_fine() -> None:
    assert prepare("MATCH (n) WHERE " + " OR ".join(f"n.x = {i}" for i in range(900)) + " RETURN n").columns == ("n",)


GREEDY = [
    "UNWIND range(1, 100000000) AS x RETURN count(x)",
    "UNWIND range(1, 1000000) AS a UNWIND range(1, 1000000) AS b RETURN count(*)",
    "MATCH (a), (b), (c), (d), (e), (f) RETURN count(*)",
    "MATCH (a)-[*]-(b) RETURN count(*)",
    "MATCH (a)-[*0..]-(b)-[*0..]-(c) RETURN count(*)",
    "MATCH p = (a)-[*]-(b) RETURN p",
    "RETURN reduce(s = 'ab', x IN range(1, 100) | s + s) AS s",
    "RETURN reduce(s = [1], x IN range(1, 100) | s + s) AS s",
    "RETURN reduce(s = [1], x IN range(1, 100) | [s, s]) AS s",
    "RETURN reduce(s = {a: 1}, x IN range(1, 100) | {a: s, b: s}) AS s",
    "RETURN [a IN range(1, 10000) | [b IN range(1, 10000) | a * b]] AS x",
    "RETURN size([a IN range(1, 100000) WHERE any(b IN range(1, 100000) WHERE a = b + 0.5)]) AS x",
    "UNWIND range(1, 1900000) AS x WITH collect(x) AS xs UNWIND xs AS y UNWIND xs AS z RETURN count(*)",
    "WITH replace('aaaaaaaaaa', 'a', 'bbbbbbbbbb') AS s RETURN reduce(t = s, x IN range(1, 30) | replace(t, 'b', t)) AS x",
    "MATCH (a) WHERE EXISTS { (a)-[*]-() WHERE EXISTS { (a)-[*]-() } } RETURN count(*)",
    "RETURN size([x IN range(1, 1000000) WHERE 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab' =~ '(a|aa)+(a|aa)+c']) AS x",
    "UNWIND range(1, 1500000) AS x RETURN x ORDER BY x DESC",
    "UNWIND range(1, 1500000) AS x RETURN DISTINCT x",
]


@TIMED
@pytest.mark.parametrize("text", GREEDY)
async def test_no_query_outlives_its_deadline_or_its_budget(text: str) -> None:
    limits = Limits(seconds=0.5, held=400_000)
    async with System.at_url("memory:") as system:
        for number in range(30):
            await system.execute(AddNode(id=f"n{number}"))
        for number in range(29):
            for step in (1, 2, 3):
                await system.execute(AddEdge(id=None, source=f"n{number}", target=f"n{min(number + step, 29)}"))
        digest = await system.digest()
        async with system.session() as session:
            began = time.monotonic()
            with pytest.raises((LimitExceeded, DeadlineExceeded)):
                await cypher.run(session, text, limits=limits)
            assert time.monotonic() - began < 5
        assert await system.digest() == digest


@TIMED
@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*b", "(a|aa)+$", "([a-z]+)*1", "(.*a){20}"])
async def test_patterns_that_backtrack_elsewhere_take_no_time(pattern: str) -> None:
    async with System.at_url("memory:") as system, system.session() as session:
        began = time.monotonic()
        result = await cypher.run(
            session, "RETURN $text =~ $pattern AS x", {"text": "a" * 5000 + "!", "pattern": pattern}
        )

        assert result.rows == [(False,)]
        assert time.monotonic() - began < 2


@pytest.mark.parametrize("pattern", ["(?=a)", "(?<=a)b", r"(a)\1", "a++", "[", "(", "a{2,1}", "a{5000}", "x" * 2000])
async def test_patterns_the_machine_cannot_do_are_refused(pattern: str) -> None:
    async with System.at_url("memory:") as system, system.session() as session:
        with pytest.raises(UgsError):
            await cypher.run(session, "RETURN 'a' =~ $pattern AS x", {"pattern": pattern})


async def test_a_parameter_is_a_value_whatever_it_says() -> None:
    evil = "x' OR true RETURN n //`) DETACH DELETE n"
    async with System.at_url("memory:") as system:
        await system.execute(AddNode(id="a", properties={"name": "x"}))
        async with system.session() as session:
            result = await cypher.run(session, "MATCH (n) WHERE n.name = $name RETURN n", {"name": evil})

    assert result.rows == []
