// Ontology: types and connections as a diagram, what is enforced, what the graph has beyond it, and how it grows.
import { useEffect, useState } from "preact/hooks";
import { ask } from "../api/client.ts";
import { documents } from "../api/documents.ts";
import { BOX, type Line, layOutDiagram } from "../model/diagram.ts";
import { shorten } from "../model/scene.ts";
import type { Ontology } from "../model/rules.ts";
import type { GraphEdge } from "../model/types.ts";
import { type RuleQuery, findUnknownTypes, queriesFor } from "../model/violations.ts";
import { attempt, canWrite, go, overview, palette, route, setParams } from "../state/app.ts";
import { select, showNodes } from "../state/workspace.ts";
import { vocabulary } from "../state/vocabulary.ts";
import { texts } from "../texts.ts";
import { Button, TypeBadge } from "../ui/widgets.tsx";

export function OntologyScreen() {
  useEffect(() => void vocabulary.load(), []);
  const all = vocabulary.ontologies.value;
  const chosen = all.find(({ name }) => name === route.value.params.name) ?? all[0];
  return (
    <div class="ontology-screen">
      <section class="diagram-side" aria-label={texts.ontology.diagram}>
        {chosen ? <DiagramView ontology={chosen} /> : <p class="nothing">{texts.ontology.none}</p>}
      </section>
      <aside class="detail-side" aria-label={texts.screens.ontology}>
        {all.length > 1 && (
          <label class="inline-field">{texts.ontology.name}<select value={chosen?.name} onChange={(event) => setParams({ name: event.currentTarget.value })}>{all.map(({ name }) => <option key={name}>{name}</option>)}</select></label>
        )}
        {chosen && <Details key={chosen.name} ontology={chosen} />}
        {canWrite.value && <NewOntology />}
      </aside>
    </div>
  );
}

function DiagramView({ ontology }: { ontology: Ontology }) {
  const { boxes, lines, width, height } = layOutDiagram(ontology.nodeTypes, ontology.connectionTypes);
  const counts = new Map(overview.value?.stats.nodeTypes.map(({ type, count }) => [type ?? "", count]));
  return (
    <svg class="diagram" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={texts.ontology.diagram}>
      <defs><marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path d="M0 0L10 5L0 10z" class="arrow-head" /></marker></defs>
      {lines.map((line, at) => <LineView key={at} line={line} />)}
      {boxes.map(({ type, x, y }) => (
        <g key={type} transform={`translate(${x - BOX.width / 2} ${y - BOX.height / 2})`}>
          <rect class="box" width={BOX.width} height={BOX.height} rx="12" />
          <rect width="6" height={BOX.height - 20} x="8" y="10" rx="3" fill={palette.colourOf(type)} />
          <text x="26" y="25" class="box-name">{shorten(type, 18)}</text>
          <text x="26" y="43" class="box-count">{texts.ontology.count(counts.get(type) ?? 0)}</text>
        </g>
      ))}
    </svg>
  );
}

function LineView({ line }: { line: Line }) {
  const { from, to } = line;
  const side = (line.index - (line.of - 1) / 2) * 26;
  const forth = to.x >= from.x;
  const loop = from.type === to.type;
  const [x1, y1] = [from.x + (forth ? BOX.width / 2 : -BOX.width / 2), from.y + side / 2];
  const [x2, y2] = loop ? [from.x + 24 + side, from.y - BOX.height / 2] : [to.x + (forth ? (to.x === from.x ? BOX.width / 2 : -BOX.width / 2) : BOX.width / 2), to.y + side / 2];
  const bend = loop ? 46 : to.x === from.x ? 70 : (x2 - x1) / 2;
  const path = loop ? `M${from.x - 24} ${from.y - BOX.height / 2} C${from.x - 40} ${from.y - BOX.height - 12 - Math.abs(side)}, ${from.x + 40} ${from.y - BOX.height - 12 - Math.abs(side)}, ${x2} ${y2}` : `M${x1} ${y1} C${x1 + bend} ${y1 + side}, ${x2 - (to.x === from.x ? -bend : bend)} ${y2 + side}, ${x2} ${y2}`;
  const [tx, ty] = loop ? [from.x, from.y - BOX.height - 6 - Math.abs(side)] : to.x === from.x ? [x1 + 56, (y1 + y2) / 2 + side] : [(x1 + x2) / 2, (y1 + y2) / 2 + side - 6];
  return (
    <g>
      <path class={`connection ${line.acyclic ? "acyclic" : ""}`} d={path} marker-end="url(#arrow)" />
      <text class="connection-name" x={tx} y={ty}>{shorten(line.name, 22)}</text>
    </g>
  );
}

