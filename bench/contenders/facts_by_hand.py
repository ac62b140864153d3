"""Facts without us: the same questions and the same rows by the raw drivers, as somebody would write them by hand.

They read and write the tables that our store made, without a log, without supersession, without any check.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any, Protocol
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import aiosqlite
import asyncpg
from neo4j import AsyncDriver, AsyncGraphDatabase

SPACE = ("default", "default")
SCOPE = "project_shared"

HOLDING_QUERY = """
    SELECT f.object_value FROM graph_entities e JOIN graph_facts f ON f.subject_entity_id = e.entity_id
    WHERE e.tenant_id = $1 AND e.project_id = $2 AND e.canonical_norm = $3
      AND f.tenant_id = $1 AND f.project_id = $2 AND f.scope = $4
      AND f.valid_from <= $5 AND (f.valid_to IS NULL OR f.valid_to > $5)
    ORDER BY f.valid_from DESC, f.fact_id
"""
ENTITY = """
    INSERT INTO graph_entities
      (entity_id, tenant_id, project_id, canonical, canonical_norm, kind, created_at, updated_at)
    VALUES ($1, $2, $3, $4, $5, NULL, $6, $6)
    ON CONFLICT DO NOTHING
"""
ENTITY_QUERY = "SELECT entity_id FROM graph_entities WHERE tenant_id = $1 AND project_id = $2 AND canonical_norm = $3"
NOTE = """
    INSERT INTO memory_notes (note_id, tenant_id, project_id, agent_id, scope, text, source, created_at)
    VALUES ($1, $2, $3, 'default', $4, $5, NULL, $6)
"""
FACT = """
    INSERT INTO graph_facts (fact_id, tenant_id, project_id, agent_id, scope, subject_entity_id, predicate,
      predicate_id, object_entity_id, object_value, valid_from, valid_to, created_at, updated_at)
    VALUES ($1, $2, $3, 'default', $4, $5, 'knows', $6, $7, NULL, $8, NULL, $8, $8)
