"""A namespace of its own for each run, so that runs on one server do not meet; gone at the end with its indexes."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests import servers
from ugs.feature_registry import CATALOG
from ugs_backends.neo4j import open_neo4j
from ugs_backends.neo4j.connection import Connection
from ugs_backends.neo4j.indexes.schema import SHOW
from ugs_backends.neo4j.storage import Neo4jStorage
from ugs_backends.neo4j.url import parse_address


@pytest.fixture(scope="session")
def url() -> str:
    return f"{servers.require('neo4j')}?namespace=unit{os.getpid()}"


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def opened(url: str) -> AsyncIterator[Neo4jStorage]:
    storage = open_neo4j(url)
    await storage.open(CATALOG)
    yield storage
    await storage.drop()
    assert not [name for name in await names_on(url) if name.endswith(f"_{storage.address.namespace}")]


async def names_on(url: str) -> list[str]:
    """The indexes and constraints of a server."""
    connection = Connection(parse_address(url))
    try:
        return [name for name, _ in await connection.run(SHOW, write=False)]
    finally:
        await connection.close()


@pytest_asyncio.fixture(loop_scope="session")
async def storage(opened: Neo4jStorage) -> Neo4jStorage:
    """The store, empty."""
    await opened.wipe()
    return opened
