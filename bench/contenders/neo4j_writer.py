"""The neo4j driver writing by hand: one statement per command, which stores the nodes and their events and commits."""

from __future__ import annotations

from typing import Any

from neo4j import AsyncDriver

from bench.contenders.neo4j_contender import driver_for, text_index
from bench.contenders.sql_rows import EVENT_COLUMNS, rows_of

COLUMNS = ("id", "_type", "_properties", "_data", "_created", "_modified", "_version")


class Neo4jWriter:
    """A session per command, from the driver's pool."""

    name = "neo4j driver"
    most_writers = 16

    def __init__(self, driver: AsyncDriver, namespace: str, words: str) -> None:
        self.driver = driver
        self.words = words
        self.statement: Any = (
            f"UNWIND $rows AS row CREATE (n:UGSNode_{namespace}:task) SET n = row.node "
            f"CREATE (e:UGSEvent_{namespace}) SET e = row.event"
        )

    async def write(self, batch: int) -> None:
        rows = rows_of(batch)
        words: dict[str, list[str]] = {}
        for word, _, id in rows.words:
            words.setdefault(id, []).append(word)
        given = [
            {
                "node": {**dict(zip(COLUMNS, node, strict=True)), self.words: words[node[0]]},
                "event": dict(zip(EVENT_COLUMNS, event, strict=True)),
            }
            for node, event in zip(rows.nodes, rows.events, strict=True)
        ]
        async with self.driver.session() as session:
            await (await session.run(self.statement, rows=given)).consume()

    async def close(self) -> None:
        await self.driver.close()


async def open_neo4j_writer(url: str) -> Neo4jWriter:
    driver, namespace = driver_for(url)
    _, words = await text_index(driver, f"UGSNode_{namespace}")
    return Neo4jWriter(driver, namespace, words)
