// Written by ugs-codegen; run it again instead of editing this.
import { type TypedDocument, typed } from "../document.ts";
import type { Json } from "../json.ts";

export interface AddEdgeInput {
  /** The node it leaves from */
  from: string;
  /** The node it arrives at */
  to: string;
  /** Its id; generated when left out */
  id?: string | null;
  /** What kind of edge it is */
  type?: string | null;
  /** The cost of going along it */
  weight?: number;
  /** An object of properties */
  properties?: Json | null;
  /** What happens when its nodes do not exist */
  endpointPolicy?: EndpointPolicy;
  /** Refuse with VERSION_CONFLICT unless the element is at this version; 0 means it must not exist yet */
  expectedVersion?: number | null;
  /** Makes a retry safe: the same key with the same input gives the first answer again */
  idempotencyKey?: string | null;
  /** Comes back in the payload as it was given */
  clientMutationId?: string | null;
}

export interface AddFactInput {
  /** Whom it is meant for, such as project_shared or agent_private */
  scope: string;
  /** What it is about; a new name makes a new entity */
  subject: EntityRef;
  /** What it says; an unknown predicate registers itself */
  predicate: string;
  /** At least one note that says so */
  notes: Array<NoteInput>;
  /** The other entity, or */
  objectEntity?: EntityRef | null;
  /** the value: exactly one of both */
  objectValue?: string | null;
  /** Since when; now unless told */
  validFrom?: string | null;
  /** Until when; open unless told */
  validTo?: string | null;
  /** The tenant; your own unless told */
  tenantId?: string | null;
  /** The project; your own unless told */
  projectId?: string | null;
  /** The agent; your own unless told */
  agentId?: string | null;
  /** Makes a retry safe: the same key with the same input gives the first answer again */
  idempotencyKey?: string | null;
  /** Comes back in the payload as it was given */
  clientMutationId?: string | null;
}

export interface AddNodeInput {
  /** Its id; generated when left out */
  id?: string | null;
  /** What kind of node it is */
  type?: string | null;
  /** An object of properties */
  properties?: Json | null;
  /** Any JSON beside the properties */
  data?: Json | null;
  /** What it says */
  content?: ContentInput | null;
  /** Refuse with VERSION_CONFLICT unless the element is at this version; 0 means it must not exist yet */
  expectedVersion?: number | null;
  /** Makes a retry safe: the same key with the same input gives the first answer again */
  idempotencyKey?: string | null;
  /** Comes back in the payload as it was given */
  clientMutationId?: string | null;
}

export interface At {
  /** After this many events */
  position?: number | null;
  /** At this time */
  instant?: string | null;
}

export interface BatchOperation {
  /** Add a node */
  addNode?: AddNodeInput | null;
  /** Change a node */
  updateNode?: UpdateNodeInput | null;
  /** Delete a node with its edges */
  deleteNode?: DeleteInput | null;
  /** Add an edge */
  addEdge?: AddEdgeInput | null;
  /** Change an edge */
  updateEdge?: UpdateEdgeInput | null;
  /** Delete an edge */
  deleteEdge?: DeleteInput | null;
  /** Add a node, or change it */
  upsertNode?: AddNodeInput | null;
  /** Add an edge, or change it */
  upsertEdge?: UpsertEdgeInput | null;
}

export interface ContentInput {
  /** What kind of content it is, such as markdown */
  format: string;
  /** The content itself */
  body: string;
  /** How the body is written */
  encoding?: Encoding;
}

export type CypherView = "GRAPH" | "FACTS" | "ALL";

export interface DeleteInput {
  /** Which element */
  id: string;
  /** Refuse with VERSION_CONFLICT unless the element is at this version; 0 means it must not exist yet */
  expectedVersion?: number | null;
  /** Makes a retry safe: the same key with the same input gives the first answer again */
  idempotencyKey?: string | null;
  /** Comes back in the payload as it was given */
  clientMutationId?: string | null;
}

export type EdgeField = "ID" | "TYPE" | "FROM" | "TO" | "WEIGHT" | "CREATED" | "MODIFIED" | "VERSION";

export interface EdgeFieldFilter {
  /** What to compare */
  field: EdgeField;
  /** How to compare */
  op?: PropertyOp;
  /** What to compare with; a list for IN */
  value?: Json | null;
}

export interface EdgeFilter {
  /** One of these ids */
  ids?: Array<string> | null;
  /** Leaves from this node */
  from?: string | null;
  /** Arrives at this node */
  to?: string | null;
  /** Leaves from or arrives at it */
  touching?: string | null;
  /** Of this type; null for edges without one */
  type?: string | null;
  /** Of one of these types */
  types?: Array<string> | null;
  /** Its own id is in this scope */
  scope?: Scope | null;
  /** All of these hold */
  properties?: Array<PropertyFilter> | null;
  /** An object: each of its properties is equal */
  match?: Json | null;
  /** One of its nodes does not exist */
  dangling?: boolean | null;
  /** At least this weight */
  minWeight?: number | null;
  /** At most this weight */
  maxWeight?: number | null;
  /** All of these hold */
  fields?: Array<EdgeFieldFilter> | null;
  /** The node it leaves from exists and meets this */
  fromNode?: NodeFilter | null;
  /** The node it arrives at exists and meets this */
  toNode?: NodeFilter | null;
  /** All of these hold */
  and?: Array<EdgeFilter> | null;
  /** One of these holds */
  or?: Array<EdgeFilter> | null;
  /** This does not hold */
  not?: EdgeFilter | null;
}

