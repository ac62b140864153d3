"""pgvector: looked for when a store opens, made use of where it is, and done without where it is not.

A new store keeps vectors in columns of its type. A store that was made without it keeps bytes, and goes on so.
"""

from __future__ import annotations

import struct
from contextlib import suppress
from typing import Any

from backends.sql.link import Link
from backends.sql.migration import transaction
from ugs.catalog import Catalog, Kind
from ugs.errors import UgsError
from ugs.reads.near import Vector, pack

HOME = "public"
"""Where the extension is put; in a store's own schema it would go when that store goes."""
SCHEMA = (
    "SELECT n.nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'"
)
AVAILABLE = "SELECT 1 FROM pg_available_extensions WHERE name = 'vector'"
COLUMN = (
    "SELECT t.typname FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid "
    "WHERE a.attrelid = to_regclass(quote_ident($1)) AND a.attname = $2"
)


async def vector_schema(link: Link, catalog: Catalog) -> str | None:
    """The schema of pgvector, if this store keeps its vectors with it."""
    for table in catalog:
        for field in table.fields:
            if field.kind is Kind.VECTOR and (found := await link.rows(COLUMN, [table.name, field.stored_as])):
                return None if found[0][0] == "bytea" else await _schema(link)
    return await _schema(link) or await _made(link)


async def _schema(link: Link) -> str | None:
    found = await link.rows(SCHEMA)
    return found[0][0] if found else None


async def _made(link: Link) -> str | None:
    """Make the extension if the server has it and the user may; another process may be doing the same."""
    if await link.rows(AVAILABLE):
        with suppress(UgsError):
            async with transaction(link):
                await link.run(f"CREATE EXTENSION IF NOT EXISTS vector SCHEMA {HOME}")
    return await _schema(link)


async def register(connection: Any, schema: str) -> None:
    """Let a connection speak of vectors as the catalog does."""
    await connection.set_type_codec("vector", schema=schema, encoder=encoded, decoder=decoded, format="binary")


def encoded(vector: Vector) -> bytes:
    """As the server wants it: the number of components, nothing, and the components, greatest byte first."""
    count = len(vector) // 4
    return struct.pack(f">HH{count}f", count, 0, *struct.unpack(f"<{count}f", vector))


def decoded(data: bytes) -> Vector:
    (count,) = struct.unpack_from(">H", data)
    return pack(struct.unpack_from(f">{count}f", data, 4))
