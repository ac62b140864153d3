// Reads parts of the graph: by id, by page, and the edges among nodes.
import { ask } from "../api/client.ts";
import { EDGES_BETWEEN, documents } from "../api/documents.ts";
import type { GraphState } from "../model/changes.ts";
import { MAX_CANVAS_NODES } from "../model/scene.ts";
import type { GraphEdge, GraphNode, PageInfo, Properties } from "../model/types.ts";

export type At = { position: number } | null;
const PAGE = 500;
const MAX_IDS = 400;
const MAX_EDGES = 10_000;
const MAX_EDGE_PAGES = 20;

interface Page<T> {
  nodes: T[];
  pageInfo: PageInfo;
}

export async function readNodes(ids: string[], at: At = null): Promise<GraphNode[]> {
  const found: GraphNode[] = [];
  for (let start = 0; start < ids.length; start += MAX_IDS) {
    const part = ids.slice(start, start + MAX_IDS);
    const answer = await ask<{ graphNodes: Page<GraphNode> }>(documents.nodesByIds, { ids: part, first: part.length, at });
    found.push(...answer.graphNodes.nodes);
  }
  return found;
}

/** Edges between `added` and `all`, both ways. */
export async function readEdgesBetween(added: string[], all: string[]): Promise<GraphEdge[]> {
  if (added.length === 0) return [];
  const params = { added, all };
  const [out, back] = await Promise.all(
    EDGES_BETWEEN.map((query) => ask<{ cypher: { rows: [EdgeRow][] } }>(documents.edgesBetween, { query, params, limit: MAX_EDGES, at: null })),
  );
  return [...(out?.cypher.rows ?? []), ...(back?.cypher.rows ?? [])].map(([row]) => toEdge(row));
}

interface EdgeRow {
  id: string;
  type: string | null;
  from: string;
  to: string;
  properties: Properties;
}

/** An edge of a cypher row. Its version is 0, since rows do not tell it; forms read the edge again. */
function toEdge({ id, type, from, to, properties }: EdgeRow): GraphEdge {
  return { id, type: type || null, from, to, properties, weight: 1, version: 0 };
}

/** The graph, up to as many nodes as the canvas holds, with the edges between them. */
export async function readWhole(at: At = null, most = MAX_CANVAS_NODES): Promise<GraphState> {
  const [nodes, edges] = await Promise.all([
    readPages<GraphNode>(documents.allNodes, "graphNodes", at, most),
    readPages<GraphEdge>(documents.allEdges, "graphEdges", at, PAGE * MAX_EDGE_PAGES),
  ]);
  const known = new Set(nodes.map((node) => node.id));
  return { nodes, edges: edges.filter((edge) => known.has(edge.from) && known.has(edge.to)) };
}

async function readPages<T>(document: string, field: string, at: At, most: number): Promise<T[]> {
  const found: T[] = [];
  let after: string | null = null;
  do {
    const first = Math.min(PAGE, most - found.length);
    const answer: Record<string, Page<T>> = await ask(document, { first, after, at });
    const page = answer[field] as Page<T>;
    found.push(...page.nodes);
    after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null;
  } while (after && found.length < most);
  return found;
}
