// A small canvas for nodes and relationships of a result or of a working graph.
import { signal } from "@preact/signals";
import { useMemo, useState } from "preact/hooks";
import { type WorkingGraph, toScene } from "../model/results.ts";
import type { GraphNode } from "../model/types.ts";
import { attempt, go, palette } from "../state/app.ts";
import { showNodes, touch } from "../state/workspace.ts";
import { texts } from "../texts.ts";
import { Canvas } from "./canvas.tsx";
import { Button } from "./widgets.tsx";

const colourOf = (node: GraphNode) => palette.colourOf(node.type ?? "");

export function ResultGraph({ graph, words }: { graph: WorkingGraph; words: string }) {
  const scene = useMemo(() => toScene(graph), [graph]);
  const [selected] = useState(() => signal<ReadonlySet<string>>(new Set()));
  if (graph.nodes.length === 0) return <p class="nothing">{words}</p>;
  const ids = graph.nodes.flatMap(({ node }) => (node ? [node.id] : []));
  const open = () => {
    go("explore");
    void attempt(async () => {
      await showNodes(ids);
      touch(true);
    });
  };
  return (
    <div class="result-graph">
      <Canvas key={graph.nodes.length} scene={scene} revision={1} arrangement={1} colourOf={colourOf} selected={selected} onSelect={(id) => { selected.value = new Set(id ? [id] : []); }} />
      {ids.length > 0 && <div class="corner"><Button icon="out" onClick={open}>{texts.query.toCanvas}</Button></div>}
    </div>
  );
}