export interface EdgeOrder {
  /** What to sort by, */
  field?: EdgeOrderField | null;
  /** or the property to sort by: booleans, then numbers, then texts by code point, of which the first 99 characters count; nothing, null, lists and objects have no value */
  property?: string | null;
  /** Which way */
  direction?: SortDirection;
  /** Where rows without a value stand; goes with `property` */
  nulls?: NullsOrder | null;
}

export type EdgeOrderField = "ID" | "CREATED" | "TYPE" | "WEIGHT";

export type Encoding = "UTF8" | "BASE64";

export type EndpointPolicy = "SOFT" | "STRICT";

export interface EntityRef {
  /** Its id */
  id?: string | null;
  /** Its name or an alias */
  name?: string | null;
  /** What kind of thing it is, when it is new */
  kind?: string | null;
}

export type EventType = "LogRepaired" | "NodeAdded" | "NodeUpdated" | "NodeDeleted" | "EdgeAdded" | "EdgeUpdated" | "EdgeDeleted" | "EdgeCounterSet" | "NoteAdded" | "EntityUpserted" | "EntityAliasAdded" | "EntityMerged" | "PredicateRegistered" | "PredicateAliasAdded" | "FactAdded" | "FactSuperseded" | "EvidenceAdded" | "NoteDeleted" | "EntityDeleted" | "PredicateUpdated" | "PredicateDeleted" | "FactInvalidated" | "FactExtended" | "FactReopened" | "FactOverridden" | "FactMoved" | "FactDeleted" | "OntologyCreated" | "OntologyNodeTypeAdded" | "OntologyConnectionTypeAdded" | "OntologyPropertiesAdded" | "OntologyEnforcementSet" | "ProgramStored" | "ProgramUpdated" | "ProgramDeleted" | "ApiKeyCreated" | "ApiKeyRevoked" | "ExtractionRequested" | "ExtractionPostponed" | "ExtractionFinished" | "ExtractionGivenUp" | "Hidden";

export interface IngestInput {
  /** Whom notes and facts are meant for */
  scope: string;
  /** Between 1 and 100 notes */
  notes: Array<NoteToIngestInput>;
  /** Refuse names and predicates that occur neither in the note nor in a quote */
  requireSupport?: boolean;
  /** Leave out notes with the text, source and scope of one that was ingested so before, and all that they state */
  skipKnown?: boolean;
  /** The tenant; your own unless told */
  tenantId?: string | null;
  /** The project; your own unless told */
  projectId?: string | null;
  /** The agent; your own unless told */
  agentId?: string | null;
  /** Makes a retry safe: the same key with the same input gives the first answer again */
  idempotencyKey?: string | null;
  /** Comes back in the payload as it was given */
  clientMutationId?: string | null;
}

export interface MentionInput {
  /** Its name */
  canonical: string;
  /** What kind of thing it is */
  kind?: string | null;
  /** Other names, at most 16 */
  aliases?: Array<string> | null;
}

export type NodeField = "ID" | "TYPE" | "CREATED" | "MODIFIED" | "VERSION";

export interface NodeFieldFilter {
  /** What to compare */
  field: NodeField;
  /** How to compare */
  op?: PropertyOp;
  /** What to compare with; a list for IN */
  value?: Json | null;
}

export interface NodeFilter {
  /** One of these ids */
  ids?: Array<string> | null;
  /** Of this type; null for nodes without one */
  type?: string | null;
  /** Of one of these types */
  types?: Array<string> | null;
  /** In this scope */
  scope?: Scope | null;
  /** All of these hold */
  properties?: Array<PropertyFilter> | null;
  /** An object: each of its properties is equal */
  match?: Json | null;
  /** Contains all of these words */
  text?: string | null;
  /** Created later than this */
  createdAfter?: number | null;
  /** Created earlier than this */
  createdBefore?: number | null;
  /** Changed later than this */
  modifiedAfter?: number | null;
  /** Has content, or with false: has none */
  hasContent?: boolean | null;
  /** All of these hold */
  fields?: Array<NodeFieldFilter> | null;
  /** Of the edges that leave from it */
  outgoing?: RelatedEdgesFilter | null;
  /** Of the edges that arrive at it */
  incoming?: RelatedEdgesFilter | null;
  /** All of these hold */
  and?: Array<NodeFilter> | null;
  /** One of these holds */
  or?: Array<NodeFilter> | null;
  /** This does not hold */
  not?: NodeFilter | null;
}

export interface NodeOrder {
  /** What to sort by, */
  field?: NodeOrderField | null;
  /** or the property to sort by: booleans, then numbers, then texts by code point, of which the first 99 characters count; nothing, null, lists and objects have no value */
  property?: string | null;
  /** Which way */
  direction?: SortDirection;
  /** Where rows without a value stand; goes with `property` */
  nulls?: NullsOrder | null;
}

export type NodeOrderField = "ID" | "CREATED" | "MODIFIED" | "TYPE" | "DEGREE";

