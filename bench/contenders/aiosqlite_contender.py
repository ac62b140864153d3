"""aiosqlite by hand: one open connection, cached statements, JSON put together by the database."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import aiosqlite

from bench.answers import ids_answer, to_json_text
from bench.contenders import Job
from bench.contenders.by_hand import find_cheapest_path, walk
from bench.questions import FIRST_EDGES, LIST_LIMIT, SEARCH_LIMIT, SECOND_EDGES
from ugs.graph.text.tokenizer import rarity

COLUMNS = "id, type, properties, data, created, modified"
POINT = f"SELECT {COLUMNS} FROM nodes WHERE id = ?"
LISTING = f"SELECT {COLUMNS} FROM nodes WHERE type = ? AND id > ? ORDER BY id LIMIT {LIST_LIMIT}"
SECOND = f"""
    '{{"id":"' || n.id || '","type":' || json_quote(n.type) || ',"properties":' || n.properties || ',"edges":[' || (
        SELECT coalesce(group_concat('{{"id":"' || e2.id || '","type":' || json_quote(e2.type) || ',"weight":'
            || e2.weight || ',"properties":' || e2.properties || ',"target":'
            || coalesce('{{"id":"' || n2.id || '","type":' || json_quote(n2.type) || ',"properties":' || n2.properties
                || '}}', 'null') || '}}'), '')
        FROM (SELECT * FROM edges WHERE source = n.id ORDER BY seq LIMIT {SECOND_EDGES}) e2
        LEFT JOIN nodes n2 ON n2.id = e2.target) || ']}}'
"""
TWO_HOPS = f"""
    SELECT e.id, e.type, e.weight, e.properties, {SECOND}
    FROM (SELECT * FROM edges WHERE source = ? ORDER BY seq LIMIT {FIRST_EDGES}) e
    LEFT JOIN nodes n ON n.id = e.target ORDER BY e.seq
"""
COUNTS = "SELECT word, count(*) FROM nodes__words WHERE word IN (SELECT value FROM json_each(?)) GROUP BY word"
SEARCH = f"""
    SELECT w.id FROM json_each(?) asked JOIN nodes__words w ON w.word = asked.key
    GROUP BY w.id HAVING count(*) = ? ORDER BY sum(w.weight * asked.value) DESC, w.id LIMIT {SEARCH_LIMIT}
"""
OUTGOING = """
    SELECT e.source, e.target, n.type FROM edges e JOIN nodes n ON n.id = e.target
    WHERE e.source IN (SELECT value FROM json_each(?)) ORDER BY e.seq
"""
WEIGHED = "SELECT source, target, weight FROM edges WHERE source IN (SELECT value FROM json_each(?))"


class AioSqlite:
    """The same tables, asked directly."""

    name = "aiosqlite"

    def __init__(self, connection: aiosqlite.Connection) -> None:
        self.connection = connection
        self.jobs: Mapping[str, Job] = {
            "point": self.point,
            "point_plan": self.point,
            "listing": self.listing,
            "two_hop": self.two_hop,
            "search": self.search,
            "search_common": self.search,
            "traverse": self.traverse,
            "path": self.path,
        }

    async def close(self) -> None:
        await self.connection.close()

    async def _rows(self, statement: str, *values: Any) -> Sequence[Any]:
        return list(await self.connection.execute_fetchall(statement, values))

    async def point(self, id: str) -> bytes:
        rows = await self._rows(POINT, id)
        return _node(*rows[0]).encode() if rows else b"null"

    async def listing(self, type: str, after: str) -> bytes:
        return f"[{','.join([_node(*row) for row in await self._rows(LISTING, type, after)])}]".encode()

    async def two_hop(self, id: str) -> bytes:
        (_, type, properties, *_), *_ = await self._rows(POINT, id)
        edges = [
            f'{{"id":"{id}","type":{to_json_text(type)},"weight":{weight},"properties":{properties},"target":{target}}}'
            for id, type, weight, properties, target in await self._rows(TWO_HOPS, id)
        ]
        head = f'{{"id":"{id}","type":{to_json_text(type)},"properties":{properties}'
        return f'{head},"edges":[{",".join(edges)}]}}'.encode()

    async def search(self, query: str) -> bytes:
        words = query.split()
        ((total,),) = await self._rows("SELECT count(*) FROM nodes")
        counts = dict(await self._rows(COUNTS, json.dumps(words)))
        asked = {word: rarity(total, counts.get(word, 0)) for word in words}
        return ids_answer(id for (id,) in await self._rows(SEARCH, json.dumps(asked), len(asked)))

    async def traverse(self, id: str) -> bytes:
        ((type,),) = await self._rows("SELECT type FROM nodes WHERE id = ?", id)
        return await walk((id, type), self._leaving)

    async def _leaving(self, ids: Sequence[str]) -> Sequence[Any]:
        return await self._rows(OUTGOING, json.dumps(ids))

    async def path(self, start: str, goal: str) -> bytes:
        return await find_cheapest_path(start, goal, self._weighed)

    async def _weighed(self, ids: Sequence[str]) -> Sequence[Any]:
        return await self._rows(WEIGHED, json.dumps(ids))


def _node(id: str, type: str, properties: str, data: str | None, created: int, modified: int) -> str:
    return (
        f'{{"id":"{id}","type":{to_json_text(type)},"properties":{properties},"data":{data or "null"},'
        f'"created":{created},"modified":{modified}}}'
    )


async def open_aiosqlite(url: str) -> AioSqlite:
    """A reading connection to the file of our store."""
    path = url.removeprefix("sqlite:///").partition("?")[0]
    connection = await aiosqlite.connect(path, isolation_level=None, cached_statements=256)
    await connection.execute("PRAGMA query_only = on")
    return AioSqlite(connection)
