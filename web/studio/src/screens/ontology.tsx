// Ontology: types and connections as a diagram, what is enforced, what the graph has beyond it, and how it grows.
import { useEffect, useState } from "preact/hooks";
import { ask } from "../api/client.ts";
import { documents } from "../api/documents.ts";
import { BOX, type Line, layOutDiagram } from "../model/diagram.ts";
import { shorten } from "../model/scene.ts";
import { attempt, canWrite, overview, palette, route, setParams } from "../state/app.ts";
import type { Ontology } from "../model/rules.ts";
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
  const unknown = (overview.value?.stats.nodeTypes ?? []).filter(({ type }) => type !== null && !vocabulary.nodeTypes.value.includes(type));
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
      <h3>{texts.ontology.violations}</h3>
      {unknown.length === 0 ? <p class="good">{texts.ontology.noViolations}</p> : (
        <ul class="plain-list">{unknown.map(({ type, count }) => <li key={type}><TypeBadge type={type} /> <small>{texts.ontology.count(count)}</small></li>)}</ul>
      )}
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
