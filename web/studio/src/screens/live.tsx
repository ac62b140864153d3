// Live: events as they are committed; what they touch appears on the canvas.
import { signal } from "@preact/signals";
import { useCallback, useEffect } from "preact/hooks";
import { ask } from "../api/client.ts";
import { documents } from "../api/documents.ts";
import { Scene } from "../model/scene.ts";
import type { GraphEdge, GraphNode, LogEvent } from "../model/types.ts";
import { attempt, palette } from "../state/app.ts";
import { readEdgesBetween, readNodes } from "../state/graphs.ts";
import { follow, heard, link, onEvents, pause, recent } from "../state/log.ts";
import { texts } from "../texts.ts";
import { Canvas } from "../ui/canvas.tsx";
import { EventList } from "../ui/eventList.tsx";
import { openNode } from "../ui/searchBox.tsx";
import { Button } from "../ui/widgets.tsx";

const scene = new Scene();
const revision = signal(0);
const arrangement = signal(0);
const selected = signal<ReadonlySet<string>>(new Set());
const MAX_NODES = 150;

async function take(events: LogEvent[]): Promise<void> {
  for (const { type, elementId } of events) {
    if (type === "NodeDeleted" && elementId) scene.removeNode(elementId);
    if (type === "EdgeDeleted" && elementId) scene.removeEdge(elementId);
  }
  const nodes = idsOf(events, /^Node(Added|Updated)$/);
  const added = scene.addNodes(await readNodes(nodes));
  for (const id of idsOf(events, /^Edge(Added|Updated)$/)) {
    const { graphEdge } = await ask<{ graphEdge: GraphEdge | null }>(documents.edge, { id });
    if (!graphEdge) continue;
    scene.addNodes(await readNodes([graphEdge.from, graphEdge.to].filter((end) => !scene.graph.hasNode(end))));
    scene.addEdges([graphEdge]);
  }
  for (const id of scene.graph.nodes().slice(0, Math.max(scene.graph.order - MAX_NODES, 0))) scene.removeNode(id);
  if (added.length) scene.addEdges(await readEdgesBetween(added.filter((id) => scene.graph.hasNode(id)), scene.graph.nodes()));
  revision.value += 1;
  arrangement.value += 1;
}

function idsOf(events: LogEvent[], types: RegExp): string[] {
  return [...new Set(events.flatMap(({ type, elementId }) => (types.test(type) && elementId ? [elementId] : [])))].slice(-MAX_NODES);
}

export function LiveScreen() {
  useEffect(() => onEvents((events) => void attempt(() => take(events))), []);
  const colourOf = useCallback((node: GraphNode) => palette.colourOf(node.type ?? ""), []);
  const stopped = link.value === "stopped";
  const open = (event: LogEvent) => void attempt(async () => { for (const node of await readNodes([event.elementId as string])) await openNode(node); });
  return (
    <div class="live-screen">
      <Canvas scene={scene} revision={revision.value} arrangement={arrangement.value} colourOf={colourOf} selected={selected} onSelect={(id) => { selected.value = new Set(id ? [id] : []); }} />
      <aside class="log-side" aria-label={texts.live.title}>
        <header>
          <h2>{texts.live.title}</h2>
          <Button icon={stopped ? "play" : "pause"} onClick={stopped ? follow : pause}>{stopped ? texts.live.resume : texts.live.pause}</Button>
        </header>
        <p role="status">{texts.live.counts(heard.value)}</p>
        {recent.value.length === 0 ? <p class="nothing">{texts.live.quiet}</p> : <EventList events={recent.value} choose={open} />}
      </aside>
    </div>
  );
}