export interface NoteInput {
  /** Its id */
  id?: string | null;
  /** What was said, for a new note */
  text?: string | null;
  /** Where a new note comes from */
  source?: string | null;
}

export interface NoteToIngestInput {
  /** What was said */
  text: string;
  /** Where it comes from */
  source?: string | null;
  /** Its id; generated when left out */
  id?: string | null;
  /** Quotes that support what the note leaves out */
  quotes?: Array<string> | null;
  /** Entities and relations */
  structured?: StructuredInput | null;
}

export type NullsOrder = "FIRST" | "LAST";

export interface PropertyFilter {
  /** The property's name */
  key: string;
  /** How to compare */
  op?: PropertyOp;
  /** What to compare with; a list for IN */
  value?: Json | null;
}

export type PropertyOp = "EQ" | "NE" | "LT" | "LTE" | "GT" | "GTE" | "IN" | "CONTAINS" | "STARTS_WITH" | "ENDS_WITH" | "EXISTS" | "IS_NULL";

export type RecallKind = "FACT" | "NOTE" | "PASSAGE" | "NODE";

export interface RelatedEdgesFilter {
  /** At least one edge meets this */
  some?: EdgeFilter | null;
  /** No edge meets this */
  none?: EdgeFilter | null;
  /** No edge fails to meet this */
  every?: EdgeFilter | null;
}

export interface RelationInput {
  /** The name of the subject */
  subject: string;
  /** What is said of it */
  predicate: string;
  /** The other entity or the value */
  object: RelationObjectInput;
  /** Since when; now unless told */
  validFrom?: string | null;
  /** Until when; open unless told */
  validTo?: string | null;
}

export interface RelationObjectInput {
  /** The name of another entity */
  entity?: string | null;
  /** A value */
  value?: string | null;
}

export interface SaveProgramInput {
  /** How it is called; else what its metadata says */
  name?: string | null;
  /** The program as JSON */
  program?: Json | null;
  /** The program as text */
  dsl?: string | null;
  /** Keep it for everybody; only admins may */
  system?: boolean;
  /** Makes a retry safe: the same key with the same input gives the first answer again */
  idempotencyKey?: string | null;
  /** Comes back in the payload as it was given */
  clientMutationId?: string | null;
}

export type Scope = "DEFAULT" | "USER" | "PROJECT" | "SCRATCH";

export type SearchMode = "WORDS" | "VECTOR" | "HYBRID";

export interface SendMessageInput {
  /** Whose actor is asked */
  nodeId: string;
  /** What is asked, such as start or query */
  type: string;
  /** An object with what belongs to the message */
  payload?: Json | null;
  /** Makes a retry safe: the same key with the same input gives the first answer again */
  idempotencyKey?: string | null;
  /** Comes back in the payload as it was given */
  clientMutationId?: string | null;
}

export type SortDirection = "ASC" | "DESC";

export interface StructuredInput {
  /** Entities it names, at most 32 */
  entities?: Array<MentionInput> | null;
  /** Relations it states, at most 64 */
  relations?: Array<RelationInput> | null;
}

export interface UpdateEdgeInput {
  /** Which edge */
  id: string;
  /** The new type; null takes it away */
  type?: string | null;
  /** The new weight */
  weight?: number | null;
  /** The new content; null takes it away */
  content?: ContentInput | null;
  /** Properties to set, beside those there are */
  properties?: Json | null;
  /** Values to append to list properties by name; a list of such objects appends one after the other */
  appendProperties?: Json | null;
  /** Properties to take away */
  removeProperties?: Array<string> | null;
  /** Refuse with VERSION_CONFLICT unless the element is at this version; 0 means it must not exist yet */
  expectedVersion?: number | null;
  /** Makes a retry safe: the same key with the same input gives the first answer again */
  idempotencyKey?: string | null;
  /** Comes back in the payload as it was given */
  clientMutationId?: string | null;
}

export interface UpdateNodeInput {
  /** Which node */
  id: string;
  /** The new type; null takes it away */
  type?: string | null;
  /** Properties to set, beside those there are */
  properties?: Json | null;
  /** Values to append to list properties by name; a list of such objects appends one after the other */
  appendProperties?: Json | null;
  /** Properties to take away */
  removeProperties?: Array<string> | null;
  /** The new data; null takes it away */
  data?: Json | null;
  /** The new content; null takes it away */
  content?: ContentInput | null;
  /** Refuse with VERSION_CONFLICT unless the element is at this version; 0 means it must not exist yet */
  expectedVersion?: number | null;
  /** Makes a retry safe: the same key with the same input gives the first answer again */
  idempotencyKey?: string | null;
  /** Comes back in the payload as it was given */
  clientMutationId?: string | null;
}

export interface UpsertEdgeInput {
  /** The node it leaves from */
  from: string;
  /** The node it arrives at */
  to: string;
  /** Its id; when left out, the first edge of this type between the nodes, or a new one */
  id?: string | null;
  /** What kind of edge it is */
  type?: string | null;
  /** The weight; kept when left out, 1 for a new edge */
  weight?: number | null;
  /** Properties to set, beside those there are */
  properties?: Json | null;
  /** What happens when its nodes do not exist and it is new */
  endpointPolicy?: EndpointPolicy;
  /** Refuse with VERSION_CONFLICT unless the element is at this version; 0 means it must not exist yet */
  expectedVersion?: number | null;
  /** Makes a retry safe: the same key with the same input gives the first answer again */
  idempotencyKey?: string | null;
  /** Comes back in the payload as it was given */
  clientMutationId?: string | null;
}

