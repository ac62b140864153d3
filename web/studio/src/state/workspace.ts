// The screen Explore: what is on its canvas, what is selected, and how it got there.
import { computed, signal } from "@preact/signals";
import { ask } from "../api/client.ts";
import { COUNT_INCOMING, COUNT_OUTGOING, documents } from "../api/documents.ts";
import { type Bundle, PAGE_SIZE, keyOf, toBundles } from "../model/expansion.ts";
import { type Filters, NO_FILTERS } from "../model/filters.ts";
import { type ColourBy, type SizeBy, formatColourBy, formatSizeBy, parseColourBy, parseSizeBy, sizesOf } from "../model/palette.ts";
import { joinIds, splitIds } from "../model/route.ts";
import { MAX_CANVAS_NODES, Scene } from "../model/scene.ts";
import type { GraphEdge, GraphNode, Json, LogEvent, PageInfo } from "../model/types.ts";
import { texts } from "../texts.ts";
import { notify, overview, route, setParams } from "./app.ts";
import { readEdgesBetween, readNodes, readWhole } from "./graphs.ts";

export const scene = new Scene();
/** Counts changes of the scene, so that what depends on it is drawn again. */
export const revision = signal(0);
/** Counts wishes to arrange the scene anew. */
export const arrangement = signal(0);
export const selected = signal<ReadonlySet<string>>(new Set());
export const marked = signal<ReadonlySet<string>>(new Set());
export const filters = signal<Filters>(NO_FILTERS);
export const colourBy = signal<ColourBy>({ kind: "type" });
export const sizeBy = signal<SizeBy>({ kind: "degree" });
export const bundles = signal<{ id: string; found: Bundle[] } | null>(null);
export const paging = signal<Record<string, { cursor: string | null; shown: number; more: boolean }>>({});
export const focus = computed(() => [...selected.value].at(-1) ?? null);

const MAX_WHOLE = 300;
const FIRST_HUBS = 25;
const MAX_ADDRESS_IDS = 300;

export function touch(arrange = false): void {
  scene.setSizes(sizesOf(scene.nodes(), sizeBy.peek()));
  revision.value = revision.peek() + 1;
  if (arrange) arrangement.value = arrangement.peek() + 1;
  writeAddress();
}

export function select(id: string | null, more = false): void {
  marked.value = new Set();
  if (id === null) selected.value = new Set();
  else if (!more) selected.value = new Set([id]);
  else {
    const chosen = new Set(selected.peek());
    if (!chosen.delete(id)) chosen.add(id);
    selected.value = chosen;
  }
  writeAddress();
}

/** What the address names, else a good first picture. */
export async function restore(): Promise<void> {
  const { params } = route.peek();
  colourBy.value = parseColourBy(params.colour);
  sizeBy.value = parseSizeBy(params.size);
  filters.value = readFilters(params);
  if (params.all) await showAll();
  else if (params.nodes) await showNodes(splitIds(params.nodes));
  else if (scene.graph.order === 0) await showFirst();
  scene.setHidden(splitIds(params.hidden), true);
  for (const id of splitIds(params.pinned)) scene.togglePin(id);
  const chosen = splitIds(params.sel).filter((id) => scene.graph.hasNode(id) || scene.graph.hasEdge(id));
  if (chosen.length) selected.value = new Set(chosen);
  touch(true);
}

export async function showFirst(): Promise<void> {
  const size = overview.peek()?.stats.nodes ?? 0;
  if (size === 0) return;
  if (size <= MAX_WHOLE) return addState(await readWhole());
  await showHubs();
}

export async function showHubs(): Promise<void> {
  const { hubs } = await ask<{ hubs: { node: GraphNode }[] }>(documents.hubs, { limit: FIRST_HUBS, at: null });
  await addNodes(hubs.map((hub) => hub.node));
}

export async function showAll(): Promise<void> {
  if ((overview.peek()?.stats.nodes ?? 0) > MAX_CANVAS_NODES) notify("info", texts.canvas.full(MAX_CANVAS_NODES));
  addState(await readWhole());
  setParams({ all: "1" });
}

function addState(state: { nodes: GraphNode[]; edges: GraphEdge[] }): void {
  scene.addNodes(state.nodes);
  scene.addEdges(state.edges);
  touch(true);
}

export async function showNodes(ids: string[], near?: string): Promise<void> {
  await addNodes(await readNodes(ids), near);
}

/** Put nodes on the canvas with all edges that they have to what is there. */
export async function addNodes(nodes: GraphNode[], near?: string): Promise<void> {
  const fresh = nodes.filter((node) => !scene.graph.hasNode(node.id)).length;
  const added = scene.addNodes(nodes, near);
  if (added.length < fresh) notify("info", texts.canvas.full(MAX_CANVAS_NODES));
  if (added.length) touch(true);
  scene.addEdges(await readEdgesBetween(added, scene.graph.nodes()));
  touch(added.length > 0);
}

