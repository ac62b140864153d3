"""pgvector: looked for when a store opens, made use of where it is, and done without where it is not.

A new store keeps vectors in columns of its type. A store that was made without it keeps bytes, and goes on so.
"""

from __future__ import annotations

import struct
from typing import Any

from backends.sql.dialect import quoted
from backends.sql.link import Link
from backends.sql.names import short
from backends.sql.postgresql.dialect import PostgresqlDialect
from backends.sql.postgresql.extensions import made, schema_of
from ugs.catalog import Catalog, Kind
from ugs.reads.near import Vector, pack

LOOKED_AT = 500
"""How many candidates a quick index keeps in mind: more find more, and take longer."""
BUILDING = "512MB"
"""Memory for building one: with less than it needs, building takes many times as long."""
EXTENSION = "vector"
QUICK = (
    "SELECT c.relname FROM pg_class c JOIN pg_am a ON a.oid = c.relam "
    "WHERE a.amname = 'hnsw' AND c.relnamespace = current_schema()::regnamespace"
)
COLUMN = (
    "SELECT t.typname FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid "
    "WHERE a.attrelid = to_regclass(quote_ident($1)) AND a.attname = $2"
)


async def vector_schema(link: Link, catalog: Catalog) -> str | None:
    """The schema of pgvector, if this store keeps its vectors with it."""
    for table in catalog:
        for field in table.fields:
            if field.kind is Kind.VECTOR and (found := await link.rows(COLUMN, [table.name, field.stored_as])):
                return None if found[0][0] == "bytea" else await schema_of(link, EXTENSION)
    return await made(link, EXTENSION)


async def register(connection: Any, dialect: PostgresqlDialect) -> None:
    """Let a connection speak of vectors as the catalog does."""
    schema = dialect.vectors
    await connection.set_type_codec("vector", schema=schema, encoder=encoded, decoder=decoded, format="binary")
    if dialect.hnsw:
        await connection.execute(f"SET hnsw.ef_search = {LOOKED_AT}; SET hnsw.iterative_scan = relaxed_order")


async def settle_indexes(link: Link, dialect: PostgresqlDialect, catalog: Catalog) -> None:
    """Make the quick indexes that are asked for, and drop those that are not: every write would still pay for them."""
    wanted = quick_indexes(dialect, catalog) if dialect.hnsw else {}
    found = {name for (name,) in await link.rows(QUICK)}
    statements = [f"DROP INDEX {quoted(name)}" for name in sorted(found - wanted.keys())]
    statements += [text for name, text in wanted.items() if name not in found]
    if statements:
        await link.run(f"SET LOCAL maintenance_work_mem = '{BUILDING}'", *statements)


def quick_indexes(dialect: PostgresqlDialect, catalog: Catalog) -> dict[str, str]:
    """For each column of vectors an index that finds most of the most alike at once, by its name."""
    indexes = {}
    for table in catalog:
        for field in (field for field in table.fields if field.kind is Kind.VECTOR):
            name = short(f"{table.name}_{field.stored_as}_hnsw_{dialect.hnsw}")
            column = f"({dialect.of_one_dimension(quoted(field.stored_as))})"
            indexes[name] = (
                f"CREATE INDEX {quoted(name)} ON {quoted(table.name)} USING hnsw "
                f"({column} {quoted(dialect.vectors or '')}.vector_ip_ops)"
            )
    return indexes


def encoded(vector: Vector) -> bytes:
    """As the server wants it: the number of components, nothing, and the components, greatest byte first."""
    count = len(vector) // 4
    return struct.pack(f">HH{count}f", count, 0, *struct.unpack(f"<{count}f", vector))


def decoded(data: bytes) -> Vector:
    (count,) = struct.unpack_from(">H", data)
    return pack(struct.unpack_from(f">{count}f", data, 4))
