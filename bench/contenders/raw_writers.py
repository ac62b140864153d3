"""Which raw writer stands beside which store."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from bench.contenders.raw_writer import BareAppend, RawWriter


async def _bare_append(url: str, folder: Path) -> RawWriter:
    return BareAppend(folder / "scratch-append.ndjson")


async def _aiosqlite(url: str, folder: Path) -> RawWriter:
    from bench.contenders.aiosqlite_writer import open_aiosqlite_writer

    return await open_aiosqlite_writer(url)


async def _asyncpg(url: str, folder: Path) -> RawWriter:
    from bench.contenders.asyncpg_writer import open_asyncpg_writer

    return await open_asyncpg_writer(url)


async def _neo4j(url: str, folder: Path) -> RawWriter:
    from bench.contenders.neo4j_writer import open_neo4j_writer

    return await open_neo4j_writer(url)


WRITERS: dict[str, Callable[[str, Path], Awaitable[RawWriter]]] = {
    "memory": _bare_append,
    "sqlite": _aiosqlite,
    "postgresql": _asyncpg,
    "neo4j": _neo4j,
}


async def raw_writer(store: str, url: str, folder: Path) -> RawWriter:
    """The raw writer for a store."""
    return await WRITERS[store](url, folder)
