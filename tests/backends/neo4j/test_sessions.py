"""Transactions: one writer at a time, all or nothing, rules that hold, and stores that share a database."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from msgspec import Struct

from tests.backends import older_facts
from tests.backends.neo4j.kit import cypher, edge, events, insert, node, rows, write
from ugs.catalog import Catalog
from ugs.changes import TableWrites
from ugs.errors import SchemaMismatch, UniqueViolation
from ugs.facts.model import FACTS as GRAPH_FACTS
from ugs.feature_registry import CATALOG
from ugs.graph.model import EDGES, NODES
from ugs.reads.filters import Has, eq
from ugs.storage import EventQuery
from ugs.tables import Field, Index, Kind, Table, Unique
from ugs_backends.neo4j import open_neo4j
from ugs_backends.neo4j.storage import Neo4jStorage

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest_asyncio.fixture(loop_scope="session")
async def second(opened: Neo4jStorage, url: str) -> AsyncIterator[Neo4jStorage]:
    """Another process, as it were, on the same database."""
    storage = open_neo4j(url)
    await storage.open(CATALOG)
    yield storage
    await storage.close()


async def test_a_second_store_sees_what_the_first_committed(storage: Neo4jStorage, second: Neo4jStorage) -> None:
    async with storage.session(write=True) as session:
        await session.append(events(1), {NODES: TableWrites(inserts=[node("a")])})
        assert await rows(second) == []

    assert await rows(second) == [node("a")]


async def test_writers_take_turns_also_across_stores(storage: Neo4jStorage, second: Neo4jStorage) -> None:
    async def add(store: Neo4jStorage) -> None:
        async with store.session(write=True) as session:
            head = await session.head()
            await asyncio.sleep(0.005)
            await session.append(events(1, head.position, head.crc), {})

    await asyncio.gather(*(add(store) for store in [storage, second] * 10))

    async with storage.session() as session:
        log = await session.events(EventQuery())
    assert [event.position for event in log] == list(range(1, 21))
    assert log == events(20)


async def test_an_exception_leaves_nothing_behind(storage: Neo4jStorage) -> None:
    with pytest.raises(RuntimeError, match="changed my mind"):  # noqa: PT012
        async with storage.session(write=True) as session:
            await session.append(
                events(1), {NODES: TableWrites(inserts=[node("a")]), EDGES: TableWrites(inserts=[edge("e", "a", "b")])}
            )
            raise RuntimeError("changed my mind")

    assert await rows(storage) == [] and await rows(storage, EDGES) == []
    async with storage.session() as session:
        assert (await session.head()).position == 0
    assert await cypher(storage, "MATCH (n:UGSMissingNode) RETURN n.id") == []


async def test_a_cancelled_writer_frees_the_lock(storage: Neo4jStorage) -> None:
    started = asyncio.Event()

    async def hold() -> None:
        async with storage.session(write=True) as session:
            await session.append(events(1), {})
            started.set()
            await asyncio.sleep(60)

    holder = asyncio.create_task(hold())
    await started.wait()
    holder.cancel()
    with pytest.raises(asyncio.CancelledError):
        await holder

    await write(storage, {}, events(1))
    async with storage.session() as session:
        assert (await session.head()).position == 1


async def test_questions_of_one_session_may_overlap(storage: Neo4jStorage) -> None:
    await insert(storage, *(node(id) for id in "abc"))

    async with storage.session() as session:
        found = await asyncio.gather(*(session.find(NODES, id) for id in "abcd"))

    assert found == [node("a"), node("b"), node("c"), None]


async def test_a_key_that_is_taken_is_refused_by_name(storage: Neo4jStorage) -> None:
    await insert(storage, node("a"))

    with pytest.raises(UniqueViolation) as refused:
        await insert(storage, node("b"), node("a", "person"))

    assert refused.value.details["rule"] == "nodes_key"
    assert await rows(storage) == [node("a")]


async def test_an_edge_id_is_unique_whatever_its_type(storage: Neo4jStorage) -> None:
    await insert(storage, edge("e", "a", "b", "likes"))

    with pytest.raises(UniqueViolation) as refused:
        await insert(storage, edge("e", "c", "d", "knows"))

    assert refused.value.details["rule"] == "edges_key"


async def test_a_position_is_never_given_twice(storage: Neo4jStorage) -> None:
    await write(storage, {}, events(2))

    with pytest.raises(UniqueViolation):
        await write(storage, {}, events(1, 1))


class Fact(Struct, frozen=True):
    """A row with a rule that holds only while it is open."""

    tenant: str
    number: int
    subject: str
    value: str | None
    closed: bool


OPEN = Unique("one_open_fact", ("subject", "value"), when=eq("closed", False))
FACTS = Table(
    "test_facts",
    Fact,
    [
        Field("tenant"),
        Field("number", Kind.INTEGER),
        Field("subject"),
        Field("value", nullable=True),
        Field("closed", Kind.BOOLEAN),
    ],
    key=["tenant", "number"],
    unique=[OPEN],
    indexes=[Index(("subject", "number"))],
)


@pytest_asyncio.fixture(loop_scope="session")
async def grown(storage: Neo4jStorage, url: str) -> AsyncIterator[Neo4jStorage]:
    """The same database, opened with a catalog that has one table more."""
    grown = open_neo4j(url)
    await grown.open(Catalog([*CATALOG, FACTS], CATALOG.rules))
    yield grown
    await grown.wipe()
    await grown.close()


async def test_a_catalog_may_grow(storage: Neo4jStorage, grown: Neo4jStorage) -> None:
    await insert(storage, node("a"))
    fact = Fact("t", 1, "s", "v", False)

    await write(grown, {FACTS: TableWrites(inserts=[fact])})

    assert await rows(grown, FACTS) == [fact]
    assert await rows(grown) == [node("a")]
    async with grown.session() as session:
        assert await session.find(FACTS, ("t", 1)) == fact
        assert await session.find(FACTS, ("t", 2)) is None
        assert await session.find_many(FACTS, [("t", 2), ("t", 1), ("t", 1)]) == [fact]


async def test_a_table_may_gain_words(grown: Neo4jStorage, url: str) -> None:
    facts = [Fact("\uffff\U0001f600", number, "s", "red" if number % 3 else None, True) for number in range(6)]
    await write(grown, {FACTS: TableWrites(inserts=facts)})
    worded = Table("test_facts", Fact, FACTS.fields, FACTS.key, words=lambda row: {row.value: 1.0} if row.value else {})
    later = open_neo4j(url)
    await later.open(Catalog([*CATALOG, worded], CATALOG.rules))
    try:
        assert await rows(later, worded, Has("red")) == [fact for fact in facts if fact.value == "red"]
        async with later.session() as session:
            assert await session.count(worded, Has("blue")) == 0
    finally:
        await cypher(later, f"DROP INDEX {later.names.rule('test_facts', 'terms')}")
        await later.close()


async def test_a_rule_holds_only_for_the_rows_it_speaks_of(grown: Neo4jStorage) -> None:
    kept = [Fact("t", 1, "s", "v", False), Fact("t", 2, "s", "v", True), Fact("t", 3, "s", "v", True)]
    kept += [Fact("t", 4, "s", None, False), Fact("t", 5, "s", None, False)]
    await write(grown, {FACTS: TableWrites(inserts=kept)})

    with pytest.raises(UniqueViolation) as refused:
        await write(grown, {FACTS: TableWrites(inserts=[Fact("t", 6, "s", "v", False)])})

    assert refused.value.details["rule"] == "one_open_fact"
    assert await rows(grown, FACTS) == kept


async def test_two_rows_may_exchange_what_a_rule_keeps_unique(grown: Neo4jStorage) -> None:
    one, two = Fact("t", 1, "s", "v", False), Fact("t", 2, "s", "w", False)
    await write(grown, {FACTS: TableWrites(inserts=[one, two])})

    exchanged = [Fact("t", 1, "s", "w", False), Fact("t", 2, "s", "v", False)]
    await write(grown, {FACTS: TableWrites(updates=exchanged, before={("t", 1): one, ("t", 2): two})})

    assert await rows(grown, FACTS) == exchanged


async def test_a_newer_layout_is_refused_in_words(storage: Neo4jStorage, url: str) -> None:
    await cypher(storage, "MATCH (log:UGSLog) SET log.schema = 99")

    with pytest.raises(SchemaMismatch, match="newer version"):
        await open_neo4j(url).open(CATALOG)


async def test_namespaces_do_not_see_each_other(storage: Neo4jStorage, url: str) -> None:
    await insert(storage, node("a"), edge("e", "a", "b"))
    other = open_neo4j(f"{url}x")
    await other.open(CATALOG)
    try:
        await other.wipe()
        await insert(other, node("a", "person"))
        assert await rows(other) == [node("a", "person")]
        await other.wipe()
        assert await rows(storage) == [node("a")]
    finally:
        await other.drop()


async def test_watching_tells_of_other_writers(storage: Neo4jStorage, second: Neo4jStorage) -> None:
    watching = storage.watch(0)
    waiting = asyncio.ensure_future(anext(watching))
    await asyncio.sleep(0.1)

    await write(second, {}, events(2))

    assert await asyncio.wait_for(waiting, 5) == 2
    await watching.aclose()  # type: ignore[attr-defined]


async def test_two_stores_may_open_a_new_database_at_once(storage: Neo4jStorage, url: str) -> None:
    pair = [open_neo4j(f"{url}y"), open_neo4j(f"{url}y")]
    try:
        await asyncio.gather(*(store.open(CATALOG) for store in pair))
        await insert(pair[0], node("a"))
        assert await rows(pair[1]) == [node("a")]
    finally:
        await pair[0].drop()
        await pair[1].close()


async def test_open_facts_of_older_stores_are_told_apart_by_their_agent(url: str) -> None:
    first = open_neo4j(f"{url}older")
    await first.open(Catalog([older_facts.TABLE], CATALOG.rules))
    await write(first, {older_facts.TABLE: TableWrites(inserts=[older_facts.private("f1", "a1")])})
    await first.close()
    second = open_neo4j(f"{url}older")
    await second.open(CATALOG)
    try:
        await write(second, {GRAPH_FACTS: TableWrites(inserts=[older_facts.private("f2", "a2")])})
        for agent in ("a1", "a2"):
            with pytest.raises(UniqueViolation):
                await write(second, {GRAPH_FACTS: TableWrites(inserts=[older_facts.private("f3", agent)])})
    finally:
        await second.drop()
