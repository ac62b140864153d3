"""The optional extension pgvector.

A new store uses its column type if the extension is available. A store created without it keeps bytea columns.
"""

from __future__ import annotations

import struct
from typing import Any

from ugs.catalog import Catalog
from ugs.reads.vector_search import Vector, pack
from ugs.tables import Kind
from ugs_backends.sql.connections.connection import DriverConnection
from ugs_backends.sql.dialect import quote_identifier
from ugs_backends.sql.postgresql.dialect import PostgresqlDialect
from ugs_backends.sql.postgresql.extensions import ensure_extension, find_extension_schema
from ugs_backends.sql.table_names import shorten

HNSW_SEARCH_CANDIDATES = 500
"""HNSW search width: more candidates give better recall and take longer."""
INDEX_BUILD_MEMORY = "512MB"
"""Memory for building an HNSW index: with too little, building takes many times as long."""
EXTENSION = "vector"
CREATE_INDEX = (
    "SELECT c.relname FROM pg_class c JOIN pg_am a ON a.oid = c.relam "
    "WHERE a.amname = 'hnsw' AND c.relnamespace = current_schema()::regnamespace"
)
COLUMN = (
    "SELECT t.typname FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid "
    "WHERE a.attrelid = to_regclass(quote_ident($1)) AND a.attname = $2"
)


async def find_vector_schema(link: DriverConnection, catalog: Catalog) -> str | None:
    """The schema of pgvector, if this store uses it for its vectors."""
    for table in catalog:
        for field in table.fields:
            if field.kind is Kind.VECTOR and (found := await link.rows(COLUMN, [table.name, field.stored_as])):
                return None if found[0][0] == "bytea" else await find_extension_schema(link, EXTENSION)
    return await ensure_extension(link, EXTENSION)


async def register(connection: Any, dialect: PostgresqlDialect) -> None:
    """Register the vector codec on a connection, and set the parameters of HNSW searches."""
    schema = dialect.vectors
    await connection.set_type_codec(
        "vector", schema=schema, encoder=encode_vector, decoder=decode_vector, format="binary"
    )
    if dialect.hnsw:
        await connection.execute(
            f"SET hnsw.ef_search = {HNSW_SEARCH_CANDIDATES}; SET hnsw.iterative_scan = relaxed_order"
        )


async def settle_indexes(link: DriverConnection, dialect: PostgresqlDialect, catalog: Catalog) -> None:
    """Create the configured HNSW indexes, and drop others, which would still cost at every write."""
    wanted = list_indexes(dialect, catalog) if dialect.hnsw else {}
    found = {name for (name,) in await link.rows(CREATE_INDEX)}
    statements = [f"DROP INDEX {quote_identifier(name)}" for name in sorted(found - wanted.keys())]
    statements += [text for name, text in wanted.items() if name not in found]
    if statements:
        await link.run(f"SET LOCAL maintenance_work_mem = '{INDEX_BUILD_MEMORY}'", *statements)


def list_indexes(dialect: PostgresqlDialect, catalog: Catalog) -> dict[str, str]:
    """The statements for the HNSW indexes of all vector columns, by index name."""
    indexes = {}
    for table in catalog:
        for field in (field for field in table.fields if field.kind is Kind.VECTOR):
            name = shorten(f"{table.name}_{field.stored_as}_hnsw_{dialect.hnsw}")
            column = f"({dialect.of_one_dimension(quote_identifier(field.stored_as))})"
            indexes[name] = (
                f"CREATE INDEX {quote_identifier(name)} ON {quote_identifier(table.name)} USING hnsw "
                f"({column} {quote_identifier(dialect.vectors or '')}.vector_ip_ops)"
            )
    return indexes


def encode_vector(vector: Vector) -> bytes:
    """The binary format of pgvector: dimension, zero, and the components in big-endian order."""
    count = len(vector) // 4
    return struct.pack(f">HH{count}f", count, 0, *struct.unpack(f"<{count}f", vector))


def decode_vector(data: bytes) -> Vector:
    (count,) = struct.unpack_from(">H", data)
    return pack(struct.unpack_from(f">{count}f", data, 4))