export interface LastPositionVariables {
}

export type LastPositionResult = {
  stats: {
    events: number;
  };
};

export const LastPosition: TypedDocument<LastPositionResult, LastPositionVariables> = typed("query LastPosition { stats { events } }");

export interface ReadNodeVariables {
  id: string;
  at?: At | null;
}

export type ReadNodeResult = {
  graphNode: {
    id: string;
    type: string | null;
    label: string;
    scope: "DEFAULT" | "USER" | "PROJECT" | "SCRATCH";
    version: number;
    created: number;
    modified: number;
    properties: Json;
    data: Json | null;
  } | null;
};

export const ReadNode: TypedDocument<ReadNodeResult, ReadNodeVariables> = typed("query ReadNode($id: ID!, $at: At) { graphNode(id: $id, at: $at) { ...NodeParts } } fragment NodeParts on GraphNode { id type label scope version created modified properties data }");

export interface ReadEdgeVariables {
  id: string;
  at?: At | null;
}

export type ReadEdgeResult = {
  graphEdge: {
    id: string;
    type: string | null;
    from: string;
    to: string;
    weight: number;
    version: number;
    created: number;
    properties: Json;
  } | null;
};

export const ReadEdge: TypedDocument<ReadEdgeResult, ReadEdgeVariables> = typed("query ReadEdge($id: ID!, $at: At) { graphEdge(id: $id, at: $at) { ...EdgeParts } } fragment EdgeParts on GraphEdge { id type from to weight version created properties }");

export interface ListNodesVariables {
  filter?: NodeFilter | null;
  orderBy?: Array<NodeOrder> | null;
  first?: number | null;
  after?: string | null;
  at?: At | null;
}

export type ListNodesResult = {
  graphNodes: {
    nodes: Array<{
      id: string;
      type: string | null;
      label: string;
      scope: "DEFAULT" | "USER" | "PROJECT" | "SCRATCH";
      version: number;
      created: number;
      modified: number;
      properties: Json;
      data: Json | null;
    }>;
    pageInfo: {
      hasNextPage: boolean;
      endCursor: string | null;
    };
  };
};

export const ListNodes: TypedDocument<ListNodesResult, ListNodesVariables> = typed("query ListNodes($filter: NodeFilter, $orderBy: [NodeOrder!], $first: Int, $after: String, $at: At) { graphNodes( filter: $filter orderBy: $orderBy first: $first after: $after at: $at ) { nodes { ...NodeParts } pageInfo { hasNextPage endCursor } } } fragment NodeParts on GraphNode { id type label scope version created modified properties data }");

export interface ListEdgesVariables {
  filter?: EdgeFilter | null;
  orderBy?: Array<EdgeOrder> | null;
  first?: number | null;
  after?: string | null;
  at?: At | null;
}

export type ListEdgesResult = {
  graphEdges: {
    nodes: Array<{
      id: string;
      type: string | null;
      from: string;
      to: string;
      weight: number;
      version: number;
      created: number;
      properties: Json;
    }>;
    pageInfo: {
      hasNextPage: boolean;
      endCursor: string | null;
    };
  };
};

export const ListEdges: TypedDocument<ListEdgesResult, ListEdgesVariables> = typed("query ListEdges($filter: EdgeFilter, $orderBy: [EdgeOrder!], $first: Int, $after: String, $at: At) { graphEdges( filter: $filter orderBy: $orderBy first: $first after: $after at: $at ) { nodes { ...EdgeParts } pageInfo { hasNextPage endCursor } } } fragment EdgeParts on GraphEdge { id type from to weight version created properties }");

export interface SearchNodesVariables {
  query: string;
  mode: SearchMode;
  first?: number | null;
}

export type SearchNodesResult = {
  search: {
    edges: Array<{
      node: {
        score: number;
        node: {
          id: string;
          type: string | null;
          label: string;
          scope: "DEFAULT" | "USER" | "PROJECT" | "SCRATCH";
          version: number;
          created: number;
          modified: number;
          properties: Json;
          data: Json | null;
        };
      };
    }>;
  };
};

export const SearchNodes: TypedDocument<SearchNodesResult, SearchNodesVariables> = typed("query SearchNodes($query: String!, $mode: SearchMode!, $first: Int) { search(query: $query, mode: $mode, first: $first) { edges { node { score node { ...NodeParts } } } } } fragment NodeParts on GraphNode { id type label scope version created modified properties data }");

export interface RunCypherVariables {
  query: string;
  params?: Json | null;
  limit?: number | null;
  at?: At | null;
  view: CypherView;
}

export type RunCypherResult = {
  cypher: {
    columns: Array<string>;
    rows: Array<Json>;
    truncated: boolean;
  };
};

export const RunCypher: TypedDocument<RunCypherResult, RunCypherVariables> = typed("query RunCypher($query: String!, $params: JSON, $limit: Int, $at: At, $view: CypherView!) { cypher(query: $query, params: $params, limit: $limit, at: $at, view: $view) { columns rows truncated } }");

export interface AddNodeVariables {
  input: AddNodeInput;
}