function Details({ ontology }: { ontology: Ontology }) {
  const enforce = (enforcement: string) => attempt(async () => { await ask(documents.setEnforcement, { enforcement, ontology: ontology.name }); await vocabulary.load(); });
  return (
    <>
      <h2><bdi>{ontology.name}</bdi></h2>
      <p class="hint">{texts.ontology.grows}</p>
      <label class="inline-field">
        {texts.ontology.enforcement}
        <select value={ontology.enforcement} disabled={!canWrite.value} onChange={(event) => void enforce(event.currentTarget.value)}>
          {Object.entries(texts.ontology.levels).map(([key, words]) => <option key={key} value={key}>{words}</option>)}
        </select>
      </label>
      <Violations ontology={ontology} />
      {ontology.properties.length > 0 && <h3>{texts.ontology.properties}</h3>}
      {ontology.properties.map(({ owner, type, definitions }) => (
        <details key={owner + type}>
          <summary><bdi>{type}</bdi> <small>{definitions.length}</small></summary>
          <ul class="plain-list">{definitions.map((found) => <li key={found.name}><strong><bdi>{found.name}</bdi></strong> {found.kind.toLowerCase()} {found.required && texts.ontology.required} <small><bdi>{found.description}</bdi></small></li>)}</ul>
        </details>
      ))}
      {canWrite.value && <><AddNodeType ontology={ontology} /><AddConnection ontology={ontology} /></>}
      <details><summary>{texts.ontology.yaml}</summary><pre class="json-view">{ontology.yaml}</pre></details>
    </>
  );
}

interface Violation {
  rule: RuleQuery;
  ids: string[];
  more: boolean;
}

/** Unknown types at once; whatever breaks a rule on request, since that reads the graph. */
function Violations({ ontology }: { ontology: Ontology }) {
  const [found, setFound] = useState<Violation[] | null>(null);
  const [busy, setBusy] = useState(false);
  const stats = overview.value?.stats;
  const unknown = stats ? findUnknownTypes(ontology, stats) : [];
  const rules = queriesFor(ontology);
  const check = async () => {
    setBusy(true);
    setFound(null);
    setFound((await attempt(() => findViolations(rules))) ?? null);
    setBusy(false);
  };
  const open = (ids: string[], kind: RuleQuery["kind"]) => attempt(() => openElements(ids, kind));
  return (
    <section class="violations" aria-label={texts.ontology.violations} aria-busy={busy}>
      <h3>{texts.ontology.violations}</h3>
      {unknown.length === 0 && (found === null || found.length === 0) && <p class="good">{texts.ontology.noViolations}</p>}
      {(["NODE", "CONNECTION"] as const).map((kind) => {
        const types = unknown.filter((each) => each.kind === kind);
        if (types.length === 0) return null;
        return (
          <div key={kind}>
            <p class="wrong">{kind === "NODE" ? texts.ontology.breaches.unknownType : texts.ontology.breaches.unknownConnection}</p>
            <ul class="plain-list">{types.map(({ type, count }) => <li key={type}><TypeBadge type={type} /> <small>{kind === "NODE" ? texts.nodes(count) : texts.edges(count)}</small></li>)}</ul>
          </div>
        );
      })}
      {found?.map(({ rule, ids, more }) => (
        <div key={rule.rule + rule.type + rule.property} class="violation">
          <p class="wrong"><bdi>{describeRule(rule)}</bdi>{more && <small> ({texts.ontology.firstOf(ids.length)})</small>}</p>
          <div class="choices">{ids.map((id) => <Button key={id} kind="quiet" onClick={() => void open([id], rule.kind)}><bdi>{shorten(id, 24)}</bdi></Button>)}</div>
        </div>
      ))}
      {rules.length > 0 && <Button disabled={busy} onClick={() => void check()}>{texts.ontology.findViolations}</Button>}
      {found && <p class="hint" role="status">{texts.ontology.checkedViolations(rules.length)}</p>}
    </section>
  );
}

async function findViolations(rules: RuleQuery[]): Promise<Violation[]> {
  const found: Violation[] = [];
  for (const rule of rules) {
    const { cypher } = await ask<{ cypher: { rows: [string][]; truncated: boolean } }>(documents.violations, { query: rule.query, params: rule.params });
    if (cypher.rows.length) found.push({ rule, ids: cypher.rows.map(([id]) => id), more: cypher.truncated });
  }
  return found;
}

