// Results of queries: as cells of a table, and as a scene.
import type { ChangeKind, Scene } from "./scene.ts";
import type { Json, Properties } from "./types.ts";

export interface WorkingGraph {
  nodes: { conceptId: string; label: string; properties: Properties; node: { id: string; type: string | null } | null }[];
  links: { fromId: string; toId: string; relationshipType: string; properties: Properties }[];
}

export type Cell = { kind: "node"; id: string; label: string; type: string } | { kind: "edge"; id: string; type: string } | { kind: "value"; value: Json };

/** A value of a row: nodes and relationships are told apart by their keys. */
export function toCell(value: Json): Cell {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return { kind: "value", value };
  const { id, labels, type, from, to } = value;
  const properties = (typeof value.properties === "object" && value.properties !== null && !Array.isArray(value.properties) ? value.properties : {}) as Properties;
  if (typeof id === "string" && Array.isArray(labels)) return { kind: "node", id, label: nameOf(properties) ?? id, type: String(labels[0] ?? "") };
  if (typeof id === "string" && from !== undefined && to !== undefined) return { kind: "edge", id, type: String(type ?? "") };
  return { kind: "value", value };
}

function nameOf(properties: Properties): string | null {
  const found = [properties.label, properties.name, properties.title].find((value) => typeof value === "string");
  return (found as string | undefined) ?? null;
}

/** Put a graph on a scene in the place of what was there; what stays keeps its place. Says whether a node is new. */
export function showGraph(scene: Scene, graph: WorkingGraph): boolean {
  const ids = new Set(graph.nodes.map(({ conceptId }) => conceptId));
  for (const id of scene.graph.nodes()) if (!ids.has(id)) scene.removeNode(id);
  for (const id of scene.graph.edges()) scene.removeEdge(id);
  const degrees = new Map<string, number>();
  for (const { fromId, toId } of graph.links) for (const id of [fromId, toId]) degrees.set(id, (degrees.get(id) ?? 0) + 1);
  const added = scene.addNodes(
    graph.nodes.map(({ conceptId, label, properties, node }) => ({
      id: conceptId,
      label: nameOf(properties) ?? label,
      type: node?.type ?? null,
      properties,
      degree: degrees.get(conceptId) ?? 0,
      scope: "",
      version: 0,
      created: 0,
      modified: 0,
    })),
  );
  scene.addEdges(
    graph.links.map(({ fromId, toId, relationshipType, properties }, at) => ({ id: `edge ${at}`, from: fromId, to: toId, type: relationshipType, properties, weight: 1, version: 0 })),
  );
  return added.length > 0;
}

/** What a step added to the graph that the step before it left, by the ids on the scene. */
export function findAdded(graph: WorkingGraph, before: WorkingGraph): { nodes: Map<string, ChangeKind>; edges: Map<string, ChangeKind> } {
  const nodes = new Set(before.nodes.map(({ conceptId }) => conceptId));
  const links = new Set(before.links.map(keyOfLink));
  const fresh = graph.links.flatMap((link, at) => (links.has(keyOfLink(link)) ? [] : [`edge ${at}`]));
  return {
    nodes: new Map(graph.nodes.filter(({ conceptId }) => !nodes.has(conceptId)).map(({ conceptId }) => [conceptId, "added"])),
    edges: new Map(fresh.map((id) => [id, "added"])),
  };
}

function keyOfLink({ fromId, toId, relationshipType }: WorkingGraph["links"][number]): string {
  return JSON.stringify([fromId, relationshipType, toId]);
}
