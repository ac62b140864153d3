"""The types of the schema; an answer has those of their keys that were asked for.

Made by `python -m ugs_client.codegen` from the schema of the gateway: not edited by hand.
"""

from datetime import datetime
from typing import Any, Literal, Required, TypedDict, Union
from uuid import UUID

Abort = TypedDict(
    "Abort",
    {
        "program": "int | None",
        "statement": "int",
        "reason": "str",
        "__typename": "str",
    },
    total=False,
)
"""Why and where a program stopped"""


ActorType = TypedDict(
    "ActorType",
    {
        "type": "str",
        "messages": "list[str]",
        "__typename": "str",
    },
    total=False,
)
"""A node type with the messages that its nodes handle"""


AddEdgeInput = TypedDict(
    "AddEdgeInput",
    {
        "from": "Required[str]",
        "to": "Required[str]",
        "id": "str | None",
        "type": "str | None",
        "weight": "Required[float]",
        "properties": "Any",
        "endpointPolicy": "Required[EndpointPolicy]",
        "expectedVersion": "int | None",
        "idempotencyKey": "str | None",
        "clientMutationId": "str | None",
    },
    total=False,
)
"""A new edge"""


class AddFactInput(TypedDict, total=False):
    scope: "Required[str]"
    subject: "Required[EntityRef]"
    predicate: "Required[str]"
    notes: "Required[list[NoteInput]]"
    objectEntity: "EntityRef | None"
    objectValue: "str | None"
    validFrom: "str | datetime | None"
    validTo: "str | datetime | None"
    tenantId: "str | None"
    projectId: "str | None"
    agentId: "str | None"
    idempotencyKey: "str | None"
    clientMutationId: "str | None"


"""A fact to assert, with the notes that say so"""


class AddNodeInput(TypedDict, total=False):
    id: "str | None"
    type: "str | None"
    properties: "Any"
    data: "Any"
    content: "ContentInput | None"
    expectedVersion: "int | None"
    idempotencyKey: "str | None"
    clientMutationId: "str | None"


"""A new node"""


AnswerAccount = TypedDict(
    "AnswerAccount",
    {
        "queried": "int",
        "returned": "int",
        "limit": "int",
        "__typename": "str",
    },
    total=False,
)
"""How an answer was found"""


AnsweredFact = TypedDict(
    "AnsweredFact",
    {
        "fact": "Fact",
        "noteIds": "list[str]",
        "__typename": "str",
    },
    total=False,
)
"""A fact of an answer, with the notes behind it"""


ApiKey = TypedDict(
    "ApiKey",
    {
        "id": "str",
        "name": "str",
        "user": "str",
        "roles": "list[Role]",
        "tenant": "str",
        "project": "str",
        "agent": "str",
        "createdAt": "str",
        "expiresAt": "str | None",
        "revokedAt": "str | None",
        "works": "bool",
        "__typename": "str",
    },
    total=False,
)
"""A key that lets somebody in; the key itself was shown once, when it was made"""


ApiKeyConnection = TypedDict(
    "ApiKeyConnection",
    {
        "edges": "list[ApiKeyEdge]",
        "pageInfo": "PageInfo",
        "totalCount": "int",
        "nodes": "list[ApiKey]",
        "__typename": "str",
    },
    total=False,
)
"""A page of keys, oldest first"""


ApiKeyEdge = TypedDict(
    "ApiKeyEdge",
    {
        "cursor": "str",
        "node": "ApiKey",
        "__typename": "str",
    },
    total=False,
)
"""A key on a page, with the cursor behind it"""


ApiKeyPayload = TypedDict(
    "ApiKeyPayload",
    {
        "apiKey": "ApiKey",
        "token": "str | None",
        "clientMutationId": "str | None",
        "__typename": "str",
    },
    total=False,
)
"""What was done to a key"""


class At(TypedDict, total=False):
    position: "int | None"
    instant: "str | datetime | None"


"""Where in time to read: now when omitted"""


BackendInfo = TypedDict(
    "BackendInfo",
    {
        "name": "str",
        "kind": "str",
        "version": "str | None",
        "state": "SystemState",
        "capabilities": "list[str]",
        "__typename": "str",
    },
    total=False,
)
"""What keeps the data"""


class BatchOperation(TypedDict, total=False):
    addNode: "AddNodeInput | None"
    updateNode: "UpdateNodeInput | None"
    deleteNode: "DeleteInput | None"
    addEdge: "AddEdgeInput | None"
    updateEdge: "UpdateEdgeInput | None"
    deleteEdge: "DeleteInput | None"
    upsertNode: "AddNodeInput | None"
    upsertEdge: "UpsertEdgeInput | None"


"""One step of a batch; `$name` as an id stands for one that is generated"""


BatchPayload = TypedDict(
    "BatchPayload",
    {
        "elements": "list[GraphElement]",
        "deletedIds": "list[str]",
        "events": "list[Event]",
        "warnings": "list[Warning]",
        "__typename": "str",
    },
    total=False,
)
"""What a batch did"""


BatchProgramResult = TypedDict(
    "BatchProgramResult",
    {
        "result": "WorkingGraph",
        "programs": "list[ProgramResult]",
        "aborted": "Abort | None",
        "__typename": "str",
    },
    total=False,
)
"""What a deck of programs left behind"""


Branch = Literal["THEN", "ELSE"]

Cardinality = Literal["SINGLE", "MULTI"]

ChainStep = TypedDict(
    "ChainStep",
    {
        "supersession": "Supersession",
        "fact": "Fact",
        "__typename": "str",
    },
    total=False,
)
"""A step in the chain of facts that took each other's place"""


class ChangeFilter(TypedDict, total=False):
    kinds: "list[ChangeKind] | None"
    element: "ElementKind | None"
    types: "list[str | None] | None"
    ids: "list[str] | None"


"""Which changes are wanted; what is left out does not matter"""


ChangeKind = Literal["ADDED", "CHANGED", "REMOVED"]

ClearScopePayload = TypedDict(
    "ClearScopePayload",
    {
        "scope": "Scope",
        "deletedNodeIds": "list[str]",
        "deletedEdgeIds": "list[str]",
        "__typename": "str",
    },
    total=False,
)
"""A scope that was emptied"""


class ConfigurePredicateInput(TypedDict, total=False):
    id: "str | None"
    predicate: "str | None"
    tenantId: "str | None"
    projectId: "str | None"
    status: "PredicateStatus | None"
    cardinality: "Cardinality | None"
    canonical: "str | None"
    addAliases: "list[str] | None"
    expectedStatus: "PredicateStatus | None"
    expectedCardinality: "Cardinality | None"
    resolveConflicts: "Required[ConflictResolution]"
    idempotencyKey: "str | None"
    clientMutationId: "str | None"


"""New settings of a predicate; what is left out stays as it is"""


ConflictResolution = Literal["NONE", "KEEP_LATEST"]

ConnectionCheck = TypedDict(
    "ConnectionCheck",
    {
        "valid": "bool",
        "code": "str | None",
        "message": "str | None",
        "__typename": "str",
    },
    total=False,
)
"""Whether a connection would be allowed"""


class ConnectionInput(TypedDict, total=False):
    type: "Required[str]"
    fromNodeId: "Required[str]"
    toNodeId: "Required[str]"
    properties: "Any"
    content: "str | None"
    ontology: "Required[str]"
    idempotencyKey: "str | None"
    clientMutationId: "str | None"


