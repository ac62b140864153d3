"""The neo4j driver by hand: one session held open, Cypher with map projections, answers by orjson.

It follows relationships, as a Neo4j user would. Scores of a search are computed here: Lucene ranks differently.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import nsmallest
from typing import Any
from urllib.parse import parse_qs, urlsplit

import orjson
from neo4j import AsyncDriver, AsyncGraphDatabase, AsyncSession

from bench.answers import ids_answer
from bench.contenders import Job
from bench.contenders.by_hand import find_cheapest_path, walk
from bench.questions import FIRST_EDGES, LIST_LIMIT, SEARCH_LIMIT, SECOND_EDGES
from ugs.graph.text.tokenizer import node_words, rarity, relevance

NODE = "n {.id, type: n._type, properties: n._properties, data: n._data, created: n._created, modified: n._modified}"


def edges_of(node: str, edge: str, target: str, limit: int, fields: str) -> str:
    """The first edges of a node, each with the node it leads to."""
    return f"""COLLECT {{
        MATCH ({node})-[{edge}]->({target}:$$) WITH {edge}, {target} ORDER BY {edge}._seq LIMIT {limit}
        RETURN {{id: {edge}.id, type: type({edge}), weight: {edge}.weight, since: {edge}.since, target: {fields}}} }}"""


def node_fields(node: str, more: str = "") -> str:
    return f"{node} {{.id, type: {node}._type, properties: {node}._properties{more}}}"


POINT = f"MATCH (n:$$ {{id: $id}}) RETURN {NODE}"
LISTING = f"MATCH (n:$$) WHERE n._type = $type AND n.id > $after RETURN {NODE} ORDER BY n.id LIMIT {LIST_LIMIT}"
SECOND = ", edges: " + edges_of("b", "s", "c", SECOND_EDGES, node_fields("c"))
FIRST = ", edges: " + edges_of("a", "r", "b", FIRST_EDGES, node_fields("b", SECOND))
TWO_HOPS = f"MATCH (a:$$ {{id: $id}}) RETURN {node_fields('a', FIRST)}"
OUTGOING = """
    UNWIND $ids AS id MATCH (a:$$ {id: id})-[r]->(b:$$) RETURN a.id, b.id, b._type ORDER BY r._seq
"""
WEIGHED = "UNWIND $ids AS id MATCH (a:$$ {id: id})-[r]->(b:$$) RETURN a.id, b.id, r.weight"
COUNT = "MATCH (n:$$) RETURN count(n)"
SEARCH_QUERY = """
    CALL db.index.fulltext.queryNodes($index, $query) YIELD node AS n
    RETURN n.id, n._type, n._properties, n._data
"""
INDEX = """
    SHOW FULLTEXT INDEXES YIELD name, labelsOrTypes, properties
    WHERE $label IN labelsOrTypes RETURN name, properties[0]
"""
MATCHING = "CALL db.index.fulltext.queryNodes($index, $query) YIELD node RETURN count(node)"


class Neo4jDriver:
    """The same database, asked directly."""

    name = "neo4j driver"

    def __init__(self, driver: AsyncDriver, session: AsyncSession, label: str, index: str) -> None:
        self.driver, self.session = driver, session
        self.label, self.index = label, index
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
        await self.session.close()
        await self.driver.close()

    async def _rows(self, statement: str, **parameters: Any) -> list[list[Any]]:
        text: Any = statement.replace("$$", self.label)
        return await (await self.session.run(text, parameters)).values()

    async def point(self, id: str) -> bytes:
        rows = await self._rows(POINT, id=id)
        return orjson.dumps(_with_json(rows[0][0])) if rows else b"null"

    async def listing(self, type: str, after: str) -> bytes:
        rows = await self._rows(LISTING, type=type, after=after)
        return orjson.dumps([_with_json(node) for (node,) in rows])

    async def two_hop(self, id: str) -> bytes:
        rows = await self._rows(TWO_HOPS, id=id)
        return orjson.dumps(_nest_edges(rows[0][0])) if rows else b"null"

    async def search(self, query: str) -> bytes:
        words = query.split()
        ((total,),) = await self._rows(COUNT)
        rarities = {}
        for word in words:
            ((matching,),) = await self._rows(MATCHING, index=self.index, query=f'"{word}"')
            rarities[word] = rarity(total, matching)
        wanted = " AND ".join(f'"{word}"' for word in words)
        rows = await self._rows(SEARCH_QUERY, index=self.index, query=wanted)
        scored = [(-relevance(node_words(*row), rarities), row[0]) for row in rows]
        return ids_answer(id for _, id in nsmallest(SEARCH_LIMIT, scored))

    async def traverse(self, id: str) -> bytes:
        ((type,),) = await self._rows("MATCH (n:$$ {id: $id}) RETURN n._type", id=id)
        return await walk((id, type), self._leaving)

    async def _leaving(self, ids: Sequence[str]) -> Any:
        return await self._rows(OUTGOING, ids=ids)

    async def path(self, start: str, goal: str) -> bytes:
        return await find_cheapest_path(start, goal, self._weighed)

    async def _weighed(self, ids: Sequence[str]) -> Any:
        return await self._rows(WEIGHED, ids=ids)


def _with_json(node: dict[str, Any]) -> dict[str, Any]:
    """A node whose JSON texts go into the answer as they are; Neo4j gives keys in no certain order."""
    return {
        "id": node["id"],
        "type": node["type"],
        "properties": orjson.Fragment(node["properties"]),
        "data": orjson.Fragment(node["data"] or "null"),
        "created": node["created"],
        "modified": node["modified"],
    }


def _nest_edges(node: dict[str, Any]) -> dict[str, Any]:
    head = {"id": node["id"], "type": node["type"], "properties": orjson.Fragment(node["properties"])}
    return head if "edges" not in node else {**head, "edges": [_edge(edge) for edge in node["edges"]]}


def _edge(edge: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": edge["id"],
        "type": edge["type"],
        "weight": edge["weight"],
        "properties": {"since": edge["since"]},
        "target": _nest_edges(edge["target"]),
    }


def driver_for(url: str) -> tuple[AsyncDriver, str]:
    """A driver for the server of our store, and the store's namespace."""
    parts = urlsplit(url)
    where = f"{parts.scheme}://{parts.hostname}:{parts.port}"
    driver = AsyncGraphDatabase.driver(where, auth=(parts.username or "", parts.password or ""))
    return driver, parse_qs(parts.query)["namespace"][0]


async def text_index(driver: AsyncDriver, label: str) -> tuple[str, str]:
    """The name of the full-text index over the nodes, and the property it covers."""
    records, _, _ = await driver.execute_query(INDEX, label=label)
    name, property = records[0]
    return name, property


async def open_neo4j(url: str) -> Neo4jDriver:
    """A session on the database of our store."""
    driver, namespace = driver_for(url)
    label = f"UGSNode_{namespace}"
    name, _ = await text_index(driver, label)
    return Neo4jDriver(driver, driver.session(), label, name)