export async function countNeighbours(id: string): Promise<void> {
  const answer = await ask<{ outgoing: { rows: Json[] }; incoming: { rows: Json[] } }>(documents.edgeCounts, {
    outgoing: COUNT_OUTGOING,
    incoming: COUNT_INCOMING,
    params: { id },
  });
  if (bundles.peek()?.id !== id) paging.value = {};
  bundles.value = { id, found: toBundles(answer.outgoing.rows, answer.incoming.rows) };
}

interface NeighbourPage {
  graphNode: { edges: { nodes: (GraphEdge & { other: GraphNode | null })[]; pageInfo: PageInfo } } | null;
}

/** The next page of neighbours over one type of edge. */
export async function expand(id: string, bundle: Bundle): Promise<void> {
  const key = keyOf(bundle);
  const state = paging.peek()[key];
  const answer = await ask<NeighbourPage>(documents[bundle.direction], {
    id,
    filter: { type: bundle.type },
    first: PAGE_SIZE,
    after: state?.cursor ?? null,
  });
  if (!answer.graphNode) return;
  const { nodes, pageInfo } = answer.graphNode.edges;
  const others = nodes.flatMap(({ other }) => (other ? [other] : []));
  paging.value = { ...paging.peek(), [key]: { cursor: pageInfo.endCursor, shown: (state?.shown ?? 0) + nodes.length, more: pageInfo.hasNextPage } };
  await addNodes(others, id);
  scene.addEdges(nodes);
  touch();
}

/** All neighbours of a node where there are few; else those of its smallest bundles up to a page. */
export async function expandSome(id: string): Promise<void> {
  await countNeighbours(id);
  let room = PAGE_SIZE;
  for (const bundle of (bundles.peek()?.found ?? []).toReversed()) {
    if (bundle.count > room && room < PAGE_SIZE) break;
    if (!paging.peek()[keyOf(bundle)]) await expand(id, bundle);
    room -= Math.min(bundle.count, PAGE_SIZE);
  }
}

export async function findPath(from: string, to: string): Promise<void> {
  const { path } = await ask<{ path: { nodes: GraphNode[]; edges: GraphEdge[] } | null }>(documents.path, { from, to });
  if (!path) return notify("info", texts.canvas.noPath);
  scene.addNodes(path.nodes, from);
  scene.addEdges(path.edges);
  marked.value = new Set([...path.nodes.map((node) => node.id), ...path.edges.map((edge) => edge.id)]);
  touch(true);
}

export function hide(ids: Iterable<string>): void {
  scene.setHidden(ids, true);
  selected.value = new Set();
  touch();
}

export function clear(): void {
  scene.clear();
  select(null);
  setParams({ all: "" });
  touch();
}

/** Keep what is on the canvas true: take over what happened to it, and edges that appeared between its nodes. */
export async function follow(events: LogEvent[]): Promise<void> {
  const ids = new Set(events.flatMap(({ elementId }) => (elementId ? [elementId] : [])));
  for (const { type, elementId } of events) {
    if (type === "NodeDeleted" && elementId) scene.removeNode(elementId);
    if (type === "EdgeDeleted" && elementId) scene.removeEdge(elementId);
  }
  const whole = route.peek().params.all === "1";
  const changed = [...ids].filter((id) => whole || scene.graph.hasNode(id));
  if (changed.length) scene.addNodes(await readNodes(changed));
  for (const { type, elementId } of events) {
    if ((type === "EdgeAdded" || type === "EdgeUpdated") && elementId) await refreshEdge(elementId);
  }
  touch();
}

export async function refreshEdge(id: string): Promise<void> {
  const { graphEdge } = await ask<{ graphEdge: GraphEdge | null }>(documents.edge, { id });
  if (graphEdge) scene.addEdges([graphEdge]);
}

function readFilters(params: Record<string, string>): Filters {
  return {
    hiddenTypes: new Set(splitIds(params.notypes)),
    hiddenEdgeTypes: new Set(splitIds(params.noedges)),
    scope: params.scope ?? "",
    property: params.property ?? "",
    createdAfter: params.after ?? "",
  };
}

export function setFilters(changed: Partial<Filters>): void {
  filters.value = { ...filters.peek(), ...changed };
  touch();
}

function writeAddress(): void {
  if (route.peek().screen !== "explore") return;
  const ids = scene.graph.nodes();
  const { hiddenTypes, hiddenEdgeTypes, scope, property, createdAfter } = filters.peek();
  setParams({
    nodes: route.peek().params.all || ids.length > MAX_ADDRESS_IDS ? "" : joinIds(ids),
    sel: joinIds(selected.peek()),
    hidden: joinIds(scene.hiddenIds()),
    pinned: joinIds(scene.graph.filterNodes((_, node) => node.pinned)),
    colour: formatColourBy(colourBy.peek()),
    size: formatSizeBy(sizeBy.peek()),
    notypes: joinIds(hiddenTypes),
    noedges: joinIds(hiddenEdgeTypes),
    scope,
    property,
    after: createdAfter,
  });
}