"""A connection between two nodes that exist"""


ConnectionType = TypedDict(
    "ConnectionType",
    {
        "name": "str",
        "fromTypes": "list[str]",
        "toTypes": "list[str]",
        "requiredProperties": "list[str]",
        "acyclic": "bool",
        "__typename": "str",
    },
    total=False,
)
"""What may be connected with what"""


class ConnectionTypeInput(TypedDict, total=False):
    name: "Required[str]"
    fromTypes: "Required[list[str]]"
    toTypes: "Required[list[str]]"
    requiredProperties: "list[str] | None"
    acyclic: "Required[bool]"


"""What may be connected with what"""


Content = TypedDict(
    "Content",
    {
        "format": "str",
        "encoding": "Encoding",
        "size": "int",
        "path": "str",
        "body": "str",
        "__typename": "str",
    },
    total=False,
)
"""What a node or an edge says"""


class ContentInput(TypedDict, total=False):
    format: "Required[str]"
    body: "Required[str]"
    encoding: "Required[Encoding]"


"""What an element shall say"""


ContextFact = TypedDict(
    "ContextFact",
    {
        "fact": "Fact",
        "state": "FactState",
        "noteIds": "list[str]",
        "__typename": "str",
    },
    total=False,
)
"""A fact in the context of a note"""


class CorrectFactInput(TypedDict, total=False):
    factId: "Required[str]"
    action: "Required[CorrectionAction]"
    reason: "Required[str]"
    objectEntity: "EntityRef | None"
    objectValue: "str | None"
    at: "str | datetime | None"
    reopen: "Required[bool]"
    idempotencyKey: "str | None"


"""The correction of a fact"""


CorrectionAction = Literal["END", "REPLACE", "RETRACT"]

CorrectionPayload = TypedDict(
    "CorrectionPayload",
    {
        "fact": "Fact | None",
        "before": "Fact | None",
        "reopened": "list[Fact]",
        "warnings": "list[Warning]",
        "__typename": "str",
    },
    total=False,
)
"""What came of a correction"""


class CreateApiKeyInput(TypedDict, total=False):
    name: "Required[str]"
    roles: "Required[list[Role]]"
    user: "str | None"
    tenant: "str | None"
    project: "Required[str]"
    agent: "Required[str]"
    expiresAt: "str | datetime | None"
    idempotencyKey: "str | None"
    clientMutationId: "str | None"


"""A new key"""


class CreateOntologyInput(TypedDict, total=False):
    name: "Required[str]"
    nodeTypes: "Required[list[str]]"
    connectionTypes: "Required[list[ConnectionTypeInput]]"
    properties: "Required[list[TypePropertiesInput]]"
    yaml: "str | None"
    jsonSchema: "Any"
    enforcement: "Required[Enforcement]"
    idempotencyKey: "str | None"
    clientMutationId: "str | None"


"""A new ontology: types one by one, or all of them as YAML or JSON Schema"""


class CreateWebhookInput(TypedDict, total=False):
    url: "Required[str]"
    name: "Required[str]"
    types: "list[EventType] | None"
    element: "str | None"
    nodes: "NodeFilter | None"
    edges: "EdgeFilter | None"
    afterSeq: "int | None"
    user: "str | None"
    project: "Required[str]"
    agent: "Required[str]"
    idempotencyKey: "str | None"
    clientMutationId: "str | None"


"""A new webhook, on the graph of the caller's tenant"""


CypherNotification = TypedDict(
    "CypherNotification",
    {
        "code": "str",
        "message": "str",
        "line": "int",
        "column": "int",
        "__typename": "str",
    },
    total=False,
)
"""A remark about a query that does not change its answer"""


CypherResult = TypedDict(
    "CypherResult",
    {
        "columns": "list[str]",
        "rows": "list[Any]",
        "truncated": "bool",
        "plan": "list[CypherStep]",
        "explanation": "str | None",
        "durationMs": "float",
        "notifications": "list[CypherNotification]",
        "graph": "WorkingGraph",
        "__typename": "str",
    },
    total=False,
)
"""The answer to an openCypher query"""


CypherStep = TypedDict(
    "CypherStep",
    {
        "operator": "str",
        "details": "str",
        "depth": "int",
        "rows": "int | None",
        "statement": "str | None",
        "__typename": "str",
    },
    total=False,
)
"""One operator of a plan"""


CypherView = Literal["GRAPH", "FACTS", "ALL"]

DeadLetter = TypedDict(
    "DeadLetter",
    {
        "seq": "int",
        "attempts": "int",
        "error": "str",
        "failedAt": "str",
        "__typename": "str",
    },
    total=False,
)
"""An event that a webhook could not deliver"""


class DeckEntryInput(TypedDict, total=False):
    programId: "int | None"
    program: "Any"
    dsl: "str | None"
    params: "Any"


"""A program of a deck: one of program, dsl and programId"""


class DeleteInput(TypedDict, total=False):
    id: "Required[str]"
    expectedVersion: "int | None"
    idempotencyKey: "str | None"
    clientMutationId: "str | None"


"""An element to delete"""


DeletePayload = TypedDict(
    "DeletePayload",
    {
        "deletedId": "str",
        "deletedEdgeIds": "list[str]",
        "events": "list[Event]",
        "warnings": "list[Warning]",
        "clientMutationId": "str | None",
        "__typename": "str",
    },
    total=False,
)
"""An element that was deleted"""


Direction = Literal["OUTGOING", "INCOMING", "BOTH"]

DuplicateSuggestion = TypedDict(
    "DuplicateSuggestion",
    {
        "first": "Entity",
        "second": "Entity",
        "reason": "str",
        "__typename": "str",
    },
    total=False,
)
"""Two entities that may be one"""


EdgeField = Literal["ID", "TYPE", "FROM", "TO", "WEIGHT", "CREATED", "MODIFIED", "VERSION"]


class EdgeFieldFilter(TypedDict, total=False):
    field: "Required[EdgeField]"
    op: "Required[PropertyOp]"
    value: "Any"


"""A condition on a field of edges"""


EdgeFilter = TypedDict(
    "EdgeFilter",
    {
        "ids": "list[str] | None",
        "from": "str | None",
        "to": "str | None",
        "touching": "str | None",
        "type": "str | None",
        "types": "list[str] | None",
        "scope": "Scope | None",
        "properties": "list[PropertyFilter] | None",
        "match": "Any",
        "dangling": "bool | None",
        "minWeight": "float | None",
        "maxWeight": "float | None",
        "fields": "list[EdgeFieldFilter] | None",
        "fromNode": "NodeFilter | None",
        "toNode": "NodeFilter | None",
        "and": "list[EdgeFilter] | None",
        "or": "list[EdgeFilter] | None",
        "not": "EdgeFilter | None",
    },
    total=False,
)
"""Which edges; all conditions that are given must hold"""


class EdgeGroupKey(TypedDict, total=False):
    field: "EdgeField | None"
    property: "str | None"


"""What edges are grouped by: a field or a property"""


class EdgeOrder(TypedDict, total=False):
    field: "EdgeOrderField | None"
    property: "str | None"
    direction: "Required[SortDirection]"
    nulls: "NullsOrder | None"


"""One sort key for edges: a field or a property"""


EdgeOrderField = Literal["ID", "CREATED", "TYPE", "WEIGHT"]

