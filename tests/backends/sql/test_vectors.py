"""Vectors in SQL stores: what the extensions change, and that without them the answers are the same."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import asyncpg
import pytest

from tests import servers
from ugs.changes import TableWrites
from ugs.feature_registry import CATALOG
from ugs.reads.vector_search import Near, Scored, nearest_of, on_sphere, pack
from ugs.vectors.model import NODE_VECTORS, Embedding
from ugs_backends.sql import open_sql
from ugs_backends.sql.postgresql.dialect import PostgresqlDialect
from ugs_backends.sql.postgresql.vector_extension import decode_vector, encode_vector
from ugs_backends.sql.sqlite import vector_extension as sqlite_vectors
from ugs_backends.sql.sqlite.dialect import SqliteDialect
from ugs_backends.sql.storage import SqlStorage

VECTORS = NODE_VECTORS.vectors
WIDTH = 32


def some_rows(count: int) -> list[Embedding]:
    chance = random.Random(5)
    made = (on_sphere([chance.gauss(0, 1) for _ in range(WIDTH - 4)]) for _ in range(count))
    return [Embedding(f"n{number}", 0, vector) for number, vector in enumerate(made) if vector is not None]


async def searched(storage: SqlStorage, rows: list[Embedding], limit: int = 20) -> list[list[Scored]]:
    """What the store finds for a few vectors."""
    async with storage.session(write=True) as session:
        await session.append((), {VECTORS: TableWrites(inserts=list(rows))})
    async with storage.session() as session:
        assert sorted(await session.fetch(VECTORS), key=VECTORS.key_of) == sorted(rows, key=VECTORS.key_of)
        return [await session.nearest(VECTORS, Near("vector", row.vector, limit)) for row in rows[:3]]


def exactly(rows: list[Embedding], limit: int = 20) -> list[list[Scored]]:
    return [nearest_of(rows, VECTORS, Near("vector", row.vector, limit)) for row in rows[:3]]


def test_pgvector_gets_and_gives_its_own_bytes() -> None:
    vector = pack([1.0, -2.0, 0.0, 1000.0])
    assert encode_vector(vector)[:8] == b"\x00\x04\x00\x00\x3f\x80\x00\x00"
    assert decode_vector(encode_vector(vector)) == vector


def test_without_an_extension_nothing_is_compared_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    assert PostgresqlDialect().score("a", "b") == PostgresqlDialect(None, 8).nearest_first("a", "b") == ""
    assert PostgresqlDialect("public").score("a", "b") == '-(a OPERATOR("public".<#>) b)'
    monkeypatch.setattr("ugs_backends.sql.sqlite.dialect.find_extension", lambda: None)
    assert SqliteDialect().score("a", "b") == ""


async def test_sqlite_gives_the_same_with_and_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = some_rows(60)
    for name, found in (("with", sqlite_vectors.find_extension()), ("without", None)):
        for place in ("dialect", "connection"):
            monkeypatch.setattr(f"ugs_backends.sql.sqlite.{place}.find_extension", lambda found=found: found)
        storage = open_sql(f"sqlite:///{tmp_path}/{name}.db")
        await storage.open(CATALOG)
        try:
            assert await searched(storage, rows) == exactly(rows)
        finally:
            await storage.close()


@pytest.fixture
async def postgresql() -> AsyncIterator[Callable[[str], str]]:
    """Makes URLs of one schema that is dropped afterwards."""
    url, schema = servers.require("postgresql"), "vectors_test"

    async def drop() -> None:
        connection = await asyncpg.connect(url)
        await connection.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE")
        await connection.close()

    await drop()
    yield lambda options: f"{url}?schema={schema}{options}"
    await drop()


async def test_a_quick_index_comes_and_goes_with_its_option(postgresql: Callable[[str], str]) -> None:
    rows = some_rows(80)

    async def indexes(storage: SqlStorage) -> int:
        async with storage.session() as session:
            text = "SELECT count(*) FROM pg_indexes WHERE schemaname = current_schema() AND indexdef LIKE '%hnsw%'"
            count: int = (await session.link.rows(text))[0][0]
            return count

    for options, wanted in ((f"&hnsw={WIDTH}", 4), ("", 0), (f"&hnsw={WIDTH}", 4), ("&hnsw=8", None)):
        storage = open_sql(postgresql(options))
        if wanted is None:
            with pytest.raises(Exception, match="expected 8 dimensions"):
                await storage.open(CATALOG)
            continue
        await storage.open(CATALOG)
        try:
            assert await indexes(storage) == wanted
            await storage.wipe()
            found = await searched(storage, rows)
        finally:
            await storage.close()
        assert [one[0] for one in found] == [one[0] for one in exactly(rows)]
        if wanted == 0:
            assert found == exactly(rows)


async def test_a_store_of_bytes_stays_one(postgresql: Callable[[str], str], monkeypatch: pytest.MonkeyPatch) -> None:
    async def nowhere(*_: object) -> None:
        return None

    rows = some_rows(30)
    with monkeypatch.context() as without:
        without.setattr("ugs_backends.sql.postgresql.storage.find_vector_schema", nowhere)
        storage = open_sql(postgresql(""))
        await storage.open(CATALOG)
        assert await searched(storage, rows) == exactly(rows)
        await storage.wipe()
        await storage.close()
    storage = open_sql(postgresql(""))
    await storage.open(CATALOG)
    try:
        assert storage.dialect.score("a", "b") == ""
        assert await searched(storage, rows) == exactly(rows)
    finally:
        await storage.close()
