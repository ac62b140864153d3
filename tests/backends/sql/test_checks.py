"""Checks of the catalog are constraints of the database, also of one that an earlier version has made."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from uuid import uuid4

import asyncpg
import pytest
import pytest_asyncio

from tests import servers
from ugs.connect import storage_for
from ugs.facts.model import FACTS, PREDICATES
from ugs.feature_registry import CATALOG
from ugs.tables import Format

CHECKS = """
SELECT conname, convalidated FROM pg_constraint c JOIN pg_namespace n ON n.oid = c.connamespace
WHERE n.nspname = $1 AND c.contype = 'c' ORDER BY conname
"""
NAMES = sorted(check.name for table in (FACTS, PREDICATES) for check in table.checks)


@pytest_asyncio.fixture
async def store() -> AsyncIterator[tuple[str, asyncpg.Connection]]:
    schema = f"checks_{uuid4().hex[:12]}"
    server = servers.require("postgresql")
    url = f"{server}?schema={schema}"
    await _open(url)
    connection = await asyncpg.connect(server, server_settings={"search_path": schema})
    yield url, connection
    await connection.execute(f"DROP SCHEMA {schema} CASCADE")
    await connection.close()


async def _open(url: str) -> None:
    storage = storage_for(url)
    await storage.open(CATALOG)
    await storage.close()


async def _checks(connection: asyncpg.Connection) -> dict[str, bool]:
    schema = await connection.fetchval("SELECT current_schema()")
    return {name: valid for name, valid in await connection.fetch(CHECKS, schema)}


@pytest.mark.clause("FACT-28", "FACT-29", "FACT-51", "FACT-52")
async def test_the_rules_of_rows_stand_in_the_system_catalogs(store: tuple[str, asyncpg.Connection]) -> None:
    _, connection = store
    assert await _checks(connection) == dict.fromkeys(NAMES, True)
    id = f"'{uuid4()}'"
    fact = {field.stored_as: id if field.format is Format.UUID else "'epoch'" for field in FACTS.fields}
    fact |= {"object_entity_id": "NULL"}
    for changed, rule in (
        ({}, "graph_facts_window"),
        ({"valid_to": "now()", "object_entity_id": id}, "graph_facts_one_object"),
        ({"valid_to": "NULL", "object_value": "NULL"}, "graph_facts_one_object"),
    ):
        row = {**fact, **changed}
        with pytest.raises(asyncpg.CheckViolationError, match=rule):
            await connection.execute(f"INSERT INTO graph_facts ({', '.join(row)}) VALUES ({', '.join(row.values())})")


async def test_a_store_of_an_earlier_version_gets_the_checks_for_new_rows(
    store: tuple[str, asyncpg.Connection],
) -> None:
    url, connection = store
    for table in (FACTS, PREDICATES):
        for check in table.checks[:1]:  # the other one is still there, though not recorded
            await connection.execute(f"ALTER TABLE {table.name} DROP CONSTRAINT {check.name}")
    record = json.loads(await connection.fetchval("SELECT value FROM ugs_meta WHERE key = 'catalog'"))
    for described in record.values():
        described.pop("checks", None)
    await connection.execute("UPDATE ugs_meta SET value = $1 WHERE key = 'catalog'", json.dumps(record))

    await _open(url)

    assert await _checks(connection) == dict.fromkeys(NAMES, False)
    with pytest.raises(asyncpg.CheckViolationError):
        await connection.execute(
            f"INSERT INTO graph_predicates VALUES ('{uuid4()}', 's', NULL, NULL, 'c', 'c', 'many', 'active')"
        )
