// Every GraphQL document that Studio sends. Tests validate them against the schema of the gateway.

const NODE = "id type label scope degree version created modified properties";
const EDGE = "id type from to weight version properties";
const EVENT = "seq timestamp type elementId hidden by data";
const PAGE = "pageInfo { hasNextPage endCursor }";
const FACT = `factId predicate scope objectValue objectEntity { entityId canonical } subject { entityId canonical }
  validFrom validTo state createdAt updatedAt invalidationReason evidenceCount
  supersededBy { toFact { factId } }`;
const PROGRAM = "programId name description dsl program statementCount operationCount ownerId updatedAt";
const WORKING_GRAPH = "nodes { conceptId label properties node { id type } } links { fromId toId relationshipType properties }";
const STEPS = "statement path op operationType branchTaken nodesAffected linksAffected durationMs wSize { nodes links }";
const ONTOLOGY = `name nodeTypes enforcement createdAt yaml
  connectionTypes { name fromTypes toTypes requiredProperties acyclic }
  properties { owner type definitions { name kind required enum pattern default description } }`;

/** Properties by whose beginning a node is found. Each is a list of its own, which an index answers; one list by any of them is not. */
export const NAMES = ["label", "name", "title"] as const;
const SUGGESTED = `{ nodes { ${NODE} } }`;
const suggestedBy = (key: string, variable: string, when = "") =>
  `graphNodes(first: 6, filter: {properties: [{key: "${key}", op: STARTS_WITH, value: $${variable}}]})${when} ${SUGGESTED}`;

