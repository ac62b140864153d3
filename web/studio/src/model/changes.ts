// What differs between two states of the graph, and how dense the changes of the log are.
import { isEqual } from "./editing.ts";
import type { ChangeKind } from "./scene.ts";
import type { GraphEdge, GraphNode } from "./types.ts";

export interface GraphState {
  nodes: GraphNode[];
  edges: GraphEdge[];
}

export interface Difference {
  nodes: Map<string, ChangeKind>;
  edges: Map<string, ChangeKind>;
}

/** Elements that were added, changed or are gone on the way from one state to the other. */
export function diffStates(before: GraphState, after: GraphState): Difference {
  return { nodes: diff(before.nodes, after.nodes), edges: diff(before.edges, after.edges) };
}

type Element = Pick<GraphNode, "id" | "type" | "version" | "properties">;

function diff(before: Element[], after: Element[]): Map<string, ChangeKind> {
  const old = new Map(before.map((element) => [element.id, element]));
  const found = new Map<string, ChangeKind>();
  for (const element of after) {
    const known = old.get(element.id);
    if (!known) found.set(element.id, "added");
    else if (!isSame(known, element)) found.set(element.id, "changed");
    old.delete(element.id);
  }
  for (const id of old.keys()) found.set(id, "gone");
  return found;
}

function isSame(a: Element, b: Element): boolean {
  return a.version === b.version && a.type === b.type && isEqual(a.properties, b.properties);
}

/** Both states together: everything of the later one, and what is gone since the earlier. */
export function unite(before: GraphState, after: GraphState): GraphState {
  const nodes = new Set(after.nodes.map((node) => node.id));
  const edges = new Set(after.edges.map((edge) => edge.id));
  return {
    nodes: [...after.nodes, ...before.nodes.filter((node) => !nodes.has(node.id))],
    edges: [...after.edges, ...before.edges.filter((edge) => !edges.has(edge.id))],
  };
}

export function countKinds(found: Difference): Record<ChangeKind, number> {
  const counts = { added: 0, changed: 0, gone: 0 };
  for (const kind of [...found.nodes.values(), ...found.edges.values()]) counts[kind] += 1;
  return counts;
}
