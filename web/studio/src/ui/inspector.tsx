// The inspector: one element with its properties, neighbours, content, versions, facts, references and events.
import { useEffect, useState } from "preact/hooks";
import { ask } from "../api/client.ts";
import { documents } from "../api/documents.ts";
import { type Bundle, keyOf } from "../model/expansion.ts";
import type { GraphEdge, GraphNode, Json, LogEvent } from "../model/types.ts";
import { attempt, canWrite, go, setParams, route } from "../state/app.ts";
import { bundles, countNeighbours, expand, hide, paging, revision, scene, select, showNodes, touch } from "../state/workspace.ts";
import { texts } from "../texts.ts";
import { EventList } from "./eventList.tsx";
import type { FormTask } from "./forms.tsx";
import { RichText } from "./richText.tsx";
import { Async, Button, Dialog, TypeBadge, Tabs, Value, formatTime, useLoad } from "./widgets.tsx";

export interface InspectorTools {
  openForm: (task: FormTask) => void;
  remove: (id: string) => void;
}

interface Content {
  format: string;
  encoding: string;
  body: string;
  size: number;
}
type NodeDetail = GraphNode & { data: Json; content: Content | null };
type TabName = keyof typeof texts.inspector.tabs;

export function Inspector({ id, isEdge, tools }: { id: string; isEdge: boolean; tools: InspectorTools }) {
  return (
    <aside class="inspector" aria-label={texts.inspector.label}>
      {isEdge ? <EdgeInspector id={id} tools={tools} /> : <NodeInspector id={id} tools={tools} />}
    </aside>
  );
}

function NodeInspector({ id, tools }: { id: string; tools: InspectorTools }) {
  void revision.value;
  const version = scene.graph.hasNode(id) ? scene.graph.getNodeAttribute(id, "node").version : 0;
  const loaded = useLoad(() => ask<{ graphNode: NodeDetail | null }>(documents.node, { id }), [id, version]);
  const [tab, setTab] = useState<TabName>((route.peek().params.tab as TabName) || "properties");
  useEffect(() => void attempt(() => countNeighbours(id)), [id]);
  const choose = (name: TabName) => {
    setTab(name);
    setParams({ tab: name === "properties" ? "" : name });
  };
  const choices = Object.entries(texts.inspector.tabs).map(([key, label]) => ({ key: key as TabName, label }));
  return (
    <Async of={loaded}>
      {({ graphNode }) =>
        graphNode === null ? (
          <p>{texts.conflict.gone}</p>
        ) : (
          <>
            <NodeHead node={graphNode} tools={tools} />
            <Tabs label={texts.inspector.label} choices={choices} chosen={tab} choose={choose} />
            <div class="tab-body" role="tabpanel" aria-label={texts.inspector.tabs[tab]} tabIndex={0} data-version={revision.value}>
              <NodeTab tab={tab} node={graphNode} />
            </div>
          </>
        )
      }
    </Async>
  );
}

function NodeHead({ node, tools }: { node: NodeDetail; tools: InspectorTools }) {
  void revision.value;
  const pinned = scene.graph.hasNode(node.id) && scene.graph.getNodeAttribute(node.id, "pinned");
  const edit = () => tools.openForm({ kind: "editNode", node, content: node.content?.encoding === "UTF8" ? node.content.body : "" });
  return (
    <header class="inspector-head">
      <Button kind="quiet" icon="close" label={texts.close} onClick={() => select(null)} />
      <h2><bdi>{node.label}</bdi></h2>
      <p class="sub"><TypeBadge type={node.type} /><code><bdi>{node.id}</bdi></code><span>{texts.inspector.version(node.version)}</span></p>
      <div class="actions">
        {canWrite.value && <Button icon="edit" onClick={edit}>{texts.inspector.edit}</Button>}
        {canWrite.value && <Button icon="link" onClick={() => tools.openForm({ kind: "newEdge", from: node.id, to: "" })}>{texts.inspector.link}</Button>}
        <Button icon="pin" pressed={pinned} label={pinned ? texts.canvas.unpin : texts.canvas.pin} onClick={() => { scene.togglePin(node.id); touch(); }} />
        <Button icon="hide" label={texts.canvas.hide} onClick={() => hide([node.id])} />
        {canWrite.value && <Button kind="danger" icon="trash" label={texts.inspector.delete} onClick={() => tools.remove(node.id)} />}
      </div>
    </header>
  );
}

