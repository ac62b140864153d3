"""asyncpg writing by hand: one statement per command, which stores everything and commits."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

import asyncpg

from bench.contenders.sql_rows import EVENT_COLUMNS, NODE_COLUMNS, PROPERTY_COLUMNS, TERM_COLUMNS, rows_of

CONNECTIONS = 16
TYPES = {"position": "int8", "timestamp": "int8", "version": "int8", "created": "int8", "modified": "int8"}


def insert(table: str, columns: tuple[str, ...], first: int) -> str:
    """An INSERT of rows that come as one array per column."""
    arrays = ", ".join(f"${first + place}::{TYPES.get(name, 'text')}[]" for place, name in enumerate(columns))
    names = ", ".join(f'"{name}"' for name in columns)
    return f"INSERT INTO {table} ({names}) SELECT * FROM unnest({arrays})"


TERMS = insert("nodes__terms", TERM_COLUMNS, 16).replace(
    "SELECT * FROM", "SELECT id, string_to_array(words, ' '), weights::float8[] FROM"
)
STATEMENT = (
    f"WITH e AS ({insert('events', EVENT_COLUMNS, 1)}), n AS ({insert('nodes', NODE_COLUMNS, 9)}), "
    f"w AS ({TERMS} AS t(id, words, weights)) {insert('nodes__properties', PROPERTY_COLUMNS, 19)}"
)


class AsyncPGWriter:
    """A pool of connections; each command takes one."""

    name = "asyncpg"
    most_writers = 256

    def __init__(self, pool: Any) -> None:
        self.pool = pool

    async def write(self, batch: int) -> None:
        rows = rows_of(batch)
        arrays = [
            list(column)
            for table in (rows.events, rows.nodes, rows.terms, rows.properties)
            for column in zip(*table, strict=True)
        ]
        await self.pool.execute(STATEMENT, *arrays)

    async def close(self) -> None:
        await self.pool.close()


async def open_asyncpg_writer(url: str) -> AsyncPGWriter:
    parts = urlsplit(url)
    settings = {"search_path": parse_qs(parts.query)["schema"][0]}
    pool = await asyncpg.create_pool(
        parts._replace(query="").geturl(), min_size=CONNECTIONS, max_size=CONNECTIONS, server_settings=settings
    )
    return AsyncPGWriter(pool)
