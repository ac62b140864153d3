// A small canvas for nodes and relationships of a result, or of the working graph after a step.
import { signal } from "@preact/signals";
import { useMemo, useRef, useState } from "preact/hooks";
import { type WorkingGraph, findAdded, showGraph } from "../model/results.ts";
import { Scene } from "../model/scene.ts";
import type { GraphNode } from "../model/types.ts";
import { attempt, go, palette } from "../state/app.ts";
import { showNodes, touch } from "../state/workspace.ts";
import { texts } from "../texts.ts";
import { Canvas } from "./canvas.tsx";
import { Button } from "./widgets.tsx";

const colourOf = (node: GraphNode) => palette.colourOf(node.type ?? "");

/** `before` is the graph that another one followed: what was added since is coloured. Nodes that stay keep their place. */
export function ResultGraph({ graph, before, words }: { graph: WorkingGraph; before?: WorkingGraph | undefined; words: string }) {
  const [scene] = useState(() => new Scene());
  const drawn = useRef({ revision: 0, arrangement: 0 });
  useMemo(() => {
    const fresh = showGraph(scene, graph);
    const added = before ? findAdded(graph, before) : { nodes: new Map(), edges: new Map() };
    scene.markChanges(added.nodes, added.edges);
    const { revision, arrangement } = drawn.current;
    drawn.current = { revision: revision + 1, arrangement: arrangement + Number(fresh) };
  }, [graph, before]);
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
    <div class="result-graph" data-nodes={graph.nodes.length}>
      <Canvas scene={scene} {...drawn.current} colourOf={colourOf} selected={selected} onSelect={(id) => { selected.value = new Set(id ? [id] : []); }} />
      {ids.length > 0 && <div class="corner"><Button icon="out" onClick={open}>{texts.query.toCanvas}</Button></div>}
    </div>
  );
}