function NodeTab({ tab, node }: { tab: TabName; node: NodeDetail }) {
  switch (tab) {
    case "properties":
      return <PropertiesTab node={node} />;
    case "neighbours":
      return <NeighboursTab id={node.id} />;
    case "content":
      return <ContentTab content={node.content} />;
    case "versions":
      return <VersionsTab id={node.id} version={node.version} />;
    case "facts":
      return <FactsTab id={node.id} />;
    case "references":
      return <ReferencesTab id={node.id} />;
    case "events":
      return <EventsTab id={node.id} version={node.version} />;
  }
}

function PropertyTable({ properties }: { properties: Record<string, Json> }) {
  const entries = Object.entries(properties);
  if (entries.length === 0) return <p class="nothing">{texts.inspector.noProperties}</p>;
  return (
    <dl class="properties">
      {entries.map(([key, value]) => (
        <div key={key}><dt><bdi>{key}</bdi></dt><dd><Value value={value} /></dd></div>
      ))}
    </dl>
  );
}

function PropertiesTab({ node }: { node: NodeDetail }) {
  return (
    <>
      <PropertyTable properties={node.properties} />
      {node.data !== null && <><h3>{texts.inspector.data}</h3><Value value={node.data} /></>}
      <NeighboursTab id={node.id} />
      <p class="times">{formatTime(node.created)} → {formatTime(node.modified)} UTC</p>
    </>
  );
}

/** Counts per edge type first; a click brings one page of them. */
function NeighboursTab({ id }: { id: string }) {
  const found = bundles.value?.id === id ? bundles.value.found : null;
  if (found === null) return null;
  if (found.length === 0) return <p class="nothing">{texts.inspector.noNeighbours}</p>;
  return (
    <ul class="bundles" aria-label={texts.inspector.tabs.neighbours}>
      {found.map((bundle) => <BundleRow key={keyOf(bundle)} id={id} bundle={bundle} />)}
    </ul>
  );
}

function BundleRow({ id, bundle }: { id: string; bundle: Bundle }) {
  const state = paging.value[keyOf(bundle)];
  const done = state !== undefined && !state.more;
  return (
    <li>
      <button type="button" disabled={done} data-bundle={keyOf(bundle)} onClick={() => void attempt(() => expand(id, bundle))}>
        <span class="arrow" aria-hidden="true">{bundle.direction === "outgoing" ? "→" : "←"}</span>
        <bdi>{bundle.type ?? texts.untyped}</bdi>
        <small>{state ? texts.inspector.show(state.shown, bundle.count) : bundle.count.toLocaleString("en")}</small>
        <span class="verb">{done ? texts.inspector.onCanvas : state ? texts.inspector.next : texts.canvas.expand}</span>
      </button>
    </li>
  );
}

function ContentTab({ content }: { content: Content | null }) {
  if (!content) return <p class="nothing">{texts.inspector.noContent}</p>;
  if (content.encoding !== "UTF8") return <p>{content.format}, {content.size.toLocaleString("en")} bytes</p>;
  return content.format === "markdown" ? <RichText text={content.body} /> : <pre class="json-view">{content.body}</pre>;
}

interface Version {
  version: number;
  timestamp: number;
  deleted: boolean;
  value: Json;
  event: LogEvent;
}

function VersionsTab({ id, version }: { id: string; version: number }) {
  const loaded = useLoad(() => ask<{ versions: Version[] }>(documents.versions, { id }), [id, version]);
  const [asked, setAsked] = useState<number | null>(null);
  const revert = (to: number) =>
    attempt(async () => {
      await ask(documents.revert, { id, version: to, expectedVersion: version });
      setAsked(null);
      await showNodes([id]);
      touch();
    });
  return (
    <Async of={loaded}>
      {({ versions }) => (
        <>
          <ol class="versions" reversed>
            {versions.toReversed().map((found) => (
              <li key={found.version}>
                <details>
                  <summary><strong>{texts.inspector.version(found.version)}</strong> <time>{formatTime(found.timestamp)}</time> {found.deleted ? texts.inspector.deleted : found.event.type}</summary>
                  {found.value !== null && <Value value={found.value} />}
                  {canWrite.value && found.version !== version && !found.deleted && <Button onClick={() => setAsked(found.version)}>{texts.inspector.restore}</Button>}
                </details>
              </li>
            ))}
          </ol>
          {asked !== null && (
            <Dialog title={texts.inspector.restore} close={() => setAsked(null)}>
              <div class="form">
                <p>{texts.inspector.restoreSure(asked)}</p>
                <footer><Button onClick={() => setAsked(null)}>{texts.cancel}</Button><Button kind="main" onClick={() => void revert(asked)}>{texts.inspector.restore}</Button></footer>
              </div>
            </Dialog>
          )}
        </>
      )}
    </Async>
  );
}

