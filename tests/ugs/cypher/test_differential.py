"""Random queries over random graphs: our engine on every store, native and not, against Neo4j's own Cypher.

Neo4j is asked directly, over the very nodes and relationships that our store keeps there, so the data is the same and
only the engines differ. Expressions of every kind of value are compared in the same way, without a graph.
`UGS_TEST_CYPHER` says how many queries (`make fuzz` asks for many more than the usual).
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import AsyncIterator, Hashable
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random
from typing import Any

import pytest
from neo4j import READ_ACCESS, AsyncGraphDatabase
from neo4j.exceptions import Neo4jError

from tests import servers
from tests.ugs.cypher import feature_queries, query_generator, reference, value_generator
from ugs.cypher import Limits
from ugs.cypher import api as cypher_api
from ugs.cypher.errors import CypherError
from ugs.cypher.functions import FUNCTIONS
from ugs.cypher.functions.aggregates import AGGREGATES
from ugs.errors import LimitExceeded
from ugs.graph.batches import Batch
from ugs.system import System

QUERIES = int(os.environ.get("UGS_TEST_CYPHER", "1000"))
PER_ROUND, GRAPHS, FEATURE_GRAPHS = 100, 20, 3
SEED = int(os.environ.get("UGS_TEST_SEED", "1"))
LABEL = "UGSNode"
FAILED, CUT = ("an error",), ("more than its limits allow",)
LIMITS = Limits(work=500_000)
"""A random query may find very many paths; one that finds more is not compared."""


def comparable(value: Any) -> Hashable:
    """A value in a form that both engines agree on; the order inside a collected list is nobody's promise."""
    if isinstance(value, list):
        return "list", tuple(sorted((comparable(item) for item in value), key=repr))
    return (type(value).__name__, value) if not isinstance(value, float) else ("float", round(value, 9))


def answer(rows: list[Any], ordered: bool) -> Hashable:
    found = [tuple(comparable(value) for value in row) for row in rows]
    return tuple(found) if ordered else frozenset(Counter(found).items())


async def ask_us(system: System, text: str) -> Hashable:
    try:
        rows = (await cypher_api.ask(system, query_generator.ours(text), limits=LIMITS)).rows
    except CypherError:
        return FAILED
    except LimitExceeded:
        return CUT
    return answer(rows, is_ordered(text))


def is_ordered(text: str) -> bool:
    """Whether the rows of a query have an order; that of a subquery is lost."""
    return "ORDER BY" in text.rpartition("RETURN")[2]


class Oracle:
    """Neo4j itself."""

    def __init__(self, session: Any) -> None:
        self.session = session

    async def ask(self, text: str) -> Hashable:
        found = await self.rows(query_generator.theirs(text, LABEL))
        return FAILED if found is None else answer(found, is_ordered(text))

    async def rows(self, text: str) -> list[Any] | None:
        """What Neo4j answers; None for an error of which the query is to blame."""
        try:
            found: list[Any] = await (await self.session.run(text)).values()
        except Neo4jError as error:
            if "Syntax" in (error.code or ""):
                pytest.fail(f"The generator wrote what Neo4j cannot read: {text}: {error.message}")
            return None
        return found


def store_urls(tmp_path: Path) -> dict[str, str]:
    sqlite = f"sqlite:///{tmp_path}/d.db"
    return {
        "memory": "memory:",
        "sqlite": sqlite,
        "sqlite off": f"{sqlite.replace('d.db', 'o.db')}?native=off",
        "postgresql": f"{servers.require('postgresql').partition('?')[0]}?schema=differential",
        "neo4j": servers.require("neo4j"),
    }


@pytest.fixture
async def systems(tmp_path: Path) -> AsyncIterator[dict[str, System]]:
    urls = store_urls(tmp_path)
    # Neo4j Community has one database, so nobody else may use it meanwhile.
    with servers.exclusive("neo4j"):
        async with AsyncExitStack() as stack:
            yield {name: await stack.enter_async_context(System.at_url(url)) for name, url in urls.items()}


@pytest.fixture
async def readers(systems: dict[str, System], tmp_path: Path) -> AsyncIterator[dict[str, System]]:
    """Systems that read the data of the others on PostgreSQL and Neo4j, without what these do natively."""
    urls = store_urls(tmp_path)
    async with AsyncExitStack() as stack:
        found = {}
        for name in ("postgresql", "neo4j"):
            joint = "&" if "?" in urls[name] else "?"
            found[f"{name} off"] = await stack.enter_async_context(System.at_url(f"{urls[name]}{joint}native=off"))
        yield found


@pytest.fixture
async def oracle() -> AsyncIterator[Oracle]:
    url = servers.require("neo4j").partition("?")[0]
    scheme, _, rest = url.partition("://")
    login, _, host = rest.rpartition("@")
    user, _, password = login.partition(":")
    async with (
        AsyncGraphDatabase.driver(
            f"{scheme}://{host}", auth=(user, password), notifications_min_severity="OFF"
        ) as driver,
        driver.session(default_access_mode=READ_ACCESS) as session,
    ):
        yield Oracle(session)