export type AddNodeResult = {
  addNode: {
    node: {
      id: string;
      type: string | null;
      label: string;
      scope: "DEFAULT" | "USER" | "PROJECT" | "SCRATCH";
      version: number;
      created: number;
      modified: number;
      properties: Json;
      data: Json | null;
    };
    warnings: Array<{
      code: string;
      message: string;
      id: string | null;
    }>;
  };
};

export const AddNode: TypedDocument<AddNodeResult, AddNodeVariables> = typed("mutation AddNode($input: AddNodeInput!) { addNode(input: $input) { node { ...NodeParts } warnings { ...WarningParts } } } fragment NodeParts on GraphNode { id type label scope version created modified properties data } fragment WarningParts on Warning { code message id }");

export interface UpsertNodeVariables {
  input: AddNodeInput;
}

export type UpsertNodeResult = {
  upsertNode: {
    node: {
      id: string;
      type: string | null;
      label: string;
      scope: "DEFAULT" | "USER" | "PROJECT" | "SCRATCH";
      version: number;
      created: number;
      modified: number;
      properties: Json;
      data: Json | null;
    };
    warnings: Array<{
      code: string;
      message: string;
      id: string | null;
    }>;
  };
};

export const UpsertNode: TypedDocument<UpsertNodeResult, UpsertNodeVariables> = typed("mutation UpsertNode($input: AddNodeInput!) { upsertNode(input: $input) { node { ...NodeParts } warnings { ...WarningParts } } } fragment NodeParts on GraphNode { id type label scope version created modified properties data } fragment WarningParts on Warning { code message id }");

export interface UpdateNodeVariables {
  input: UpdateNodeInput;
}

export type UpdateNodeResult = {
  updateNode: {
    node: {
      id: string;
      type: string | null;
      label: string;
      scope: "DEFAULT" | "USER" | "PROJECT" | "SCRATCH";
      version: number;
      created: number;
      modified: number;
      properties: Json;
      data: Json | null;
    };
    warnings: Array<{
      code: string;
      message: string;
      id: string | null;
    }>;
  };
};

export const UpdateNode: TypedDocument<UpdateNodeResult, UpdateNodeVariables> = typed("mutation UpdateNode($input: UpdateNodeInput!) { updateNode(input: $input) { node { ...NodeParts } warnings { ...WarningParts } } } fragment NodeParts on GraphNode { id type label scope version created modified properties data } fragment WarningParts on Warning { code message id }");

export interface AddEdgeVariables {
  input: AddEdgeInput;
}

export type AddEdgeResult = {
  addEdge: {
    edge: {
      id: string;
      type: string | null;
      from: string;
      to: string;
      weight: number;
      version: number;
      created: number;
      properties: Json;
    };
    warnings: Array<{
      code: string;
      message: string;
      id: string | null;
    }>;
  };
};

export const AddEdge: TypedDocument<AddEdgeResult, AddEdgeVariables> = typed("mutation AddEdge($input: AddEdgeInput!) { addEdge(input: $input) { edge { ...EdgeParts } warnings { ...WarningParts } } } fragment EdgeParts on GraphEdge { id type from to weight version created properties } fragment WarningParts on Warning { code message id }");

export interface UpsertEdgeVariables {
  input: UpsertEdgeInput;
}

export type UpsertEdgeResult = {
  upsertEdge: {
    edge: {
      id: string;
      type: string | null;
      from: string;
      to: string;
      weight: number;
      version: number;
      created: number;
      properties: Json;
    };
    warnings: Array<{
      code: string;
      message: string;
      id: string | null;
    }>;
  };
};

export const UpsertEdge: TypedDocument<UpsertEdgeResult, UpsertEdgeVariables> = typed("mutation UpsertEdge($input: UpsertEdgeInput!) { upsertEdge(input: $input) { edge { ...EdgeParts } warnings { ...WarningParts } } } fragment EdgeParts on GraphEdge { id type from to weight version created properties } fragment WarningParts on Warning { code message id }");

export interface UpdateEdgeVariables {
  input: UpdateEdgeInput;
}

export type UpdateEdgeResult = {
  updateEdge: {
    edge: {
      id: string;
      type: string | null;
      from: string;
      to: string;
      weight: number;
      version: number;
      created: number;
      properties: Json;
    };
    warnings: Array<{
      code: string;
      message: string;
      id: string | null;
    }>;
  };
};

export const UpdateEdge: TypedDocument<UpdateEdgeResult, UpdateEdgeVariables> = typed("mutation UpdateEdge($input: UpdateEdgeInput!) { updateEdge(input: $input) { edge { ...EdgeParts } warnings { ...WarningParts } } } fragment EdgeParts on GraphEdge { id type from to weight version created properties } fragment WarningParts on Warning { code message id }");

export interface DeleteElementVariables {
  input: DeleteInput;
}

export type DeleteElementResult = {
  delete: {
    deletedId: string;
    deletedEdgeIds: Array<string>;
  };
};

export const DeleteElement: TypedDocument<DeleteElementResult, DeleteElementVariables> = typed("mutation DeleteElement($input: DeleteInput!) { delete(input: $input) { deletedId deletedEdgeIds } }");

export interface ApplyBatchVariables {
  operations: Array<BatchOperation>;
  idempotencyKey?: string | null;
}

