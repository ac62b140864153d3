// A scene drawn with WebGL by sigma: selection, dragging, dimming, zooming, and pictures.
import { createNodeBorderProgram } from "@sigma/node-border";
import Sigma from "sigma";
import { createEdgeArrowProgram } from "sigma/rendering";
import type { EdgeDisplayData, NodeDisplayData } from "sigma/types";
import type { GraphEdge, GraphNode } from "../model/types.ts";
import type { ChangeKind, Scene, SceneEdge, SceneNode } from "../model/scene.ts";
import { type Ink, hoverDrawer, labelDrawer } from "./drawing.ts";
import { Layout } from "./layout.ts";
import { FrameClock } from "./motion.ts";

export interface ViewOptions {
  colourOf: (node: GraphNode) => string;
  isShown: (node: GraphNode) => boolean;
  isEdgeShown: (edge: GraphEdge) => boolean;
  selected: () => ReadonlySet<string>;
  marked: () => ReadonlySet<string>;
  onSelect: (id: string | null, more: boolean) => void;
  onSelectEdge?: (id: string) => void;
  onOpen?: (id: string) => void;
}

export const CHANGE_COLOURS: Record<ChangeKind, string> = { added: "#2fb887", changed: "#e0a52c", gone: "#e0587d" };
const MAX_EDGE_LABELS = 400;
const REST_MS = 160;

type Colours = Ink & { dim: string; line: string; edge: string };

export function hasWebgl(): boolean {
  return document.createElement("canvas").getContext("webgl2") !== null;
}

export class GraphView {
  private readonly sigma: Sigma<SceneNode, SceneEdge>;
  readonly layout: Layout;
  private readonly observer = new ResizeObserver(() => this.sigma.refresh());
  private hovered: string | null = null;
  private dragged: string | null = null;
  private readonly clock = new FrameClock();
  private resting: ReturnType<typeof setTimeout> | undefined;

  constructor(
    container: HTMLElement,
    private readonly scene: Scene,
    private readonly options: ViewOptions,
  ) {
    const ink = readInk(container);
    this.sigma = new Sigma<SceneNode, SceneEdge>(scene.graph, container, {
      allowInvalidContainer: true,
      defaultNodeType: "bordered",
      nodeProgramClasses: {
        bordered: createNodeBorderProgram<SceneNode, SceneEdge>({
          borders: [
            { size: { attribute: "borderSize", defaultValue: 0.08 }, color: { attribute: "borderColor", defaultValue: "#ffffff" } },
            { size: { fill: true }, color: { attribute: "color" } },
          ],
        }),
      },
      defaultEdgeType: "arrow",
      edgeProgramClasses: { arrow: createEdgeArrowProgram<SceneNode, SceneEdge>({ lengthToThicknessRatio: 4.5, widenessToThicknessRatio: 3.2 }) },
      renderEdgeLabels: true,
      enableEdgeEvents: true,
      zIndex: true,
      labelFont: "system-ui, sans-serif",
      labelSize: 12,
      labelWeight: "500",
      edgeLabelSize: 10,
      edgeLabelFont: "system-ui, sans-serif",
      labelDensity: 1.4,
      labelGridCellSize: 90,
      labelRenderedSizeThreshold: 5,
      minCameraRatio: 0.02,
      maxCameraRatio: 6,
      stagePadding: 70,
      defaultDrawNodeLabel: labelDrawer(() => ink()),
      defaultDrawNodeHover: hoverDrawer(() => ink()),
      nodeReducer: (id, shown) => this.nodeLook(id, shown, ink()),
      edgeReducer: (id, shown) => this.edgeLook(id, shown, ink()),
    });
    this.layout = new Layout(scene.graph, () => this.refresh());
    this.listen();
    this.watchMotion();
    this.observer.observe(container);
    this.applyTheme();
  }

  refresh(): void {
    this.sigma.refresh();
  }

  applyTheme(): void {
    const ink = readInk(this.sigma.getContainer())();
    this.sigma.setSetting("edgeLabelColor", { color: ink.dim });
    this.sigma.refresh();
  }

  fit(): void {
    void this.sigma.getCamera().animatedReset({ duration: 250 });
  }

