"""Whatever is answered step by step asks the store for a whole batch of rows at a time, never for each row."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.ugs.cypher.test_growth import grown
from ugs.cypher import api as cypher_api
from ugs.storage import Session

SMALL_SIZE, LARGE_SIZE = 20, 240
"""Numbers of nodes, and so of rows: both fit into the first page of a scan."""
STEPWISE = [
    "MATCH (a:P) OPTIONAL MATCH (a)-[:S]->(c) RETURN count(c)",
    "MATCH (a)-[:R]->(b) OPTIONAL MATCH (b)<-[:S]-(c)-[:R]->(d) WHERE d.i > a.i RETURN count(d)",
    "MATCH (a)-[:R]->(b) MATCH (b)-[:S]->(c) RETURN count(c)",
    "MATCH (a)-[:R]->(b) WITH b MATCH (b)-[:S]->(c)-[:R]->(d) RETURN count(d)",
    "MATCH (a)-[:R]->(b) MATCH (c:P {i: b.i}) RETURN count(c)",
    "MATCH (a)-[:R]->(b) WHERE EXISTS { (b)-[:S]->(c) WHERE c.i > a.i } RETURN count(*)",
    "MATCH (a)-[:R]->(b) RETURN sum(COUNT { (b)-[:S]->() })",
    "MATCH (a)-[:R]->(b) RETURN sum(size(COLLECT { MATCH (b)-[:S]->(c) RETURN c.i }))",
    "MATCH (a)-[:R]->(b) RETURN sum(size([(b)-[:S]->(c) | c.i]))",
    "MATCH (a)-[:R]->(b) WHERE (b)-[:S]->()-[:R]->() RETURN count(*)",
    "MATCH (a)-[:R]->(b) WHERE EXISTS { (b)-[:S]->(c) WHERE EXISTS { (c)-[:R]->() } } RETURN count(*)",
    "UNWIND range(0, 999) AS i MATCH (a:P {i: i})-[:R]->(b) RETURN count(b)",
]


class Questions:
    """Counts what a store is asked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, kind: type[Session]) -> None:
        self.count = 0
        for name in ("fetch", "find_many", "match_prepared"):
            monkeypatch.setattr(kind, name, self._counted(getattr(kind, name)))

    def _counted(self, method: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def counted(session: Session, *arguments: Any, **named: Any) -> Any:
            self.count += 1
            return await method(session, *arguments, **named)

        return counted


@pytest.mark.parametrize("store", ["memory:", "memory:?native=off", "sqlite:///{}.db", "sqlite:///{}.db?native=off"])
async def test_many_rows_take_as_many_questions_as_few(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store: str
) -> None:
    # A query that takes long begins again in a thread, which would ask everything twice.
    monkeypatch.setattr("ugs.cypher.engine.run.PAUSE_INTERVAL_SECONDS", 60)
    systems = [await grown(store.format(tmp_path / str(size)), size) for size in (SMALL_SIZE, LARGE_SIZE)]
    async with systems[0].session() as session:
        questions = Questions(monkeypatch, type(session))
    for query in STEPWISE:
        asked = []
        for system in systems:
            await cypher_api.ask(system, query)
            questions.count = 0
            assert (await cypher_api.ask(system, query)).rows[0][0] > 0
            asked.append(questions.count)
        assert asked[0] == asked[1] <= 12, (query, asked)
    for system in systems:
        await system.close()
