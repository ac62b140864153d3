// Explore: the canvas, what to filter and how to colour, the legend, and the inspector.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { ask } from "../api/client.ts";
import { documents } from "../api/documents.ts";
import type { GraphView } from "../canvas/graphView.ts";
import { isEdgeShown, isShown, toggle } from "../model/filters.ts";
import { groupBy } from "../model/grouping.ts";
import { classify, formatColourBy, formatSizeBy, parseColourBy, parseSizeBy } from "../model/palette.ts";
import { drawSvg } from "../model/picture.ts";
import type { GraphEdge, GraphNode } from "../model/types.ts";
import { attempt, canWrite, overview, palette, refreshOverview } from "../state/app.ts";
import { onEvents } from "../state/log.ts";
import { vocabulary } from "../state/vocabulary.ts";
import {
  addNodes, arrangement, clear, colourBy, expandSome, filters, findPath, focus, follow, hide, marked, restore, revision, scene, select, selected,
  setFilters, showAll, showFirst, showHubs, showNodes, sizeBy, touch,
} from "../state/workspace.ts";
import { texts } from "../texts.ts";
import { Canvas } from "../ui/canvas.tsx";
import { ElementForm, type FormTask, type Saved } from "../ui/forms.tsx";
import { Inspector } from "../ui/inspector.tsx";
import { Button, Dialog, download } from "../ui/widgets.tsx";
import { ImportDialog } from "../ui/importDialog.tsx";

export function ExploreScreen() {
  const view = useRef<GraphView | null>(null);
  const [form, setForm] = useState<FormTask | null>(null);
  const [deleting, setDeleting] = useState<string | null>(null);
  const [importing, setImporting] = useState(false);
  const [restored, setRestored] = useState(false);
  useEffect(() => {
    void attempt(restore).then(() => setRestored(true));
    return onEvents((events) => void attempt(() => follow(events)));
  }, []);
  const colour = colourBy.value;
  const chosenFilters = filters.value;
  const colourOf = useCallback((node: GraphNode) => palette.colourOf(classify(node, colour), colour), [colour]);
  const shown = useCallback((node: GraphNode) => isShown(node, chosenFilters), [chosenFilters]);
  const edgeShown = useCallback((edge: GraphEdge) => isEdgeShown(edge, chosenFilters), [chosenFilters]);
  const pressKey = (key: string, id: string): boolean => {
    if (key === "Enter") void attempt(() => expandSome(id));
    else if (key === "Delete") hide([...selected.peek()]);
    else if (key === "p" || key === "P") pin([id]);
    else if ((key === "e" || key === "E") && canWrite.peek()) void attempt(() => openForm(id, setForm));
    else return false;
    return true;
  };
  const saved = (result: Saved) => void attempt(() => takeSaved(result));
  const isEmpty = (overview.value?.stats.nodes ?? 0) === 0 && scene.graph.order === 0;
  const tools = { openForm: setForm, remove: setDeleting };
  return (
    <>
      <div class="explore-stage" data-revision={revision.value}>
        <SidePanel />
        <div class="canvas-column">
          <Canvas scene={scene} revision={revision.value} arrangement={arrangement.value} colourOf={colourOf} isShown={shown} isEdgeShown={edgeShown} selected={selected} marked={marked}
            onSelect={select} onOpen={(id) => void attempt(() => expandSome(id))} onKey={pressKey} view={view} />
          {restored && isEmpty && <Greeting openForm={setForm} openImport={() => setImporting(true)} />}
          {restored && !isEmpty && scene.graph.order === 0 && <Blank />}
          <Toolbar view={view} openForm={setForm} />
          <SelectionBar />
        </div>
      </div>
      {focus.value && <Inspector key={focus.value} id={focus.value} isEdge={scene.graph.hasEdge(focus.value)} tools={tools} />}
      {form && <ElementForm task={form} close={() => setForm(null)} saved={saved} />}
      {deleting && <DeleteDialog id={deleting} close={() => setDeleting(null)} />}
      {importing && <ImportDialog close={() => setImporting(false)} done={() => void attempt(showFresh)} />}
    </>
  );
}

