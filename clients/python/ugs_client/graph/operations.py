"""The root fields of the schema, each with what is asked for unless told otherwise.

Made by `python -m ugs_client.codegen` from the schema of the gateway: not edited by hand.
"""

from ugs_client.operation import Operation

GRAPH_NODE = Operation(
    "query",
    "graphNode",
    {"id": "ID!", "version": "Int", "at": "At"},
    selection="id type label properties data created modified version",
)
GRAPH_EDGE = Operation(
    "query",
    "graphEdge",
    {"id": "ID!", "version": "Int", "at": "At"},
    selection="id type from to weight properties created modified version",
)
ELEMENT = Operation(
    "query",
    "element",
    {"id": "ID!", "at": "At"},
    selection=(
        "__typename ... on GraphNode { id type label properties data created modified version } ... on "
        "GraphEdge { id type from to weight properties created modified version }"
    ),
)
NODE = Operation(
    "query",
    "node",
    {"id": "ID!", "at": "At"},
    selection="__typename id",
)
NODES = Operation(
    "query",
    "nodes",
    {"ids": "[ID!]!", "at": "At"},
    selection="__typename id",
)
GRAPH_NODES = Operation(
    "query",
    "graphNodes",
    {
        "filter": "NodeFilter",
        "orderBy": "[NodeOrder!]",
        "first": "Int",
        "after": "String",
        "last": "Int",
        "before": "String",
        "at": "At",
    },
    selection="pageInfo { hasNextPage endCursor } nodes { id type label properties data created modified version }",
    page="nodes",
)
GRAPH_EDGES = Operation(
    "query",
    "graphEdges",
    {
        "filter": "EdgeFilter",
        "orderBy": "[EdgeOrder!]",
        "first": "Int",
        "after": "String",
        "last": "Int",
        "before": "String",
        "at": "At",
    },
    selection=(
        "pageInfo { hasNextPage endCursor } nodes { id type from to weight properties created modified version }"
    ),
    page="nodes",
)
FIND_BY_PROPERTY = Operation(
    "query",
    "findByProperty",
    {"key": "String!", "value": "JSON", "first": "Int", "after": "String", "at": "At"},
    selection="pageInfo { hasNextPage endCursor } nodes { id type label properties data created modified version }",
    page="nodes",
)
ROOTS = Operation(
    "query",
    "roots",
    {"first": "Int", "after": "String", "at": "At"},
    selection="pageInfo { hasNextPage endCursor } nodes { id type label properties data created modified version }",
    page="nodes",
)
RESOLVE = Operation(
    "query",
    "resolve",
    {"address": "String!", "at": "At"},
    selection=(
        "address element { __typename ... on GraphNode { id type label properties data created modified "
        "version } ... on GraphEdge { id type from to weight properties created modified version } } version "
        "value resolved"
    ),
)
RESOLVE_ALL = Operation(
    "query",
    "resolveAll",
    {"addresses": "[String!]!", "at": "At"},
    selection=(
        "address element { __typename ... on GraphNode { id type label properties data created modified "
        "version } ... on GraphEdge { id type from to weight properties created modified version } } version "
        "value resolved"
    ),
)
VERSIONS = Operation(
    "query",
    "versions",
    {"id": "ID!", "last": "Int"},
    selection=(
        "version timestamp event { id eventId seq timestamp hidden type elementId version data by } value deleted"
    ),
)
NEIGHBORS = Operation(
    "query",
    "neighbors",
    {"id": "ID!", "direction": "Direction!", "edgeType": "String", "at": "At", "first": "Int", "after": "ID"},
    selection="id type label properties data created modified version",
)
TRAVERSE = Operation(
    "query",
    "traverse",
    {
        "id": "ID!",
        "depth": "Int!",
        "direction": "Direction!",
        "strategy": "Strategy!",
        "edgeTypes": "[String!]",
        "at": "At",
        "first": "Int",
        "after": "ID",
    },
    selection=(
        "depth node { id type label properties data created modified version } via { id type from to weight "
        "properties created modified version }"
    ),
)
PATH = Operation(
    "query",
    "path",
    {"from": "ID!", "to": "ID!", "at": "At"},
    selection="totalWeight nodes { id type label properties data created modified version }",
)
HUBS = Operation(
    "query",
    "hubs",
    {"limit": "Int!", "at": "At"},
    selection="degree inDegree outDegree node { id type label properties data created modified version }",
)
SEARCH = Operation(
    "query",
    "search",
    {
        "query": "String!",
        "mode": "SearchMode!",
        "scope": "Scope",
        "type": "String",
        "near": "ID",
        "minSimilarity": "Float",
        "first": "Int",
        "after": "String",
        "at": "At",
    },
    selection=(
        "edges { cursor node { score node { id type label properties data created modified version } } } "
        "pageInfo { hasNextPage endCursor }"
    ),
    page="edges",
)
STATS = Operation(
    "query",
    "stats",
    {"at": "At"},
    selection="nodes edges types properties events nodeTypes { type count } edgeTypes { type count }",
)
BACKEND = Operation(
    "query",
    "backend",
    {},
    selection="name kind version state capabilities",
)
PROPERTY_KEYS = Operation(
    "query",
    "propertyKeys",
    {"at": "At"},
)
SCOPES = Operation(
    "query",
    "scopes",
    {"at": "At"},
    selection="scope name nodeCount edgeCount",
)
HISTORY = Operation(
    "query",
    "history",
    {"last": "Int!", "types": "[EventType!]", "elementId": "ID"},
    selection="id eventId seq timestamp hidden type elementId version data by",
)
EVENTS = Operation(
    "query",
    "events",
    {"types": "[EventType!]", "elementId": "ID", "afterSeq": "Position", "first": "Int", "after": "String"},
    selection=(
        "pageInfo { hasNextPage endCursor } nodes { id eventId seq timestamp hidden type elementId version data by }"
    ),
    page="nodes",
    position="seq",
)
VERIFY = Operation(
    "query",
    "verify",
    {},
    selection="ok eventsChecked digest problems { code message id }",
)
EXPORT_GRAPH = Operation(
    "query",
    "exportGraph",
    {"scope": "Scope", "at": "At"},
)
CHANGES = Operation(
    "query",
    "changes",
    {"from": "At!", "to": "At", "filter": "ChangeFilter", "first": "Int!", "after": "String"},
    selection="pageInfo { hasNextPage endCursor } nodes { elementId element kind fields before after }",
    page="nodes",
)
ENTITY = Operation(
    "query",
    "entity",
    {"name": "String!", "tenantId": "String", "projectId": "String", "at": "At"},
    selection="id entityId tenantId projectId canonical canonicalNorm kind createdAt updatedAt",
)
ENTITIES = Operation(
    "query",
    "entities",
    {
        "tenantId": "String",
        "projectId": "String",
        "kind": "String",
        "search": "String",
        "nodeId": "ID",
        "first": "Int",
        "after": "String",
        "at": "At",
    },
    selection=(
        "pageInfo { hasNextPage endCursor } nodes { id entityId tenantId projectId canonical canonicalNorm "
        "kind createdAt updatedAt }"
    ),
    page="nodes",
)
PREDICATES = Operation(
    "query",
    "predicates",
    {
        "tenantId": "String",
        "projectId": "String",
        "status": "PredicateStatus",
        "at": "At",
        "first": "Int",
        "after": "ID",
    },
    selection=(
        "id predicateId scopeKey level tenantId projectId canonical canonicalNorm cardinality status "
        "createdAt updatedAt"
    ),
)
RESOLVE_PREDICATE = Operation(
    "query",
    "resolvePredicate",
    {"alias": "String!", "tenantId": "String", "projectId": "String", "at": "At"},
    selection=(
        "id predicateId scopeKey level tenantId projectId canonical canonicalNorm cardinality status "
        "createdAt updatedAt"
    ),
)
ACTIVE_FACTS = Operation(
    "query",
    "activeFacts",
    {
        "scope": "String!",
        "subject": "EntityRef!",
        "asOf": "DateTime",
        "tenantId": "String",
        "projectId": "String",
        "at": "At",
        "first": "Int",
        "after": "ID",
    },
    selection=(
        "factId subject { entityId canonical } predicate objectEntity { entityId canonical } objectValue "
        "scope validFrom validTo active"
    ),
)
FACTS = Operation(
    "query",
    "facts",
    {
        "tenantId": "String",
        "projectId": "String",
        "scope": "String",
        "subject": "EntityRef",
        "predicate": "String",
        "object": "EntityRef",
        "objectValue": "String",
        "noteId": "ID",
        "asOf": "DateTime",
        "includeInactive": "Boolean!",
        "evidencedOnly": "Boolean!",
        "first": "Int",
        "after": "String",
        "at": "At",
    },
    selection=(
        "pageInfo { hasNextPage endCursor } nodes { factId subject { entityId canonical } predicate "
        "objectEntity { entityId canonical } objectValue scope validFrom validTo active }"
    ),
    page="nodes",
)
FACT_TIMELINE = Operation(
    "query",
    "factTimeline",
    {
        "subject": "EntityRef!",
        "predicate": "String",
        "tenantId": "String",
        "projectId": "String",
        "at": "At",
        "first": "Int",
        "after": "ID",
    },
    selection=(
        "factId subject { entityId canonical } predicate objectEntity { entityId canonical } objectValue "
        "scope validFrom validTo active"
    ),
)
WHY_FACT = Operation(
    "query",
    "whyFact",
    {"factId": "ID!", "at": "At"},
    selection=(
        "fact { factId subject { entityId canonical } predicate objectEntity { entityId canonical } "
        "objectValue scope validFrom validTo active } notes { id noteId tenantId projectId agentId scope "
        "text source createdAt } replaced { supersession { supersessionId fromFact { factId subject { "
        "entityId canonical } predicate objectEntity { entityId canonical } objectValue scope validFrom "
        "validTo active } toFact { factId subject { entityId canonical } predicate objectEntity { entityId "
        "canonical } objectValue scope validFrom validTo active } note { id noteId tenantId projectId "
        "agentId scope text source createdAt } effectiveAt createdAt } fact { factId subject { entityId "
        "canonical } predicate objectEntity { entityId canonical } objectValue scope validFrom validTo "
        "active } } replacedBy { supersession { supersessionId fromFact { factId subject { entityId "
        "canonical } predicate objectEntity { entityId canonical } objectValue scope validFrom validTo "
        "active } toFact { factId subject { entityId canonical } predicate objectEntity { entityId canonical "
        "} objectValue scope validFrom validTo active } note { id noteId tenantId projectId agentId scope "
        "text source createdAt } effectiveAt createdAt } fact { factId subject { entityId canonical } "
        "predicate objectEntity { entityId canonical } objectValue scope validFrom validTo active } } "
        "invalidationReason events { id eventId seq timestamp hidden type elementId version data by }"
    ),
)
FACT_REPORT = Operation(
    "query",
    "factReport",
    {
        "subject": "EntityRef!",
        "asOf": "DateTime",
        "scopes": "[String!]",
        "limit": "Int!",
        "tenantId": "String",
        "projectId": "String",
        "at": "At",
    },
    selection=(
        "subject { id entityId tenantId projectId canonical canonicalNorm kind createdAt updatedAt } asOf "
        "facts { fact { factId subject { entityId canonical } predicate objectEntity { entityId canonical } "
        "objectValue scope validFrom validTo active } state markers } counts { current historical future "
        "sourced inferred stale superseded ambiguous evidence } topics links { from to factId } truncated"
    ),
)
ASK_FACTS = Operation(
    "query",
    "askFacts",
    {
        "subject": "EntityRef!",
        "predicate": "String",
        "scopes": "[String!]",
        "asOf": "DateTime",
        "limit": "Int!",
        "tenantId": "String",
        "projectId": "String",
        "at": "At",
    },
    selection=(
        "asOf subject { id entityId tenantId projectId canonical canonicalNorm kind createdAt updatedAt } "
        "predicate { id predicateId scopeKey level tenantId projectId canonical canonicalNorm cardinality "
        "status createdAt updatedAt } scopes facts { fact { factId subject { entityId canonical } predicate "
        "objectEntity { entityId canonical } objectValue scope validFrom validTo active } noteIds } "
        "truncated account { queried returned limit }"
    ),
)
ENTITY_NEIGHBORHOOD = Operation(
    "query",
    "entityNeighborhood",
    {"entityId": "ID!", "depth": "Int!", "asOf": "DateTime", "at": "At", "first": "Int", "after": "ID"},
    selection=(
        "entity { id entityId tenantId projectId canonical canonicalNorm kind createdAt updatedAt } depth "
        "via { factId subject { entityId canonical } predicate objectEntity { entityId canonical } "
        "objectValue scope validFrom validTo active }"
    ),
)
DUPLICATE_ENTITIES = Operation(
    "query",
    "duplicateEntities",
    {"tenantId": "String", "projectId": "String", "limit": "Int!"},
    selection=(
        "first { id entityId tenantId projectId canonical canonicalNorm kind createdAt updatedAt } second { "
        "id entityId tenantId projectId canonical canonicalNorm kind createdAt updatedAt } reason"
    ),
)
MERGE_PREVIEW = Operation(
    "query",
    "mergePreview",
    {"keepId": "ID!", "mergeId": "ID!"},
    selection=(
        "keep { id entityId tenantId projectId canonical canonicalNorm kind createdAt updatedAt } merge { id "
        "entityId tenantId projectId canonical canonicalNorm kind createdAt updatedAt } moved { factId "
        "subject { entityId canonical } predicate objectEntity { entityId canonical } objectValue scope "
        "validFrom validTo active } folded { fact { factId subject { entityId canonical } predicate "
        "objectEntity { entityId canonical } objectValue scope validFrom validTo active } into { factId "
        "subject { entityId canonical } predicate objectEntity { entityId canonical } objectValue scope "
        "validFrom validTo active } } conflicts { factId subject { entityId canonical } predicate "
        "objectEntity { entityId canonical } objectValue scope validFrom validTo active } aliases"
    ),
)
ONTOLOGY = Operation(
    "query",
    "ontology",
    {"name": "String!", "at": "At"},
    selection="id name nodeTypes enforcement createdAt yaml jsonSchema",
)
ONTOLOGIES = Operation(
    "query",
    "ontologies",
    {"at": "At", "first": "Int", "after": "String"},
    selection="id name nodeTypes enforcement createdAt yaml jsonSchema",
)
VALIDATE_CONNECTION = Operation(
    "query",
    "validateConnection",
    {
        "connectionType": "String!",
        "fromNodeType": "String!",
        "toNodeType": "String!",
        "ontology": "String!",
        "at": "At",
    },
    selection="valid code message",
)
CONNECTED_NODES = Operation(
    "query",
    "connectedNodes",
    {"nodeId": "ID!", "connectionType": "String", "direction": "Direction!", "at": "At", "first": "Int", "after": "ID"},
    selection="id type label properties data created modified version",
)
SEARCH_CONTENT = Operation(
    "query",
    "searchContent",
    {"query": "String!", "nodeType": "String", "limit": "Int!", "at": "At"},
    selection="id type label properties data created modified version",
)
CYPHER = Operation(
    "query",
    "cypher",
    {"query": "String!", "params": "JSON", "limit": "Int", "view": "CypherView!", "at": "At"},
    selection="columns rows truncated explanation durationMs notifications { code message line column }",
)
ACTOR_TYPES = Operation(
    "query",
    "actorTypes",
    {},
    selection="type messages",
)
CHILD_TASKS = Operation(
    "query",
    "childTasks",
    {"id": "ID!", "at": "At", "first": "Int", "after": "ID"},
    selection="id type label properties data created modified version",
)
DEPENDENCIES = Operation(
    "query",
    "dependencies",
    {"id": "ID!", "at": "At", "first": "Int", "after": "ID"},
    selection="id type label properties data created modified version",
)
PROGRAM = Operation(
    "query",
    "program",
    {"id": "Int!", "at": "At"},
    selection=(
        "id programId name description program dsl ownerId statementCount operationCount sha256 createdAt updatedAt"
    ),
)
PROGRAMS = Operation(
    "query",
    "programs",
    {"search": "String", "first": "Int", "after": "String", "at": "At"},
    selection=(
        "pageInfo { hasNextPage endCursor } nodes { id programId name description program dsl ownerId "
        "statementCount operationCount sha256 createdAt updatedAt }"
    ),
    page="nodes",
)
VALIDATE_PROGRAM = Operation(
    "query",
    "validateProgram",
    {"program": "JSON", "dsl": "String"},
    selection=(
        "valid errors { ruleId severity statement field message path } warnings { ruleId severity statement "
        "field message path } operationCount"
    ),
)
PARSE_PROGRAM = Operation(
    "query",
    "parseProgram",
    {"dsl": "String!"},
)
PRINT_PROGRAM = Operation(
    "query",
    "printProgram",
    {"program": "JSON!"},
)
COMPILE_BLOCKS = Operation(
    "query",
    "compileBlocks",
    {"blocks": "JSON!"},
)
PROGRAM_BLOCKS = Operation(
    "query",
    "programBlocks",
    {"program": "JSON!"},
)
MIGRATE_EXPLORATION = Operation(
    "query",
    "migrateExploration",
    {"exploration": "JSON!"},
)
EXECUTE_PROGRAM = Operation(
    "query",
    "executeProgram",
    {"program": "JSON", "dsl": "String", "programId": "Int", "params": "JSON", "view": "CypherView!", "at": "At"},
    selection=(
        "result { nodes { conceptId label ontology description properties node { id type label properties "
        "data created modified version } } links { fromId toId relationshipType category confidence "
        "groundingStrength properties } } log { statement path op operationType branchTaken nodesAffected "
        "linksAffected wSize { nodes links } durationMs } aborted { program statement reason }"
    ),
)
EXECUTE_DECK = Operation(
    "query",
    "executeDeck",
    {"deck": "[DeckEntryInput!]!", "view": "CypherView!", "at": "At"},
    selection=(
        "result { nodes { conceptId label ontology description properties node { id type label properties "
        "data created modified version } } links { fromId toId relationshipType category confidence "
        "groundingStrength properties } } programs { result { nodes { conceptId label ontology description "
        "properties node { id type label properties data created modified version } } links { fromId toId "
        "relationshipType category confidence groundingStrength properties } } log { statement path op "
        "operationType branchTaken nodesAffected linksAffected wSize { nodes links } durationMs } aborted { "
        "program statement reason } } aborted { program statement reason }"
    ),
)
API_KEYS = Operation(
    "query",
    "apiKeys",
    {"first": "Int", "after": "String"},
    selection=(
        "pageInfo { hasNextPage endCursor } nodes { id name user roles tenant project agent createdAt "
        "expiresAt revokedAt works }"
    ),
    page="nodes",
)
WEBHOOKS = Operation(
    "query",
    "webhooks",
    {"first": "Int", "after": "String"},
    selection=(
        "pageInfo { hasNextPage endCursor } nodes { id name url filter tenant user project agent seq "
        "createdAt pausedAt pauseReason deadLetters { seq attempts error failedAt } }"
    ),
    page="nodes",
)
RECALL = Operation(
    "query",
    "recall",
    {
        "query": "String!",
        "budgetTokens": "Int!",
        "asOf": "DateTime",
        "at": "At",
        "scopes": "[String!]",
        "kinds": "[RecallKind!]",
        "first": "Int!",
    },
    selection=(
        "items { kind id text score why validFrom validTo scope evidence { noteId text } } entities { id "
        "entityId tenantId projectId canonical canonicalNorm kind createdAt updatedAt } asOf tokens "
        "budgetTokens omitted truncated text"
    ),
)
FACT_PROPOSALS = Operation(
    "query",
    "factProposals",
    {"state": "ProposalState!", "first": "Int!", "after": "String"},
    selection=(
        "pageInfo { hasNextPage endCursor } nodes { proposalId state scope proposer noteId subject predicate "
        "objectEntity objectValue validFrom validTo decidedBy reason }"
    ),
    page="nodes",
)
VIEWER = Operation(
    "query",
    "viewer",
    {},
    selection="user roles managesKeys managesGateway tenant project agent",
)
GATEWAY = Operation(
    "query",
    "gateway",
    {},
    selection="version settings { name value origin meaning } tenants { name store events } log",
)
ADD_NODE = Operation(
    "mutation",
    "addNode",
    {"input": "AddNodeInput!"},
    selection=(
        "event { id eventId seq timestamp hidden type elementId version data by } warnings { code message id "
        "} clientMutationId node { id type label properties data created modified version }"
    ),
    key="input",
)
UPDATE_NODE = Operation(
    "mutation",
    "updateNode",
    {"input": "UpdateNodeInput!"},
    selection=(
        "event { id eventId seq timestamp hidden type elementId version data by } warnings { code message id "
        "} clientMutationId node { id type label properties data created modified version }"
    ),
    key="input",
)
UPSERT_NODE = Operation(
    "mutation",
    "upsertNode",
    {"input": "AddNodeInput!"},
    selection=(
        "event { id eventId seq timestamp hidden type elementId version data by } warnings { code message id "
        "} clientMutationId node { id type label properties data created modified version }"
    ),
    key="input",
)
UPSERT_EDGE = Operation(
    "mutation",
    "upsertEdge",
    {"input": "UpsertEdgeInput!"},
    selection=(
        "event { id eventId seq timestamp hidden type elementId version data by } warnings { code message id "
        "} clientMutationId edge { id type from to weight properties created modified version }"
    ),
    key="input",
)
DELETE_NODE = Operation(
    "mutation",
    "deleteNode",
    {"input": "DeleteInput!"},
    selection=(
        "deletedId deletedEdgeIds events { id eventId seq timestamp hidden type elementId version data by } "
        "warnings { code message id } clientMutationId"
    ),
    key="input",
)
ADD_EDGE = Operation(
    "mutation",
    "addEdge",
    {"input": "AddEdgeInput!"},
    selection=(
        "event { id eventId seq timestamp hidden type elementId version data by } warnings { code message id "
        "} clientMutationId edge { id type from to weight properties created modified version }"
    ),
    key="input",
)
UPDATE_EDGE = Operation(
    "mutation",
    "updateEdge",
    {"input": "UpdateEdgeInput!"},
    selection=(
        "event { id eventId seq timestamp hidden type elementId version data by } warnings { code message id "
        "} clientMutationId edge { id type from to weight properties created modified version }"
    ),
    key="input",
)
DELETE_EDGE = Operation(
    "mutation",
    "deleteEdge",
    {"input": "DeleteInput!"},
    selection=(
        "deletedId deletedEdgeIds events { id eventId seq timestamp hidden type elementId version data by } "
        "warnings { code message id } clientMutationId"
    ),
    key="input",
)
DELETE = Operation(
    "mutation",
    "delete",
    {"input": "DeleteInput!"},
    selection=(
        "deletedId deletedEdgeIds events { id eventId seq timestamp hidden type elementId version data by } "
        "warnings { code message id } clientMutationId"
    ),
    key="input",
)
APPLY_BATCH = Operation(
    "mutation",
    "applyBatch",
    {"operations": "[BatchOperation!]!", "idempotencyKey": "String"},
    selection=(
        "elements { __typename ... on GraphNode { id type label properties data created modified version } "
        "... on GraphEdge { id type from to weight properties created modified version } } deletedIds events "
        "{ id eventId seq timestamp hidden type elementId version data by } warnings { code message id }"
    ),
    key="argument",
)
REVERT_ELEMENT = Operation(
    "mutation",
    "revertElement",
    {"id": "ID!", "version": "Int!", "expectedVersion": "Int", "idempotencyKey": "String"},
    selection=(
        "elements { __typename ... on GraphNode { id type label properties data created modified version } "
        "... on GraphEdge { id type from to weight properties created modified version } } deletedIds events "
        "{ id eventId seq timestamp hidden type elementId version data by } warnings { code message id }"
    ),
    key="argument",
)
CLEAR_SCOPE = Operation(
    "mutation",
    "clearScope",
    {"scope": "Scope!", "force": "Boolean!", "idempotencyKey": "String"},
    selection="scope deletedNodeIds deletedEdgeIds",
    key="argument",
)
LOAD_DEMO = Operation(
    "mutation",
    "loadDemo",
    {"force": "Boolean!", "idempotencyKey": "String"},
    selection="nodes edges events warnings { code message id }",
    key="argument",
)
IMPORT_GRAPH = Operation(
    "mutation",
    "importGraph",
    {"graph": "JSON!", "onConflict": "String!", "idempotencyKey": "String"},
    selection="nodes edges events warnings { code message id }",
    key="argument",
)
SNAPSHOT = Operation(
    "mutation",
    "snapshot",
    {},
    selection=(
        "snapshot { timestamp eventCount lastEventId nodeCount edgeCount stats { nodes edges types "
        "properties events nodeTypes { type count } edgeTypes { type count } } }"
    ),
)
UNDO = Operation(
    "mutation",
    "undo",
    {"input": "UndoInput!", "preview": "Boolean!", "idempotencyKey": "String"},
    selection=(
        "done changes { elementId element kind fields before after } conflicts { seq elementId message } "
        "events { id eventId seq timestamp hidden type elementId version data by } warnings { code message "
        "id }"
    ),
    key="argument",
)
UPSERT_ENTITY = Operation(
    "mutation",
    "upsertEntity",
    {"input": "UpsertEntityInput!"},
    selection=(
        "entity { id entityId tenantId projectId canonical canonicalNorm kind createdAt updatedAt } created "
        "clientMutationId"
    ),
    key="input",
)
ADD_ENTITY_ALIAS = Operation(
    "mutation",
    "addEntityAlias",
    {"entityId": "ID!", "alias": "String!", "idempotencyKey": "String"},
    selection=(
        "entity { id entityId tenantId projectId canonical canonicalNorm kind createdAt updatedAt } created "
        "clientMutationId"
    ),
    key="argument",
)
RENAME_ENTITY = Operation(
    "mutation",
    "renameEntity",
    {"entityId": "ID!", "name": "String!", "idempotencyKey": "String"},
    selection=(
        "entity { id entityId tenantId projectId canonical canonicalNorm kind createdAt updatedAt } created "
        "clientMutationId"
    ),
    key="argument",
)
DELETE_ENTITY = Operation(
    "mutation",
    "deleteEntity",
    {"entityId": "ID!", "force": "Boolean!", "idempotencyKey": "String"},
    key="argument",
)
MERGE_ENTITIES = Operation(
    "mutation",
    "mergeEntities",
    {"keepId": "ID!", "mergeId": "ID!", "idempotencyKey": "String"},
    selection=(
        "entity { id entityId tenantId projectId canonical canonicalNorm kind createdAt updatedAt } mergedId "
        "events { id eventId seq timestamp hidden type elementId version data by }"
    ),
    key="argument",
)
UNMERGE_ENTITY = Operation(
    "mutation",
    "unmergeEntity",
    {"entityId": "ID!", "idempotencyKey": "String"},
    selection=(
        "entity { id entityId tenantId projectId canonical canonicalNorm kind createdAt updatedAt } created "
        "clientMutationId"
    ),
    key="argument",
)
KEEP_ENTITIES_APART = Operation(
    "mutation",
    "keepEntitiesApart",
    {"entityId": "ID!", "otherId": "ID!", "idempotencyKey": "String"},
    key="argument",
)
REGISTER_PREDICATE = Operation(
    "mutation",
    "registerPredicate",
    {"input": "RegisterPredicateInput!"},
    selection=(
        "predicate { id predicateId scopeKey level tenantId projectId canonical canonicalNorm cardinality "
        "status createdAt updatedAt } created conflicts { factId subject { entityId canonical } predicate "
        "objectEntity { entityId canonical } objectValue scope validFrom validTo active } clientMutationId"
    ),
    key="input",
)
CONFIGURE_PREDICATE = Operation(
    "mutation",
    "configurePredicate",
    {"input": "ConfigurePredicateInput!"},
    selection=(
        "predicate { id predicateId scopeKey level tenantId projectId canonical canonicalNorm cardinality "
        "status createdAt updatedAt } created conflicts { factId subject { entityId canonical } predicate "
        "objectEntity { entityId canonical } objectValue scope validFrom validTo active } clientMutationId"
    ),
    key="input",
)
DELETE_PREDICATE = Operation(
    "mutation",
    "deletePredicate",
    {"id": "ID!", "idempotencyKey": "String"},
    key="argument",
)
ADD_NOTE = Operation(
    "mutation",
    "addNote",
    {
        "text": "String!",
        "source": "String",
        "scope": "String",
        "tenantId": "String",
        "projectId": "String",
        "agentId": "String",
        "id": "UUID",
        "idempotencyKey": "String",
    },
    selection="note { id noteId tenantId projectId agentId scope text source createdAt }",
    key="argument",
)
DELETE_NOTE = Operation(
    "mutation",
    "deleteNote",
    {"noteId": "ID!", "idempotencyKey": "String"},
    key="argument",
)
ADD_FACT = Operation(
    "mutation",
    "addFact",
    {"input": "AddFactInput!"},
    selection=(
        "fact { factId subject { entityId canonical } predicate objectEntity { entityId canonical } "
        "objectValue scope validFrom validTo active } created evidenceAdded superseded { factId subject { "
        "entityId canonical } predicate objectEntity { entityId canonical } objectValue scope validFrom "
        "validTo active } warnings { code message id } clientMutationId"
    ),
    key="input",
)
INVALIDATE_FACT = Operation(
    "mutation",
    "invalidateFact",
    {"factId": "ID!", "validTo": "DateTime", "reason": "String", "idempotencyKey": "String"},
    selection=(
        "fact { factId subject { entityId canonical } predicate objectEntity { entityId canonical } "
        "objectValue scope validFrom validTo active } created evidenceAdded superseded { factId subject { "
        "entityId canonical } predicate objectEntity { entityId canonical } objectValue scope validFrom "
        "validTo active } warnings { code message id } clientMutationId"
    ),
    key="argument",
)
DELETE_FACT = Operation(
    "mutation",
    "deleteFact",
    {"factId": "ID!", "idempotencyKey": "String", "reopen": "Boolean!"},
    key="argument",
)
CORRECT_FACT = Operation(
    "mutation",
    "correctFact",
    {"input": "CorrectFactInput!"},
    selection=(
        "fact { factId subject { entityId canonical } predicate objectEntity { entityId canonical } "
        "objectValue scope validFrom validTo active } before { factId subject { entityId canonical } "
        "predicate objectEntity { entityId canonical } objectValue scope validFrom validTo active } reopened "
        "{ factId subject { entityId canonical } predicate objectEntity { entityId canonical } objectValue "
        "scope validFrom validTo active } warnings { code message id }"
    ),
    key="input",
)
INGEST = Operation(
    "mutation",
    "ingest",
    {"input": "IngestInput!"},
    selection=(
        "notes { id noteId tenantId projectId agentId scope text source createdAt } facts { factId subject { "
        "entityId canonical } predicate objectEntity { entityId canonical } objectValue scope validFrom "
        "validTo active } proposals { proposalId state scope proposer noteId subject predicate objectEntity "
        "objectValue validFrom validTo decidedBy reason } created events { id eventId seq timestamp hidden "
        "type elementId version data by } warnings { code message id } clientMutationId"
    ),
    key="input",
)
APPROVE_PROPOSAL = Operation(
    "mutation",
    "approveProposal",
    {"proposalId": "ID!", "idempotencyKey": "String"},
    selection=(
        "proposal { proposalId state scope proposer noteId subject predicate objectEntity objectValue "
        "validFrom validTo decidedBy reason } fact { factId subject { entityId canonical } predicate "
        "objectEntity { entityId canonical } objectValue scope validFrom validTo active } warnings { code "
        "message id }"
    ),
    key="argument",
)
REJECT_PROPOSAL = Operation(
    "mutation",
    "rejectProposal",
    {"proposalId": "ID!", "reason": "String", "idempotencyKey": "String"},
    selection=(
        "proposal { proposalId state scope proposer noteId subject predicate objectEntity objectValue "
        "validFrom validTo decidedBy reason } fact { factId subject { entityId canonical } predicate "
        "objectEntity { entityId canonical } objectValue scope validFrom validTo active } warnings { code "
        "message id }"
    ),
    key="argument",
)
EDIT_PROPOSAL = Operation(
    "mutation",
    "editProposal",
    {"input": "EditProposalInput!"},
    selection=(
        "proposal { proposalId state scope proposer noteId subject predicate objectEntity objectValue "
        "validFrom validTo decidedBy reason } fact { factId subject { entityId canonical } predicate "
        "objectEntity { entityId canonical } objectValue scope validFrom validTo active } warnings { code "
        "message id }"
    ),
    key="input",
)
CREATE_ONTOLOGY = Operation(
    "mutation",
    "createOntology",
    {"input": "CreateOntologyInput!"},
    selection=(
        "ontology { id name nodeTypes enforcement createdAt yaml jsonSchema } warnings { code message id } "
        "clientMutationId"
    ),
    key="input",
)
ADD_NODE_TYPE = Operation(
    "mutation",
    "addNodeType",
    {
        "typeName": "String!",
        "ontology": "String!",
        "properties": "[PropertyDefinitionInput!]",
        "idempotencyKey": "String",
    },
    selection=(
        "ontology { id name nodeTypes enforcement createdAt yaml jsonSchema } warnings { code message id } "
        "clientMutationId"
    ),
    key="argument",
)
ADD_CONNECTION_TYPE = Operation(
    "mutation",
    "addConnectionType",
    {
        "type": "ConnectionTypeInput!",
        "ontology": "String!",
        "properties": "[PropertyDefinitionInput!]",
        "idempotencyKey": "String",
    },
    selection=(
        "ontology { id name nodeTypes enforcement createdAt yaml jsonSchema } warnings { code message id } "
        "clientMutationId"
    ),
    key="argument",
)
ADD_PROPERTY_DEFINITIONS = Operation(
    "mutation",
    "addPropertyDefinitions",
    {"input": "TypePropertiesInput!", "ontology": "String!", "idempotencyKey": "String"},
    selection=(
        "ontology { id name nodeTypes enforcement createdAt yaml jsonSchema } warnings { code message id } "
        "clientMutationId"
    ),
    key="argument",
)
SET_ONTOLOGY_ENFORCEMENT = Operation(
    "mutation",
    "setOntologyEnforcement",
    {"enforcement": "Enforcement!", "ontology": "String!", "idempotencyKey": "String"},
    selection=(
        "ontology { id name nodeTypes enforcement createdAt yaml jsonSchema } warnings { code message id } "
        "clientMutationId"
    ),
    key="argument",
)
CREATE_MEMORY_NODE = Operation(
    "mutation",
    "createMemoryNode",
    {"input": "MemoryNodeInput!"},
    selection=(
        "event { id eventId seq timestamp hidden type elementId version data by } warnings { code message id "
        "} clientMutationId node { id type label properties data created modified version }"
    ),
    key="input",
)
CREATE_CONNECTION = Operation(
    "mutation",
    "createConnection",
    {"input": "ConnectionInput!"},
    selection=(
        "event { id eventId seq timestamp hidden type elementId version data by } warnings { code message id "
        "} clientMutationId edge { id type from to weight properties created modified version }"
    ),
    key="input",
)
SEND_MESSAGE = Operation(
    "mutation",
    "sendMessage",
    {"input": "SendMessageInput!"},
    selection=(
        "messageId success error payload clientMutationId node { id type label properties data created "
        "modified version }"
    ),
    key="input",
)
SAVE_PROGRAM = Operation(
    "mutation",
    "saveProgram",
    {"input": "SaveProgramInput!"},
    selection=(
        "program { id programId name description program dsl ownerId statementCount operationCount sha256 "
        "createdAt updatedAt } validation { valid errors { ruleId severity statement field message path } "
        "warnings { ruleId severity statement field message path } operationCount } clientMutationId"
    ),
    key="input",
)
UPDATE_PROGRAM = Operation(
    "mutation",
    "updateProgram",
    {"id": "Int!", "input": "SaveProgramInput!"},
    selection=(
        "program { id programId name description program dsl ownerId statementCount operationCount sha256 "
        "createdAt updatedAt } validation { valid errors { ruleId severity statement field message path } "
        "warnings { ruleId severity statement field message path } operationCount } clientMutationId"
    ),
    key="input",
)
INSTALL_READY_PROGRAMS = Operation(
    "mutation",
    "installReadyPrograms",
    {},
    selection=(
        "id programId name description program dsl ownerId statementCount operationCount sha256 createdAt updatedAt"
    ),
)
DELETE_PROGRAM = Operation(
    "mutation",
    "deleteProgram",
    {"id": "Int!", "idempotencyKey": "String"},
    key="argument",
)
CREATE_API_KEY = Operation(
    "mutation",
    "createApiKey",
    {"input": "CreateApiKeyInput!"},
    selection=(
        "apiKey { id name user roles tenant project agent createdAt expiresAt revokedAt works } token clientMutationId"
    ),
    key="input",
)
REVOKE_API_KEY = Operation(
    "mutation",
    "revokeApiKey",
    {"input": "RevokeApiKeyInput!"},
    selection=(
        "apiKey { id name user roles tenant project agent createdAt expiresAt revokedAt works } token clientMutationId"
    ),
    key="input",
)
CREATE_WEBHOOK = Operation(
    "mutation",
    "createWebhook",
    {"input": "CreateWebhookInput!"},
    selection=(
        "webhook { id name url filter tenant user project agent seq createdAt pausedAt pauseReason "
        "deadLetters { seq attempts error failedAt } } secret clientMutationId"
    ),
    key="input",
)
PAUSE_WEBHOOK = Operation(
    "mutation",
    "pauseWebhook",
    {"input": "ManageWebhookInput!"},
    selection=(
        "webhook { id name url filter tenant user project agent seq createdAt pausedAt pauseReason "
        "deadLetters { seq attempts error failedAt } } secret clientMutationId"
    ),
    key="input",
)
RESUME_WEBHOOK = Operation(
    "mutation",
    "resumeWebhook",
    {"input": "ManageWebhookInput!"},
    selection=(
        "webhook { id name url filter tenant user project agent seq createdAt pausedAt pauseReason "
        "deadLetters { seq attempts error failedAt } } secret clientMutationId"
    ),
    key="input",
)
DELETE_WEBHOOK = Operation(
    "mutation",
    "deleteWebhook",
    {"input": "ManageWebhookInput!"},
    selection=(
        "webhook { id name url filter tenant user project agent seq createdAt pausedAt pauseReason "
        "deadLetters { seq attempts error failedAt } } secret clientMutationId"
    ),
    key="input",
)
REWIND_WEBHOOK = Operation(
    "mutation",
    "rewindWebhook",
    {"input": "RewindWebhookInput!"},
    selection=(
        "webhook { id name url filter tenant user project agent seq createdAt pausedAt pauseReason "
        "deadLetters { seq attempts error failedAt } } secret clientMutationId"
    ),
    key="input",
)
REDELIVER_WEBHOOK = Operation(
    "mutation",
    "redeliverWebhook",
    {"input": "ManageWebhookInput!"},
    selection="delivered left clientMutationId",
    key="input",
)
WATCH_EVENTS = Operation(
    "subscription",
    "events",
    {"types": "[EventType!]", "afterSeq": "Position"},
    selection="id eventId seq timestamp hidden type elementId version data by",
    position="seq",
)
WATCH_ELEMENT_CHANGED = Operation(
    "subscription",
    "elementChanged",
    {"id": "ID!", "afterSeq": "Position"},
    selection="id eventId seq timestamp hidden type elementId version data by",
    position="seq",
)
WATCH_NODES_CHANGED = Operation(
    "subscription",
    "nodesChanged",
    {"filter": "NodeFilter", "afterSeq": "Position"},
    selection="id eventId seq timestamp hidden type elementId version data by",
    position="seq",
)
WATCH_EDGES_CHANGED = Operation(
    "subscription",
    "edgesChanged",
    {"filter": "EdgeFilter", "afterSeq": "Position"},
    selection="id eventId seq timestamp hidden type elementId version data by",
    position="seq",
)
WATCH_FACTS_CHANGED = Operation(
    "subscription",
    "factsChanged",
    {"tenantId": "String", "projectId": "String", "subject": "EntityRef", "afterSeq": "Position"},
    selection=(
        "factId subject { entityId canonical } predicate objectEntity { entityId canonical } objectValue "
        "scope validFrom validTo active"
    ),
)
WATCH_PROGRAM_RUN = Operation(
    "subscription",
    "programRun",
    {"program": "JSON", "dsl": "String", "programId": "Int", "params": "JSON", "view": "CypherView!", "at": "At"},
    selection=(
        "step { statement path op operationType branchTaken nodesAffected linksAffected wSize { nodes links "
        "} durationMs } graph { nodes { conceptId label ontology description properties node { id type label "
        "properties data created modified version } } links { fromId toId relationshipType category "
        "confidence groundingStrength properties } } result { result { nodes { conceptId label ontology "
        "description properties node { id type label properties data created modified version } } links { "
        "fromId toId relationshipType category confidence groundingStrength properties } } log { statement "
        "path op operationType branchTaken nodesAffected linksAffected wSize { nodes links } durationMs } "
        "aborted { program statement reason } }"
    ),
)
WATCH_VERIFY_RUN = Operation(
    "subscription",
    "verifyRun",
    {},
    selection="eventsChecked events report { ok eventsChecked digest problems { code message id } }",
)
