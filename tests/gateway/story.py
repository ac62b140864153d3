"""A story told through the door: the operations of the graph in one order that touches all of them.

Everything that depends on the clock is left out of the selections, so that every store must give the same answers.
"""

from __future__ import annotations

from typing import Any

NODE = "{ id type label properties data version scope }"
EDGE = "{ id from to type weight properties version dangling }"

STORY: list[tuple[str, str, dict[str, Any]]] = [
    ("load", "mutation { loadDemo { nodes edges events } }", {}),
    ("load again", "mutation { loadDemo { nodes } }", {}),
    (
        "add",
        f'mutation {{ addNode(input: {{id: "n1", type: "t", properties: {{a: 1, b: [true, null]}}, data: {{x: "@(alice)"}}}}) {{ node {NODE} event {{ seq type version }} }} }}',
        {},
    ),
    ("add twice", 'mutation { addNode(input: {id: "n1"}) { node { id } } }', {}),
    ("add by key", 'mutation { addNode(input: {id: "n2", idempotencyKey: "k"}) { node { id } event { seq } } }', {}),
    (
        "add by key again",
        'mutation { addNode(input: {id: "n2", idempotencyKey: "k"}) { node { id } event { seq } } }',
        {},
    ),
    ("key for another", 'mutation { addNode(input: {id: "n3", idempotencyKey: "k"}) { node { id } } }', {}),
    (
        "merge",
        f'mutation {{ updateNode(input: {{id: "n1", properties: {{a: 2}}, removeProperties: ["b"], appendProperties: {{c: "x"}}}}) {{ node {NODE} }} }}',
        {},
    ),
    ("stale", 'mutation { updateNode(input: {id: "n1", properties: {a: 3}, expectedVersion: 1}) { node { id } } }', {}),
    ("upsert", f'mutation {{ upsertNode(input: {{id: "n1", properties: {{d: 4}}}}) {{ node {NODE} }} }}', {}),
    (
        "edge",
        f'mutation {{ addEdge(input: {{id: "x1", from: "n1", to: "alice", type: "knows", weight: 2.5}}) {{ edge {EDGE} warnings {{ code }} }} }}',
        {},
    ),
    (
        "dangling edge",
        f'mutation {{ addEdge(input: {{id: "x2", from: "n1", to: "ghost"}}) {{ edge {EDGE} warnings {{ code id }} }} }}',
        {},
    ),
    (
        "strict edge",
        'mutation { addEdge(input: {from: "n1", to: "ghost", endpointPolicy: STRICT}) { edge { id } } }',
        {},
    ),
    (
        "change edge",
        f'mutation {{ updateEdge(input: {{id: "x1", weight: 1, properties: {{since: 2020}}}}) {{ edge {EDGE} }} }}',
        {},
    ),
    ("scoped", 'mutation { addNode(input: {id: "scratch:s", type: "t"}) { node { id scope } } }', {}),
    (
        "batch",
        'mutation { applyBatch(operations: [{addNode: {id: "b1"}}, {addEdge: {id: "b2", from: "b1", to: "n1"}}]) { elements { __typename } deletedIds events { type elementId } } }',
        {},
    ),
    (
        "batch that fails",
        'mutation { applyBatch(operations: [{addNode: {id: "b3"}}, {addNode: {id: "alice"}}]) { deletedIds } }',
        {},
    ),
    ("one", f'{{ graphNode(id: "n1") {NODE} }}', {}),
    ("none", '{ graphNode(id: "nobody") { id } graphEdge(id: "n1") { id } }', {}),
    ("an old version", '{ graphNode(id: "n1", version: 1) { properties version } }', {}),
    (
        "in the past",
        "{ stats(at: {position: 3}) { nodes edges } graphNodes(first: 5, at: {position: 3}) { nodes { id } } }",
        {},
    ),
    ("versions", '{ versions(id: "n1") { version deleted event { seq type } } }', {}),
    (
        "resolved",
        '{ resolve(address: "@(n1).a") { resolved value } resolveAll(addresses: ["@(alice)", "@(gone)"]) { resolved } }',
        {},
    ),
    ("expanded", '{ graphNode(id: "n1") { properties(resolveDepth: 1) } }', {}),
    (
        "listed",
        f"{{ graphNodes(first: 100) {{ totalCount nodes {NODE} pageInfo {{ hasNextPage startCursor endCursor }} }} }}",
        {},
    ),
    (
        "edges listed",
        f"{{ graphEdges(first: 100, orderBy: [{{field: WEIGHT, direction: DESC}}]) {{ totalCount edges {{ cursor node {EDGE} }} }} }}",
        {},
    ),
    (
        "busiest",
        "{ graphNodes(first: 4, orderBy: [{field: DEGREE, direction: DESC}]) { edges { cursor node { id degree } } } }",
        {},
    ),
    ("backwards", "{ graphNodes(last: 3) { nodes { id } pageInfo { hasPreviousPage } } }", {}),
    (
        "filtered",
        '{ graphNodes(filter: {or: [{type: "person"}, {properties: [{key: "a", op: GTE, value: 2}]}], not: {ids: ["bob"]}}) { nodes { id } } }',
        {},
    ),
    ("found", 'query ($v: JSON!) { findByProperty(key: "a", value: $v) { nodes { id } } }', {"v": 2.0}),
    (
        "nested",
        '{ graphNodes(first: 20, filter: {type: "person"}) { nodes { id degree outgoing(first: 2) { totalCount nodes { type toNode { id outgoing(first: 1) { nodes { id } } } } } incoming { nodes { fromNode { id } } } } } }',
        {},
    ),
    (
        "aliases",
        '{ graphNode(id: "alice") { a: outgoing(type: "reports_to") { nodes { id } } b: outgoing(first: 1) { nodes { id } } } }',
        {},
    ),
    ("roots", "{ roots { nodes { id } } }", {}),
    ("searched", '{ search(query: "alice") { edges { node { node { id } } } } }', {}),
    ("neighbours", '{ neighbors(id: "alice") { id } out: neighbors(id: "alice", direction: OUTGOING) { id } }', {}),
    (
        "walked",
        '{ traverse(id: "alice", depth: 2) { depth node { id } via { id } } dfs: traverse(id: "alice", strategy: DFS, direction: BOTH) { node { id } } }',
        {},
    ),
    (
        "cheapest",
        '{ path(from: "n1", to: "bob") { totalWeight nodes { id } edges { id } } none: path(from: "bob", to: "scratch:s") { totalWeight } }',
        {},
    ),
    ("hubs", "{ hubs(limit: 3) { degree inDegree outDegree node { id } } }", {}),
    (
        "counted",
        "{ stats { nodes edges types properties events } scopes { scope nodeCount edgeCount } propertyKeys }",
        {},
    ),
    ("history", "{ history(last: 5) { seq type elementId } events(first: 3, afterSeq: 2) { nodes { seq type } } }", {}),
    (
        "revert",
        'mutation { revertElement(id: "n1", version: 1) { elements { __typename } events { type version } } }',
        {},
    ),
    ("reverted", f'{{ graphNode(id: "n1") {NODE} }}', {}),
    ("delete", 'mutation { deleteNode(input: {id: "n1"}) { deletedId deletedEdgeIds } }', {}),
    ("delete again", 'mutation { deleteNode(input: {id: "n1"}) { deletedId } }', {}),
    ("clear", "mutation { clearScope(scope: SCRATCH, force: true) { deletedNodeIds } }", {}),
    ("verified", "{ verify { ok } }", {}),
]