async function showFresh(): Promise<void> {
  await refreshOverview();
  await showFirst();
}

function pin(ids: Iterable<string>): void {
  for (const id of ids) scene.togglePin(id);
  touch();
}

async function takeSaved({ node, edge }: Saved): Promise<void> {
  if (node) await addNodes([node]);
  if (edge) {
    await showNodes([edge.from, edge.to].filter((id) => !scene.graph.hasNode(id)));
    scene.addEdges([edge]);
  }
  select(node?.id ?? edge?.id ?? focus.peek());
  touch();
  await refreshOverview();
  await vocabulary.load();
}

async function openForm(id: string, open: (task: FormTask) => void): Promise<void> {
  if (scene.graph.hasEdge(id)) {
    const { graphEdge } = await ask<{ graphEdge: GraphEdge | null }>(documents.edge, { id });
    if (graphEdge) open({ kind: "editEdge", edge: graphEdge });
    return;
  }
  const { graphNode } = await ask<{ graphNode: (GraphNode & { content: { body: string } | null }) | null }>(documents.node, { id });
  if (graphNode) open({ kind: "editNode", node: graphNode, content: graphNode.content?.body ?? "" });
}

function Greeting({ openForm, openImport }: { openForm: (task: FormTask) => void; openImport: () => void }) {
  const loadDemo = () =>
    attempt(async () => {
      await ask(documents.loadDemo);
      await showFresh();
    });
  return (
    <div class="greeting">
      <h2>{texts.empty.title}</h2>
      {canWrite.value ? (
        <>
          <p>{texts.empty.words}</p>
          <div class="choices">
            <Button kind="main" onClick={() => void loadDemo()}>{texts.empty.demo}</Button>
            <Button onClick={openImport}>{texts.empty.import}</Button>
            <Button onClick={() => openForm({ kind: "newNode" })}>{texts.empty.create}</Button>
          </div>
        </>
      ) : (
        <p>{texts.empty.reader}</p>
      )}
    </div>
  );
}

function Blank() {
  return (
    <div class="greeting">
      <p>{texts.canvas.blank}</p>
      <div class="choices">
        <Button kind="main" onClick={() => void attempt(showHubs)}>{texts.canvas.start}</Button>
        <Button onClick={() => void attempt(showAll)}>{texts.canvas.all}</Button>
      </div>
    </div>
  );
}

function Toolbar({ view, openForm }: { view: { current: GraphView | null }; openForm: (task: FormTask) => void }) {
  void revision.value;
  const hidden = scene.hiddenIds();
  const ground = () => getComputedStyle(document.documentElement).getPropertyValue("--ground").trim();
  const png = async () => {
    const picture = await view.current?.toPng(ground());
    if (picture) download("graph.png", picture);
  };
  const svg = () => {
    const style = getComputedStyle(document.documentElement);
    const theme = { ground: ground(), line: style.getPropertyValue("--edge").trim(), text: style.getPropertyValue("--text").trim() };
    const by = colourBy.peek();
    download("graph.svg", drawSvg(scene.graph, (id) => palette.colourOf(classify(scene.graph.getNodeAttribute(id, "node"), by), by), theme), "image/svg+xml");
  };
  const json = () => download("graph.json", JSON.stringify({ nodes: scene.nodes(), edges: scene.edges() }, null, 2));
  return (
    <div class="canvas-bar" role="toolbar" aria-label={texts.screens.explore}>
      {canWrite.value && <Button icon="plus" onClick={() => openForm({ kind: "newNode" })}>{texts.form.newNode}</Button>}
      <Button onClick={() => void attempt(showAll)}>{texts.canvas.all}</Button>
      <Button onClick={clear} disabled={scene.graph.order === 0}>{texts.canvas.clear}</Button>
      {hidden.length > 0 && <Button onClick={() => { scene.setHidden(hidden, false); touch(); }}>{texts.canvas.unhide(hidden.length)}</Button>}
      <span class="group" role="group" aria-label={texts.canvas.export}>
        <Button icon="download" onClick={() => void png()}>{texts.canvas.png}</Button>
        <Button onClick={svg}>{texts.canvas.svg}</Button>
        <Button onClick={json}>{texts.canvas.json}</Button>
      </span>
    </div>
  );
}

