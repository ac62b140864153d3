"""Whatever is stored comes back with the same characters, whatever it is called."""

from __future__ import annotations

import pytest

from tests.backends.neo4j.kit import (
    KEYS,
    NESTED,
    SCALARS,
    TYPE_NAMES,
    WEIGHTS,
    edge,
    events,
    insert,
    node,
    rows,
    update,
    write,
)
from ugs.changes import TableWrites
from ugs.events import EMPTY_LOG, GENESIS_CRC, Head, Idem, Tx, to_line
from ugs.feature_registry import CATALOG
from ugs.graph.model import COUNTERS, EDGES, NODES, TOMBSTONES, Counter, Tombstone
from ugs.log.idempotency import RETRIES, Retry
from ugs.log.snapshots import SNAPSHOTS, SnapshotPiece
from ugs.storage import EventQuery
from ugs.values import to_text
from ugs_backends.neo4j import open_neo4j
from ugs_backends.neo4j.indexes.collation import from_ordered, to_ordered
from ugs_backends.neo4j.storage import Neo4jStorage

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.parametrize("type", [None, *TYPE_NAMES, "`) DETACH DELETE n //", "\\u0060) DETACH DELETE n //"])
async def test_any_type_comes_back(storage: Neo4jStorage, type: str | None) -> None:
    await insert(storage, node("a", type), edge("e", "a", "a", type))

    assert await rows(storage) == [node("a", type)]
    assert await rows(storage, EDGES) == [edge("e", "a", "a", type)]


async def test_any_value_comes_back_under_any_key(storage: Neo4jStorage) -> None:
    nodes = [
        node(f"n{at:02}", properties={key: value for key in KEYS}, data=value)
        for at, value in enumerate(SCALARS + NESTED)
    ]
    await insert(storage, *nodes)

    found = await rows(storage)

    assert found == nodes
    assert [row.properties_text for row in found] == [row.properties_text for row in nodes]


async def test_whole_numbers_and_floats_stay_apart(storage: Neo4jStorage) -> None:
    await insert(storage, node("a", properties={"i": 1, "f": 1.0, "z": -0.0}))

    (found,) = await rows(storage)

    assert found.properties_text == '{"f":1.0,"i":1,"z":-0.0}'


async def test_weights_keep_their_value(storage: Neo4jStorage) -> None:
    edges = [edge(f"e{at}", "a", "b", weight=weight) for at, weight in enumerate(WEIGHTS)]
    await insert(storage, *edges)

    assert await rows(storage, EDGES) == edges


async def test_an_update_leaves_nothing_of_the_former_row(storage: Neo4jStorage) -> None:
    before = node("a", "task", {"gone": 1, "deep": {"x": 1}})
    after = node("a", None, {"new": 2}, version=2)
    await insert(storage, before)

    await update(storage, NODES, before, after)

    assert await rows(storage) == [after]


async def test_all_tables_of_the_catalog_hold_rows(storage: Neo4jStorage) -> None:
    kept = {
        TOMBSTONES: Tombstone("gone", 3),
        COUNTERS: Counter("edge", 2**62),
        RETRIES: Retry("key \U0001f600 '\"`\\", "hash", 7, 2, to_text([{"code": "W001"}])),
        SNAPSHOTS: SnapshotPiece(3, 0, to_text({"text": "x" * 100_000})),
    }
    await write(storage, {table: TableWrites(inserts=[row]) for table, row in kept.items()})

    for table, row in kept.items():
        assert await rows(storage, table) == [row]


async def test_events_come_back_byte_for_byte(storage: Neo4jStorage) -> None:
    full = events(
        1,
        data=to_text({"id": "a", "text": 'q"\\\U0001f600\n'}),
        version=3,
        tx=Tx("t1", 0, 1),
        idem=Idem("k", "h", 2, ({"code": "W001"},)),
        by="alice",
    )
    bare = events(1, 1, full[-1].crc or "", element=None, extra=to_text({"x": 1}))
    await write(storage, {}, full + bare)

    async with storage.session() as session:
        found = await session.events(EventQuery())
        head = await session.head()

    assert found == full + bare
    assert [to_line(event) for event in found] == [to_line(event) for event in full + bare]
    assert head == Head(2, 2, bare[-1].crc or "", 0)


async def test_parts_of_the_log(storage: Neo4jStorage) -> None:
    log = events(5)
    await write(storage, {}, log)

    async with storage.session() as session:
        assert await session.events(EventQuery(after=2)) == log[2:]
        assert await session.events(EventQuery(after=1, until=3)) == log[1:3]
        assert await session.events(EventQuery(limit=2, newest=True)) == [log[4], log[3]]
        assert await session.events(EventQuery(element="n4")) == [log[3]]
        assert await session.events(EventQuery(types=frozenset({"NodeAdded"}), limit=1)) == log[:1]
        assert await session.events(EventQuery(types=frozenset())) == []


async def test_an_empty_store_has_an_empty_log(storage: Neo4jStorage) -> None:
    async with storage.session() as session:
        assert await session.head() == EMPTY_LOG
        assert (await session.head()).crc == GENESIS_CRC


async def test_everything_is_there_after_opening_again(storage: Neo4jStorage, url: str) -> None:
    await write(storage, {NODES: TableWrites(inserts=[node("a")])}, events(3))

    again = open_neo4j(url)
    await again.open(CATALOG)
    try:
        assert await rows(again) == [node("a")]
        async with again.session() as session:
            assert (await session.head()).position == 3
    finally:
        await again.close()


async def test_clearing_tables_leaves_the_log(storage: Neo4jStorage) -> None:
    await write(
        storage, {NODES: TableWrites(inserts=[node("a")]), EDGES: TableWrites(inserts=[edge("e", "a", "b")])}, events(2)
    )

    async with storage.session(write=True) as session:
        await session.clear([NODES, EDGES])

    assert await rows(storage) == [] and await rows(storage, EDGES) == []
    async with storage.session() as session:
        assert (await session.head()).position == 2


@pytest.mark.parametrize("text", ["", "a", "\uffff", "\uffff\U0001f600\ufffe", "\U0010ffff", "é\ue000"])
async def test_stored_texts_are_read_back(text: str) -> None:
    assert from_ordered(to_ordered(text)) == text