EdgePayload = TypedDict(
    "EdgePayload",
    {
        "event": "Event | None",
        "warnings": "list[Warning]",
        "clientMutationId": "str | None",
        "edge": "GraphEdge",
        "__typename": "str",
    },
    total=False,
)
"""An edge that was added or changed"""


class EditProposalInput(TypedDict, total=False):
    proposalId: "Required[str]"
    subject: "str | None"
    predicate: "str | None"
    objectEntity: "str | None"
    objectValue: "str | None"
    validFrom: "str | datetime | None"
    validTo: "str | datetime | None"
    idempotencyKey: "str | None"


"""What a pending proposal says instead; what is left out stays"""


Element = TypedDict(
    "Element",
    {
        "id": "str",
        "type": "str | None",
        "scope": "Scope",
        "properties": "Any",
        "property": "Any",
        "content": "Content | None",
        "created": "int",
        "modified": "int",
        "createdAt": "str",
        "modifiedAt": "str",
        "version": "int",
        "__typename": "str",
    },
    total=False,
)
"""A node or an edge"""


ElementChange = TypedDict(
    "ElementChange",
    {
        "elementId": "str",
        "element": "ElementKind",
        "kind": "ChangeKind",
        "fields": "list[str]",
        "before": "Any",
        "after": "Any",
        "__typename": "str",
    },
    total=False,
)
"""An element or a record that differs between two positions of the log"""


ElementChangeConnection = TypedDict(
    "ElementChangeConnection",
    {
        "edges": "list[ElementChangeEdge]",
        "pageInfo": "PageInfo",
        "fromPosition": "int",
        "toPosition": "int",
        "nodes": "list[ElementChange]",
        "__typename": "str",
    },
    total=False,
)
"""A page of changes, by id"""


ElementChangeEdge = TypedDict(
    "ElementChangeEdge",
    {
        "cursor": "str",
        "node": "ElementChange",
        "__typename": "str",
    },
    total=False,
)
"""A change on a page, with the cursor behind it"""


ElementKind = Literal["NODE", "EDGE", "ENTITY", "PREDICATE", "NOTE", "FACT", "ONTOLOGY"]

ElementVersion = TypedDict(
    "ElementVersion",
    {
        "version": "int",
        "timestamp": "int",
        "event": "Event",
        "value": "Any",
        "deleted": "bool",
        "__typename": "str",
    },
    total=False,
)
"""One state in the life of an element"""


Encoding = Literal["UTF8", "BASE64"]

EndpointPolicy = Literal["SOFT", "STRICT"]

Enforcement = Literal["OFF", "WARN", "STRICT"]

Entity = TypedDict(
    "Entity",
    {
        "id": "str",
        "entityId": "str",
        "tenantId": "str",
        "projectId": "str",
        "canonical": "str",
        "canonicalNorm": "str",
        "kind": "str | None",
        "createdAt": "str",
        "updatedAt": "str",
        "aliases": "list[EntityAlias]",
        "node": "GraphNode | None",
        "facts": "FactConnection",
        "factsAbout": "FactConnection",
        "__typename": "str",
    },
    total=False,
)
"""Somebody or something that facts are about"""


EntityAlias = TypedDict(
    "EntityAlias",
    {
        "aliasId": "str",
        "alias": "str",
        "aliasNorm": "str",
        "createdAt": "str",
        "__typename": "str",
    },
    total=False,
)
"""Another name of an entity"""


EntityConnection = TypedDict(
    "EntityConnection",
    {
        "pageInfo": "PageInfo",
        "totalCount": "int",
        "edges": "list[EntityEdge]",
        "nodes": "list[Entity]",
        "__typename": "str",
    },
    total=False,
)
"""A page of entities, by name"""


EntityEdge = TypedDict(
    "EntityEdge",
    {
        "cursor": "str",
        "node": "Entity",
        "__typename": "str",
    },
    total=False,
)
"""An entity on a page, with the cursor behind it"""


EntityPayload = TypedDict(
    "EntityPayload",
    {
        "entity": "Entity",
        "created": "bool",
        "clientMutationId": "str | None",
        "__typename": "str",
    },
    total=False,
)
"""An entity that was made or changed"""


class EntityRef(TypedDict, total=False):
    id: "str | None"
    name: "str | None"
    kind: "str | None"


"""An entity by its id, or by a name or alias"""


EntityStep = TypedDict(
    "EntityStep",
    {
        "entity": "Entity",
        "depth": "int",
        "via": "Fact | None",
        "__typename": "str",
    },
    total=False,
)
"""An entity that a walk over facts reached"""


Event = TypedDict(
    "Event",
    {
        "id": "str",
        "eventId": "str",
        "seq": "int",
        "timestamp": "int",
        "hidden": "bool",
        "type": "EventType",
        "elementId": "str | None",
        "version": "int | None",
        "data": "Any",
        "by": "str | None",
        "tx": "EventTx | None",
        "__typename": "str",
    },
    total=False,
)
"""Something that happened, at a place in the log that never changes"""


EventConnection = TypedDict(
    "EventConnection",
    {
        "edges": "list[EventEdge]",
        "pageInfo": "PageInfo",
        "nodes": "list[Event]",
        "__typename": "str",
    },
    total=False,
)
"""A page of events, oldest first"""


EventEdge = TypedDict(
    "EventEdge",
    {
        "cursor": "str",
        "node": "Event",
        "__typename": "str",
    },
    total=False,
)
"""An event on a page, with the cursor behind it"""


EventTx = TypedDict(
    "EventTx",
    {
        "id": "str",
        "index": "int",
        "size": "int",
        "__typename": "str",
    },
    total=False,
)
"""Which batch an event belongs to"""


EventType = Literal[
    "LogRepaired",
    "NodeAdded",
    "NodeUpdated",
    "NodeDeleted",
    "EdgeAdded",
    "EdgeUpdated",
    "EdgeDeleted",
    "EdgeCounterSet",
    "NoteAdded",
    "EntityUpserted",
    "EntityAliasAdded",
    "EntityMerged",
    "PredicateRegistered",
    "PredicateAliasAdded",
    "FactAdded",
    "FactSuperseded",
    "EvidenceAdded",
    "EntityKeptApart",
    "NoteDeleted",
    "EntityDeleted",
    "PredicateUpdated",
    "PredicateDeleted",
    "FactInvalidated",
    "FactExtended",
    "FactReopened",
    "FactOverridden",
    "FactMoved",
    "FactDeleted",
    "EvidenceRemoved",
    "FactUnlinked",
    "EntityMergeEnded",
    "EntityRestored",
    "PredicateRestored",
    "NoteRestored",
    "FactRestored",
    "OntologyCreated",
    "OntologyNodeTypeAdded",
    "OntologyConnectionTypeAdded",
    "OntologyPropertiesAdded",
    "OntologyEnforcementSet",
    "OntologyRestored",
    "ProgramStored",
    "ProgramUpdated",
    "ProgramDeleted",
    "ApiKeyCreated",
    "ApiKeyRevoked",
    "ExtractionRequested",
    "ExtractionPostponed",
    "ExtractionFinished",
    "ExtractionGivenUp",
    "FactProposed",
    "ProposalEdited",
    "ProposalApproved",
    "ProposalRejected",
    "WebhookCreated",
    "WebhookPaused",
    "WebhookResumed",
    "WebhookDeleted",
    "WebhookRewound",
    "WebhookDelivered",
    "WebhookRedelivered",
    "Hidden",
]