  zoom(factor: number): void {
    const camera = this.sigma.getCamera();
    void camera.animate({ ratio: camera.ratio / factor }, { duration: 180 });
  }

  /** Bring a node into the middle unless it is well inside the picture. */
  reveal(id: string): void {
    const place = this.sigma.getNodeDisplayData(id);
    if (!place) return;
    const { x, y } = this.sigma.framedGraphToViewport(place);
    const { width, height } = this.sigma.getDimensions();
    const inside = x > 60 && y > 60 && x < width - 60 && y < height - 60;
    if (!inside) void this.sigma.getCamera().animate({ x: place.x, y: place.y }, { duration: 250 });
  }

  toPng(ground: string): Promise<Blob | null> {
    const { width, height } = this.sigma.getDimensions();
    const scale = window.devicePixelRatio || 1;
    const picture = document.createElement("canvas");
    [picture.width, picture.height] = [width * scale, height * scale];
    const context = picture.getContext("2d");
    if (!context) return Promise.resolve(null);
    context.fillStyle = ground;
    context.fillRect(0, 0, picture.width, picture.height);
    this.sigma.refresh({ schedule: false });
    for (const layer of Object.values(this.sigma.getCanvases())) context.drawImage(layer, 0, 0, picture.width, picture.height);
    return new Promise((resolve) => picture.toBlob(resolve));
  }

  /** Where a node stands in the window, for tests and menus. */
  placeOf(id: string): { x: number; y: number } | null {
    const place = this.sigma.getNodeDisplayData(id);
    if (!place) return null;
    const { left, top } = this.sigma.getContainer().getBoundingClientRect();
    const { x, y } = this.sigma.framedGraphToViewport(place);
    return { x: x + left, y: y + top };
  }

  close(): void {
    this.observer.disconnect();
    clearTimeout(this.resting);
    this.layout.close();
    this.sigma.kill();
  }

  private nodeLook(id: string, shown: SceneNode, ink: Colours): Partial<NodeDisplayData> {
    const { selected, marked, colourOf, isShown } = this.options;
    const chosen = selected().has(id);
    const colour = shown.change ? CHANGE_COLOURS[shown.change] : colourOf(shown.node);
    const faded = this.isFaded(id) && !chosen;
    const look = {
      size: shown.size * this.magnification(),
      hidden: shown.hidden || !isShown(shown.node),
      color: faded ? ink.line : colour,
      label: faded ? "" : `${shown.pinned ? "◉ " : ""}${shown.label}`,
      borderColor: chosen ? ink.ring : shown.pinned ? ink.text : faded ? ink.line : lighten(colour),
      borderSize: chosen ? 0.22 : 0.1,
      highlighted: false,
      forceLabel: chosen || marked().has(id) || this.scene.graph.order < 60,
      zIndex: chosen ? 2 : faded ? 0 : 1,
    };
    return { ...shown, ...look } as Partial<NodeDisplayData>;
  }

  private edgeLook(_: string, shown: SceneEdge, ink: Colours): Partial<EdgeDisplayData> {
    const { edge, change } = shown;
    const faded = this.isFaded(edge.from) || this.isFaded(edge.to);
    const graph = this.scene.graph;
    const ends = [edge.from, edge.to].map((id) => graph.getNodeAttributes(id));
    const chosen = this.options.selected().has(edge.id);
    const onPath = this.options.marked().has(edge.id);
    return {
      hidden: !this.options.isEdgeShown(edge) || ends.some((end) => end.hidden || !this.options.isShown(end.node)),
      color: change ? CHANGE_COLOURS[change] : chosen || onPath ? ink.ring : faded ? ink.line : ink.edge,
      size: chosen || onPath ? 3.5 : graph.size > MAX_EDGE_LABELS ? 1 : graph.size > 80 ? 2 : 2.8,
      label: graph.size <= MAX_EDGE_LABELS && !faded ? shown.label : null,
      zIndex: faded ? 0 : 1,
    };
  }

  /** Few nodes are drawn large. */
  private magnification(): number {
    const { order } = this.scene.graph;
    return order < 40 ? 2 : order < 150 ? 1.35 : order < 800 ? 1 : 0.6;
  }

