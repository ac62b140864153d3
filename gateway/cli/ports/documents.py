"""The GraphQL documents that the command line sends to a gateway."""

from __future__ import annotations

_NODE = "fragment N on GraphNode { id type properties data created modified version }"
_EDGE = "fragment E on GraphEdge { id from to type weight properties created modified version }"
_EVENT = "id: eventId timestamp type data seq version"
_WARNINGS = "warnings { code message id }"
_PAGE = "pageInfo { hasNextPage endCursor }"

INPUT_NAMES = {
    "append": "appendProperties",
    "remove": "removeProperties",
    "expected_version": "expectedVersion",
    "created_at": "createdAt",
    "expires_at": "expiresAt",
    "revoked_at": "revokedAt",
}
"""What things are called in inputs and answers, where it differs."""

ELEMENT = f"query($id: ID!, $at: At) {{ element(id: $id, at: $at) {{ ...N ...E }} }} {_NODE} {_EDGE}"
KIND = "query($id: ID!) { element(id: $id) { __typename } }"
SETTINGS = (
    'query { prefs: graphNode(id: "_user_prefs") { properties } '
    'config: graphNode(id: "_system_config") { properties } }'
)
ADD_NODE = f"mutation($input: AddNodeInput!) {{ addNode(input: $input) {{ node {{ ...N }} {_WARNINGS} }} }} {_NODE}"
ADD_EDGE = f"mutation($input: AddEdgeInput!) {{ addEdge(input: $input) {{ edge {{ ...E }} {_WARNINGS} }} }} {_EDGE}"
UPDATE_NODE = (
    "mutation($input: UpdateNodeInput!) { update: updateNode(input: $input) "
    f"{{ node {{ ...N }} {_WARNINGS} }} }} {_NODE}"
)
UPDATE_EDGE = (
    "mutation($input: UpdateEdgeInput!) { update: updateEdge(input: $input) "
    f"{{ edge {{ ...E }} {_WARNINGS} }} }} {_EDGE}"
)
DELETE = f"mutation($id: ID!) {{ delete(input: {{id: $id}}) {{ deletedId deletedEdgeIds {_WARNINGS} }} }}"
SEARCH = (
    "query($query: String!, $mode: SearchMode!, $near: ID, $type: String, $scope: Scope, $first: Int, $at: At) "
    "{ search(query: $query, mode: $mode, near: $near, type: $type, "
    f"scope: $scope, first: $first, at: $at) {{ edges {{ node {{ score node {{ ...N }} }} }} }} }} {_NODE}"
)
NODES = (
    "query($filter: NodeFilter, $first: Int, $after: String, $at: At) { graphNodes(filter: $filter, first: $first, "
    f"after: $after, at: $at) {{ nodes {{ ...N }} {_PAGE} }} }} {_NODE}"
)
EDGES = (
    "query($filter: EdgeFilter, $first: Int, $after: String, $at: At) { graphEdges(filter: $filter, first: $first, "
    f"after: $after, at: $at) {{ nodes {{ ...E }} {_PAGE} }} }} {_EDGE}"
)
FIND = (
    "query($key: String!, $value: JSON!, $first: Int, $after: String, $at: At) { findByProperty(key: $key, "
    f"value: $value, first: $first, after: $after, at: $at) {{ nodes {{ ...N }} {_PAGE} }} }} {_NODE}"
)
ROOTS = (
    "query($first: Int, $after: String, $at: At) { roots(first: $first, after: $after, at: $at) "
    f"{{ nodes {{ ...N }} {_PAGE} }} }} {_NODE}"
)
NEIGHBORS = (
    "query($id: ID!, $direction: Direction!, $type: String, $at: At) { neighbors(id: $id, direction: $direction, "
    f"edgeType: $type, at: $at) {{ ...N }} }} {_NODE}"
)
TRAVERSE = (
    "query($id: ID!, $depth: Int!, $direction: Direction!, $strategy: Strategy!, $types: [String!], $at: At) { "
    "traverse(id: $id, depth: $depth, direction: $direction, strategy: $strategy, edgeTypes: $types, at: $at) "
    f"{{ depth node {{ ...N }} via {{ ...E }} }} }} {_NODE} {_EDGE}"
)
PATH = (
    "query($start: ID!, $goal: ID!, $at: At) { path(from: $start, to: $goal, at: $at) "
    f"{{ totalWeight nodes {{ ...N }} edges {{ ...E }} }} }} {_NODE} {_EDGE}"
)
STATS = "query($at: At) { stats(at: $at) { nodes edges types properties } }"
HUBS = (
    "query($limit: Int!, $at: At) { hubs(limit: $limit, at: $at) "
    f"{{ degree inDegree outDegree node {{ ...N }} }} }} {_NODE}"
)
KEYS = "query($at: At) { propertyKeys(at: $at) }"
SCOPES = "query($at: At) { scopes(at: $at) { name nodeCount edgeCount } }"
HISTORY = f"query($last: Int!, $element: ID) {{ history(last: $last, elementId: $element) {{ {_EVENT} }} }}"
FOLLOW = f"subscription($after: Position) {{ events(afterSeq: $after) {{ {_EVENT} }} }}"
VERSIONS = "query($id: ID!) { versions(id: $id, last: null) { version timestamp event { type } deleted value } }"
RESOLVE = "query($address: String!, $at: At) { resolve(address: $address, at: $at) { value } }"
CLEAR_SCOPE = (
    "mutation($scope: Scope!, $force: Boolean!) { clearScope(scope: $scope, force: $force) "
    "{ deletedNodeIds deletedEdgeIds } }"
)
SNAPSHOT = "mutation { snapshot { snapshot { timestamp eventCount stats { nodes edges types properties } } } }"
IMPORT = (
    "mutation($graph: JSON!, $onConflict: String!, $key: String) "
    "{ importGraph(graph: $graph, onConflict: $onConflict, idempotencyKey: $key) "
    f"{{ nodes edges events {_WARNINGS} }} }}"
)
INGEST = (
    "mutation($input: IngestInput!) { ingest(input: $input) "
    f"{{ created notes {{ noteId }} facts {{ factId }} {_WARNINGS} }} }}"
)
LOAD_DEMO = f"mutation($force: Boolean!) {{ loadDemo(force: $force) {{ nodes edges events {_WARNINGS} }} }}"
VERIFY = "query { verify { ok eventsChecked digest } }"
CYPHER = (
    "query($query: String!, $params: JSON, $at: At) { cypher(query: $query, params: $params, at: $at) "
    "{ columns rows explanation } }"
)
FACTS = (
    "query($name: String!, $at: At) { factTimeline(subject: {name: $name}, at: $at) { factId subject { canonical } "
    "predicate objectEntity { canonical } objectValue scope validFrom validTo } }"
)
SEND = "mutation($input: SendMessageInput!) { sendMessage(input: $input) { payload } }"
_KEY = "id name user roles tenant project agent createdAt expiresAt revokedAt"
ADD_KEY = f"mutation($input: CreateApiKeyInput!) {{ createApiKey(input: $input) {{ token apiKey {{ {_KEY} }} }} }}"
API_KEYS = (
    "query($first: Int!, $after: String) { apiKeys(first: $first, after: $after) "
    f"{{ nodes {{ {_KEY} }} pageInfo {{ hasNextPage endCursor }} }} }}"
)
REVOKE_KEY = f"mutation($id: ID!) {{ revokeApiKey(input: {{id: $id}}) {{ apiKey {{ {_KEY} }} }} }}"
