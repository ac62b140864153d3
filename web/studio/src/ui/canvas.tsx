// The canvas of a scene with its tools and keys.
import type { ReadonlySignal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { GraphView, hasWebgl } from "../canvas/graphView.ts";
import type { Scene } from "../model/scene.ts";
import type { GraphEdge, GraphNode } from "../model/types.ts";
import { theme } from "../state/theme.ts";
import { texts } from "../texts.ts";
import { Button } from "./widgets.tsx";

export interface CanvasProps {
  scene: Scene;
  revision: number;
  arrangement: number;
  colourOf: (node: GraphNode) => string;
  isShown?: (node: GraphNode) => boolean;
  isEdgeShown?: (edge: GraphEdge) => boolean;
  selected: ReadonlySignal<ReadonlySet<string>>;
  marked?: ReadonlySignal<ReadonlySet<string>>;
  onSelect: (id: string | null, more: boolean) => void;
  onOpen?: (id: string) => void;
  onKey?: (key: string, focus: string) => boolean;
  view?: { current: GraphView | null };
}

const NOTHING: ReadonlySet<string> = new Set();
const ARROWS: Record<string, [number, number]> = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

declare global {
  interface Window {
    /** The canvas on the page, for measuring and for tests. */
    studioCanvas?: GraphView | undefined;
  }
}

export function Canvas(props: CanvasProps) {
  const [drawable] = useState(hasWebgl);
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<GraphView | null>(null);
  const latest = useRef(props);
  latest.current = props;
  useEffect(() => {
    if (!drawable || !place.current) return;
    const made = new GraphView(place.current, props.scene, {
      colourOf: (node) => latest.current.colourOf(node),
      isShown: (node) => latest.current.isShown?.(node) ?? true,
      isEdgeShown: (edge) => latest.current.isEdgeShown?.(edge) ?? true,
      selected: () => latest.current.selected.peek(),
      marked: () => latest.current.marked?.peek() ?? NOTHING,
      onSelect: (id, more) => latest.current.onSelect(id, more),
      onSelectEdge: (id) => latest.current.onSelect(id, false),
      onOpen: (id) => latest.current.onOpen?.(id),
    });
    view.current = made;
    window.studioCanvas = made;
    if (props.view) props.view.current = made;
    return () => {
      made.close();
      view.current = null;
      if (window.studioCanvas === made) window.studioCanvas = undefined;
      if (props.view) props.view.current = null;
    };
  }, [drawable, props.scene]);
  useEffect(() => view.current?.refresh(), [props.revision, props.selected.value, props.marked?.value, props.colourOf, props.isShown, props.isEdgeShown]);
  useEffect(() => {
    if (props.arrangement > 0) view.current?.layout.start();
  }, [props.arrangement]);
  useEffect(() => view.current?.applyTheme(), [theme.value]);
  return (
    <div class="canvas">
      <div ref={place} class="canvas-place" tabIndex={0} role="application" aria-label={texts.canvas.label} onKeyDown={(event) => pressKey(event, latest.current, view.current)} />
      {!drawable && <p class="canvas-words">{texts.canvas.noWebgl}</p>}
      <div class="canvas-tools" role="toolbar" aria-label={texts.canvas.fit}>
        <Button icon="plus" label={texts.canvas.zoomIn} onClick={() => view.current?.zoom(1.5)} />
        <Button icon="minus" label={texts.canvas.zoomOut} onClick={() => view.current?.zoom(1 / 1.5)} />
        <Button icon="fit" label={texts.canvas.fit} onClick={() => view.current?.fit()} />
        <Button icon="arrange" label={texts.canvas.layout} onClick={() => view.current?.layout.start()} />
      </div>
    </div>
  );
}

function pressKey(event: KeyboardEvent, props: CanvasProps, view: GraphView | null): void {
  const focus = [...props.selected.peek()].at(-1) ?? null;
  const arrow = ARROWS[event.key];
  if (arrow) {
    const next = focus && props.scene.graph.hasNode(focus) ? props.scene.nextNode(focus, ...arrow) : (props.scene.graph.nodes()[0] ?? null);
    if (next) {
      props.onSelect(next, event.shiftKey);
      view?.reveal(next);
    }
  } else if (event.key === "+") view?.zoom(1.5);
  else if (event.key === "-") view?.zoom(1 / 1.5);
  else if (event.key === "0") view?.fit();
  else if (event.key === "Escape") props.onSelect(null, false);
  else if (!focus || !props.onKey?.(event.key, focus)) return;
  event.preventDefault();
}