"""
EVIDENCE = "INSERT INTO graph_fact_evidence (evidence_id, fact_id, note_id, created_at) VALUES ($1, $2, $3, $4)"


class FactsByHand(Protocol):
    """Somebody who keeps facts without us."""

    name: str

    async def holding(self, subject: str, instant: int) -> list[str]:
        """The values of the facts of a subject that hold at an instant, newest first."""

    async def ingest(self, text: str, subject: str, objects: Sequence[str], predicate_id: str) -> None:
        """Keep a note, with a relation from its subject to each object."""

    async def close(self) -> None: ...


async def write_rows(run: Any, text: str, subject: str, objects: Sequence[str], predicate_id: str) -> None:
    """The statements of one ingestion, by `run(statement, *values)`, which answers the first value."""
    now, note = time.time_ns() // 1_000, str(uuid4())
    await run(NOTE, note, *SPACE, SCOPE, text, now)
    ids = []
    for name in (subject, *objects):
        await run(ENTITY, str(uuid4()), *SPACE, name, name.lower(), now)
        ids.append(await run(ENTITY_QUERY, *SPACE, name.lower()))
    for object in ids[1:]:
        fact = str(uuid4())
        await run(FACT, fact, *SPACE, SCOPE, ids[0], predicate_id, object, now)
        await run(EVIDENCE, str(uuid4()), fact, note, now)


class SqliteFacts:
    """aiosqlite: one connection, one transaction at a time."""

    name = "aiosqlite"

    def __init__(self, connection: aiosqlite.Connection) -> None:
        self._connection = connection
        self._turn = asyncio.Lock()

    @classmethod
    async def open(cls, url: str) -> SqliteFacts:
        path = url.removeprefix("sqlite:///").partition("?")[0]
        connection = await aiosqlite.connect(path, isolation_level=None, cached_statements=256)
        for pragma in ("busy_timeout = 5000", "synchronous = FULL"):
            await connection.execute(f"PRAGMA {pragma}")
        for table in ("graph_facts", "graph_entities"):
            # Without statistics SQLite walks all facts of the project to find those of one subject.
            await connection.execute(f"ANALYZE {table}")
        return cls(connection)

    async def holding(self, subject: str, instant: int) -> list[str]:
        async with self._connection.execute(HOLDING_QUERY, (*SPACE, subject.lower(), SCOPE, instant)) as rows:
            return [value async for (value,) in rows]

    async def _run(self, statement: str, *values: Any) -> Any:
        async with self._connection.execute(statement, values) as rows:
            found = await rows.fetchone()
        return None if found is None else found[0]

    async def ingest(self, text: str, subject: str, objects: Sequence[str], predicate_id: str) -> None:
        async with self._turn:
            await self._run("BEGIN IMMEDIATE")
            await write_rows(self._run, text, subject, objects, predicate_id)
            await self._run("COMMIT")

    async def close(self) -> None:
        await self._connection.close()


class PostgresqlFacts:
    """asyncpg: a pool, and a transaction for each note."""

    name = "asyncpg"

    def __init__(self, pool: asyncpg.Pool) -> None:
        self._pool = pool

    @classmethod
    async def open(cls, url: str) -> PostgresqlFacts:
        parts = urlsplit(url)
        settings = {"search_path": parse_qs(parts.query)["schema"][0], "jit": "off"}
        pool = await asyncpg.create_pool(
            parts._replace(query="").geturl(), min_size=1, max_size=10, server_settings=settings
        )
        await pool.execute("ANALYZE graph_facts, graph_entities")
        return cls(pool)

    async def holding(self, subject: str, instant: int) -> list[str]:
        rows = await self._pool.fetch(HOLDING_QUERY, *SPACE, subject.lower(), SCOPE, instant)
        return [row[0] for row in rows]

    async def ingest(self, text: str, subject: str, objects: Sequence[str], predicate_id: str) -> None:
        async with self._pool.acquire() as connection, connection.transaction():
            await write_rows(connection.fetchval, text, subject, objects, predicate_id)

    async def close(self) -> None:
        await self._pool.close()


class Neo4jFacts:
    """The neo4j driver: one statement for each question and each note."""

    name = "neo4j driver"
    HOLDING_QUERY = """
        MATCH (e:UGSGraphEntity$$ {tenant_id: $tenant, project_id: $project, canonical_norm: $name})
        MATCH (f:UGSGraphFact$$ {subject_entity_id: e.entity_id})
        WHERE f.tenant_id = $tenant AND f.project_id = $project AND f.scope = $scope
          AND f.valid_from <= $now AND (f.valid_to IS NULL OR f.valid_to > $now)
        RETURN f.object_value ORDER BY f.valid_from DESC, f.fact_id
    """
    # What somebody would make who asks by hand; the store's own indexes lead with the tenant.
    INDEXES = (
        "CREATE INDEX bench_named IF NOT EXISTS FOR (e:UGSGraphEntity$$) ON (e.canonical_norm)",
        "CREATE INDEX bench_about IF NOT EXISTS FOR (f:UGSGraphFact$$) ON (f.subject_entity_id)",
        "CALL db.awaitIndexes(300)",
    )
    INGEST = """
        CREATE (n:BenchNote {note_id: randomUUID(), text: $text, created_at: $now})
        MERGE (s:BenchEntity {name: $subject})
        WITH n, s UNWIND $objects AS name
        MERGE (o:BenchEntity {name: name})
        CREATE (s)-[f:BENCH_KNOWS {fact_id: randomUUID(), valid_from: $now, note_id: n.note_id}]->(o)
    """

    def __init__(self, driver: AsyncDriver, tail: str) -> None:
        self._driver, self._tail = driver, tail

    @classmethod
    async def open(cls, url: str) -> Neo4jFacts:
        parts = urlsplit(url)
        driver = AsyncGraphDatabase.driver(
            f"{parts.scheme}://{parts.hostname}:{parts.port}", auth=(parts.username or "", parts.password or "")
        )
        await driver.execute_query(
            "CREATE CONSTRAINT bench_entity IF NOT EXISTS FOR (e:BenchEntity) REQUIRE e.name IS UNIQUE"
        )
        side = cls(driver, f"_{parse_qs(parts.query)['namespace'][0]}")
        for statement in cls.INDEXES:
            await side._rows(statement)
        return side

    async def _rows(self, statement: str, **values: Any) -> list[Any]:
        async with self._driver.session() as session:
            text: Any = statement.replace("$$", self._tail)
            return await (await session.run(text, values)).values()

    async def holding(self, subject: str, instant: int) -> list[str]:
        tenant, project = SPACE
        rows = await self._rows(
            self.HOLDING_QUERY, tenant=tenant, project=project, name=subject.lower(), scope=SCOPE, now=instant
        )
        return [row[0] for row in rows]

    async def ingest(self, text: str, subject: str, objects: Sequence[str], predicate_id: str) -> None:
        await self._rows(self.INGEST, text=text, subject=subject, objects=list(objects), now=time.time_ns() // 1_000)

    async def close(self) -> None:
        await self._rows("MATCH (n:BenchNote) CALL (n) { DELETE n } IN TRANSACTIONS")
        await self._rows("MATCH (n:BenchEntity) CALL (n) { DETACH DELETE n } IN TRANSACTIONS")
        await self._rows("DROP CONSTRAINT bench_entity IF EXISTS")
        for index in ("bench_named", "bench_about"):
            await self._rows(f"DROP INDEX {index} IF EXISTS")
        await self._driver.close()


BY_HAND: dict[str, Any] = {"sqlite": SqliteFacts, "postgresql": PostgresqlFacts, "neo4j": Neo4jFacts}
