"""Cypher 5 beyond openCypher 9: the same answers on every path, errors with their place, and limits that hold."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.ugs.cypher import feature_queries, query_generator, reference
from tests.ugs.cypher.test_differential import answer
from tests.work import TIMED
from ugs.cypher import CypherError, Limits, prepare
from ugs.cypher import api as cypher_api
from ugs.cypher.parser import parse
from ugs.cypher.unparser import print_query
from ugs.errors import DeadlineExceeded, LimitExceeded
from ugs.graph.batches import Batch
from ugs.graph.commands import AddEdge, AddNode
from ugs.system import System

TEXTS = [query_generator.ours(text) for texts in feature_queries.QUERIES.values() for text in texts]


@pytest.fixture
async def system() -> AsyncIterator[System]:
    """Six nodes in a row of types A and B, with a short cut; the last has no type."""
    async with System.at_url("memory:") as opened:
        nodes = [AddNode(id=f"n{i}", type="AB"[i % 2] if i < 5 else None, properties={"x": i}) for i in range(6)]
        edges = [AddEdge(id=f"e{i}", source=f"n{i}", target=f"n{i + 1}", type="RST"[i % 3]) for i in range(5)]
        await opened.execute(Batch(operations=(*nodes, *edges, AddEdge(source="n0", target="n3", type="R"))))
        yield opened


async def rows(system: System, text: str, **options: Any) -> list[list[Any]]:
    return cypher_api.json_rows(await cypher_api.ask(system, text, **options))


@pytest.mark.parametrize("feature", feature_queries.QUERIES)
async def test_every_path_gives_the_same_answer(tmp_path: Path, feature: str) -> None:
    urls = ["memory:", "memory:?native=off", f"sqlite:///{tmp_path}/a.db", f"sqlite:///{tmp_path}/b.db?native=off"]
    async with AsyncExitStack() as stack:
        systems = [await stack.enter_async_context(System.at_url(url)) for url in urls]
        commands = Batch(operations=tuple(query_generator.graph(Random(f"features {feature}"))))
        for system in systems:
            await system.execute(commands)
        for text in map(query_generator.ours, feature_queries.QUERIES[feature]):
            found = [(await cypher_api.ask(system, text)).rows for system in systems]
            assert len({answer(rows, False) for rows in found}) == 1, text


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_printed_parses_to_the_same_tree(text: str) -> None:
    query = parse(text).query
    assert parse(print_query(query)).query == query


ROWS: list[tuple[str, list[list[Any]]]] = [
    ("MATCH (n:A) CALL (n) { MATCH (n)-->(m) RETURN m.x AS y ORDER BY y LIMIT 1 } RETURN n.x, y ORDER BY n.x",
     [[0, 1], [2, 3], [4, 5]]),
    ("MATCH (n) CALL (n) { MATCH (n)-->(m) FINISH } RETURN count(*)", [[6]]),
    ("MATCH (n) FINISH", []),
    ("MATCH (n:!%) RETURN n.x", [[5]]),
    ("MATCH (n:%&!A) RETURN n.x ORDER BY n.x", [[1], [3]]),
    ("MATCH (a {x: 0}) ((u)-->(v))* (b {x: 3}) RETURN size(u) AS s, [z IN v | z.x] AS xs ORDER BY s",
     [[1, [3]], [3, [1, 2, 3]]]),
    ("MATCH p = (a {x: 0})((u)-->(v) WHERE v.x < 3)+ (b) RETURN [n IN nodes(p) | n.x] AS xs ORDER BY size(xs)",
     [[[0, 1]], [[0, 1, 2]]]),
    ("MATCH (a {x: 5})((u)<-[r]-(v:A|B)){2} (b) RETURN [z IN u | z.x] AS us, b.x AS x", [[[5, 4], 3]]),
    ("MATCH (a {x: 0})((u)--(v)--(u)){1,2}(b) RETURN count(*)", [[0]]),
    ("MATCH (a {x: 0})((u)--(v)--(w)--(t)--(u)){1}(b) RETURN b.x, size(t)", [[0, 1], [0, 1]]),
    ("CALL db.labels()", [["A"], ["B"]]),
    ("CALL db.relationshipTypes() YIELD relationshipType AS t WHERE t <> 'S' RETURN t", [["R"], ["T"]]),
    ("CALL db.propertyKeys() YIELD propertyKey RETURN count(*)", [[1]]),
    ("CALL db.labels() YIELD label MATCH (n:$(label)) RETURN label, count(n) ORDER BY label", [["A", 3], ["B", 2]]),
    ("CALL db.schema.visualization() YIELD nodes RETURN nodes",
     [[[{"name": "A", "count": 3}, {"name": "B", "count": 2}]]]),
    ("MATCH (n:B) OPTIONAL CALL db.labels() YIELD label WHERE label = n.name RETURN n.x, label ORDER BY n.x",
     [[1, None], [3, None]]),
    ("OPTIONAL CALL db.labels() YIELD label WHERE label < 'B' RETURN label", [["A"]]),
    ("OPTIONAL CALL db.labels() YIELD label WHERE label < 'A' RETURN label", [[None]]),
    ("MATCH (n {x: 1}) CALL db.relationshipTypes() YIELD relationshipType RETURN n.x, count(*)", [[1, 3]]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), ROWS)
async def test_a_query_has_its_rows(system: System, text: str, expected: list[list[Any]]) -> None:
    assert await rows(system, text) == expected


@pytest.mark.parametrize(("text", "detail"), feature_queries.MISTAKES)
def test_a_mistake_is_named_with_its_place(text: str, detail: str) -> None:
    with pytest.raises(CypherError) as failed:
        prepare(text)

    assert failed.value.detail == detail
    assert failed.value.details["line"] == 1


@pytest.mark.parametrize(("text", "type", "line", "column"), feature_queries.WRONG_VALUES)
async def test_a_value_that_cannot_be_used_is_named_with_its_place(
    system: System, text: str, type: str, line: int, column: int
) -> None:
    with pytest.raises(CypherError) as failed:
        await rows(system, text)

    assert failed.value.type == type
    assert (failed.value.details["line"], failed.value.details["column"]) == (line, column)


@pytest.mark.parametrize("text", ["MATCH (n:$(null)) RETURN n", "UNWIND ['a', 1] AS x RETURN x || 'b'"])
async def test_a_wrong_value_is_an_error_of_its_type(system: System, text: str) -> None:
    with pytest.raises(CypherError) as failed:
        await rows(system, text)

    assert (failed.value.type, failed.value.detail) == ("TypeError", "InvalidArgumentType")


GREEDY = [
    "UNWIND range(1, 1000000) AS x CALL (x) { UNWIND range(1, 1000000) AS y RETURN y } RETURN count(*)",
    "UNWIND range(1, 10000) AS x CALL (x) { CALL (x) { UNWIND range(1, 100000) AS y RETURN sum(y) AS z } RETURN z } "
    "RETURN sum(z)",
    "MATCH (a)((u)--(v) WHERE u <> v)+(b) RETURN count(*)",
    "MATCH (a)((u)--(v))*((w)--(x))*(b) RETURN count(*)",
    "CALL { MATCH (a), (b), (c), (d), (e), (f) RETURN a.x AS x } RETURN count(x)",
    "MATCH (a) CALL (a) { MATCH (a)-[r*]-(b) RETURN b } RETURN count(b)",
    "RETURN reduce(t = 'ab', x IN range(1, 100) | t || t) AS x",
    "MATCH SHORTEST 1000000 (a)--+(b) RETURN count(*)",
    "MATCH ALL SHORTEST ((a)-[r]-+(b) WHERE size(r) = 80) RETURN count(*)",
    "MATCH (a), (b), (c), (d) MATCH SHORTEST 3 GROUPS (a)--+(b) RETURN count(*)",
    "MATCH (a) CALL (a) { MATCH (b) CALL (b) { MATCH (c), (d), (e), (f) RETURN count(*) AS n } RETURN sum(n) AS m } RETURN sum(m)",
]


@TIMED
@pytest.mark.parametrize("text", GREEDY)
async def test_limits_bind_nested_queries_and_quantified_paths(text: str) -> None:
    async with System.at_url("memory:") as system:
        nodes = [AddNode(id=f"n{number}", properties={"x": number}) for number in range(30)]
        ends = [(number, min(number + step, 29)) for number in range(29) for step in (1, 2, 3)]
        edges = [AddEdge(source=f"n{start}", target=f"n{end}", type="R") for start, end in ends]
        await system.execute(Batch(operations=(*nodes, *edges)))
        began = time.monotonic()
        with pytest.raises((LimitExceeded, DeadlineExceeded)):
            await cypher_api.ask(system, text, limits=Limits(seconds=0.5, held=400_000))
        assert time.monotonic() - began < 5


def test_the_page_lists_what_the_registries_hold() -> None:
    assert reference.page_tables() == reference.language_tables(), "python -m tests.ugs.cypher.reference"
