// Nodes and edges: read, list, change, and queries in openCypher.
import type { Client, RequestOptions } from "../client.ts";
import {
  AddEdge, type AddEdgeInput, AddNode, type AddNodeInput, type AddNodeResult, ApplyBatch, type ApplyBatchResult, type ApplyBatchVariables, DeleteElement, type DeleteInput,
  ListEdges, type ListEdgesVariables, ListNodes, type ListNodesVariables, ReadEdge, ReadNode, type ReadEdgeResult, type ReadNodeResult, type ReadNodeVariables, RunCypher,
  SearchNodes, type SearchNodesVariables, UpdateEdge, type UpdateEdgeInput, UpdateNode, type UpdateNodeInput, UpsertEdge, type UpsertEdgeInput, UpsertNode,
} from "../generated/operations.ts";
import type { Json, JsonObject } from "../json.ts";
import { pages } from "../pages.ts";

export type GraphNode = NonNullable<ReadNodeResult["graphNode"]>;
export type GraphEdge = NonNullable<ReadEdgeResult["graphEdge"]>;
export type ChangeWarning = AddNodeResult["addNode"]["warnings"][number];
export type At = ReadNodeVariables["at"];

/** What a change left, and what the gateway said to it. */
export interface Changed<T> {
  element: T;
  warnings: ChangeWarning[];
}

const PAGE = 200;

export class Graph {
  constructor(private readonly client: Client) {}

  /** The node with this id, now or at a moment; null without one. */
  async node(id: string, at: At = null): Promise<GraphNode | null> {
    return (await this.client.query(ReadNode, { id, at })).graphNode;
  }

  async edge(id: string, at: At = null): Promise<GraphEdge | null> {
    return (await this.client.query(ReadEdge, { id, at })).graphEdge;
  }

  /** All nodes that meet a filter, read page by page while they are used. */
  nodes({ first = PAGE, after = null, ...wanted }: ListNodesVariables = {}): AsyncGenerator<GraphNode, void, undefined> {
    return pages(async (cursor) => (await this.client.query(ListNodes, { ...wanted, first, after: cursor })).graphNodes, after);
  }

  edges({ first = PAGE, after = null, ...wanted }: ListEdgesVariables = {}): AsyncGenerator<GraphEdge, void, undefined> {
    return pages(async (cursor) => (await this.client.query(ListEdges, { ...wanted, first, after: cursor })).graphEdges, after);
  }

  /** Nodes by words, by likeness, or by both, the best first. */
  async search(query: string, { mode = "WORDS", first = 20 }: Partial<Omit<SearchNodesVariables, "query">> = {}): Promise<{ score: number; node: GraphNode }[]> {
    return (await this.client.query(SearchNodes, { query, mode, first })).search.edges.map(({ node }) => node);
  }

  async addNode(input: AddNodeInput, options?: RequestOptions): Promise<Changed<GraphNode>> {
    const { addNode } = await this.client.mutate(AddNode, { input }, options);
    return { element: addNode.node, warnings: addNode.warnings };
  }

  /** Add the node, or change the one with its id. */
  async upsertNode(input: AddNodeInput, options?: RequestOptions): Promise<Changed<GraphNode>> {
    const { upsertNode } = await this.client.mutate(UpsertNode, { input }, options);
    return { element: upsertNode.node, warnings: upsertNode.warnings };
  }

  /** With `expectedVersion`, VERSION_CONFLICT says that somebody else was first. */
  async updateNode(input: UpdateNodeInput, options?: RequestOptions): Promise<Changed<GraphNode>> {
    const { updateNode } = await this.client.mutate(UpdateNode, { input }, options);
    return { element: updateNode.node, warnings: updateNode.warnings };
  }

  async addEdge(input: AddEdgeInput, options?: RequestOptions): Promise<Changed<GraphEdge>> {
    const { addEdge } = await this.client.mutate(AddEdge, { input }, options);
    return { element: addEdge.edge, warnings: addEdge.warnings };
  }

  async upsertEdge(input: UpsertEdgeInput, options?: RequestOptions): Promise<Changed<GraphEdge>> {
    const { upsertEdge } = await this.client.mutate(UpsertEdge, { input }, options);
    return { element: upsertEdge.edge, warnings: upsertEdge.warnings };
  }

  async updateEdge(input: UpdateEdgeInput, options?: RequestOptions): Promise<Changed<GraphEdge>> {
    const { updateEdge } = await this.client.mutate(UpdateEdge, { input }, options);
    return { element: updateEdge.edge, warnings: updateEdge.warnings };
  }

  /** Delete a node with its edges, or an edge; answers the ids of all that is gone. */
  async delete(input: DeleteInput, options?: RequestOptions): Promise<string[]> {
    const { delete: gone } = await this.client.mutate(DeleteElement, { input }, options);
    return [gone.deletedId, ...gone.deletedEdgeIds];
  }

  /** Several changes as one: all or none. */
  async batch(operations: ApplyBatchVariables["operations"], options?: RequestOptions): Promise<ApplyBatchResult["applyBatch"]> {
    return (await this.client.mutate(ApplyBatch, { operations }, options)).applyBatch;
  }

  /** Rows of an openCypher query. */
  async cypher<Row extends Json[] = Json[]>(query: string, params: JsonObject = {}, { limit, at = null, view = "GRAPH" }: { limit?: number; at?: At; view?: "GRAPH" | "FACTS" | "ALL" } = {}): Promise<{ columns: string[]; rows: Row[]; truncated: boolean }> {
    const { cypher } = await this.client.query(RunCypher, { query, params, limit: limit ?? null, at, view });
    return { ...cypher, rows: cypher.rows as Row[] };
  }
}
