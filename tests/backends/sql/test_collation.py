"""Texts are ordered by code point on PostgreSQL, whatever the collation of the database."""

from __future__ import annotations

from uuid import uuid4

import asyncpg

from tests import servers
from ugs.connect import storage_for
from ugs.feature_registry import CATALOG

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
