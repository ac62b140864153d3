"""The questions, in the words of each server."""

from __future__ import annotations

from typing import Any

import msgspec

POINT, LIST, NESTED, ADD = "point", "list", "nested", "add"
README, SORTED, RELATED, AGGREGATE, FACTS = "readme", "sorted", "related", "aggregate", "facts"
COLD, MIX = "cold", "mix"
TITLES = {
    POINT: "Q1 a node by id",
    LIST: "Q2 first 100 of a type",
    NESTED: "Q3 two hops, 20 then 10",
    ADD: "Q4 add a node",
    README: "README: labels, one hop",
    SORTED: "20 sorted by a property",
    RELATED: "20 by what they lead to",
    AGGREGATE: "a type counted in groups",
    FACTS: "facts with evidence",
    COLD: "Q1 in ever new words",
    MIX: "90 % Q1, 10 % Q4",
}
READS = (POINT, LIST, NESTED, README, SORTED, RELATED, AGGREGATE, FACTS, COLD)
FIRST_FOUR = (POINT, LIST, NESTED, ADD)
"""What every server is asked."""

OURS = {
    POINT: "query Point($id: ID!) { graphNode(id: $id) { id type properties data modified } }",
    LIST: "query List($type: String!, $after: String) { graphNodes(filter: {type: $type}, first: 100, after: $after) "
    "{ edges { cursor node { id type properties } } pageInfo { hasNextPage endCursor } } }",
    NESTED: "query Nested($id: ID!) { graphNode(id: $id) { id type outgoing(first: 20) { nodes { id type weight "
    "toNode { id type properties outgoing(first: 10) { nodes { id type weight toNode { id type properties } } } } "
    "} } } }",
    ADD: "mutation Add($id: ID!, $type: String!, $properties: JSON!, $data: JSON!) "
    "{ addNode(input: {id: $id, type: $type, properties: $properties, data: $data}) { node { id type } } }",
    README: "query Readme($id: ID!) { graphNode(id: $id) { label outgoing(first: 10, orderBy: [{field: ID}]) "
    "{ nodes { type toNode { label } } } } }",
    SORTED: "query Sorted($type: String!) { graphNodes(filter: {type: $type}, first: 20, "
    'orderBy: [{property: "score", direction: DESC}]) { nodes { id type properties } } }',
    RELATED: "query Related($type: String!) { graphNodes(first: 20, filter: {type: $type, "
    'outgoing: {some: {type: "owns", toNode: {type: "company"}}}}) { nodes { id type } } }',
    AGGREGATE: "query Aggregate($type: String!) { graphNodes(filter: {type: $type}) { aggregate { count "
    'max(property: "score") groupBy(by: [{property: "active"}]) { keys count } } } }',
    FACTS: "query Facts($name: String!) { facts(subject: {name: $name}, first: 10) "
    "{ nodes { predicate objectValue evidence { note { text } } } } }",
}
OURS |= {COLD: OURS[POINT].replace("Point", "Cold@"), MIX: OURS[POINT]}
"""`@` stands for another word in every request."""
PLAIN = {
    POINT: "query Point($id: ID!) { node(id: $id) { id type properties data modified } }",
    LIST: "query List($type: String!, $after: String) { nodes(type: $type, first: 100, after: $after) "
    "{ edges { cursor node { id type properties } } pageInfo { hasNextPage endCursor } } }",
    NESTED: "query Nested($id: ID!) { node(id: $id) { id type edges(first: 20) { id type weight target "
    "{ id type properties edges(first: 10) { id type weight target { id type properties } } } } } }",
    ADD: "mutation Add($id: ID!, $type: String!, $properties: JSON!, $data: JSON!) "
    "{ addNode(id: $id, type: $type, properties: $properties, data: $data) { id type } }",
    README: "query Readme($id: ID!) { node(id: $id) { label edges(first: 10) { type target { label } } } }",
    SORTED: "query Sorted($type: String!) { sorted(type: $type, first: 20) { id type properties } }",
    RELATED: "query Related($type: String!) { related(type: $type, first: 20) { id type } }",
    AGGREGATE: "query Aggregate($type: String!) { aggregate(type: $type) { count max groupBy { keys count } } }",
    FACTS: "query Facts($name: String!) { facts(name: $name, first: 10) "
    "{ predicate objectValue evidence { note { text } } } }",
}
PLAIN |= {COLD: PLAIN[POINT].replace("Point", "Cold@"), MIX: PLAIN[POINT]}
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
    README: "query Readme($id: String!) { gnodeByRowId(rowId: $id) { label gedgesByFromId(first: 10) { nodes "
    "{ type gnodeByToId { label } } } } }",
    SORTED: "query Sorted($type: String!) { allGnodes(condition: {type: $type}, first: 20, "
    "orderBy: [SCORE_DESC, PRIMARY_KEY_ASC]) { nodes { rowId type properties } } }",
    RELATED: "query Related($type: String!) { allGnodes(first: 20, orderBy: [PRIMARY_KEY_ASC], "
    "filter: {type: {equalTo: $type}, gedgesByFromId: {some: "
    '{type: {equalTo: "owns"}, gnodeByToId: {type: {equalTo: "company"}}}}}) { nodes { rowId type } } }',
    FACTS: "query Facts($name: String!) { allGfacts(condition: {subject: $name}, first: 10, "
    "orderBy: [VALID_FROM_DESC, PRIMARY_KEY_ASC]) { nodes { predicate objectValue "
    "gevidencesByFactId { nodes { note } } } } }",
}
POSTGRAPHILE |= {COLD: POSTGRAPHILE[POINT].replace("Point", "Cold@"), MIX: POSTGRAPHILE[POINT]}
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
"""What each server must be asked."""

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
    "sorted": "nodes",
    "related": "nodes",
    "allGfacts": "facts",
    "gevidencesByFactId": "evidence",
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
    if key == "note" and isinstance(value, dict):
        return name, value["text"]
    if name == "nodes" and isinstance(value, dict) and set(value) == {"aggregate"}:
        return "aggregate", normalize_answer(value["aggregate"])
    if key == "peerNodes" and isinstance(value, list):
        return name, normalize_answer(value[0]) if value else None
    return name, normalize_answer(value)