interface EntityOfNode {
  graphNode: { entity: { entityId: string; canonical: string; facts: { nodes: { factId: string; predicate: string; objectValue: string | null; objectEntity: { canonical: string } | null; state: string }[] } } | null } | null;
}

function FactsTab({ id }: { id: string }) {
  const loaded = useLoad(() => ask<EntityOfNode>(documents.nodeFacts, { id }), [id]);
  return (
    <Async of={loaded}>
      {({ graphNode }) => {
        const entity = graphNode?.entity;
        if (!entity) return <p class="nothing">{texts.inspector.noFacts}</p>;
        return (
          <>
            <Button onClick={() => go("facts", { entity: entity.entityId })}><bdi>{entity.canonical}</bdi></Button>
            <ul class="plain-list">
              {entity.facts.nodes.map((fact) => <li key={fact.factId} class={fact.state.toLowerCase()}><bdi>{fact.predicate}</bdi> <bdi>{fact.objectEntity?.canonical ?? fact.objectValue}</bdi></li>)}
            </ul>
          </>
        );
      }}
    </Async>
  );
}

interface Target {
  id?: string;
  edgeId?: string;
  label?: string;
}

function ReferencesTab({ id }: { id: string }) {
  const loaded = useLoad(() => ask<{ graphNode: { references: { address: string; path: string; resolved: boolean; target: Target | null }[]; referencedBy: Target[] } }>(documents.references, { id }), [id]);
  const open = (target: Target | null) => target?.id && void attempt(async () => { await showNodes([target.id as string], id); select(target.id as string); });
  return (
    <Async of={loaded}>
      {({ graphNode: { references, referencedBy } }) =>
        references.length + referencedBy.length === 0 ? (
          <p class="nothing">{texts.inspector.noReferences}</p>
        ) : (
          <>
            {references.length > 0 && <h3>{texts.inspector.mentions}</h3>}
            <ul class="plain-list">
              {references.map((found) => <li key={found.path}><code><bdi>{found.path}</bdi></code> <Button kind="quiet" disabled={!found.target?.id} onClick={() => open(found.target)}><bdi>{found.target?.label ?? found.address}</bdi></Button></li>)}
            </ul>
            {referencedBy.length > 0 && <h3>{texts.inspector.mentionedBy}</h3>}
            <ul class="plain-list">
              {referencedBy.map((found, at) => <li key={at}><Button kind="quiet" disabled={!found.id} onClick={() => open(found)}><bdi>{found.label ?? found.edgeId}</bdi></Button></li>)}
            </ul>
          </>
        )
      }
    </Async>
  );
}

function EventsTab({ id, version }: { id: string; version: number }) {
  const loaded = useLoad(() => ask<{ history: LogEvent[] }>(documents.elementEvents, { id }), [id, version]);
  return <Async of={loaded}>{({ history }) => <EventList events={history.toReversed()} />}</Async>;
}

function EdgeInspector({ id, tools }: { id: string; tools: InspectorTools }) {
  const loaded = useLoad(() => ask<{ graphEdge: GraphEdge | null }>(documents.edge, { id }), [id, revision.value]);
  return (
    <Async of={loaded}>
      {({ graphEdge: edge }) =>
        edge === null ? (
          <p>{texts.conflict.gone}</p>
        ) : (
          <>
            <header class="inspector-head">
              <Button kind="quiet" icon="close" label={texts.close} onClick={() => select(null)} />
              <h2><bdi>{edge.type ?? texts.untyped}</bdi></h2>
              <p class="sub"><code><bdi>{edge.id}</bdi></code><span>{texts.inspector.version(edge.version)}</span></p>
              {canWrite.value && (
                <div class="actions">
                  <Button icon="edit" onClick={() => tools.openForm({ kind: "editEdge", edge })}>{texts.inspector.edit}</Button>
                  <Button kind="danger" icon="trash" label={texts.inspector.delete} onClick={() => tools.remove(edge.id)} />
                </div>
              )}
            </header>
            <div class="tab-body">
              <p class="ends"><Button kind="quiet" onClick={() => select(edge.from)}><bdi>{edge.from}</bdi></Button> → <Button kind="quiet" onClick={() => select(edge.to)}><bdi>{edge.to}</bdi></Button></p>
              <dl class="properties"><div><dt>{texts.form.weight}</dt><dd><Value value={edge.weight} /></dd></div></dl>
              <PropertyTable properties={edge.properties} />
            </div>
          </>
        )
      }
    </Async>
  );
}
