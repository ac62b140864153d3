"""Fresh SQL stores: an SQLite file or a PostgreSQL schema of their own for each test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from uuid import uuid4

import pytest

from tests import servers
from tests.backends.sql.samples import CATALOG
from ugs_backends.sql import SqlStorage, open_sql


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[str]:
    """Where a new store may be made."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path}/store.db"
        return
    schema = f"test_{uuid4().hex[:12]}"
    server = servers.require("postgresql")
    yield f"{server}?schema={schema}"
    asyncio.run(drop_schema(server, schema))


async def drop_schema(server: str, schema: str) -> None:
    import asyncpg

    connection = await asyncpg.connect(server)
    try:
        await connection.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE")
    finally:
        await connection.close()


@pytest.fixture
async def storage(url: str) -> AsyncIterator[SqlStorage]:
    """An open, empty store of the sample tables."""
    storage = open_sql(url)
    await storage.open(CATALOG)
    yield storage
    await storage.close()


@pytest.fixture
def with_option() -> Callable[[str, str], str]:
    return lambda url, option: url + ("&" if "?" in url else "?") + option
