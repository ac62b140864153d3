"""Neo4j with the same nodes and relationships, loaded in its own Cypher, where our store there is not measured too.

Nodes have their type as a label and the properties that questions look at, ids are unique by a constraint, and nothing
of our own lies beside them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby, islice
from operator import attrgetter
from typing import Any, TypeVar

from bench import data
from bench.sampler import Tell

T = TypeVar("T")
CHUNK = 20_000


def label_of(size: int) -> str:
    return f"Bench{size}"


async def ensure_plain(session: Any, size: int, tell: Tell) -> str:
    """Bring the graph to Neo4j unless it is there; answers with the label of its nodes."""
    label = label_of(size)
    count = f"MATCH (n:{label}) RETURN count(n) AS nodes, sum(COUNT {{ (n)-->() }}) AS edges"
    found = await (await session.run(count)).single()
    if (found["nodes"], found["edges"]) == (size, size * data.EDGES_PER_NODE):
        return label
    await run(session, f"MATCH (n:{label}) CALL {{ WITH n DETACH DELETE n }} IN TRANSACTIONS OF {CHUNK} ROWS")
    await run(session, f"CREATE CONSTRAINT {label}_id IF NOT EXISTS FOR (n:{label}) REQUIRE n.id IS UNIQUE")
    await run(session, "CALL db.awaitIndexes()")
    for nodes in chunks(data.nodes(size)):
        await _add_nodes(session, label, nodes)
    for number, edges in enumerate(chunks(data.edges(size)), start=1):
        await _add_edges(session, label, edges)
        tell(f"loading Neo4j itself {size:,}: {number * CHUNK:,} edges")
    return label


async def _add_nodes(session: Any, label: str, nodes: list[data.NodeMade]) -> None:
    for type, some in groupby(sorted(nodes, key=attrgetter("type")), attrgetter("type")):
        rows = [{**node.properties, "id": node.id, "_type": type} for node in some]
        await run(session, f"UNWIND $rows AS row CREATE (n:{label}:{type}) SET n = row", rows=rows)


async def _add_edges(session: Any, label: str, edges: list[data.EdgeMade]) -> None:
    for type, some in groupby(sorted(edges, key=attrgetter("type")), attrgetter("type")):
        ends = f"MATCH (a:{label} {{id: row[0]}}), (b:{label} {{id: row[1]}})"
        rows = [[edge.source, edge.target, edge.weight] for edge in some]
        await run(session, f"UNWIND $rows AS row {ends} CREATE (a)-[:{type} {{weight: row[2]}}]->(b)", rows=rows)


async def run(session: Any, text: str, **parameters: Any) -> None:
    await (await session.run(text, parameters)).consume()


def chunks(items: Iterable[T]) -> Iterator[list[T]]:
    waiting = iter(items)
    while chunk := list(islice(waiting, CHUNK)):
        yield chunk