Evidence = TypedDict(
    "Evidence",
    {
        "evidenceId": "str",
        "note": "Note | None",
        "createdAt": "str",
        "__typename": "str",
    },
    total=False,
)
"""A note that says a fact"""


Fact = TypedDict(
    "Fact",
    {
        "id": "str",
        "factId": "str",
        "tenantId": "str",
        "projectId": "str",
        "agentId": "str",
        "scope": "str",
        "subject": "Entity",
        "predicate": "str",
        "predicateRef": "Predicate | None",
        "objectEntity": "Entity | None",
        "objectValue": "str | None",
        "validFrom": "str",
        "validTo": "str | None",
        "active": "bool",
        "state": "FactState",
        "evidence": "list[Evidence]",
        "evidenceCount": "int",
        "supersededBy": "list[Supersession]",
        "supersedes": "list[Supersession]",
        "invalidationReason": "str | None",
        "createdAt": "str",
        "updatedAt": "str",
        "__typename": "str",
    },
    total=False,
)
"""One statement about an entity, true from validFrom until validTo"""


FactAnswer = TypedDict(
    "FactAnswer",
    {
        "asOf": "str",
        "subject": "Entity",
        "predicate": "Predicate | None",
        "scopes": "list[str]",
        "facts": "list[AnsweredFact]",
        "truncated": "bool",
        "account": "AnswerAccount",
        "__typename": "str",
    },
    total=False,
)
"""What is believed about a subject at an instant; what nobody vouches for is left out"""


FactConnection = TypedDict(
    "FactConnection",
    {
        "pageInfo": "PageInfo",
        "totalCount": "int",
        "edges": "list[FactEdge]",
        "nodes": "list[Fact]",
        "__typename": "str",
    },
    total=False,
)
"""A page of facts, newest first"""


FactEdge = TypedDict(
    "FactEdge",
    {
        "cursor": "str",
        "node": "Fact",
        "__typename": "str",
    },
    total=False,
)
"""A fact on a page, with the cursor behind it"""


FactPayload = TypedDict(
    "FactPayload",
    {
        "fact": "Fact",
        "created": "bool",
        "evidenceAdded": "int",
        "superseded": "list[Fact]",
        "warnings": "list[Warning]",
        "clientMutationId": "str | None",
        "__typename": "str",
    },
    total=False,
)
"""What came of an assertion"""


FactProposal = TypedDict(
    "FactProposal",
    {
        "proposalId": "str",
        "state": "ProposalState",
        "scope": "str",
        "proposer": "str",
        "noteId": "str",
        "subject": "str",
        "predicate": "str",
        "objectEntity": "str | None",
        "objectValue": "str | None",
        "validFrom": "str | None",
        "validTo": "str | None",
        "decidedBy": "str | None",
        "reason": "str | None",
        "__typename": "str",
    },
    total=False,
)
"""A fact that a note states and that somebody has to approve; no read of facts shows it"""


FactProposalConnection = TypedDict(
    "FactProposalConnection",
    {
        "edges": "list[FactProposalEdge]",
        "pageInfo": "PageInfo",
        "nodes": "list[FactProposal]",
        "__typename": "str",
    },
    total=False,
)
"""A page of proposals, oldest first"""


FactProposalEdge = TypedDict(
    "FactProposalEdge",
    {
        "cursor": "str",
        "node": "FactProposal",
        "__typename": "str",
    },
    total=False,
)
"""A proposal on a page, with the cursor behind it"""


FactReasons = TypedDict(
    "FactReasons",
    {
        "fact": "Fact",
        "notes": "list[Note]",
        "replaced": "list[ChainStep]",
        "replacedBy": "list[ChainStep]",
        "invalidationReason": "str | None",
        "events": "list[Event]",
        "__typename": "str",
    },
    total=False,
)
"""Everything that stands behind one fact"""


FactReport = TypedDict(
    "FactReport",
    {
        "subject": "Entity",
        "asOf": "str",
        "facts": "list[ReportedFact]",
        "counts": "ReportCounts",
        "topics": "list[str]",
        "links": "list[TopicLink]",
        "truncated": "bool",
        "__typename": "str",
    },
    total=False,
)
"""What is, was and will be known about a subject"""


FactState = Literal["CURRENT", "HISTORICAL", "FUTURE"]

FoldedFact = TypedDict(
    "FoldedFact",
    {
        "fact": "Fact",
        "into": "Fact",
        "__typename": "str",
    },
    total=False,
)
"""A fact that says the same as another one"""


Gateway = TypedDict(
    "Gateway",
    {
        "version": "str",
        "settings": "list[GatewaySetting]",
        "tenants": "list[Tenant]",
        "log": "list[str]",
        "__typename": "str",
    },
    total=False,
)
"""The gateway that answers"""


GatewaySetting = TypedDict(
    "GatewaySetting",
    {
        "name": "str",
        "value": "Any",
        "origin": "str",
        "meaning": "str",
        "__typename": "str",
    },
    total=False,
)
"""A setting of the gateway"""


GraphEdge = TypedDict(
    "GraphEdge",
    {
        "id": "str",
        "type": "str | None",
        "scope": "Scope",
        "properties": "Any",
        "property": "Any",
        "content": "Content | None",
        "created": "int",
        "modified": "int",
        "createdAt": "str",
        "modifiedAt": "str",
        "version": "int",
        "from": "str",
        "to": "str",
        "fromNode": "GraphNode | None",
        "toNode": "GraphNode | None",
        "dangling": "bool",
        "weight": "float",
        "__typename": "str",
    },
    total=False,
)
"""A directed, weighted relationship"""


GraphEdgeAggregate = TypedDict(
    "GraphEdgeAggregate",
    {
        "count": "int",
        "sum": "float | None",
        "avg": "float | None",
        "min": "Any",
        "max": "Any",
        "groupBy": "list[GraphEdgeGroup]",
        "__typename": "str",
    },
    total=False,
)
"""All edges of a list in short, whatever page is shown"""


GraphEdgeConnection = TypedDict(
    "GraphEdgeConnection",
    {
        "pageInfo": "PageInfo",
        "totalCount": "int",
        "aggregate": "GraphEdgeAggregate",
        "edges": "list[GraphEdgeEdge]",
        "nodes": "list[GraphEdge]",
        "__typename": "str",
    },
    total=False,
)
"""A page of edges"""


GraphEdgeEdge = TypedDict(
    "GraphEdgeEdge",
    {
        "cursor": "str",
        "node": "GraphEdge",
        "__typename": "str",
    },
    total=False,
)
"""An edge on a page, with the cursor behind it"""


GraphEdgeGroup = TypedDict(
    "GraphEdgeGroup",
    {
        "count": "int",
        "sum": "float | None",
        "avg": "float | None",
        "min": "Any",
        "max": "Any",
        "keys": "list[Any]",
        "__typename": "str",
    },
    total=False,
)
"""Edges that have some values in common"""


GraphElement = Union["GraphNode", "GraphEdge"]

GraphNode = TypedDict(
    "GraphNode",
    {
        "id": "str",
        "type": "str | None",
        "scope": "Scope",
        "properties": "Any",
        "property": "Any",
        "content": "Content | None",
        "created": "int",
        "modified": "int",
        "createdAt": "str",
        "modifiedAt": "str",
        "version": "int",
        "data": "Any",
        "label": "str",
        "outgoing": "GraphEdgeConnection",
        "incoming": "GraphEdgeConnection",
        "degree": "int",
        "ontology": "Ontology | None",
        "entity": "Entity | None",
        "references": "list[Reference]",
        "referencedBy": "list[GraphElement]",
        "__typename": "str",
    },
    total=False,
)
"""A vertex of the graph"""


