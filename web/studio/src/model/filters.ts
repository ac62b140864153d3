// Which nodes and edges of the canvas are shown.
import type { GraphEdge, GraphNode } from "./types.ts";

export interface Filters {
  hiddenTypes: ReadonlySet<string>;
  hiddenEdgeTypes: ReadonlySet<string>;
  scope: string;
  /** `key=value`, or `key` alone for nodes that have it. */
  property: string;
  createdAfter: string;
}

export const NO_FILTERS: Filters = {
  hiddenTypes: new Set(),
  hiddenEdgeTypes: new Set(),
  scope: "",
  property: "",
  createdAfter: "",
};

export function isShown(node: GraphNode, filters: Filters): boolean {
  if (filters.hiddenTypes.has(node.type ?? "")) return false;
  if (filters.scope && node.scope !== filters.scope) return false;
  if (filters.createdAfter && node.created < Date.parse(filters.createdAfter)) return false;
  return !filters.property || hasProperty(node, filters.property);
}

export function isEdgeShown(edge: GraphEdge, filters: Filters): boolean {
  return !filters.hiddenEdgeTypes.has(edge.type ?? "");
}

function hasProperty(node: GraphNode, asked: string): boolean {
  const [key = "", ...rest] = asked.split("=");
  const value = node.properties[key.trim()];
  if (value === undefined) return false;
  if (rest.length === 0) return true;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.toLowerCase().includes(rest.join("=").trim().toLowerCase());
}

export function toggle(set: ReadonlySet<string>, name: string): ReadonlySet<string> {
  const changed = new Set(set);
  if (!changed.delete(name)) changed.add(name);
  return changed;
}
