"""aiosqlite writing by hand: one connection, one transaction per command."""

from __future__ import annotations

import asyncio

import aiosqlite

from bench.contenders.sql_rows import EVENT_COLUMNS, NODE_COLUMNS, PROPERTY_COLUMNS, WORD_COLUMNS, rows_of


def insert(table: str, columns: tuple[str, ...]) -> str:
    names = ", ".join(f'"{name}"' for name in columns)
    return f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(columns))})"


EVENT = insert("events", EVENT_COLUMNS)
NODE = insert("nodes", NODE_COLUMNS)
WORD = insert("nodes__words", WORD_COLUMNS)
PROPERTY = insert("nodes__properties", PROPERTY_COLUMNS)


class AioSqliteWriter:
    """SQLite has one writer at a time, so commands take turns."""

    name = "aiosqlite"
    most_writers = 16

    def __init__(self, connection: aiosqlite.Connection) -> None:
        self.connection = connection
        self._turn = asyncio.Lock()

    async def write(self, batch: int) -> None:
        rows = rows_of(batch)
        async with self._turn:
            await self.connection.execute("BEGIN IMMEDIATE")
            await self.connection.executemany(EVENT, rows.events)
            await self.connection.executemany(NODE, rows.nodes)
            await self.connection.executemany(WORD, rows.words)
            await self.connection.executemany(PROPERTY, rows.properties)
            await self.connection.execute("COMMIT")

    async def close(self) -> None:
        await self.connection.close()


async def open_aiosqlite_writer(url: str) -> AioSqliteWriter:
    connection = await aiosqlite.connect(url.removeprefix("sqlite:///").partition("?")[0], isolation_level=None)
    for pragma in ("journal_mode = wal", "synchronous = full", "busy_timeout = 5000"):
        await connection.execute(f"PRAGMA {pragma}")
    return AioSqliteWriter(connection)
