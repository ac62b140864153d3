"""The four questions, in the words of each server: a node, a list, two hops, and a new node."""

from __future__ import annotations

from typing import Any

import msgspec

POINT, LIST, NESTED, ADD = "point", "list", "nested", "add"
TITLES = {
    POINT: "Q1 a node by id",
    LIST: "Q2 first 100 of a type",
    NESTED: "Q3 two hops, 20 then 10",
    ADD: "Q4 add a node",
}
READS = (POINT, LIST, NESTED)

OURS = {
    POINT: "query Point($id: ID!) { graphNode(id: $id) { id type properties data modified } }",
    LIST: "query List($type: String!, $after: String) { graphNodes(filter: {type: $type}, first: 100, after: $after) "
    "{ edges { cursor node { id type properties } } pageInfo { hasNextPage endCursor } } }",
    NESTED: "query Nested($id: ID!) { graphNode(id: $id) { id type outgoing(first: 20) { nodes { id type weight "
    "toNode { id type properties outgoing(first: 10) { nodes { id type weight toNode { id type properties } } } } "
    "} } } }",
    ADD: "mutation Add($id: ID!, $type: String!, $properties: JSON!, $data: JSON!) "
    "{ addNode(input: {id: $id, type: $type, properties: $properties, data: $data}) { node { id type } } }",
}
PLAIN = {
    POINT: "query Point($id: ID!) { node(id: $id) { id type properties data modified } }",
    LIST: "query List($type: String!, $after: String) { nodes(type: $type, first: 100, after: $after) "
    "{ edges { cursor node { id type properties } } pageInfo { hasNextPage endCursor } } }",
    NESTED: "query Nested($id: ID!) { node(id: $id) { id type edges(first: 20) { id type weight target "
    "{ id type properties edges(first: 10) { id type weight target { id type properties } } } } } }",
    ADD: "mutation Add($id: ID!, $type: String!, $properties: JSON!, $data: JSON!) "
    "{ addNode(id: $id, type: $type, properties: $properties, data: $data) { id type } }",
}
POSTGRAPHILE = {
    POINT: "query Point($id: String!) { gnodeByRowId(rowId: $id) { rowId type properties data modified } }",
    LIST: "query List($type: String!, $after: Cursor) { allGnodes(condition: {type: $type}, first: 100, "
    "after: $after, orderBy: [PRIMARY_KEY_ASC]) { edges { cursor node { rowId type properties } } "
    "pageInfo { hasNextPage endCursor } } }",
    NESTED: "query Nested($id: String!) { gnodeByRowId(rowId: $id) { rowId type gedgesByFromId(first: 20) { nodes "
    "{ rowId type weight gnodeByToId { rowId type properties gedgesByFromId(first: 10) { nodes { rowId type weight "
    "gnodeByToId { rowId type properties } } } } } } } }",
    ADD: "mutation Add($id: String!, $type: String!, $properties: JSON!, $data: JSON!) { createGnode(input: "
    "{gnode: {rowId: $id, type: $type, properties: $properties, data: $data}}) { gnode { rowId type } } }",
}
_EDGES = "edges { properties { id type weight } node { id type properties"
NEO4J = {
    POINT: "query Point($id: ID!) { peerNodes(where: {id: {eq: $id}}) { id type properties data modified } }",
    LIST: "query List($type: String!, $after: String) { peerNodesConnection(where: {type: {eq: $type}}, first: 100, "
    "after: $after, sort: [{id: ASC}]) { edges { cursor node { id type properties } } "
    "pageInfo { hasNextPage endCursor } } }",
    NESTED: "query Nested($id: ID!) { peerNodes(where: {id: {eq: $id}}) { id type "
    f"edgesConnection(first: 20, sort: [{{edge: {{id: ASC}}}}]) {{ {_EDGES} "
    f"edgesConnection(first: 10, sort: [{{edge: {{id: ASC}}}}]) {{ {_EDGES} }} }} }} }} }} }} }} }}",
}
"""What each server must be asked; the texts hold no quotes, so that they fit into a JSON string as they are."""

SAME_NAMES = {
    "rowId": "id",
    "graphNode": "node",
    "gnodeByRowId": "node",
    "peerNodes": "node",
    "graphNodes": "nodes",
    "allGnodes": "nodes",
    "peerNodesConnection": "nodes",
    "outgoing": "edges",
    "gedgesByFromId": "edges",
    "edgesConnection": "edges",
    "toNode": "target",
    "gnodeByToId": "target",
}
OWN = ("cursor", "endCursor", "modified")
"""Every server writes these in its own way."""

TEXTS = ("properties", "data")
"""@neo4j/graphql has no type for JSON, so it gives the text."""


def normalize_answer(value: Any) -> Any:
    """An answer without the names and habits of the server that gave it."""
    if isinstance(value, list):
        return [normalize_answer(item) for item in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {"nodes"} and isinstance(value["nodes"], list):
        return normalize_answer(value["nodes"])
    if set(value) == {"edges"}:
        return [_flat(edge) for edge in value["edges"]]
    return {name: found for key, item in value.items() for name, found in [_normalize_pair(key, item)]}


def _flat(edge: dict[str, Any]) -> dict[str, Any]:
    """An edge whose own properties lie beside its node, as @neo4j/graphql shows it."""
    return {**normalize_answer(edge["properties"]), "target": normalize_answer(edge["node"])}


def _normalize_pair(key: str, value: Any) -> tuple[str, Any]:
    name = SAME_NAMES.get(key, key)
    if key in OWN:
        return name, "…"
    if key in TEXTS and isinstance(value, str):
        return name, msgspec.json.decode(value)
    if key == "peerNodes" and isinstance(value, list):
        return name, normalize_answer(value[0]) if value else None
    return name, normalize_answer(value)
