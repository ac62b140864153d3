"""asyncpg by hand: held connection, prepared statements, JSON put together by the database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qs, urlsplit

import asyncpg

from bench.answers import ids_answer
from bench.contenders import Job
from bench.contenders.by_hand import find_cheapest_path, walk
from bench.questions import FIRST_EDGES, LIST_LIMIT, SEARCH_LIMIT, SECOND_EDGES
from ugs.graph.text.tokenizer import rarity

NODE = (
    """'{"id":"' || id || '","type":' || coalesce(to_json(type)::text, 'null') || ',"properties":' || properties"""
    """ || ',"data":' || coalesce(data, 'null') || ',"created":' || created || ',"modified":' || modified || '}'"""
)
POINT = f"SELECT {NODE} FROM nodes WHERE id = $1"
LISTING = f"""
    SELECT '[' || coalesce(string_agg(node, ',' ORDER BY id), '') || ']' FROM (
        SELECT id, {NODE} AS node FROM nodes WHERE type = $1 AND id > $2 ORDER BY id LIMIT {LIST_LIMIT}) page
"""
HEAD = """'{"id":"' || n.id || '","type":' || to_json(n.type)::text || ',"properties":' || n.properties"""


def edges_of(node: str, limit: int, target: str, name: str) -> str:
    """A sub-select for the first edges of a node as JSON, `target` giving the JSON of the node they lead to."""
    edge = (
        f"""'{{"id":"' || {name}.id || '","type":' || to_json({name}.type)::text || ',"weight":' || {name}.weight"""
        f""" || ',"properties":' || {name}.properties || ',"target":' || coalesce(({target}), 'null') || '}}'"""
    )
    return f"""
        SELECT coalesce(string_agg({edge}, ',' ORDER BY {name}.seq), '') FROM (
            SELECT * FROM edges WHERE source = {node}.id ORDER BY seq LIMIT {limit}) {name}
    """


def node_with(name: str, where: str, more: str = "") -> str:
    head = HEAD.replace("n.", f"{name}.")
    return f"SELECT {head}{more} || '}}' FROM nodes {name} WHERE {where}"


def with_edges(name: str, where: str, limit: int, target: str, edge: str) -> str:
    inner = edges_of(name, limit, target, edge)
    return node_with(name, where, f""" || ',"edges":[' || ({inner}) || ']'""")


SECOND = with_edges("n2", "n2.id = e1.target", SECOND_EDGES, node_with("n3", "n3.id = e2.target"), "e2")
TWO_HOPS = with_edges("n1", "n1.id = $1", FIRST_EDGES, SECOND, "e1")
SEARCH = f"""
    SELECT id FROM nodes__terms WHERE words @> $1::text[] ORDER BY (
        SELECT sum(weights[CASE cardinality(weights) WHEN 1 THEN 1 ELSE array_position(words, word) END] * rarity)
        FROM unnest($1::text[], $2::float8[]) AS asked(word, rarity)) DESC, id LIMIT {SEARCH_LIMIT}
"""
COUNTS = """
    SELECT word, (SELECT count(*) FROM nodes__terms WHERE words @> ARRAY[word]) FROM unnest($1::text[]) AS asked(word)
"""
OUTGOING = """
    SELECT e.source, e.target, n.type FROM edges e JOIN nodes n ON n.id = e.target
    WHERE e.source = ANY($1) ORDER BY e.seq
"""
WEIGHED = "SELECT source, target, weight FROM edges WHERE source = ANY($1)"


class AsyncPG:
    """The same tables, asked directly."""

    name = "asyncpg"

    def __init__(self, connection: Any, statements: dict[str, Any]) -> None:
        self.connection = connection
        self.statements = statements
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

    async def _value(self, statement: str, *values: Any) -> bytes:
        text: str | None = await self.statements[statement].fetchval(*values)
        return b"null" if text is None else text.encode()

    async def point(self, id: str) -> bytes:
        return await self._value(POINT, id)

    async def listing(self, type: str, after: str) -> bytes:
        return await self._value(LISTING, type, after)

    async def two_hop(self, id: str) -> bytes:
        return await self._value(TWO_HOPS, id)

    async def search(self, query: str) -> bytes:
        words = query.split()
        total = await self.connection.fetchval("SELECT count(*) FROM nodes")
        counts = dict(await self.statements[COUNTS].fetch(words))
        rarities = [rarity(total, counts.get(word, 0)) for word in words]
        return ids_answer(record[0] for record in await self.statements[SEARCH].fetch(words, rarities))

    async def traverse(self, id: str) -> bytes:
        type = await self.connection.fetchval("SELECT type FROM nodes WHERE id = $1", id)
        return await walk((id, type), self.statements[OUTGOING].fetch)

    async def path(self, start: str, goal: str) -> bytes:
        return await find_cheapest_path(start, goal, self.statements[WEIGHED].fetch)


async def open_asyncpg(url: str) -> AsyncPG:
    """A connection to the schema of our store."""
    parts = urlsplit(url)
    schema = parse_qs(parts.query)["schema"][0]
    settings = {"search_path": schema, "jit": "off", "plan_cache_mode": "force_generic_plan"}
    connection = await asyncpg.connect(parts._replace(query="").geturl(), server_settings=settings)
    # The server does this by itself a minute after a bulk load; nobody shall be measured before.
    await connection.execute("ANALYZE")
    texts: Sequence[str] = (POINT, LISTING, TWO_HOPS, SEARCH, COUNTS, OUTGOING, WEIGHED)
    return AsyncPG(connection, {text: await connection.prepare(text) for text in texts})