GraphNodeAggregate = TypedDict(
    "GraphNodeAggregate",
    {
        "count": "int",
        "sum": "float | None",
        "avg": "float | None",
        "min": "Any",
        "max": "Any",
        "groupBy": "list[GraphNodeGroup]",
        "__typename": "str",
    },
    total=False,
)
"""All nodes of a list in short, whatever page is shown"""


GraphNodeConnection = TypedDict(
    "GraphNodeConnection",
    {
        "pageInfo": "PageInfo",
        "totalCount": "int",
        "aggregate": "GraphNodeAggregate",
        "edges": "list[GraphNodeEdge]",
        "nodes": "list[GraphNode]",
        "__typename": "str",
    },
    total=False,
)
"""A page of nodes"""


GraphNodeEdge = TypedDict(
    "GraphNodeEdge",
    {
        "cursor": "str",
        "node": "GraphNode",
        "__typename": "str",
    },
    total=False,
)
"""A node on a page, with the cursor behind it"""


GraphNodeGroup = TypedDict(
    "GraphNodeGroup",
    {
        "count": "int",
        "sum": "float | None",
        "avg": "float | None",
        "min": "Any",
        "max": "Any",
        "keys": "list[Any]",
        "__typename": "str",
    },
    total=False,
)
"""Nodes that have some values in common"""


Hub = TypedDict(
    "Hub",
    {
        "degree": "int",
        "inDegree": "int",
        "outDegree": "int",
        "node": "GraphNode",
        "__typename": "str",
    },
    total=False,
)
"""A node with many edges"""


ImportPayload = TypedDict(
    "ImportPayload",
    {
        "nodes": "int",
        "edges": "int",
        "events": "int",
        "warnings": "list[Warning]",
        "__typename": "str",
    },
    total=False,
)
"""What an import did"""


class IngestInput(TypedDict, total=False):
    scope: "Required[str]"
    notes: "Required[list[NoteToIngestInput]]"
    trust: "Required[Trust]"
    requireSupport: "Required[bool]"
    skipKnown: "Required[bool]"
    tenantId: "str | None"
    projectId: "str | None"
    agentId: "str | None"
    idempotencyKey: "str | None"
    clientMutationId: "str | None"


"""Notes to ingest, all or none"""


IngestPayload = TypedDict(
    "IngestPayload",
    {
        "notes": "list[Note]",
        "facts": "list[Fact]",
        "proposals": "list[FactProposal]",
        "created": "int",
        "events": "list[Event]",
        "warnings": "list[Warning]",
        "clientMutationId": "str | None",
        "__typename": "str",
    },
    total=False,
)
"""What came of an ingestion"""


IntegrityReport = TypedDict(
    "IntegrityReport",
    {
        "ok": "bool",
        "eventsChecked": "int",
        "digest": "str",
        "problems": "list[Warning]",
        "__typename": "str",
    },
    total=False,
)
"""Whether the stored state is what the log says"""


IssueSeverity = Literal["ERROR", "WARNING"]


class ManageWebhookInput(TypedDict, total=False):
    id: "Required[str]"
    idempotencyKey: "str | None"
    clientMutationId: "str | None"


"""A webhook to pause, resume or delete"""


class MemoryNodeInput(TypedDict, total=False):
    type: "Required[str]"
    content: "Required[str]"
    format: "Required[str]"
    encoding: "Required[Encoding]"
    properties: "Any"
    ontology: "Required[str]"
    idempotencyKey: "str | None"
    clientMutationId: "str | None"


"""Something to remember"""


class MentionInput(TypedDict, total=False):
    canonical: "Required[str]"
    kind: "str | None"
    aliases: "list[str] | None"


"""An entity that a note names"""


MergePayload = TypedDict(
    "MergePayload",
    {
        "entity": "Entity",
        "mergedId": "str",
        "events": "list[Event]",
        "__typename": "str",
    },
    total=False,
)
"""Two entities that became one"""


MergePreview = TypedDict(
    "MergePreview",
    {
        "keep": "Entity",
        "merge": "Entity",
        "moved": "list[Fact]",
        "folded": "list[FoldedFact]",
        "conflicts": "list[Fact]",
        "aliases": "list[str]",
        "__typename": "str",
    },
    total=False,
)
"""What a merge would do"""


MessageResponse = TypedDict(
    "MessageResponse",
    {
        "messageId": "str",
        "success": "bool",
        "error": "str | None",
        "payload": "Any",
        "clientMutationId": "str | None",
        "node": "GraphNode | None",
        "__typename": "str",
    },
    total=False,
)
"""What an actor answered"""


Node = TypedDict(
    "Node",
    {
        "id": "str",
        "__typename": "str",
    },
    total=False,
)
"""Anything with a global id"""


NodeField = Literal["ID", "TYPE", "CREATED", "MODIFIED", "VERSION"]


class NodeFieldFilter(TypedDict, total=False):
    field: "Required[NodeField]"
    op: "Required[PropertyOp]"
    value: "Any"


"""A condition on a field of nodes"""


NodeFilter = TypedDict(
    "NodeFilter",
    {
        "ids": "list[str] | None",
        "type": "str | None",
        "types": "list[str] | None",
        "scope": "Scope | None",
        "properties": "list[PropertyFilter] | None",
        "match": "Any",
        "text": "str | None",
        "createdAfter": "int | None",
        "createdBefore": "int | None",
        "modifiedAfter": "int | None",
        "hasContent": "bool | None",
        "fields": "list[NodeFieldFilter] | None",
        "outgoing": "RelatedEdgesFilter | None",
        "incoming": "RelatedEdgesFilter | None",
        "and": "list[NodeFilter] | None",
        "or": "list[NodeFilter] | None",
        "not": "NodeFilter | None",
    },
    total=False,
)
"""Which nodes; all conditions that are given must hold"""


class NodeGroupKey(TypedDict, total=False):
    field: "NodeField | None"
    property: "str | None"


"""What nodes are grouped by: a field or a property"""


class NodeOrder(TypedDict, total=False):
    field: "NodeOrderField | None"
    property: "str | None"
    direction: "Required[SortDirection]"
    nulls: "NullsOrder | None"


"""One sort key for nodes: a field or a property"""


NodeOrderField = Literal["ID", "CREATED", "MODIFIED", "TYPE", "DEGREE"]

NodePayload = TypedDict(
    "NodePayload",
    {
        "event": "Event | None",
        "warnings": "list[Warning]",
        "clientMutationId": "str | None",
        "node": "GraphNode",
        "__typename": "str",
    },
    total=False,
)
"""A node that was added or changed"""


Note = TypedDict(
    "Note",
    {
        "id": "str",
        "noteId": "str",
        "tenantId": "str",
        "projectId": "str",
        "agentId": "str | None",
        "scope": "str | None",
        "text": "str",
        "source": "str | None",
        "createdAt": "str",
        "facts": "list[Fact]",
        "context": "list[ContextFact]",
        "__typename": "str",
    },
    total=False,
)
"""Something that was said, and from which facts were learnt"""


