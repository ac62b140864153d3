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
    "paused_at": "pausedAt",
    "pause_reason": "pauseReason",
}
"""Names in GraphQL inputs and answers that differ from ours."""

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
    "query($query: String!, $mode: SearchMode!, $near: ID, $type: String, $scope: Scope, $first: Int, "
    "$after: String, $at: At) "
    "{ search(query: $query, mode: $mode, near: $near, type: $type, "
    "scope: $scope, first: $first, after: $after, at: $at) "
    f"{{ edges {{ node {{ score node {{ ...N }} }} }} {_PAGE} }} }} {_NODE}"
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
    "query($key: String!, $value: JSON, $first: Int, $after: String, $at: At) { findByProperty(key: $key, "
    f"value: $value, first: $first, after: $after, at: $at) {{ nodes {{ ...N }} {_PAGE} }} }} {_NODE}"
)
ROOTS = (
    "query($first: Int, $after: String, $at: At) { roots(first: $first, after: $after, at: $at) "
    f"{{ nodes {{ ...N }} {_PAGE} }} }} {_NODE}"
)
NEIGHBORS = (
    "query($id: ID!, $direction: Direction!, $type: String, $at: At, $first: Int, $after: ID) { "
    "neighbors(id: $id, direction: $direction, edgeType: $type, at: $at, first: $first, after: $after) "
    f"{{ ...N }} }} {_NODE}"
)
TRAVERSE = (
    "query($id: ID!, $depth: Int!, $direction: Direction!, $strategy: Strategy!, $types: [String!], $at: At, "
    "$first: Int, $after: ID) { traverse(id: $id, depth: $depth, direction: $direction, strategy: $strategy, "
    "edgeTypes: $types, at: $at, first: $first, after: $after) "
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
MORE_HUBS = (
    "query($first: Int, $after: String, $at: At) { graphNodes(orderBy: [{field: DEGREE, direction: DESC}, "
    "{field: ID}], first: $first, after: $after, at: $at) { nodes { ...N degree incoming: degree(direction: INCOMING) "
    f"outgoing: degree(direction: OUTGOING) }} {_PAGE} }} }} {_NODE}"
)
KEYS = "query($at: At) { propertyKeys(at: $at) }"
SCOPES = "query($at: At) { scopes(at: $at) { name nodeCount edgeCount } }"
HISTORY = f"query($last: Int!, $element: ID) {{ history(last: $last, elementId: $element) {{ {_EVENT} }} }}"
EVENTS = (
    "query($element: ID, $afterSeq: Position, $first: Int, $after: String) { events(elementId: $element, "
    f"afterSeq: $afterSeq, first: $first, after: $after) {{ nodes {{ {_EVENT} }} {_PAGE} }} }}"
)
FOLLOW = f"subscription($after: Position) {{ events(afterSeq: $after) {{ {_EVENT} }} }}"
VERSIONS = "query($id: ID!) { versions(id: $id, last: null) { version timestamp event { type } deleted value } }"
_CHANGE = "id: elementId element kind fields before after"
CHANGES = (
    "query($from: At!, $to: At, $filter: ChangeFilter, $first: Int!, $after: String) "
    "{ changes(from: $from, to: $to, filter: $filter, first: $first, after: $after) "
    f"{{ nodes {{ {_CHANGE} }} {_PAGE} toPosition }} }}"
)
UNDO = (
    "mutation($input: UndoInput!, $preview: Boolean!, $key: String) { undo(input: $input, preview: $preview, "
    f"idempotencyKey: $key) {{ done changes {{ {_CHANGE} }} conflicts {{ seq id: elementId message }} "
    f"events {{ seq }} {_WARNINGS} }} }}"
)
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
PROPOSE = "mutation($input: IngestInput!) { ingest(input: $input) { notes { noteId } proposals { proposalId } } }"
LOAD_DEMO = f"mutation($force: Boolean!) {{ loadDemo(force: $force) {{ nodes edges events {_WARNINGS} }} }}"
VERIFY = "query { verify { ok eventsChecked digest problems { message } } }"
CYPHER = (
    "query($query: String!, $params: JSON, $at: At) { cypher(query: $query, params: $params, limit: null, at: $at) "
    "{ columns rows truncated explanation notifications { code message line column } } }"
)
_FACT = "factId subject { canonical } predicate objectEntity { canonical } objectValue scope validFrom validTo"
FACTS = (
    "query($name: String!, $moment: DateTime!, $at: At) { factTimeline(subject: {name: $name}, at: $at) "
    f"{{ {_FACT} active(at: $moment) }} }}"
)
CORRECT = (
    "mutation($input: CorrectFactInput!) { correctFact(input: $input) "
    f"{{ fact {{ {_FACT} }} before {{ {_FACT} }} reopened {{ {_FACT} }} {_WARNINGS} }} }}"
)
_ENTITY = "id: entityId name: canonical"
ENTITY = f"query($name: String!) {{ entity(name: $name) {{ {_ENTITY} }} }}"
DUPLICATES = f"query {{ duplicateEntities {{ first {{ {_ENTITY} }} second {{ {_ENTITY} }} reason }} }}"
MERGE_PREVIEW = (
    "query($keep: ID!, $other: ID!) { mergePreview(keepId: $keep, mergeId: $other) "
    f"{{ keep {{ {_ENTITY} }} moved {{ factId }} folded {{ __typename }} conflicts {{ factId }} aliases }} }}"
)
MERGE = (
    "mutation($keep: ID!, $other: ID!) { mergeEntities(keepId: $keep, mergeId: $other) "
    f"{{ entity {{ {_ENTITY} }} }} }}"
)
UNMERGE = f"mutation($id: ID!) {{ unmergeEntity(entityId: $id) {{ entity {{ {_ENTITY} }} }} }}"
KEEP_APART = "mutation($id: ID!, $other: ID!) { keepEntitiesApart(entityId: $id, otherId: $other) }"
RECALL = (
    "query($query: String!, $budgetTokens: Int, $first: Int, $asOf: DateTime, $scopes: [String!], "
    "$kinds: [RecallKind!], $at: At) { recall(query: $query, budgetTokens: $budgetTokens, first: $first, asOf: $asOf, "
    "scopes: $scopes, kinds: $kinds, at: $at) { asOf tokens budgetTokens omitted truncated entities { canonical } "
    "items { kind id text score why validFrom validTo scope evidence { noteId text } } } }"
)
_PROPOSAL = (
    "id: proposalId state subject predicate value: objectValue object: objectEntity valid_from: validFrom "
    "valid_to: validTo scope note_id: noteId proposer decided_by: decidedBy reason"
)
PROPOSALS = (
    "query($state: ProposalState!, $first: Int!, $after: String) { factProposals(state: $state, first: $first, "
    f"after: $after) {{ nodes {{ {_PROPOSAL} }} {_PAGE} }} }}"
)
DECISIONS = {
    "approve": f"mutation($id: ID!) {{ done: approveProposal(proposalId: $id) {{ proposal {{ {_PROPOSAL} }} }} }}",
    "reject": "mutation($id: ID!, $reason: String) { done: rejectProposal(proposalId: $id, reason: $reason) "
    f"{{ proposal {{ {_PROPOSAL} }} }} }}",
    "edit": "mutation($input: EditProposalInput!) { done: editProposal(input: $input) "
    f"{{ proposal {{ {_PROPOSAL} }} }} }}",
}
SEND = "mutation($input: SendMessageInput!) { sendMessage(input: $input) { payload } }"
_KEY = "id name user roles tenant project agent createdAt expiresAt revokedAt"
ADD_KEY = f"mutation($input: CreateApiKeyInput!) {{ createApiKey(input: $input) {{ token apiKey {{ {_KEY} }} }} }}"
API_KEYS = (
    "query($first: Int!, $after: String) { apiKeys(first: $first, after: $after) "
    f"{{ nodes {{ {_KEY} }} pageInfo {{ hasNextPage endCursor }} }} }}"
)
REVOKE_KEY = f"mutation($id: ID!) {{ revokeApiKey(input: {{id: $id}}) {{ apiKey {{ {_KEY} }} }} }}"
_WEBHOOK = "id name url filter tenant user project agent seq createdAt pausedAt pauseReason"
ADD_WEBHOOK = (
    f"mutation($input: CreateWebhookInput!) {{ createWebhook(input: $input) {{ secret webhook {{ {_WEBHOOK} }} }} }}"
)
WEBHOOKS = (
    "query($first: Int!, $after: String) { webhooks(first: $first, after: $after) "
    f"{{ nodes {{ {_WEBHOOK} }} pageInfo {{ hasNextPage endCursor }} }} }}"
)
REWIND_WEBHOOK = (
    "mutation($id: ID!, $after: Position!) { rewindWebhook(input: {id: $id, afterSeq: $after}) "
    f"{{ webhook {{ {_WEBHOOK} }} }} }}"
)
REDELIVER_WEBHOOK = "mutation($id: ID!) { redeliverWebhook(input: {id: $id}) { delivered left } }"


def manage_webhook(action: str) -> str:
    """The mutation that pauses, resumes or deletes a webhook."""
    return f"mutation($id: ID!) {{ {action}Webhook(input: {{id: $id}}) {{ webhook {{ {_WEBHOOK} }} }} }}"