export const documents = {
  overview: `query Overview { backend { name kind version state capabilities }
    stats { nodes edges types properties events nodeTypes { type count } edgeTypes { type count } } }`,
  viewer: "query Viewer { viewer { user tenant roles managesKeys managesGateway } }",

  hubs: `query Hubs($limit: Int!, $at: At) { hubs(limit: $limit, at: $at) { node { ${NODE} } } }`,
  nodesByIds: `query NodesByIds($ids: [ID!], $first: Int, $at: At) {
    graphNodes(filter: {ids: $ids}, first: $first, at: $at) { nodes { ${NODE} } } }`,
  allNodes: `query AllNodes($first: Int, $after: String, $at: At, $filter: NodeFilter) {
    graphNodes(first: $first, after: $after, at: $at, filter: $filter) { nodes { ${NODE} } ${PAGE} } }`,
  allEdges: `query AllEdges($first: Int, $after: String, $at: At) {
    graphEdges(first: $first, after: $after, at: $at) { nodes { ${EDGE} } ${PAGE} } }`,
  edgesBetween: `query EdgesBetween($query: String!, $params: JSON, $limit: Int, $at: At) {
    cypher(query: $query, params: $params, limit: $limit, at: $at) { rows truncated } }`,
  violations: `query Violations($query: String!, $params: JSON) { cypher(query: $query, params: $params, limit: 20) { rows truncated } }`,
  edge: `query Edge($id: ID!) { graphEdge(id: $id) { ${EDGE} } }`,
  node: `query OneNode($id: ID!) { graphNode(id: $id) { ${NODE} data content { format encoding body size } } }`,
  edgeCounts: `query EdgeCounts($outgoing: String!, $incoming: String!, $params: JSON) {
    outgoing: cypher(query: $outgoing, params: $params) { rows }
    incoming: cypher(query: $incoming, params: $params) { rows } }`,
  outgoing: `query Outgoing($id: ID!, $filter: EdgeFilter, $first: Int, $after: String) {
    graphNode(id: $id) { edges: outgoing(filter: $filter, first: $first, after: $after) {
      nodes { ${EDGE} other: toNode { ${NODE} } } ${PAGE} } } }`,
  incoming: `query Incoming($id: ID!, $filter: EdgeFilter, $first: Int, $after: String) {
    graphNode(id: $id) { edges: incoming(filter: $filter, first: $first, after: $after) {
      nodes { ${EDGE} other: fromNode { ${NODE} } } ${PAGE} } } }`,
  suggest: `query Suggest($text: String!, $mode: SearchMode!, $id: ID!, $prefix: JSON, $upper: JSON, $bothCases: Boolean!) {
    exact: graphNode(id: $id) { ${NODE} }
    words: search(query: $text, mode: $mode, first: 8) { edges { node { score node { ${NODE} } } } }
    ${NAMES.map((key) => `${key}: ${suggestedBy(key, "prefix")} ${key}Upper: ${suggestedBy(key, "upper", " @include(if: $bothCases)")}`).join("\n    ")} }`,
  path: `query ShortestPath($from: ID!, $to: ID!) { path(from: $from, to: $to) {
    totalWeight nodes { ${NODE} } edges { ${EDGE} } } }`,
  versions: `query Versions($id: ID!) { versions(id: $id, last: 20) { version timestamp deleted value event { seq type by } } }`,
  elementEvents: `query ElementEvents($id: ID!) { history(last: 50, elementId: $id) { ${EVENT} } }`,
  references: `query References($id: ID!) { graphNode(id: $id) {
    references { address path resolved target { ... on GraphNode { id label } ... on GraphEdge { edgeId: id } } }
    referencedBy(first: 20) { ... on GraphNode { id label } ... on GraphEdge { edgeId: id } } } }`,
  nodeFacts: `query NodeFacts($id: ID!) { graphNode(id: $id) { entity { entityId canonical facts(first: 30, includeInactive: true) { nodes { ${FACT} } } } } }`,
  vocabulary: `query Vocabulary { propertyKeys ontologies(first: 8) { ${ONTOLOGY} } }`,

  addNode: `mutation AddNode($input: AddNodeInput!) { addNode(input: $input) { node { ${NODE} } warnings { code message } } }`,
  updateNode: `mutation UpdateNode($input: UpdateNodeInput!) { updateNode(input: $input) { node { ${NODE} } warnings { code message } } }`,
  addEdge: `mutation AddEdge($input: AddEdgeInput!) { addEdge(input: $input) { edge { ${EDGE} } warnings { code message } } }`,
  updateEdge: `mutation UpdateEdge($input: UpdateEdgeInput!) { updateEdge(input: $input) { edge { ${EDGE} } warnings { code message } } }`,
  deleteElement: `mutation DeleteElement($input: DeleteInput!) { delete(input: $input) { deletedId deletedEdgeIds } }`,
  revert: `mutation Revert($id: ID!, $version: Int!, $expectedVersion: Int) {
    revertElement(id: $id, version: $version, expectedVersion: $expectedVersion) { events { seq } } }`,
  undoable: `query Undoable($afterSeq: Position, $after: String, $first: Int!) {
    events(types: [NodeAdded, NodeUpdated, NodeDeleted, EdgeAdded, EdgeUpdated, EdgeDeleted], afterSeq: $afterSeq, after: $after, first: $first) {
      nodes { seq } ${PAGE} } }`,
  undo: `mutation Undo($events: [Position!]!, $preview: Boolean!, $key: String) {
    undo(input: {events: $events}, preview: $preview, idempotencyKey: $key) {
      done changes { elementId element kind fields } conflicts { seq elementId message } events { seq } } }`,
  loadDemo: "mutation LoadDemo { loadDemo { nodes edges } }",
  importGraph: `mutation ImportGraph($graph: JSON!, $onConflict: String!) {
    importGraph(graph: $graph, onConflict: $onConflict) { nodes edges } }`,
  exportNodes: `query ExportNodes($first: Int, $after: String) { graphNodes(first: $first, after: $after) {
    nodes { id type properties data created modified content { format encoding body } } ${PAGE} } }`,
  exportEdges: `query ExportEdges($first: Int, $after: String) { graphEdges(first: $first, after: $after) {
    nodes { id from to type weight properties created } ${PAGE} } }`,

  cypher: `query Cypher($query: String!, $params: JSON, $limit: Int, $view: CypherView!) {
    cypher(query: $query, params: $params, limit: $limit, view: $view) {
      columns rows truncated durationMs explanation plan { operator details depth rows }
      graph { ${WORKING_GRAPH} } } }`,
  parseProgram: `query ParseProgram($dsl: String!) { parseProgram(dsl: $dsl) }`,
  validateProgram: `query ValidateProgram($dsl: String) { validateProgram(dsl: $dsl) {
    valid operationCount errors { ruleId statement path message } warnings { ruleId statement path message } } }`,
  programs: `query Programs { programs(first: 50) { nodes { ${PROGRAM} } } }`,
  saveProgram: `mutation SaveProgram($input: SaveProgramInput!) { saveProgram(input: $input) {
    program { ${PROGRAM} } validation { valid errors { ruleId message } } } }`,
  deleteProgram: "mutation DeleteProgram($id: Int!) { deleteProgram(id: $id) }",
  programRun: `subscription ProgramRun($dsl: String, $params: JSON) { programRun(dsl: $dsl, params: $params) {
    step { ${STEPS} } graph { ${WORKING_GRAPH} } result { log { ${STEPS} } aborted { statement reason } result { ${WORKING_GRAPH} } } } }`,

  entities: `query Entities($search: String, $after: String) { entities(search: $search, first: 30, after: $after) {
    nodes { entityId canonical kind aliases { alias } } totalCount ${PAGE} } }`,
  entityTimeline: `query EntityTimeline($id: ID!, $at: At) { factTimeline(subject: {id: $id}, at: $at, first: 500) { ${FACT} } }`,
  entity: `query OneEntity($search: String!) { entity(name: $search) { entityId canonical kind aliases { alias } node { id } } }`,
  whyFact: `query WhyFact($id: ID!) { whyFact(factId: $id) { fact { ${FACT} } invalidationReason
    notes { noteId text source createdAt agentId }
    replaced { fact { ${FACT} } supersession { effectiveAt } } replacedBy { fact { ${FACT} } supersession { effectiveAt } }
    events { seq timestamp type by } } }`,
  duplicates: `query Duplicates { duplicateEntities(limit: 20) { reason first { entityId canonical } second { entityId canonical } } }`,
  mergePreview: `query MergePreview($keep: ID!, $merge: ID!) { mergePreview(keepId: $keep, mergeId: $merge) {
    aliases moved { ${FACT} } folded { fact { ${FACT} } } conflicts { ${FACT} } } }`,
  merge: "mutation Merge($keep: ID!, $merge: ID!) { mergeEntities(keepId: $keep, mergeId: $merge) { mergedId } }",
  addFact: `mutation AddFact($input: AddFactInput!) { addFact(input: $input) { fact { ${FACT} } warnings { code message } } }`,
  invalidateFact: `mutation InvalidateFact($id: ID!, $reason: String) { invalidateFact(factId: $id, reason: $reason) { fact { factId } } }`,

  eventAt: `query EventAt($after: Position) { events(afterSeq: $after, first: 1) { nodes { seq timestamp } } }`,
  eventsAfter: `query EventsAfter($after: Position, $first: Int!) { events(afterSeq: $after, first: $first) { nodes { ${EVENT} } } }`,
  lastEvents: `query LastEvents { history(last: 40) { ${EVENT} } }`,
  liveEvents: `subscription LiveEvents($afterSeq: Position) { events(afterSeq: $afterSeq) { ${EVENT} } }`,

  createOntology: `mutation CreateOntology($input: CreateOntologyInput!) { createOntology(input: $input) { ontology { ${ONTOLOGY} } } }`,
  addNodeType: `mutation AddNodeType($typeName: String!, $ontology: String!) { addNodeType(typeName: $typeName, ontology: $ontology) { ontology { ${ONTOLOGY} } warnings { code message } } }`,
  addConnectionType: `mutation AddConnectionType($type: ConnectionTypeInput!, $ontology: String!) { addConnectionType(type: $type, ontology: $ontology) { ontology { ${ONTOLOGY} } warnings { code message } } }`,
  setEnforcement: `mutation SetEnforcement($enforcement: Enforcement!, $ontology: String!) { setOntologyEnforcement(enforcement: $enforcement, ontology: $ontology) { ontology { ${ONTOLOGY} } } }`,

  apiKeys: `query ApiKeys { apiKeys(first: 100) { totalCount nodes { id name user roles tenant createdAt expiresAt revokedAt works } } }`,
  createApiKey: `mutation CreateApiKey($input: CreateApiKeyInput!) { createApiKey(input: $input) { token apiKey { id name } } }`,
  revokeApiKey: `mutation RevokeApiKey($input: RevokeApiKeyInput!) { revokeApiKey(input: $input) { apiKey { id works } } }`,
  gateway: "query GatewayState { gateway { version settings { name value origin meaning } tenants { name store events } } }",
  gatewayLog: "query GatewayLog($last: Int!) { gateway { log(last: $last) } }",
  verifyRun: "subscription VerifyRun { verifyRun { eventsChecked events report { ok eventsChecked digest problems { code message } } } }",
  snapshot: "mutation Snapshot { snapshot { snapshot { eventCount nodeCount edgeCount } } }",
} as const;

/** Edges that leave new nodes for any on the canvas, and edges that arrive from there. */
export const EDGES_BETWEEN = [
  "MATCH (a)-[r]->(b) WHERE id(a) IN $added AND id(b) IN $all RETURN r",
  "MATCH (a)<-[r]-(b) WHERE id(a) IN $added AND id(b) IN $all RETURN r",
] as const;
export const COUNT_OUTGOING = "MATCH (a)-[r]->() WHERE id(a) = $id RETURN type(r), count(*)";
export const COUNT_INCOMING = "MATCH (a)<-[r]-() WHERE id(a) = $id RETURN type(r), count(*)";