class NoteInput(TypedDict, total=False):
    id: "str | UUID | None"
    text: "str | None"
    source: "str | None"


"""A note that is kept already, by its id, or a new one"""


NotePayload = TypedDict(
    "NotePayload",
    {
        "note": "Note",
        "__typename": "str",
    },
    total=False,
)
"""A note that was kept"""


class NoteToIngestInput(TypedDict, total=False):
    text: "Required[str]"
    source: "str | None"
    id: "str | UUID | None"
    quotes: "list[str] | None"
    structured: "StructuredInput | None"


"""A note with what was read out of it"""


NullsOrder = Literal["FIRST", "LAST"]

Ontology = TypedDict(
    "Ontology",
    {
        "id": "str",
        "name": "str",
        "nodeTypes": "list[str]",
        "connectionTypes": "list[ConnectionType]",
        "enforcement": "Enforcement",
        "createdAt": "str",
        "yaml": "str",
        "properties": "list[TypeProperties]",
        "jsonSchema": "Any",
        "__typename": "str",
    },
    total=False,
)
"""A named set of types that only grows"""


OntologyPayload = TypedDict(
    "OntologyPayload",
    {
        "ontology": "Ontology",
        "warnings": "list[Warning]",
        "clientMutationId": "str | None",
        "__typename": "str",
    },
    total=False,
)
"""An ontology that was made or has grown"""


OperationType = Literal["CYPHER", "API", "CONDITIONAL"]

PageInfo = TypedDict(
    "PageInfo",
    {
        "hasNextPage": "bool",
        "hasPreviousPage": "bool",
        "startCursor": "str | None",
        "endCursor": "str | None",
        "__typename": "str",
    },
    total=False,
)
"""Where a page stands among all rows"""


Path = TypedDict(
    "Path",
    {
        "totalWeight": "float",
        "nodes": "list[GraphNode]",
        "edges": "list[GraphEdge]",
        "__typename": "str",
    },
    total=False,
)
"""A way through the graph"""


class PositionRange(TypedDict, total=False):
    after: "Required[int]"
    until: "int | None"


"""A part of the log"""


Predicate = TypedDict(
    "Predicate",
    {
        "id": "str",
        "predicateId": "str",
        "scopeKey": "str",
        "level": "PredicateLevel",
        "tenantId": "str | None",
        "projectId": "str | None",
        "canonical": "str",
        "canonicalNorm": "str",
        "cardinality": "Cardinality",
        "status": "PredicateStatus",
        "aliases": "list[PredicateAlias]",
        "createdAt": "str",
        "updatedAt": "str",
        "__typename": "str",
    },
    total=False,
)
"""A word of the controlled vocabulary"""


PredicateAlias = TypedDict(
    "PredicateAlias",
    {
        "aliasId": "str",
        "scopeKey": "str",
        "alias": "str",
        "aliasNorm": "str",
        "createdAt": "str",
        "__typename": "str",
    },
    total=False,
)
"""Another way to say a predicate"""


PredicateLevel = Literal["TENANT_PROJECT", "PROJECT", "GLOBAL"]

PredicatePayload = TypedDict(
    "PredicatePayload",
    {
        "predicate": "Predicate",
        "created": "bool",
        "conflicts": "list[Fact]",
        "clientMutationId": "str | None",
        "__typename": "str",
    },
    total=False,
)
"""A predicate that was registered or changed"""


PredicateStatus = Literal["PENDING", "ACTIVE", "DEPRECATED"]

Program = TypedDict(
    "Program",
    {
        "id": "str",
        "programId": "int",
        "name": "str",
        "description": "str | None",
        "program": "Any",
        "dsl": "str",
        "ownerId": "str | None",
        "statementCount": "int",
        "operationCount": "int",
        "sha256": "str",
        "createdAt": "str",
        "updatedAt": "str",
        "__typename": "str",
    },
    total=False,
)
"""A stored program: validated, hashed and owned"""


ProgramConnection = TypedDict(
    "ProgramConnection",
    {
        "edges": "list[ProgramEdge]",
        "pageInfo": "PageInfo",
        "nodes": "list[Program]",
        "totalCount": "int",
        "__typename": "str",
    },
    total=False,
)
"""A page of programs, newest first"""


ProgramEdge = TypedDict(
    "ProgramEdge",
    {
        "cursor": "str",
        "node": "Program",
        "__typename": "str",
    },
    total=False,
)
"""A program on a page, with the cursor behind it"""


ProgramPayload = TypedDict(
    "ProgramPayload",
    {
        "program": "Program | None",
        "validation": "ValidationResult",
        "clientMutationId": "str | None",
        "__typename": "str",
    },
    total=False,
)
"""A program that was kept, or why it was not"""


ProgramResult = TypedDict(
    "ProgramResult",
    {
        "result": "WorkingGraph",
        "log": "list[StepLogEntry]",
        "aborted": "Abort | None",
        "__typename": "str",
    },
    total=False,
)
"""What a program left behind"""


ProgramRunUpdate = TypedDict(
    "ProgramRunUpdate",
    {
        "step": "StepLogEntry | None",
        "graph": "WorkingGraph | None",
        "result": "ProgramResult | None",
        "__typename": "str",
    },
    total=False,
)
"""News of a running program: a step, or at last the result"""


PropertyDefinition = TypedDict(
    "PropertyDefinition",
    {
        "name": "str",
        "kind": "PropertyKind",
        "required": "bool",
        "enum": "list[Any]",
        "pattern": "str | None",
        "default": "Any",
        "description": "str",
        "__typename": "str",
    },
    total=False,
)
"""What an ontology says about one property of a type"""


class PropertyDefinitionInput(TypedDict, total=False):
    name: "Required[str]"
    kind: "Required[PropertyKind]"
    required: "Required[bool]"
    enum: "list[Any] | None"
    pattern: "str | None"
    default: "Any"
    description: "Required[str]"


"""What an ontology shall say about one property of a type"""


class PropertyFilter(TypedDict, total=False):
    key: "Required[str]"
    op: "Required[PropertyOp]"
    value: "Any"


"""A condition on one property"""


PropertyKind = Literal["STRING", "INTEGER", "NUMBER", "BOOLEAN"]

PropertyOp = Literal[
    "EQ", "NE", "LT", "LTE", "GT", "GTE", "IN", "CONTAINS", "STARTS_WITH", "ENDS_WITH", "EXISTS", "IS_NULL"
]

ProposalPayload = TypedDict(
    "ProposalPayload",
    {
        "proposal": "FactProposal",
        "fact": "Fact | None",
        "warnings": "list[Warning]",
        "__typename": "str",
    },
    total=False,
)
"""A proposal after a decision"""


ProposalState = Literal["PENDING", "APPROVED", "REJECTED"]

RawLink = TypedDict(
    "RawLink",
    {
        "fromId": "str",
        "toId": "str",
        "relationshipType": "str",
        "category": "str | None",
        "confidence": "float | None",
        "groundingStrength": "float | None",
        "properties": "Any",
        "__typename": "str",
    },
    total=False,
)
"""A link of the working graph"""


RawNode = TypedDict(
    "RawNode",
    {
        "conceptId": "str",
        "label": "str",
        "ontology": "str | None",
        "description": "str | None",
        "properties": "Any",
        "node": "GraphNode | None",
        "__typename": "str",
    },
    total=False,
)
"""A node of the working graph"""