  /** With a node under the pointer, or a path, everything that does not belong to it steps back. */
  private isFaded(id: string): boolean {
    const marked = this.options.marked();
    if (this.hovered && this.scene.graph.hasNode(this.hovered)) {
      return id !== this.hovered && !this.scene.graph.areNeighbors(id, this.hovered);
    }
    return marked.size > 0 && !marked.has(id);
  }

  private listen(): void {
    const { sigma, options } = this;
    sigma.on("enterNode", ({ node }) => this.hover(node));
    sigma.on("leaveNode", () => this.hover(null));
    sigma.on("clickNode", ({ node, event }) => options.onSelect(node, isMore(event.original)));
    sigma.on("clickEdge", ({ edge }) => options.onSelectEdge?.(edge));
    sigma.on("clickStage", () => options.onSelect(null, false));
    sigma.on("doubleClickNode", ({ node, preventSigmaDefault }) => {
      preventSigmaDefault();
      options.onOpen?.(node);
    });
    sigma.on("downNode", ({ node }) => {
      this.dragged = node;
      if (!sigma.getCustomBBox()) sigma.setCustomBBox(sigma.getBBox());
    });
    const captor = sigma.getMouseCaptor();
    captor.on("mousemovebody", (event) => {
      if (!this.dragged || !this.scene.graph.hasNode(this.dragged)) return;
      this.layout.stop();
      Object.assign(this.scene.graph.getNodeAttributes(this.dragged), { ...sigma.viewportToGraph(event), pinned: true });
      this.refresh();
      event.preventSigmaDefault();
      event.original.preventDefault();
      event.original.stopPropagation();
    });
    const drop = () => {
      this.dragged = null;
      sigma.setCustomBBox(null);
    };
    captor.on("mouseup", drop);
  }

  /** Where frames come slowly while the picture is moved, its edges and labels are left out until it rests. */
  private watchMotion(): void {
    const { sigma } = this;
    const place = sigma.getContainer();
    const rest = () => {
      this.resting = undefined;
      this.clock.rest();
      place.classList.remove("coarse");
      sigma.setSettings({ hideEdgesOnMove: false, hideLabelsOnMove: false });
    };
    sigma.getCamera().on("updated", () => {
      clearTimeout(this.resting);
      this.resting = setTimeout(rest, REST_MS);
    });
    sigma.on("afterRender", () => {
      if (this.resting === undefined || !this.clock.note(performance.now()) || place.classList.contains("coarse")) return;
      place.classList.add("coarse");
      sigma.setSettings({ hideEdgesOnMove: true, hideLabelsOnMove: true });
    });
  }

  private hover(id: string | null): void {
    this.sigma.getContainer().classList.toggle("hovering", id !== null);
    this.hovered = this.dragged ? null : id;
    this.sigma.getContainer().style.cursor = id ? "pointer" : "";
    this.sigma.refresh({ skipIndexation: true });
  }
}

function isMore(event: MouseEvent | TouchEvent): boolean {
  return event.shiftKey || event.ctrlKey || event.metaKey;
}

/** The colours of the style sheet, read again only when the theme changes. */
function readInk(container: HTMLElement): () => Colours {
  let theme = "";
  let ink = { text: "", ground: "", ring: "", dim: "", line: "", edge: "" };
  return () => {
    const now = document.documentElement.dataset.theme ?? "";
    if (now === theme && ink.text) return ink;
    theme = now;
    const style = getComputedStyle(container);
    const read = (name: string) => style.getPropertyValue(name).trim();
    ink = { text: read("--text"), ground: read("--ground"), ring: read("--ring"), dim: read("--dim"), line: read("--faded"), edge: read("--edge") };
    return ink;
  };
}

const lighter = new Map<string, string>();

function lighten(colour: string): string {
  const known = lighter.get(colour);
  if (known) return known;
  const parts = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
  const made = `#${parts.map((part) => Math.round(part + (255 - part) * 0.45).toString(16).padStart(2, "0")).join("")}`;
  lighter.set(colour, made);
  return made;
}