export type ApplyBatchResult = {
  applyBatch: {
    elements: Array<{
      __typename: "GraphNode";
      id: string;
      type: string | null;
      label: string;
      scope: "DEFAULT" | "USER" | "PROJECT" | "SCRATCH";
      version: number;
      created: number;
      modified: number;
      properties: Json;
      data: Json | null;
    } | {
      __typename: "GraphEdge";
      id: string;
      type: string | null;
      from: string;
      to: string;
      weight: number;
      version: number;
      created: number;
      properties: Json;
    }>;
    deletedIds: Array<string>;
  };
};

export const ApplyBatch: TypedDocument<ApplyBatchResult, ApplyBatchVariables> = typed("mutation ApplyBatch($operations: [BatchOperation!]!, $idempotencyKey: String) { applyBatch(operations: $operations, idempotencyKey: $idempotencyKey) { elements { __typename ... on GraphNode { ...NodeParts } ... on GraphEdge { ...EdgeParts } } deletedIds } } fragment NodeParts on GraphNode { id type label scope version created modified properties data } fragment EdgeParts on GraphEdge { id type from to weight version created properties }");

export interface FollowEventsVariables {
  types?: Array<EventType> | null;
  afterSeq?: number | null;
}

export type FollowEventsResult = {
  events: {
    seq: number;
    eventId: string;
    timestamp: number;
    type: "LogRepaired" | "NodeAdded" | "NodeUpdated" | "NodeDeleted" | "EdgeAdded" | "EdgeUpdated" | "EdgeDeleted" | "EdgeCounterSet" | "NoteAdded" | "EntityUpserted" | "EntityAliasAdded" | "EntityMerged" | "PredicateRegistered" | "PredicateAliasAdded" | "FactAdded" | "FactSuperseded" | "EvidenceAdded" | "NoteDeleted" | "EntityDeleted" | "PredicateUpdated" | "PredicateDeleted" | "FactInvalidated" | "FactExtended" | "FactReopened" | "FactOverridden" | "FactMoved" | "FactDeleted" | "OntologyCreated" | "OntologyNodeTypeAdded" | "OntologyConnectionTypeAdded" | "OntologyPropertiesAdded" | "OntologyEnforcementSet" | "ProgramStored" | "ProgramUpdated" | "ProgramDeleted" | "ApiKeyCreated" | "ApiKeyRevoked" | "ExtractionRequested" | "ExtractionPostponed" | "ExtractionFinished" | "ExtractionGivenUp" | "Hidden";
    elementId: string | null;
    version: number | null;
    by: string | null;
    hidden: boolean;
    data: Json;
  };
};

export const FollowEvents: TypedDocument<FollowEventsResult, FollowEventsVariables> = typed("subscription FollowEvents($types: [EventType!], $afterSeq: Position) { events(types: $types, afterSeq: $afterSeq) { seq eventId timestamp type elementId version by hidden data } }");

export interface AddFactVariables {
  input: AddFactInput;
}

export type AddFactResult = {
  addFact: {
    fact: {
      factId: string;
      predicate: string;
      scope: string;
      objectValue: string | null;
      objectEntity: {
        entityId: string;
        canonical: string;
      } | null;
      subject: {
        entityId: string;
        canonical: string;
      };
      validFrom: string;
      validTo: string | null;
      state: "CURRENT" | "HISTORICAL" | "FUTURE";
      evidenceCount: number;
    };
    created: boolean;
    warnings: Array<{
      code: string;
      message: string;
      id: string | null;
    }>;
  };
};

export const AddFact: TypedDocument<AddFactResult, AddFactVariables> = typed("mutation AddFact($input: AddFactInput!) { addFact(input: $input) { fact { ...FactParts } created warnings { ...WarningParts } } } fragment WarningParts on Warning { code message id } fragment FactParts on Fact { factId predicate scope objectValue objectEntity { entityId canonical } subject { entityId canonical } validFrom validTo state evidenceCount }");

export interface InvalidateFactVariables {
  factId: string;
  validTo?: string | null;
  reason?: string | null;
  idempotencyKey?: string | null;
}

export type InvalidateFactResult = {
  invalidateFact: {
    fact: {
      factId: string;
      predicate: string;
      scope: string;
      objectValue: string | null;
      objectEntity: {
        entityId: string;
        canonical: string;
      } | null;
      subject: {
        entityId: string;
        canonical: string;
      };
      validFrom: string;
      validTo: string | null;
      state: "CURRENT" | "HISTORICAL" | "FUTURE";
      evidenceCount: number;
    };
  };
};

export const InvalidateFact: TypedDocument<InvalidateFactResult, InvalidateFactVariables> = typed("mutation InvalidateFact($factId: ID!, $validTo: DateTime, $reason: String, $idempotencyKey: String) { invalidateFact( factId: $factId validTo: $validTo reason: $reason idempotencyKey: $idempotencyKey ) { fact { ...FactParts } } } fragment FactParts on Fact { factId predicate scope objectValue objectEntity { entityId canonical } subject { entityId canonical } validFrom validTo state evidenceCount }");

export interface IngestVariables {
  input: IngestInput;
}

