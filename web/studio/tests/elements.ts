// Elements for tests.
import type { GraphEdge, GraphNode } from "../src/model/types.ts";

export function node(id: string, more: Partial<GraphNode> = {}): GraphNode {
  return { id, type: "person", label: id, scope: "DEFAULT", degree: 1, version: 1, created: 1000, modified: 1000, properties: {}, ...more };
}

export function edge(id: string, from: string, to: string, more: Partial<GraphEdge> = {}): GraphEdge {
  return { id, from, to, type: "knows", weight: 1, version: 1, properties: {}, ...more };
}