function SelectionBar() {
  void revision.value;
  const ids = [...selected.value].filter((id) => scene.graph.hasNode(id));
  if (ids.length < 2) return null;
  const [from = "", to = ""] = ids;
  const pinned = ids.every((id) => scene.graph.getNodeAttribute(id, "pinned"));
  return (
    <div class="selection-bar" role="toolbar" aria-label={texts.canvas.selected(ids.length)}>
      <strong>{texts.canvas.selected(ids.length)}</strong>
      {ids.length === 2 && <Button icon="link" onClick={() => void attempt(() => findPath(from, to))}>{texts.canvas.path}</Button>}
      <Button icon="pin" onClick={() => { scene.setPinned(ids, !pinned); touch(); }}>{pinned ? texts.canvas.unpin : texts.canvas.pin}</Button>
      <Button icon="hide" onClick={() => hide(ids)}>{texts.canvas.hide}</Button>
    </div>
  );
}

/** Legend and filters in one: what is clicked steps back. */
function SidePanel() {
  const [open, setOpen] = useState(true);
  void revision.value;
  const by = colourBy.value;
  const nodes = scene.nodes();
  if (nodes.length === 0) return null;
  const classes = [...groupBy(nodes, (node) => classify(node, by))].sort((a, b) => b[1].length - a[1].length);
  const edgeTypes = [...groupBy(scene.edges(), (edge) => edge.type ?? "")].sort((a, b) => b[1].length - a[1].length);
  return (
    <aside class={`side-panel ${open ? "" : "closed"}`} aria-label={texts.canvas.legend}>
      <button type="button" class="panel-head" aria-expanded={open} onClick={() => setOpen(!open)}>{texts.canvas.legend}<small>{texts.nodes(nodes.length)}, {texts.edges(scene.graph.size)}</small></button>
      {open && (
        <div class="panel-body">
          <ColourChoice />
          <SizeChoice />
          <ul class="legend">
            {classes.slice(0, 14).map(([name, found]) => (
              <li key={name}>
                <button type="button" aria-pressed={by.kind === "type" && filters.value.hiddenTypes.has(name)} disabled={by.kind !== "type"} onClick={() => setFilters({ hiddenTypes: toggle(filters.value.hiddenTypes, name) })}>
                  <span class="dot" style={{ background: palette.colourOf(name, by) }} />
                  <bdi>{name || texts.untyped}</bdi>
                  <small>{found.length}</small>
                </button>
              </li>
            ))}
          </ul>
          {edgeTypes.length > 0 && <h3>{texts.canvas.edgeTypes}</h3>}
          <ul class="legend edges">
            {edgeTypes.slice(0, 10).map(([name, found]) => (
              <li key={name}>
                <button type="button" aria-pressed={filters.value.hiddenEdgeTypes.has(name)} onClick={() => setFilters({ hiddenEdgeTypes: toggle(filters.value.hiddenEdgeTypes, name) })}>
                  <span class="arrow" aria-hidden="true">→</span>
                  <bdi>{name || texts.untyped}</bdi>
                  <small>{found.length}</small>
                </button>
              </li>
            ))}
          </ul>
          <FilterFields />
          <NodeList />
        </div>
      )}
    </aside>
  );
}