function describeRule({ rule, type, property }: RuleQuery): string {
  if (rule === "ends") return texts.ontology.breaches.ends(type);
  return rule === "required" ? texts.ontology.breaches.required(type, property) : texts.ontology.breaches.value(type, property);
}

/** Show elements on the canvas of Explore: nodes, or edges with both of their ends. */
async function openElements(ids: string[], kind: RuleQuery["kind"]): Promise<void> {
  go("explore");
  if (kind === "NODE") await showNodes(ids);
  else {
    for (const id of ids) {
      const { graphEdge } = await ask<{ graphEdge: GraphEdge | null }>(documents.edge, { id });
      if (graphEdge) await showNodes([graphEdge.from, graphEdge.to]);
    }
  }
  select(ids[0] ?? null);
}

function AddNodeType({ ontology }: { ontology: Ontology }) {
  const [name, setName] = useState("");
  const add = (event: Event) => {
    event.preventDefault();
    void attempt(async () => {
      await ask(documents.addNodeType, { typeName: name.trim(), ontology: ontology.name });
      setName("");
      await vocabulary.load();
    });
  };
  return (
    <form class="small-form" onSubmit={add}>
      <h3>{texts.ontology.addType}</h3>
      <label>{texts.ontology.typeName}<input value={name} required onInput={(event) => setName(event.currentTarget.value)} /></label>
      <Button type="submit" disabled={!name.trim()}>{texts.ontology.add}</Button>
    </form>
  );
}

function AddConnection({ ontology }: { ontology: Ontology }) {
  const [name, setName] = useState("");
  const [fromTypes, setFromTypes] = useState<string[]>([]);
  const [toTypes, setToTypes] = useState<string[]>([]);
  const [acyclic, setAcyclic] = useState(false);
  const add = (event: Event) => {
    event.preventDefault();
    void attempt(async () => {
      await ask(documents.addConnectionType, { ontology: ontology.name, type: { name: name.trim(), fromTypes, toTypes, acyclic } });
      setName("");
      await vocabulary.load();
    });
  };
  return (
    <form class="small-form" onSubmit={add}>
      <h3>{texts.ontology.addConnection}</h3>
      <label>{texts.ontology.connection}<input value={name} required onInput={(event) => setName(event.currentTarget.value)} /></label>
      <TypeChoice label={texts.ontology.from} types={ontology.nodeTypes} chosen={fromTypes} choose={setFromTypes} />
      <TypeChoice label={texts.ontology.to} types={ontology.nodeTypes} chosen={toTypes} choose={setToTypes} />
      <label class="check"><input type="checkbox" checked={acyclic} onChange={(event) => setAcyclic(event.currentTarget.checked)} /> {texts.ontology.acyclic}</label>
      <Button type="submit" disabled={!name.trim() || !fromTypes.length || !toTypes.length}>{texts.ontology.add}</Button>
    </form>
  );
}

function TypeChoice({ label, types, chosen, choose }: { label: string; types: string[]; chosen: string[]; choose: (types: string[]) => void }) {
  return (
    <label title={texts.ontology.many}>
      {label}
      <select multiple size={Math.min(types.length, 5)} onChange={(event) => choose([...event.currentTarget.selectedOptions].map((option) => option.value))}>
        {types.map((type) => <option key={type} value={type} selected={chosen.includes(type)}>{type}</option>)}
      </select>
    </label>
  );
}

function NewOntology() {
  const [name, setName] = useState("");
  const add = (event: Event) => {
    event.preventDefault();
    void attempt(async () => {
      const nodeTypes = (overview.peek()?.stats.nodeTypes ?? []).flatMap(({ type }) => (type ? [type] : [])).slice(0, 50);
      await ask(documents.createOntology, { input: { name: name.trim(), nodeTypes: vocabulary.ontologies.peek().length ? [] : nodeTypes } });
      setName("");
      await vocabulary.load();
    });
  };
  return (
    <form class="small-form" onSubmit={add}>
      <h3>{texts.ontology.create}</h3>
      <label>{texts.ontology.name}<input value={name} required placeholder="default" onInput={(event) => setName(event.currentTarget.value)} /></label>
      <Button type="submit" disabled={!name.trim()}>{texts.admin.create}</Button>
    </form>
  );
}
