// ForceAtlas2 away from the page, so that the page stays smooth. Sends positions after each few rounds.
import { UndirectedGraph } from "graphology";
import forceAtlas2 from "graphology-layout-forceatlas2";

export interface LayoutTask {
  run: number;
  x: Float32Array;
  y: Float32Array;
  size: Float32Array;
  fixed: Uint8Array;
  /** Pairs of node numbers. */
  edges: Uint32Array;
}

export interface LayoutStep {
  run: number;
  x: Float32Array;
  y: Float32Array;
  done: boolean;
}

const ROUNDS = { few: 360, many: 140 };
const MANY_NODES = 800;

let current = 0;

self.addEventListener("message", ({ data }: MessageEvent<LayoutTask>) => {
  current = data.run;
  if (data.x.length > 0) void arrange(data);
});

async function arrange(task: LayoutTask): Promise<void> {
  const graph = toGraph(task);
  const order = task.x.length;
  const settings = {
    ...forceAtlas2.inferSettings(Math.max(order, 2)),
    gravity: order < 100 ? 1.2 : 0.4,
    scalingRatio: order < 100 ? 14 : 6,
    slowDown: order < 100 ? 6 : 2,
    barnesHutOptimize: order > 300,
    adjustSizes: order < 300,
  };
  const rounds = order > MANY_NODES ? ROUNDS.many : ROUNDS.few;
  const each = order > MANY_NODES ? 4 : 12;
  for (let done = 0; done < rounds && current === task.run; done += each) {
    forceAtlas2.assign(graph, { iterations: each, settings });
    post(graph, task, done + each >= rounds);
    await new Promise((resume) => setTimeout(resume, order > MANY_NODES ? 0 : 12));
  }
}

function toGraph({ x, y, size, fixed, edges }: LayoutTask): UndirectedGraph {
  const graph = new UndirectedGraph();
  for (let at = 0; at < x.length; at++) graph.addNode(at, { x: x[at], y: y[at], size: size[at], fixed: fixed[at] === 1 });
  for (let at = 0; at < edges.length; at += 2) {
    const [a, b] = [edges[at] as number, edges[at + 1] as number];
    if (a !== b) graph.mergeEdge(a, b, { weight: 1 });
  }
  return graph;
}

function post(graph: UndirectedGraph, task: LayoutTask, done: boolean): void {
  const [x, y] = [new Float32Array(task.x.length), new Float32Array(task.x.length)];
  graph.forEachNode((name, place) => {
    x[Number(name)] = place.x;
    y[Number(name)] = place.y;
  });
  const step: LayoutStep = { run: task.run, x, y, done };
  self.postMessage(step, { transfer: [x.buffer, y.buffer] });
}
