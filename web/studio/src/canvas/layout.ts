// Runs the layout worker and lays its positions into a scene.
import type { SceneGraph } from "../model/scene.ts";
import type { LayoutStep, LayoutTask } from "./layout.worker.ts";

declare const LAYOUT_WORKER: string;

export class Layout {
  private readonly worker = new Worker(`/studio/assets/${LAYOUT_WORKER}`, { type: "module", name: "layout" });
  private run = 0;
  private ids: string[] = [];

  constructor(
    private readonly graph: SceneGraph,
    private readonly changed: (done: boolean) => void,
  ) {
    this.worker.addEventListener("message", ({ data }: MessageEvent<LayoutStep>) => this.take(data));
  }

  /** Arrange from where the nodes are now. Pinned nodes, and one that is dragged, stay. */
  start(): void {
    this.run += 1;
    this.ids = this.graph.filterNodes((_, node) => !node.hidden);
    this.worker.postMessage(this.task());
  }

  stop(): void {
    this.run += 1;
    this.worker.postMessage({ ...this.task(), x: new Float32Array(0) });
  }

  close(): void {
    this.worker.terminate();
  }

  private task(): LayoutTask {
    const numbers = new Map(this.ids.map((id, at) => [id, at]));
    const shown = this.ids.map((id) => this.graph.getNodeAttributes(id));
    const pairs = this.graph.mapEdges((_, __, from, to) => [numbers.get(from), numbers.get(to)]);
    return {
      run: this.run,
      x: Float32Array.from(shown, (node) => node.x),
      y: Float32Array.from(shown, (node) => node.y),
      size: Float32Array.from(shown, (node) => node.size / 4),
      fixed: Uint8Array.from(shown, (node) => Number(node.pinned)),
      edges: Uint32Array.from(pairs.filter((pair) => pair.every((end) => end !== undefined)).flat() as number[]),
    };
  }

  private take(step: LayoutStep): void {
    if (step.run !== this.run) return;
    for (const [at, id] of this.ids.entries()) {
      if (!this.graph.hasNode(id) || this.graph.getNodeAttribute(id, "pinned")) continue;
      Object.assign(this.graph.getNodeAttributes(id), { x: step.x[at], y: step.y[at] });
    }
    this.changed(step.done);
  }
}
