// What is on the canvas: a graph with positions, and what is pinned or hidden. Knows nothing of drawing.
import { MultiDirectedGraph } from "graphology";
import { sizeOf } from "./palette.ts";
import type { GraphEdge, GraphNode } from "./types.ts";

export interface SceneNode {
  x: number;
  y: number;
  size: number;
  label: string;
  node: GraphNode;
  pinned: boolean;
  hidden: boolean;
  /** How the element differs between two moments, on the screen Time. */
  change?: ChangeKind | undefined;
}

export interface SceneEdge {
  edge: GraphEdge;
  label: string;
  change?: ChangeKind | undefined;
}

export type ChangeKind = "added" | "changed" | "gone";
export const MAX_CANVAS_NODES = 3000;
const MAX_LABEL_CHARS = 40;

export type SceneGraph = MultiDirectedGraph<SceneNode, SceneEdge>;

/**
 * Attributes are set on the objects that the graph holds: each change by its own methods would be an event, and a renderer
 * that hears of an element before it has drawn it fails. Whoever changes a scene has it drawn again.
 */
export class Scene {
  readonly graph: SceneGraph = new MultiDirectedGraph<SceneNode, SceneEdge>();

  /** Put nodes on the canvas, near one that is there already; known ones get their new state. Returns the new ids. */
  addNodes(nodes: Iterable<GraphNode>, near?: string): string[] {
    const added: string[] = [];
    for (const node of nodes) {
      const shown = { node, label: shorten(node.label), size: sizeOf(node.degree) };
      if (this.graph.hasNode(node.id)) {
        Object.assign(this.graph.getNodeAttributes(node.id), shown);
      } else if (this.graph.order < MAX_CANVAS_NODES) {
        this.graph.addNode(node.id, { ...shown, ...this.placeFor(node.id, near), pinned: false, hidden: false });
        added.push(node.id);
      }
    }
    return added;
  }

  /** Draw edges whose both nodes are on the canvas; the others are left out. */
  addEdges(edges: Iterable<GraphEdge>): void {
    for (const edge of edges) {
      if (!this.graph.hasNode(edge.from) || !this.graph.hasNode(edge.to)) continue;
      const shown = { edge, label: shorten(edge.type ?? "") };
      if (this.graph.hasEdge(edge.id)) Object.assign(this.graph.getEdgeAttributes(edge.id), shown);
      else this.graph.addDirectedEdgeWithKey(edge.id, edge.from, edge.to, shown);
    }
  }

  removeNode(id: string): void {
    if (this.graph.hasNode(id)) this.graph.dropNode(id);
  }

  removeEdge(id: string): void {
    if (this.graph.hasEdge(id)) this.graph.dropEdge(id);
  }

  clear(): void {
    this.graph.clear();
  }

  setHidden(ids: Iterable<string>, hidden: boolean): void {
    for (const id of ids) if (this.graph.hasNode(id)) this.graph.getNodeAttributes(id).hidden = hidden;
  }

  setSizes(sizes: ReadonlyMap<string, number>): void {
    for (const [id, size] of sizes) if (this.graph.hasNode(id)) this.graph.getNodeAttributes(id).size = size;
  }

  setPinned(ids: Iterable<string>, pinned: boolean): void {
    for (const id of ids) if (this.graph.hasNode(id)) this.graph.getNodeAttributes(id).pinned = pinned;
  }

  togglePin(id: string): void {
    if (!this.graph.hasNode(id)) return;
    const shown = this.graph.getNodeAttributes(id);
    shown.pinned = !shown.pinned;
  }

  markChanges(nodes: ReadonlyMap<string, ChangeKind>, edges: ReadonlyMap<string, ChangeKind>): void {
    this.graph.forEachNode((id, shown) => {
      shown.change = nodes.get(id);
    });
    this.graph.forEachEdge((id, shown) => {
      shown.change = edges.get(id);
    });
  }

  nodes(): GraphNode[] {
    return this.graph.mapNodes((_, shown) => shown.node);
  }

  edges(): GraphEdge[] {
    return this.graph.mapEdges((_, shown) => shown.edge);
  }

  hiddenIds(): string[] {
    return this.graph.filterNodes((_, shown) => shown.hidden);
  }

  /** The next node in a direction on the screen, for arrow keys; null at the rim. */
  nextNode(from: string, dx: number, dy: number): string | null {
    if (!this.graph.hasNode(from)) return null;
    const start = this.graph.getNodeAttributes(from);
    let best: string | null = null;
    let least = Number.POSITIVE_INFINITY;
    this.graph.forEachNode((id, { x, y, hidden }) => {
      const along = (x - start.x) * dx + (y - start.y) * dy;
      const aside = Math.abs((x - start.x) * dy - (y - start.y) * dx);
      const cost = along + 2 * aside;
      if (id !== from && !hidden && along > 0 && cost < least) [best, least] = [id, cost];
    });
    return best;
  }

  private placeFor(id: string, near: string | undefined): { x: number; y: number } {
    const turn = 2 * Math.PI * hashOf(id);
    const centre = near !== undefined && this.graph.hasNode(near) ? this.graph.getNodeAttributes(near) : { x: 0, y: 0 };
    const reach = near === undefined ? 20 + 80 * hashOf(`${id}!`) : 8 + 6 * hashOf(`${id}!`);
    return { x: centre.x + reach * Math.cos(turn), y: centre.y + reach * Math.sin(turn) };
  }
}

export function shorten(text: string, most = MAX_LABEL_CHARS): string {
  const line = text.replace(/\s+/g, " ").trim();
  const letters = [...line.slice(0, 4 * most)];
  return letters.length > most ? `${letters.slice(0, most - 1).join("")}…` : line;
}

/** A number from 0 to 1 that depends on the text alone, so that a view looks the same when it is restored. */
function hashOf(text: string): number {
  let hash = 2166136261;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 16777619);
  return ((hash ^ (hash >>> 13)) >>> 0) / 4294967296;
}
