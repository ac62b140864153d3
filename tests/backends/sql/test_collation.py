"""Texts are ordered by code point on PostgreSQL, whatever the collation of the database."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from uuid import uuid4

import asyncpg
import pytest
import pytest_asyncio
from hypothesis import given
from hypothesis import strategies as st

from tests import servers
from tests.backends.sql.samples import CATALOG as SAMPLES
from tests.backends.sql.test_fetch_equals_reference import SHARED_STORE, compare_with_reference
from tests.servers import ServerUnavailable
from tests.servers.postgresql import IcuPostgreSQL
from tests.servers.pytest_use import WITHOUT_SERVERS
from ugs.connect import storage_for
from ugs.feature_registry import CATALOG
from ugs_backends.sql import SqlStorage, open_sql

COLUMNS = """
SELECT c.relname, a.attname, l.collname
FROM pg_attribute a
JOIN pg_class c ON c.oid = a.attrelid
JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_collation l ON l.oid = a.attcollation
WHERE n.nspname = $1 AND c.relkind IN ('r', 'i') AND a.attnum > 0 AND NOT a.attisdropped AND c.relname NOT LIKE 'ugs_meta%'
"""


async def test_every_text_column_and_index_has_the_collation_c() -> None:
    schema = f"collation_{uuid4().hex[:12]}"
    url = servers.require("postgresql")
    storage = storage_for(f"{url}?schema={schema}")
    await storage.open(CATALOG)
    connection = await asyncpg.connect(url)
    try:
        found = await connection.fetch(COLUMNS, schema)
    finally:
        await connection.close()
        await storage.drop()
        await storage.close()

    assert len(found) > 50
    assert [tuple(row) for row in found if row["collname"] != "C"] == []


# ── a database with another collation, where the machine has such a PostgreSQL (optional) ──


@pytest.fixture(scope="module")
def icu_url() -> Iterator[str]:
    if os.environ.get(WITHOUT_SERVERS):
        pytest.skip(f"needs a server, and {WITHOUT_SERVERS} is set")
    server = IcuPostgreSQL()
    try:
        server.create()
    except ServerUnavailable as unavailable:
        pytest.skip(str(unavailable))
    yield server.url
    server.remove()


@pytest_asyncio.fixture
async def icu_storage(icu_url: str) -> AsyncIterator[SqlStorage]:
    storage = open_sql(f"{icu_url}?schema=samples_{uuid4().hex[:12]}")
    await storage.open(SAMPLES)
    yield storage
    await storage.drop()


async def test_the_database_itself_sorts_otherwise(icu_url: str) -> None:
    connection = await asyncpg.connect(icu_url)
    assert await connection.fetchval("SELECT array_agg(t ORDER BY t) FROM unnest(ARRAY['b', 'B', 'a']) t") == list(
        "abB"
    )
    await connection.close()


@SHARED_STORE
@given(st.data())
async def test_answers_are_those_of_the_reference_under_any_collation(
    icu_storage: SqlStorage, data: st.DataObject
) -> None:
    await compare_with_reference(icu_storage, data)


def test_the_orders_of_the_kit_hold_under_any_collation(icu_url: str) -> None:
    modules = [f"ugs_conformance.test_{name}" for name in ("sort_keys", "queries", "degrees", "scopes", "recall")]
    options = ["-q", "-p", "no:cacheprovider", "--backend", f"{icu_url}?schema=kit"]
    words = ["-k", "order or page or sort or prefix"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--pyargs", *modules, *options, *words],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3_000:]
    assert re.search(r"\b1\d passed", done.stdout), done.stdout[-300:]