export type IngestResult = {
  ingest: {
    facts: Array<{
      factId: string;
      predicate: string;
      scope: string;
      objectValue: string | null;
      objectEntity: {
        entityId: string;
        canonical: string;
      } | null;
      subject: {
        entityId: string;
        canonical: string;
      };
      validFrom: string;
      validTo: string | null;
      state: "CURRENT" | "HISTORICAL" | "FUTURE";
      evidenceCount: number;
    }>;
  };
};

export const Ingest: TypedDocument<IngestResult, IngestVariables> = typed("mutation Ingest($input: IngestInput!) { ingest(input: $input) { facts { ...FactParts } } } fragment FactParts on Fact { factId predicate scope objectValue objectEntity { entityId canonical } subject { entityId canonical } validFrom validTo state evidenceCount }");

export interface TimelineVariables {
  subject: EntityRef;
  at?: At | null;
  first?: number | null;
}

export type TimelineResult = {
  factTimeline: Array<{
    factId: string;
    predicate: string;
    scope: string;
    objectValue: string | null;
    objectEntity: {
      entityId: string;
      canonical: string;
    } | null;
    subject: {
      entityId: string;
      canonical: string;
    };
    validFrom: string;
    validTo: string | null;
    state: "CURRENT" | "HISTORICAL" | "FUTURE";
    evidenceCount: number;
  }>;
};

export const Timeline: TypedDocument<TimelineResult, TimelineVariables> = typed("query Timeline($subject: EntityRef!, $at: At, $first: Int) { factTimeline(subject: $subject, at: $at, first: $first) { ...FactParts } } fragment FactParts on Fact { factId predicate scope objectValue objectEntity { entityId canonical } subject { entityId canonical } validFrom validTo state evidenceCount }");

export interface WhyFactVariables {
  factId: string;
}

export type WhyFactResult = {
  whyFact: {
    fact: {
      factId: string;
      predicate: string;
      scope: string;
      objectValue: string | null;
      objectEntity: {
        entityId: string;
        canonical: string;
      } | null;
      subject: {
        entityId: string;
        canonical: string;
      };
      validFrom: string;
      validTo: string | null;
      state: "CURRENT" | "HISTORICAL" | "FUTURE";
      evidenceCount: number;
    };
    invalidationReason: string | null;
    notes: Array<{
      noteId: string;
      text: string;
      source: string | null;
      createdAt: string;
      agentId: string | null;
    }>;
    events: Array<{
      seq: number;
      timestamp: number;
      type: "LogRepaired" | "NodeAdded" | "NodeUpdated" | "NodeDeleted" | "EdgeAdded" | "EdgeUpdated" | "EdgeDeleted" | "EdgeCounterSet" | "NoteAdded" | "EntityUpserted" | "EntityAliasAdded" | "EntityMerged" | "PredicateRegistered" | "PredicateAliasAdded" | "FactAdded" | "FactSuperseded" | "EvidenceAdded" | "NoteDeleted" | "EntityDeleted" | "PredicateUpdated" | "PredicateDeleted" | "FactInvalidated" | "FactExtended" | "FactReopened" | "FactOverridden" | "FactMoved" | "FactDeleted" | "OntologyCreated" | "OntologyNodeTypeAdded" | "OntologyConnectionTypeAdded" | "OntologyPropertiesAdded" | "OntologyEnforcementSet" | "ProgramStored" | "ProgramUpdated" | "ProgramDeleted" | "ApiKeyCreated" | "ApiKeyRevoked" | "ExtractionRequested" | "ExtractionPostponed" | "ExtractionFinished" | "ExtractionGivenUp" | "Hidden";
      by: string | null;
    }>;
  };
};

export const WhyFact: TypedDocument<WhyFactResult, WhyFactVariables> = typed("query WhyFact($factId: ID!) { whyFact(factId: $factId) { fact { ...FactParts } invalidationReason notes { noteId text source createdAt agentId } events { seq timestamp type by } } } fragment FactParts on Fact { factId predicate scope objectValue objectEntity { entityId canonical } subject { entityId canonical } validFrom validTo state evidenceCount }");

export interface RecallVariables {
  query: string;
  budgetTokens: number;
  asOf?: string | null;
  at?: At | null;
  scopes?: Array<string> | null;
  kinds?: Array<RecallKind> | null;
  first: number;
}

export type RecallResult = {
  recall: {
    text: string;
    items: Array<{
      kind: "FACT" | "NOTE" | "PASSAGE" | "NODE";
      id: string;
      text: string;
      score: number;
      why: string;
      validFrom: string | null;
      validTo: string | null;
      scope: string | null;
    }>;
    tokens: number;
    omitted: number;
    truncated: boolean;
  };
};

export const Recall: TypedDocument<RecallResult, RecallVariables> = typed("query Recall($query: String!, $budgetTokens: Int!, $asOf: DateTime, $at: At, $scopes: [String!], $kinds: [RecallKind!], $first: Int!) { recall( query: $query budgetTokens: $budgetTokens asOf: $asOf at: $at scopes: $scopes kinds: $kinds first: $first ) { text items { kind id text score why validFrom validTo scope } tokens omitted truncated } }");

export interface RunProgramVariables {
  dsl?: string | null;
  programId?: number | null;
  params?: Json | null;
  at?: At | null;
}