RecallItem = TypedDict(
    "RecallItem",
    {
        "kind": "RecallKind",
        "id": "str",
        "text": "str",
        "score": "int",
        "why": "str",
        "validFrom": "str | None",
        "validTo": "str | None",
        "scope": "str | None",
        "evidence": "list[RecallQuote]",
        "__typename": "str",
    },
    total=False,
)
"""One recalled fact, note, passage or node"""


RecallKind = Literal["FACT", "NOTE", "PASSAGE", "NODE"]

RecallQuote = TypedDict(
    "RecallQuote",
    {
        "noteId": "str",
        "text": "str",
        "__typename": "str",
    },
    total=False,
)
"""The sentence of a note that supports a fact"""


RecallResult = TypedDict(
    "RecallResult",
    {
        "items": "list[RecallItem]",
        "entities": "list[Entity]",
        "asOf": "str",
        "tokens": "int",
        "budgetTokens": "int",
        "omitted": "int",
        "truncated": "bool",
        "text": "str",
        "__typename": "str",
    },
    total=False,
)
"""What answers a question, best first"""


RedeliveryPayload = TypedDict(
    "RedeliveryPayload",
    {
        "delivered": "int",
        "left": "int",
        "clientMutationId": "str | None",
        "__typename": "str",
    },
    total=False,
)
"""What became of a webhook's dead letters"""


Reference = TypedDict(
    "Reference",
    {
        "address": "str",
        "path": "str",
        "target": "GraphElement | None",
        "resolved": "bool",
        "__typename": "str",
    },
    total=False,
)
"""An address inside an element, and what it leads to"""


class RegisterPredicateInput(TypedDict, total=False):
    alias: "Required[str]"
    level: "Required[PredicateLevel]"
    status: "Required[PredicateStatus]"
    cardinality: "Required[Cardinality]"
    tenantId: "str | None"
    projectId: "str | None"
    idempotencyKey: "str | None"
    clientMutationId: "str | None"


"""A predicate to know"""


class RelatedEdgesFilter(TypedDict, total=False):
    some: "EdgeFilter | None"
    none: "EdgeFilter | None"
    every: "EdgeFilter | None"


"""Which edges a node has on one side; all conditions that are given must hold"""


class RelationInput(TypedDict, total=False):
    subject: "Required[str]"
    predicate: "Required[str]"
    object: "Required[RelationObjectInput]"
    validFrom: "str | datetime | None"
    validTo: "str | datetime | None"


"""A relation that a note states"""


class RelationObjectInput(TypedDict, total=False):
    entity: "str | None"
    value: "str | None"


"""What a relation says of its subject: exactly one of both"""


ReportCounts = TypedDict(
    "ReportCounts",
    {
        "current": "int",
        "historical": "int",
        "future": "int",
        "sourced": "int",
        "inferred": "int",
        "stale": "int",
        "superseded": "int",
        "ambiguous": "int",
        "evidence": "int",
        "__typename": "str",
    },
    total=False,
)
"""How many facts of a report are what"""


ReportedFact = TypedDict(
    "ReportedFact",
    {
        "fact": "Fact",
        "state": "FactState",
        "markers": "list[str]",
        "__typename": "str",
    },
    total=False,
)
"""A fact of a report, and how far it can be trusted"""


Resolution = TypedDict(
    "Resolution",
    {
        "address": "str",
        "element": "GraphElement | None",
        "version": "int | None",
        "value": "Any",
        "resolved": "bool",
        "__typename": "str",
    },
    total=False,
)
"""What an address leads to"""


class RevokeApiKeyInput(TypedDict, total=False):
    id: "Required[str]"
    idempotencyKey: "str | None"
    clientMutationId: "str | None"


"""A key to take back"""


class RewindWebhookInput(TypedDict, total=False):
    id: "Required[str]"
    afterSeq: "Required[int]"
    idempotencyKey: "str | None"
    clientMutationId: "str | None"


"""Where a webhook delivers from, earlier or later"""


Role = Literal["READER", "WRITER", "ADMIN"]


class SaveProgramInput(TypedDict, total=False):
    name: "str | None"
    program: "Any"
    dsl: "str | None"
    system: "Required[bool]"
    idempotencyKey: "str | None"
    clientMutationId: "str | None"


"""A program to keep: one of program and dsl"""


Scope = Literal["DEFAULT", "USER", "PROJECT", "SCRATCH"]

ScopeInfo = TypedDict(
    "ScopeInfo",
    {
        "scope": "Scope",
        "name": "str",
        "nodeCount": "int",
        "edgeCount": "int",
        "__typename": "str",
    },
    total=False,
)
"""How much lives in a scope"""


SearchHit = TypedDict(
    "SearchHit",
    {
        "score": "float",
        "node": "GraphNode",
        "__typename": "str",
    },
    total=False,
)
"""A node that answers a search"""


SearchHitConnection = TypedDict(
    "SearchHitConnection",
    {
        "edges": "list[SearchHitEdge]",
        "pageInfo": "PageInfo",
        "totalCount": "int",
        "__typename": "str",
    },
    total=False,
)
"""A page of hits, best first"""


SearchHitEdge = TypedDict(
    "SearchHitEdge",
    {
        "cursor": "str",
        "node": "SearchHit",
        "__typename": "str",
    },
    total=False,
)
"""A hit on a page, with the cursor behind it"""


SearchMode = Literal["WORDS", "VECTOR", "HYBRID"]


class SendMessageInput(TypedDict, total=False):
    nodeId: "Required[str]"
    type: "Required[str]"
    payload: "Any"
    idempotencyKey: "str | None"
    clientMutationId: "str | None"


"""A message to a node"""


Snapshot = TypedDict(
    "Snapshot",
    {
        "timestamp": "int",
        "eventCount": "int",
        "lastEventId": "str | None",
        "nodeCount": "int",
        "edgeCount": "int",
        "stats": "Stats",
        "__typename": "str",
    },
    total=False,
)
"""The state written down beside the log"""


SnapshotPayload = TypedDict(
    "SnapshotPayload",
    {
        "snapshot": "Snapshot",
        "__typename": "str",
    },
    total=False,
)
"""A snapshot that was taken"""


SortDirection = Literal["ASC", "DESC"]

Stats = TypedDict(
    "Stats",
    {
        "nodes": "int",
        "edges": "int",
        "types": "int",
        "properties": "int",
        "events": "int",
        "nodeTypes": "list[TypeCount]",
        "edgeTypes": "list[TypeCount]",
        "__typename": "str",
    },
    total=False,
)
"""How large the graph is"""


StepLogEntry = TypedDict(
    "StepLogEntry",
    {
        "statement": "int",
        "path": "str",
        "op": "str",
        "operationType": "OperationType",
        "branchTaken": "Branch | None",
        "nodesAffected": "int",
        "linksAffected": "int",
        "wSize": "WSize",
        "durationMs": "float",
        "__typename": "str",
    },
    total=False,
)
"""One step that was done"""


Strategy = Literal["BFS", "DFS"]


class StructuredInput(TypedDict, total=False):
    entities: "list[MentionInput] | None"
    relations: "list[RelationInput] | None"


"""What was read out of a note"""


Supersession = TypedDict(
    "Supersession",
    {
        "supersessionId": "str",
        "fromFact": "Fact",
        "toFact": "Fact",
        "note": "Note | None",
        "effectiveAt": "str",
        "createdAt": "str",
        "__typename": "str",
    },
    total=False,
)
"""A fact took the place of another, because of a note"""


