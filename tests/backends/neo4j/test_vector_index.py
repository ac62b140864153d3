"""Likeness through a vector index on Neo4j (`hnsw`): it comes and goes with its option, and finds what is nearest."""

from __future__ import annotations

import asyncio
import os
import random

import pytest

from tests import servers
from tests.backends.neo4j.conftest import names_on
from ugs.changes import TableWrites
from ugs.errors import UgsError
from ugs.feature_registry import CATALOG
from ugs.reads.vector_search import Near, nearest_of, on_sphere
from ugs.storage import Storage
from ugs.vectors.model import NODE_VECTORS, Embedding
from ugs_backends.neo4j import open_neo4j

VECTORS = NODE_VECTORS.vectors
WIDTH = 32
LIMIT = 10


def some_rows(count: int) -> list[Embedding]:
    chance = random.Random(5)
    made = (on_sphere([chance.gauss(0, 1) for _ in range(WIDTH - 4)]) for _ in range(count))
    return [Embedding(f"n{number}", 0, vector) for number, vector in enumerate(made) if vector is not None]


async def found_in(storage: Storage, near: Near) -> list[str]:
    async with storage.session() as session:
        return [scored.row.id for scored in await session.nearest(VECTORS, near)]


async def test_a_vector_index_comes_and_goes_with_its_option() -> None:
    namespace = f"hnsw{os.getpid()}"
    url = f"{servers.require('neo4j')}?namespace={namespace}"
    rows = some_rows(60)
    near = Near("vector", rows[0].vector, LIMIT)
    exact = [scored.row.id for scored in nearest_of(rows, VECTORS, near)]
    assert exact[0] == "n0"

    async def indexes() -> list[str]:
        own = [name.replace(namespace, "") for name in await names_on(url) if namespace in name]
        return [name for name in own if str(WIDTH) in name]

    storage = open_neo4j(f"{url}&hnsw={WIDTH}")
    await storage.open(CATALOG)
    try:
        assert await indexes() != []
        async with storage.session(write=True) as session:
            await session.append((), {VECTORS: TableWrites(inserts=list(rows))})
        # The index is filled beside the store; with so few rows it misses none then.
        for _ in range(100):
            if await found_in(storage, near) == exact:
                break
            await asyncio.sleep(0.1)
        assert await found_in(storage, near) == exact
        await storage.close()
        storage = open_neo4j(url)
        await storage.open(CATALOG)
        assert await indexes() == [] and await found_in(storage, near) == exact
    finally:
        await storage.drop()
        await storage.close()


@pytest.mark.parametrize("given", ["0", "-1", "4097", "many", ""])
def test_a_dimension_that_is_none_is_refused(given: str) -> None:
    with pytest.raises(UgsError):
        open_neo4j(f"neo4j://u:p@127.0.0.1:1?hnsw={given}")