export type RunProgramResult = {
  executeProgram: {
    result: {
      nodes: Array<{
        conceptId: string;
        label: string;
        properties: Json;
      }>;
      links: Array<{
        fromId: string;
        toId: string;
        relationshipType: string;
        properties: Json;
      }>;
    };
    log: Array<{
      statement: number;
      path: string;
      op: string;
      operationType: "CYPHER" | "API" | "CONDITIONAL";
      branchTaken: "THEN" | "ELSE" | null;
      nodesAffected: number;
      linksAffected: number;
      durationMs: number;
      wSize: {
        nodes: number;
        links: number;
      };
    }>;
    aborted: {
      statement: number;
      reason: string;
    } | null;
  };
};

export const RunProgram: TypedDocument<RunProgramResult, RunProgramVariables> = typed("query RunProgram($dsl: String, $programId: Int, $params: JSON, $at: At) { executeProgram(dsl: $dsl, programId: $programId, params: $params, at: $at) { result { ...GraphParts } log { ...StepParts } aborted { statement reason } } } fragment StepParts on StepLogEntry { statement path op operationType branchTaken nodesAffected linksAffected durationMs wSize { nodes links } } fragment GraphParts on WorkingGraph { nodes { conceptId label properties } links { fromId toId relationshipType properties } }");

export interface RunProgramStepsVariables {
  dsl?: string | null;
  programId?: number | null;
  params?: Json | null;
}

export type RunProgramStepsResult = {
  programRun: {
    step: {
      statement: number;
      path: string;
      op: string;
      operationType: "CYPHER" | "API" | "CONDITIONAL";
      branchTaken: "THEN" | "ELSE" | null;
      nodesAffected: number;
      linksAffected: number;
      durationMs: number;
      wSize: {
        nodes: number;
        links: number;
      };
    } | null;
    graph: {
      nodes: Array<{
        conceptId: string;
        label: string;
        properties: Json;
      }>;
      links: Array<{
        fromId: string;
        toId: string;
        relationshipType: string;
        properties: Json;
      }>;
    } | null;
    result: {
      result: {
        nodes: Array<{
          conceptId: string;
          label: string;
          properties: Json;
        }>;
        links: Array<{
          fromId: string;
          toId: string;
          relationshipType: string;
          properties: Json;
        }>;
      };
      log: Array<{
        statement: number;
        path: string;
        op: string;
        operationType: "CYPHER" | "API" | "CONDITIONAL";
        branchTaken: "THEN" | "ELSE" | null;
        nodesAffected: number;
        linksAffected: number;
        durationMs: number;
        wSize: {
          nodes: number;
          links: number;
        };
      }>;
      aborted: {
        statement: number;
        reason: string;
      } | null;
    } | null;
  };
};

export const RunProgramSteps: TypedDocument<RunProgramStepsResult, RunProgramStepsVariables> = typed("subscription RunProgramSteps($dsl: String, $programId: Int, $params: JSON) { programRun(dsl: $dsl, programId: $programId, params: $params) { step { ...StepParts } graph { ...GraphParts } result { result { ...GraphParts } log { ...StepParts } aborted { statement reason } } } } fragment StepParts on StepLogEntry { statement path op operationType branchTaken nodesAffected linksAffected durationMs wSize { nodes links } } fragment GraphParts on WorkingGraph { nodes { conceptId label properties } links { fromId toId relationshipType properties } }");

export interface SaveProgramVariables {
  input: SaveProgramInput;
}

export type SaveProgramResult = {
  saveProgram: {
    program: {
      programId: number;
      name: string;
      dsl: string;
    } | null;
    validation: {
      valid: boolean;
      errors: Array<{
        ruleId: string;
        message: string;
        path: string | null;
      }>;
    };
  };
};

export const SaveProgram: TypedDocument<SaveProgramResult, SaveProgramVariables> = typed("mutation SaveProgram($input: SaveProgramInput!) { saveProgram(input: $input) { program { programId name dsl } validation { valid errors { ruleId message path } } } }");

export interface ListProgramsVariables {
  first: number;
  after?: string | null;
}

export type ListProgramsResult = {
  programs: {
    nodes: Array<{
      programId: number;
      name: string;
      description: string | null;
      dsl: string;
    }>;
    pageInfo: {
      hasNextPage: boolean;
      endCursor: string | null;
    };
  };
};

export const ListPrograms: TypedDocument<ListProgramsResult, ListProgramsVariables> = typed("query ListPrograms($first: Int!, $after: String) { programs(first: $first, after: $after) { nodes { programId name description dsl } pageInfo { hasNextPage endCursor } } }");

export interface SendMessageVariables {
  input: SendMessageInput;
}

export type SendMessageResult = {
  sendMessage: {
    messageId: string;
    success: boolean;
    error: string | null;
    payload: Json;
    node: {
      id: string;
      type: string | null;
      label: string;
      scope: "DEFAULT" | "USER" | "PROJECT" | "SCRATCH";
      version: number;
      created: number;
      modified: number;
      properties: Json;
      data: Json | null;
    } | null;
  };
};

export const SendMessage: TypedDocument<SendMessageResult, SendMessageVariables> = typed("mutation SendMessage($input: SendMessageInput!) { sendMessage(input: $input) { messageId success error payload node { ...NodeParts } } } fragment NodeParts on GraphNode { id type label scope version created modified properties data }");