SystemState = Literal[
    "UNINITIALIZED",
    "INITIALIZING",
    "LOADING_SNAPSHOT",
    "EMPTY",
    "REPLAYING_WAL",
    "READY",
    "PROCESSING",
    "SNAPSHOTTING",
    "SHUTTING_DOWN",
]

Tenant = TypedDict(
    "Tenant",
    {
        "name": "str",
        "store": "str",
        "events": "int",
        "__typename": "str",
    },
    total=False,
)
"""A tenant whose store is open"""


TopicLink = TypedDict(
    "TopicLink",
    {
        "from": "str",
        "to": "str",
        "factId": "str",
        "__typename": "str",
    },
    total=False,
)
"""A fact as an edge of the topic map"""


TraversalStep = TypedDict(
    "TraversalStep",
    {
        "depth": "int",
        "node": "GraphNode",
        "via": "GraphEdge | None",
        "__typename": "str",
    },
    total=False,
)
"""A node that a traversal reached"""


Trust = Literal["BELIEVE", "PROPOSE"]

TypeCount = TypedDict(
    "TypeCount",
    {
        "type": "str | None",
        "count": "int",
        "__typename": "str",
    },
    total=False,
)
"""How many elements have a type; null is the type of those without one"""


TypeKind = Literal["NODE", "CONNECTION"]

TypeProperties = TypedDict(
    "TypeProperties",
    {
        "owner": "TypeKind",
        "type": "str",
        "definitions": "list[PropertyDefinition]",
        "__typename": "str",
    },
    total=False,
)
"""What an ontology says about the properties of one type"""


class TypePropertiesInput(TypedDict, total=False):
    type: "Required[str]"
    definitions: "Required[list[PropertyDefinitionInput]]"
    owner: "Required[TypeKind]"


"""What an ontology shall say about the properties of one type"""


UndoConflict = TypedDict(
    "UndoConflict",
    {
        "seq": "int",
        "elementId": "str | None",
        "message": "str",
        "__typename": "str",
    },
    total=False,
)
"""Why events cannot be undone"""


class UndoInput(TypedDict, total=False):
    events: "list[int] | None"
    transaction: "int | None"
    range: "PositionRange | None"


"""Which events are undone"""


UndoPayload = TypedDict(
    "UndoPayload",
    {
        "done": "bool",
        "changes": "list[ElementChange]",
        "conflicts": "list[UndoConflict]",
        "events": "list[Event]",
        "warnings": "list[Warning]",
        "__typename": "str",
    },
    total=False,
)
"""What an undo did, or would do"""


class UpdateEdgeInput(TypedDict, total=False):
    id: "Required[str]"
    type: "str | None"
    weight: "float | None"
    content: "ContentInput | None"
    properties: "Any"
    appendProperties: "Any"
    removeProperties: "list[str] | None"
    expectedVersion: "int | None"
    idempotencyKey: "str | None"
    clientMutationId: "str | None"


"""Changes of an edge; what is left out stays as it is"""


class UpdateNodeInput(TypedDict, total=False):
    id: "Required[str]"
    type: "str | None"
    properties: "Any"
    appendProperties: "Any"
    removeProperties: "list[str] | None"
    data: "Any"
    content: "ContentInput | None"
    expectedVersion: "int | None"
    idempotencyKey: "str | None"
    clientMutationId: "str | None"


"""Changes of a node; what is left out stays as it is"""


UpsertEdgeInput = TypedDict(
    "UpsertEdgeInput",
    {
        "from": "Required[str]",
        "to": "Required[str]",
        "id": "str | None",
        "type": "str | None",
        "weight": "float | None",
        "properties": "Any",
        "endpointPolicy": "Required[EndpointPolicy]",
        "expectedVersion": "int | None",
        "idempotencyKey": "str | None",
        "clientMutationId": "str | None",
    },
    total=False,
)
"""An edge to add, or to change when it is there"""


class UpsertEntityInput(TypedDict, total=False):
    name: "Required[str]"
    kind: "str | None"
    aliases: "list[str] | None"
    nodeId: "str | None"
    tenantId: "str | None"
    projectId: "str | None"
    idempotencyKey: "str | None"
    clientMutationId: "str | None"


"""An entity to know"""


ValidationIssue = TypedDict(
    "ValidationIssue",
    {
        "ruleId": "str",
        "severity": "IssueSeverity",
        "statement": "int | None",
        "field": "str | None",
        "message": "str",
        "path": "str | None",
        "__typename": "str",
    },
    total=False,
)
"""One finding about a program"""


ValidationResult = TypedDict(
    "ValidationResult",
    {
        "valid": "bool",
        "errors": "list[ValidationIssue]",
        "warnings": "list[ValidationIssue]",
        "operationCount": "int | None",
        "__typename": "str",
    },
    total=False,
)
"""Whether a program is valid, and all that was found"""


VerifyRunUpdate = TypedDict(
    "VerifyRunUpdate",
    {
        "eventsChecked": "int",
        "events": "int",
        "report": "IntegrityReport | None",
        "__typename": "str",
    },
    total=False,
)
"""News of a running check: how far it is, or at last what it found"""


Viewer = TypedDict(
    "Viewer",
    {
        "user": "str",
        "roles": "list[Role]",
        "managesKeys": "bool",
        "managesGateway": "bool",
        "tenant": "str",
        "project": "str",
        "agent": "str",
        "__typename": "str",
    },
    total=False,
)
"""Who asks, and what they may do"""


WSize = TypedDict(
    "WSize",
    {
        "nodes": "int",
        "links": "int",
        "__typename": "str",
    },
    total=False,
)
"""How much the working graph holds"""


Warning = TypedDict(
    "Warning",
    {
        "code": "str",
        "message": "str",
        "id": "str | None",
        "__typename": "str",
    },
    total=False,
)
"""Something to know although the request was done"""


Webhook = TypedDict(
    "Webhook",
    {
        "id": "str",
        "name": "str",
        "url": "str",
        "filter": "Any",
        "tenant": "str",
        "user": "str",
        "project": "str",
        "agent": "str",
        "seq": "int",
        "createdAt": "str",
        "pausedAt": "str | None",
        "pauseReason": "str | None",
        "deadLetters": "list[DeadLetter]",
        "__typename": "str",
    },
    total=False,
)
"""An address that events are sent to; its secret was shown once, when it was made"""


WebhookConnection = TypedDict(
    "WebhookConnection",
    {
        "edges": "list[WebhookEdge]",
        "pageInfo": "PageInfo",
        "totalCount": "int",
        "nodes": "list[Webhook]",
        "__typename": "str",
    },
    total=False,
)
"""A page of webhooks, oldest first"""


WebhookEdge = TypedDict(
    "WebhookEdge",
    {
        "cursor": "str",
        "node": "Webhook",
        "__typename": "str",
    },
    total=False,
)
"""A webhook on a page, with the cursor behind it"""


WebhookPayload = TypedDict(
    "WebhookPayload",
    {
        "webhook": "Webhook",
        "secret": "str | None",
        "clientMutationId": "str | None",
        "__typename": "str",
    },
    total=False,
)
"""What was done to a webhook"""


WorkingGraph = TypedDict(
    "WorkingGraph",
    {
        "nodes": "list[RawNode]",
        "links": "list[RawLink]",
        "__typename": "str",
    },
    total=False,
)
"""The graph that a program has put together"""