function ColourChoice() {
  const by = colourBy.value;
  useEffect(() => void vocabulary.load(), []);
  const choose = (text: string) => {
    colourBy.value = parseColourBy(text);
    touch();
  };
  return (
    <label class="inline-field">
      {texts.canvas.colour}
      <select value={formatColourBy(by)} onChange={(event) => choose(event.currentTarget.value)}>
        <option value="">{texts.canvas.byType}</option>
        <option value="degree">{texts.canvas.byDegree}</option>
        {vocabulary.propertyKeys.value.slice(0, 100).map((key) => <option key={key} value={`property:${key}`}>{key}</option>)}
      </select>
    </label>
  );
}

function SizeChoice() {
  const choose = (text: string) => {
    sizeBy.value = parseSizeBy(text);
    touch();
  };
  return (
    <label class="inline-field">
      {texts.canvas.size}
      <select value={formatSizeBy(sizeBy.value)} onChange={(event) => choose(event.currentTarget.value)}>
        <option value="">{texts.canvas.byDegree}</option>
        <option value="rarity">{texts.canvas.byRarity}</option>
        <option value="same">{texts.canvas.bySame}</option>
        {vocabulary.propertyKeys.value.slice(0, 100).map((key) => <option key={key} value={`property:${key}`}>{key}</option>)}
      </select>
    </label>
  );
}

function FilterFields() {
  const { scope, property, createdAfter, hiddenTypes, hiddenEdgeTypes } = filters.value;
  const active = scope || property || createdAfter || hiddenTypes.size || hiddenEdgeTypes.size;
  return (
    <details class="filters" open={Boolean(scope || property || createdAfter)}>
      <summary>{texts.canvas.filters}</summary>
      <label class="inline-field">{texts.canvas.property}<input value={property} placeholder={texts.canvas.propertyHint} onInput={(event) => setFilters({ property: event.currentTarget.value })} /></label>
      <label class="inline-field">
        {texts.canvas.scope}
        <select value={scope} onChange={(event) => setFilters({ scope: event.currentTarget.value })}>
          <option value="">{texts.canvas.anyScope}</option>
          {["DEFAULT", "USER", "PROJECT", "SCRATCH"].map((name) => <option key={name} value={name}>{name.toLowerCase()}</option>)}
        </select>
      </label>
      <label class="inline-field">{texts.canvas.createdAfter}<input type="datetime-local" value={createdAfter} onInput={(event) => setFilters({ createdAfter: event.currentTarget.value })} /></label>
      {active ? <Button kind="quiet" onClick={() => setFilters({ scope: "", property: "", createdAfter: "", hiddenTypes: new Set(), hiddenEdgeTypes: new Set() })}>{texts.canvas.reset}</Button> : null}
    </details>
  );
}

/** The same nodes as a list, for keyboards, screen readers and long names. */
function NodeList() {
  void revision.value;
  const nodes = scene.nodes().slice(0, 200);
  return (
    <details class="node-list">
      <summary>{texts.canvas.list}</summary>
      <ul>
        {nodes.map((node) => (
          <li key={node.id}>
            <button type="button" aria-pressed={selected.value.has(node.id)} onClick={(event) => select(node.id, event.shiftKey)}>
              <span class="dot" style={{ background: palette.colourOf(node.type ?? "") }} />
              <bdi>{node.label}</bdi>
            </button>
          </li>
        ))}
      </ul>
    </details>
  );
}

function DeleteDialog({ id, close }: { id: string; close: () => void }) {
  const isNode = scene.graph.hasNode(id);
  const label = isNode ? scene.graph.getNodeAttribute(id, "node").label : id;
  const remove = () =>
    attempt(async () => {
      await ask(documents.deleteElement, { input: { id } });
      scene.removeEdge(id);
      scene.removeNode(id);
      select(null);
      touch();
      close();
      await refreshOverview();
    });
  return (
    <Dialog title={texts.inspector.delete} close={close}>
      <div class="form">
        <p><bdi>{texts.inspector.deleteSure(label)}</bdi></p>
        <footer>
          <Button onClick={close}>{texts.cancel}</Button>
          <Button kind="danger" onClick={() => void remove()}>{texts.inspector.deleteYes}</Button>
        </footer>
      </div>
    </Dialog>
  );
}
