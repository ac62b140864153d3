"""Who answers openCypher questions: our engine on a store, Neo4j itself, and SQL by hand."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import orjson

from bench.contenders import Job
from bench.contenders.neo4j_contender import driver_for
from bench.cypher_neo4j import ensure_plain
from bench.cypher_questions import QUESTIONS, Question
from bench.sampler import Tell
from ugs.cypher import Limits
from ugs.cypher import api as cypher_api
from ugs.system import System

LIMITS = Limits(rows=1_000_000, seconds=600)
Rows = Callable[[str, dict[str, str]], Awaitable[Iterable[Any]]]


def as_answer(rows: Iterable[Any]) -> bytes:
    """Rows in an order of their own, so that sides can be compared."""
    return orjson.dumps(sorted((list(row) for row in rows), key=repr))


class Asking:
    """A side that answers questions by a text in its own words."""

    def __init__(self, name: str, words: Callable[[Question], str | None], rows: Rows) -> None:
        self.name = name
        self.jobs: Mapping[str, Job] = {
            kind: _job(text, rows) for kind, one in QUESTIONS.items() if (text := words(one)) is not None
        }
        self.closing: list[Callable[[], Awaitable[Any]]] = []

    async def close(self) -> None:
        """Give back what it holds; a side that takes part on several stores may be closed by each of them."""
        while self.closing:
            await self.closing.pop(0)()


def _job(text: str, rows: Rows) -> Job:
    async def job(id: str, to: str) -> bytes:
        return as_answer(await rows(text, {"id": id, "to": to}))

    return job


async def open_engine(url: str, name: str = "ours") -> Asking:
    """Our engine on the store that a URL names."""
    system = System.at_url(url)
    await system.open()

    async def rows(text: str, params: dict[str, str]) -> Iterable[Any]:
        return (await cypher_api.ask(system, text, params, limits=LIMITS)).rows

    side = Asking(name, lambda question: question.ours, rows)
    side.closing.append(system.close)
    return side


async def open_neo4j_itself(url: str, size: int | None = None, tell: Tell = lambda told: None) -> Asking:
    """Neo4j's own Cypher over Bolt, on the nodes of our store there, or with a size on nodes that are only Neo4j's."""
    driver, namespace = driver_for(url)
    session = driver.session()
    label = f"UGSNode_{namespace}" if size is None else await ensure_plain(session, size, tell)

    async def rows(text: str, params: dict[str, str]) -> Iterable[Any]:
        return await (await session.run(text, params)).values()

    side = Asking("neo4j", lambda question: question.neo4j.replace("$$", label), rows)
    side.closing += [session.close, driver.close]
    return side


async def open_sqlite_by_hand(path: Path) -> Asking:
    """Hand-written SQL on our tables."""
    import aiosqlite

    connection = await aiosqlite.connect(path)

    async def rows(text: str, params: dict[str, str]) -> Iterable[Any]:
        return await connection.execute_fetchall(text, (params["id"],) if "?1" in text else ())

    side = Asking("SQL by hand", lambda question: question.sqlite, rows)
    side.closing.append(connection.close)
    return side


async def open_postgresql_by_hand(url: str) -> Asking:
    """Hand-written SQL on our tables, prepared once."""
    import asyncpg

    server, _, options = url.partition("?")
    connection = await asyncpg.connect(server)
    await connection.execute(f'SET search_path TO "{options.removeprefix("schema=")}"')
    prepared: dict[str, Any] = {}

    async def rows(text: str, params: dict[str, str]) -> Iterable[Any]:
        if text not in prepared:
            prepared[text] = await connection.prepare(text)
        return await prepared[text].fetch(*([params["id"]] if "$1" in text else []))  # type: ignore[no-any-return]

    side = Asking("SQL by hand", lambda question: question.postgresql, rows)
    side.closing.append(connection.close)
    return side
