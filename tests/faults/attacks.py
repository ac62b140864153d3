"""Requests that try to keep a gateway from serving others, as a table to which every engine adds its own.

An attack is a body for POST `/graphql`, made anew for each round. What it is answered, an answer or a coded refusal,
does not matter to `test_starvation`; that others are served meanwhile does.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.ugs.cypher.hostile import HOSTILE_QUERIES

ALIASES = 15
HUB_EDGES = {"quick": 3_000, "full": 30_000}
LARGE_NODES, LARGE_BYTES = 40, 200_000

Attack = Callable[[int], bytes]
"""The body of a request, for the number of the round."""


def _body(query: str, **variables: Any) -> bytes:
    return json.dumps({"query": query, "variables": variables}).encode()


def aliases(field: str, count: int = ALIASES) -> Attack:
    """The same field many times in one request."""
    return lambda number: _body("{ " + " ".join(f"a{n}: {field}" for n in range(count)) + " }")


def moments(number: int) -> bytes:
    """As many places in time as the price allows, other ones in each round."""
    places = [100 + (7 * number + 13 * n) % 2_000 for n in range(6)]
    return _body(
        "{ "
        + " ".join(f'a{n}: graphNode(id: "hub", at: {{position: {at}}}) {{ id }}' for n, at in enumerate(places))
        + " }"
    )


def words(number: int) -> bytes:
    """A search for very many words."""
    text = " ".join(f"w{number}_{n}" for n in range(5_000))
    return _body("query($q: String!) { search(query: $q) { edges { node { node { id } } } } }", q=text)


def hostile(query: str) -> Attack:
    """A query in openCypher, another text in each round, so that nothing is known of it."""
    return lambda number: _body(
        "query($q: String!) { cypher(query: $q, limit: 10000) { rows } }", q=f"{query} // {number}"
    )


def drawn(query: str) -> Attack:
    """The graph of a large result."""
    return lambda number: _body("query($q: String!) { cypher(query: $q) { graph { nodes { label } } } }", q=query)


def program(number: int) -> bytes:
    """As much text of a program as may be sent, and more statements than may be."""
    text = f"+ MATCH (n) WHERE n.number = {number} RETURN n\n" * 2_500
    return _body("query($t: String!) { executeProgram(dsl: $t) { log { op } } }", t=text)


def long_queries(number: int) -> bytes:
    """A program of queries that are as long as may be."""
    values = ", ".join(str(number + n) for n in range(2_000))
    query = f"MATCH (n) WHERE n.number IN [{values}] RETURN n"
    statements = [{"op": "+", "operation": {"type": "cypher", "query": f"{query} // {n}"}} for n in range(60)]
    tree = {"version": 1, "statements": statements}
    return _body("query($p: JSON!) { validateProgram(program: $p) { valid } }", p=tree)


AGGREGATE = (
    'graphNodes(first: 500) { aggregate { count %s groupBy(by: [{property: "number"}], first: 500) { count } } }'
    % " ".join(f'{name}(property: "number")' for name in ("sum", "avg", "min", "max"))
)
LINKED = 'graphNodes(first: 1, filter: {outgoing: {some: {toNode: {incoming: {none: {fromNode: {types: ["X"]}}}}}}}) { totalCount }'
ATTACKS: dict[str, Attack] = {
    "neighbours of a hub": aliases('neighbors(id: "hub", first: 500) { id label properties }'),
    "neighbours of a hub without a page": aliases('neighbors(id: "hub") { id }'),
    "connected nodes of a hub": aliases('connectedNodes(nodeId: "hub", first: 500) { id label }'),
    "traversals from a hub": aliases('traverse(id: "hub", first: 400) { depth node { id label } via { id } }'),
    "branches from a hub": aliases('traverse(id: "hub", strategy: DFS, first: 400) { node { id } }', 3),
    "edges of edges": aliases(
        "graphNodes { nodes { outgoing { nodes { toNode { incoming { nodes { id } } } } } } }", 1
    ),
    "a page by resolvers": aliases("graphNodes(first: 500) { nodes { id label references { path } } }", 1),
    "large rows": aliases('graphNodes(first: 40, filter: {types: ["Large"]}) { nodes { properties } }'),
    "large rows by resolvers": aliases('neighbors(id: "large_hub") { properties }'),
    "places in time": moments,
    "a search for many words": words,
    "hubs": aliases("hubs(limit: 100) { degree }", 5),
    "a product in openCypher": aliases(
        'cypher(query: "UNWIND range(1, 100000) AS x UNWIND range(1, 100000) AS y RETURN count(x * y) AS n") { rows }',
        1,
    ),
    "the graph of a large result": drawn("WITH range(1, 100000) AS l UNWIND range(1, 60) AS x RETURN l"),
    "a program of very many statements": program,
    "a program of very long queries": long_queries,
    "aggregates of all nodes": aliases(AGGREGATE, 12),
    "orders by a property": aliases('graphNodes(first: 500, orderBy: {property: "number"}) { nodes { id } }', 12),
    "conditions on related rows": aliases(LINKED, 6),
    "all changes": aliases("changes(from: {position: 0}, first: 500) { nodes { elementId before after } }", 4),
    "a preview of undoing all": lambda number: _body(
        "mutation($n: Position!) { undo(input: {range: {after: $n}}, preview: true) { __typename } }", n=number % 9
    ),
    "a long question": lambda number: _body(
        "query($q: String!) { recall(query: $q) { items { text } } }", q=f"w{number} " + "n1 hub " * 550
    ),
    "a long pipeline of wide rows": hostile("OPTIONAL MATCH (n) " * 800 + "RETURN 1"),
    "a chain of very many steps": hostile("MATCH " + "-->".join(f"(a{n})" for n in range(1_000)) + " RETURN 1"),
}
"""Attacks by name."""
GZIPPED = ("large rows", "large rows by resolvers", "a page by resolvers")
"""Attacks whose answers are asked for compressed."""
ATTACKS |= {f"openCypher: {name}": hostile(query) for name, query in HOSTILE_QUERIES.items()}


def graph(tier: str) -> dict[str, Any]:
    """What they are aimed at: a hub, large rows, and a node for honest readers."""
    count = HUB_EDGES[tier]
    nodes: list[dict[str, Any]] = [{"id": "hub"}, {"id": "large_hub"}, {"id": "honest", "properties": {"n": 1}}]
    nodes += [{"id": f"n{n}", "properties": {"number": n}} for n in range(count)]
    nodes += [
        {"id": f"large{n}", "type": "Large", "properties": {"text": "x" * LARGE_BYTES}} for n in range(LARGE_NODES)
    ]
    edges = [{"id": f"e{n}", "from": "hub", "to": f"n{n}", "type": "R"} for n in range(count)]
    edges += [{"id": f"f{n}", "from": f"n{n}", "to": f"n{(7 * n + 1) % count}", "type": "S"} for n in range(count)]
    edges += [{"id": f"g{n}", "from": "large_hub", "to": f"large{n}", "type": "R"} for n in range(LARGE_NODES)]
    return {"nodes": nodes, "edges": edges}