async def settle(systems: dict[str, System], random: Random) -> None:
    """One new graph on every store."""
    commands = query_generator.graph(random)
    for system in systems.values():
        await system.storage.wipe()
        await system.execute(Batch(operations=tuple(commands)))


async def compare(systems: dict[str, System], oracle: Oracle, text: str) -> bool:
    """Ask everybody; whether there was an answer to agree about, and not an error."""
    # Neo4j plans while our engines compute.
    expected, *answers = await asyncio.gather(oracle.ask(text), *(ask_us(system, text) for system in systems.values()))
    found = {name: shown for name, shown in zip(systems, answers, strict=True) if shown != CUT}
    wrong = {name: shown for name, shown in found.items() if shown != expected}
    assert not wrong, f"{query_generator.ours(text)}\nNeo4j: {expected}\n{wrong}"
    return expected != FAILED and len(found) == len(systems)


async def test_random_queries_are_answered_as_neo4j_answers_them(systems: dict[str, System], oracle: Oracle) -> None:
    answered, asked = 0, 0
    while asked < QUERIES:
        random = Random(f"{SEED}-{asked}")
        # Planning costs Neo4j far more than answering, so each query is asked of several graphs.
        texts = [query_generator.query(random) for _ in range(min(PER_ROUND, max(1, QUERIES // GRAPHS)))]
        for _ in range(GRAPHS):
            await settle(systems, random)
            answered += sum([await compare(systems, oracle, text) for text in texts])
            asked += len(texts)
    assert answered > asked * 0.8


@pytest.mark.parametrize("feature", feature_queries.QUERIES)
async def test_each_feature_is_answered_as_neo4j_answers_it(
    systems: dict[str, System], readers: dict[str, System], oracle: Oracle, feature: str
) -> None:
    """On four stores, each with and without what it does natively."""
    async with System.at_url("memory:?native=off") as memory_off:
        for number in range(FEATURE_GRAPHS):
            await settle(systems | {"memory off": memory_off}, Random(f"{SEED}-{feature}-{number}"))
            for text in feature_queries.QUERIES[feature]:
                assert await compare(systems | readers | {"memory off": memory_off}, oracle, text), text


async def test_every_function_of_neo4j_is_there_or_named_as_absent(oracle: Oracle) -> None:
    listed = await oracle.rows("SHOW FUNCTIONS YIELD name RETURN DISTINCT name") or []
    absent = {name for names in reference.ABSENT for name in names.split()}
    ours = {*FUNCTIONS, *AGGREGATES, *reference.SPECIAL_FORMS}

    assert len(listed) > 100
    assert {name for (name,) in listed if name.lower() not in ours} == absent


CATEGORY_OF_NEO4J = {
    # The TCK wants a TypeError for a property or an element of what has none.
    "WITH point({x: 1, y: 2}) AS p RETURN p['x']": "SyntaxError",
    "MATCH ((a)-->(b))+ RETURN a.x": "SyntaxError",
    # Neo4j looks at the keys of a map in the text before it runs.
    "UNWIND [1, 2] AS i\nRETURN point({x: i})": "SyntaxError",
    "CYPHER 25 RETURN 1": "ArgumentError",
}
"""Where Neo4j names another category than we do."""


async def test_wrong_use_is_of_the_category_that_neo4j_names(oracle: Oracle) -> None:
    """What writes, or leaves the graph, is refused here and not compared."""
    async with System.at_url("memory:") as system:
        mistakes = [text for text, _ in feature_queries.MISTAKES]
        for text in mistakes + [text for text, _, _, _ in feature_queries.WRONG_VALUES]:
            with pytest.raises(CypherError) as failed:
                await cypher_api.ask(system, text)
            if failed.value.detail == "NotAllowed":
                continue
            with pytest.raises(Neo4jError) as theirs:
                await (await oracle.session.run(text)).values()
            category = (theirs.value.code or "").rpartition(".")[2]
            assert category == CATEGORY_OF_NEO4J.get(text, failed.value.type), text


async def test_random_expressions_have_the_values_that_neo4j_gives_them(oracle: Oracle) -> None:
    answered = 0
    async with System.at_url("memory:") as system:
        for number in range(QUERIES):
            text = f"RETURN {value_generator.expression(Random(f'{SEED}-{number}'))} AS value"
            expected, found = await oracle.rows(text), await rows_of(system, text)
            assert value_generator.alike(found) == value_generator.alike(expected), text
            answered += expected is not None
    assert answered > QUERIES * 0.9


async def rows_of(system: System, text: str) -> list[Any] | None:
    """What we answer; None for an error."""
    try:
        return [list(row) for row in (await cypher_api.ask(system, text)).rows]
    except CypherError:
        return None
