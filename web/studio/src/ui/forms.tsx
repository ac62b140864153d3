// Forms that create, change and connect elements. What is typed stays until it is saved or discarded.
import { useEffect, useRef, useState } from "preact/hooks";
import { ask } from "../api/client.ts";
import { documents } from "../api/documents.ts";
import { type Draft, type Row, compareSides, diffProperties, repeatedKeys, toProperties, toRows } from "../model/editing.ts";
import { type GatewayError, toGatewayError } from "../model/errors.ts";
import { type Breach, type Edited, type PropertyDefinition, choicesOf, definitionsOf, findBreaches, offeredTypes, parseDefined, strictness, toBlankRow, withRequired } from "../model/rules.ts";
import type { GraphEdge, GraphNode, Properties } from "../model/types.ts";
import { readNodes } from "../state/graphs.ts";
import { notify, overview } from "../state/app.ts";
import { vocabulary } from "../state/vocabulary.ts";
import { texts } from "../texts.ts";
import { Button, Dialog, ErrorBox } from "./widgets.tsx";

export type FormTask =
  | { kind: "newNode" }
  | { kind: "editNode"; node: GraphNode; content: string }
  | { kind: "newEdge"; from: string; to: string }
  | { kind: "editEdge"; edge: GraphEdge };

export interface Saved {
  node?: GraphNode;
  edge?: GraphEdge;
}

interface Fields extends Draft {
  from: string;
  to: string;
  weight: string;
}

interface Conflict {
  version: number;
  properties: Properties | null;
}

const DRAFT_KEY = "ugs.studio.draft.";

export function ElementForm({ task, close, saved }: { task: FormTask; close: () => void; saved: (saved: Saved) => void }) {
  const key = DRAFT_KEY + keyOfTask(task);
  const kept = sessionStorage.getItem(key);
  const [fields, setFields] = useState<Fields>(() => (kept ? JSON.parse(kept) : toFields(task)));
  const [restored, setRestored] = useState(kept !== null);
  const [error, setError] = useState<GatewayError | null>(null);
  const [conflict, setConflict] = useState<Conflict | null>(null);
  const [busy, setBusy] = useState(false);
  // Handlers of the last rendering see its fields; several events may come before the next one.
  const latest = useRef(fields);
  const replaceFields = (now: Fields) => {
    latest.current = now;
    setFields(now);
  };
  const change = (changed: Partial<Fields>) => {
    replaceFields({ ...latest.current, ...changed });
    sessionStorage.setItem(key, JSON.stringify(latest.current));
  };
  const rules = useRules(task, fields);
  const chooseType = (type: string) => {
    const definitions = definitionsOf(vocabulary.ontologies.peek(), kindOf(task), type.trim());
    change({ type, rows: withRequired(latest.current.rows, definitions) });
  };
  const changeRows = (edit: (rows: Row[]) => Row[]) => change({ rows: edit(latest.current.rows) });
  const discard = () => {
    sessionStorage.removeItem(key);
    setRestored(false);
    replaceFields(toFields(task));
  };
  const save = async (version: number, base?: Properties) => {
    setBusy(true);
    setError(null);
    try {
      const answer = await send(task, latest.current, version, base);
      sessionStorage.removeItem(key);
      for (const warning of answer.warnings) notify("info", `${texts.form.warned} ${warning.message}`);
      saved(answer);
      close();
    } catch (thrown) {
      const problem = toGatewayError(thrown);
      if (problem.code === "VERSION_CONFLICT") setConflict(await readTheirs(task));
      else setError(problem);
    } finally {
      setBusy(false);
    }
  };
  const wrong = findMistake(task, fields);
  const submit = (event: Event) => {
    event.preventDefault();
    void save(latest.current.version);
  };
  const takeTheirs = () => {
    discard();
    close();
    saved({});
  };
  return (
    <Dialog title={texts.form[task.kind]} close={close}>
      {conflict ? (
        <ConflictView mine={fields} conflict={conflict} busy={busy} keep={() => void save(conflict.version, conflict.properties ?? {})} take={takeTheirs} back={() => setConflict(null)} />
      ) : (
        <form class="form" onSubmit={submit}>
          {restored && <p class="restored" role="status">{texts.form.draft} <Button kind="quiet" onClick={discard}>{texts.form.discard}</Button></p>}
          {error && <ErrorBox error={error} />}
          <ElementFields task={task} fields={fields} change={change} offered={rules.offered} chooseType={chooseType} />
          <RowsEditor rows={fields.rows} change={changeRows} definitions={rules.definitions} />
          <Objections breaches={rules.breaches} />
          {task.kind === "newNode" || task.kind === "editNode" ? (
            <label>{texts.form.content}<textarea rows={4} value={fields.content} onInput={(event) => change({ content: event.currentTarget.value })} /></label>
          ) : null}
          <footer>
            <small class="wrong" role="status">{wrong}</small>
            <Button onClick={close}>{texts.cancel}</Button>
            <Button type="submit" kind="main" disabled={busy || wrong !== ""}>{texts.save}</Button>
          </footer>
        </form>
      )}
    </Dialog>
  );
}

function kindOf(task: FormTask): Edited["kind"] {
  return task.kind === "newNode" || task.kind === "editNode" ? "NODE" : "CONNECTION";
}

const TYPING_MS = 250;

/** The types of both ends, as far as they are known; read a moment after they were typed. */
function useEndTypes(isEdge: boolean, from: string, to: string): Map<string, string | null> {
  const [types, setTypes] = useState<Map<string, string | null>>(new Map());
  useEffect(() => {
    if (!isEdge) return;
    let current = true;
    const ids = [...new Set([from.trim(), to.trim()])].filter(Boolean);
    const read = async () => {
      const nodes = await readNodes(ids).catch(() => []);
      if (current) setTypes(new Map(nodes.map(({ id, type }) => [id, type])));
    };
    const timer = setTimeout(() => void read(), TYPING_MS);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [isEdge, from, to]);
  return types;
}

/** What the ontologies offer for the element in the form, and what they would object to. */
function useRules(task: FormTask, fields: Fields): { offered: string[]; definitions: PropertyDefinition[]; breaches: Breach[] } {
  useEffect(() => void vocabulary.load(), []);
  const all = vocabulary.ontologies.value;
  const kind = kindOf(task);
  const ends = useEndTypes(kind === "CONNECTION", fields.from, fields.to);
  const type = fields.type.trim();
  const definitions = definitionsOf(all, kind, type);
  const edited = { kind, type, properties: readProperties(task, fields.rows, definitions), fromType: ends.get(fields.from.trim()), toType: ends.get(fields.to.trim()) };
  return { offered: offeredTypes(all, edited), definitions, breaches: findBreaches(all, edited) };
}

/** The properties as they would be sent. A new element leaves out what was not filled in; `""` is an empty text. */
function readProperties(task: FormTask, all: Row[], definitions: PropertyDefinition[]): Properties {
  const isNew = task.kind === "newNode" || task.kind === "newEdge";
  const rows = isNew ? all.filter(({ text }) => text !== "") : all;
  return toProperties(rows, (text, key) => parseDefined(text, definitions.find(({ name }) => name === key)));
}

/** What the gateway would refuse or warn of, told before it is asked. */
function Objections({ breaches }: { breaches: Breach[] }) {
  if (breaches.length === 0) return null;
  const refused = strictness(vocabulary.ontologies.value) === "STRICT";
  return (
    <div class="objections" role="status">
      <p class="wrong">{refused ? texts.form.willRefuse : texts.form.willWarn}</p>
      <ul>{breaches.map(({ rule, name, allowed }) => <li key={rule + name}><bdi>{texts.form.breaches[rule](name || texts.untyped, allowed)}</bdi></li>)}</ul>
    </div>
  );
}

function keyOfTask(task: FormTask): string {
  if (task.kind === "editNode") return `node:${task.node.id}`;
  if (task.kind === "editEdge") return `edge:${task.edge.id}`;
  return task.kind === "newEdge" ? `edge:${task.from}:${task.to}` : "new";
}

function toFields(task: FormTask): Fields {
  const blank: Fields = { id: "", type: "", rows: [], content: "", version: 0, from: "", to: "", weight: "1" };
  if (task.kind === "newNode") return { ...blank, rows: [{ key: "name", text: "" }] };
  if (task.kind === "newEdge") return { ...blank, from: task.from, to: task.to };
  const { id, type, version, properties } = task.kind === "editNode" ? task.node : task.edge;
  const filled = { ...blank, id, type: type ?? "", version, rows: toRows(properties) };
  if (task.kind === "editNode") return { ...filled, content: task.content };
  return { ...filled, from: task.edge.from, to: task.edge.to, weight: String(task.edge.weight) };
}

function findMistake(task: FormTask, fields: Fields): string {
  const repeated = repeatedKeys(fields.rows);
  if (repeated.length) return texts.form.repeated(repeated.join(", "));
  return task.kind === "newEdge" && !(fields.from.trim() && fields.to.trim()) ? texts.form.noType : "";
}

interface Answer {
  warnings: { message: string }[];
}

async function send(task: FormTask, fields: Fields, version: number, base?: Properties): Promise<Saved & Answer> {
  const type = fields.type.trim() || null;
  const properties = readProperties(task, fields.rows, definitionsOf(vocabulary.ontologies.peek(), kindOf(task), fields.type.trim()));
  if (task.kind === "newNode") {
    const input = { id: fields.id.trim() || null, type, properties, content: toContent(fields.content) };
    return (await ask<{ addNode: Saved & Answer }>(documents.addNode, { input })).addNode;
  }
  if (task.kind === "newEdge") {
    const input = { id: fields.id.trim() || null, type, properties, from: fields.from.trim(), to: fields.to.trim(), weight: Number(fields.weight) || 0, endpointPolicy: "STRICT" };
    return (await ask<{ addEdge: Saved & Answer }>(documents.addEdge, { input })).addEdge;
  }
  const element = task.kind === "editNode" ? task.node : task.edge;
  const changes = { id: element.id, expectedVersion: version, ...(type === element.type && !base ? {} : { type }), ...diffProperties(base ?? element.properties, properties) };
  if (task.kind === "editEdge") {
    const weight = Number(fields.weight);
    const input = { ...changes, ...(weight === task.edge.weight || Number.isNaN(weight) ? {} : { weight }) };
    return (await ask<{ updateEdge: Saved & Answer }>(documents.updateEdge, { input })).updateEdge;
  }
  const input = { ...changes, ...(fields.content === task.content ? {} : { content: toContent(fields.content) }) };
  return (await ask<{ updateNode: Saved & Answer }>(documents.updateNode, { input })).updateNode;
}

function toContent(body: string) {
  return body ? { format: "markdown", body } : null;
}

async function readTheirs(task: FormTask): Promise<Conflict> {
  const id = task.kind === "editNode" ? task.node.id : task.kind === "editEdge" ? task.edge.id : "";
  const answer = await ask<{ graphNode?: GraphNode | null; graphEdge?: GraphEdge | null }>(task.kind === "editEdge" ? documents.edge : documents.node, { id });
  const theirs = answer.graphNode ?? answer.graphEdge;
  return theirs ? { version: theirs.version, properties: theirs.properties } : { version: 0, properties: null };
}

interface ElementFieldsProps {
  task: FormTask;
  fields: Fields;
  change: (changed: Partial<Fields>) => void;
  offered: string[];
  chooseType: (type: string) => void;
}

const MAX_OFFERED = 12;

function ElementFields({ task, fields, change, offered, chooseType }: ElementFieldsProps) {
  const isEdge = kindOf(task) === "CONNECTION";
  const isNew = task.kind === "newNode" || task.kind === "newEdge";
  const used = isEdge ? overview.value?.stats.edgeTypes : overview.value?.stats.nodeTypes;
  const types = [...new Set([...offered, ...(used ?? []).flatMap(({ type }) => (type ? [type] : []))])];
  return (
    <div class="field-grid">
      {isNew && <label>{texts.form.id}<input value={fields.id} placeholder={texts.form.idHint} onInput={(event) => change({ id: event.currentTarget.value })} /></label>}
      <label>
        {texts.form.type}
        <input list="studio-types" value={fields.type} onInput={(event) => chooseType(event.currentTarget.value)} />
        <datalist id="studio-types">{types.map((type) => <option key={type} value={type}>{offered.includes(type) ? texts.form.rules : ""}</option>)}</datalist>
      </label>
      {isEdge && (
        <>
          <label>{texts.form.from}<input value={fields.from} disabled={!isNew} onInput={(event) => change({ from: event.currentTarget.value })} /></label>
          <label>{texts.form.to}<input value={fields.to} disabled={!isNew} onInput={(event) => change({ to: event.currentTarget.value })} /></label>
          <label>{texts.form.weight}<input inputMode="decimal" value={fields.weight} onInput={(event) => change({ weight: event.currentTarget.value })} /></label>
        </>
      )}
      {offered.length > 0 && (
        <div class="offered" role="group" aria-label={texts.form.rules}>
          <small>{texts.form.rules}</small>
          {offered.slice(0, MAX_OFFERED).map((type) => <button type="button" key={type} class="chip" aria-pressed={fields.type.trim() === type} onClick={() => chooseType(type)}><bdi>{type}</bdi></button>)}
        </div>
      )}
    </div>
  );
}

function RowsEditor({ rows, change, definitions }: { rows: Row[]; change: (edit: (rows: Row[]) => Row[]) => void; definitions: PropertyDefinition[] }) {
  const set = (at: number, changed: Partial<Row>) => change((rows) => rows.map((row, number) => (number === at ? { ...row, ...changed } : row)));
  const free = definitions.filter(({ name }) => !rows.some((row) => row.key.trim() === name));
  const keys = [...new Set([...definitions.map(({ name }) => name), ...vocabulary.propertyKeys.value])];
  return (
    <fieldset class="rows">
      <legend>{texts.inspector.tabs.properties}</legend>
      {rows.map((row, at) => (
        <div class="row" key={at}>
          <input aria-label={texts.form.key} list="studio-keys" value={row.key} onInput={(event) => set(at, { key: event.currentTarget.value })} />
          <ValueField row={row} definition={definitions.find(({ name }) => name === row.key.trim())} change={(text) => set(at, { text })} />
          <Button kind="quiet" icon="close" label={texts.form.removeRow(row.key)} onClick={() => change((rows) => rows.filter((_, number) => number !== at))} />
        </div>
      ))}
      <datalist id="studio-keys">{keys.map((key) => <option key={key} value={key} />)}</datalist>
      <div class="offered">
        <Button icon="plus" onClick={() => change((rows) => [...rows, { key: "", text: "" }])}>{texts.form.addRow}</Button>
        {free.slice(0, MAX_OFFERED).map((definition) => <button type="button" key={definition.name} class="chip" title={definition.description} onClick={() => change((rows) => [...rows, toBlankRow(definition)])}>+ <bdi>{definition.name}</bdi>{definition.required && <small> {texts.ontology.required}</small>}</button>)}
      </div>
    </fieldset>
  );
}

/** A value: typed, or chosen where the ontology says which there are. One that is none of them stays until it is changed. */
function ValueField({ row, definition, change }: { row: Row; definition: PropertyDefinition | undefined; change: (text: string) => void }) {
  const choices = definition ? choicesOf(definition) : [];
  if (!definition || choices.length === 0) {
    const hint = definition && [definition.kind.toLowerCase(), definition.pattern].filter(Boolean).join(" ");
    return <input aria-label={texts.form.value} value={row.text} placeholder={hint} title={definition?.description || undefined} onInput={(event) => change(event.currentTarget.value)} />;
  }
  const all = choices.includes(row.text) ? choices : [row.text, ...choices];
  return (
    <select aria-label={texts.form.value} value={row.text} title={definition.description || undefined} onChange={(event) => change(event.currentTarget.value)}>
      {all.map((text) => <option key={text} value={text}>{text || texts.none}</option>)}
    </select>
  );
}

function ConflictView({ mine, conflict, busy, keep, take, back }: { mine: Fields; conflict: Conflict; busy: boolean; keep: () => void; take: () => void; back: () => void }) {
  const lines = compareSides(toProperties(mine.rows), conflict.properties ?? {});
  return (
    <div class="form conflict" role="alert">
      <h3>{texts.conflict.title}</h3>
      <p>{conflict.properties === null ? texts.conflict.gone : texts.conflict.words(mine.version, conflict.version)}</p>
      <table>
        <thead><tr><th>{texts.form.key}</th><th>{texts.conflict.mine}</th><th>{texts.conflict.theirs}</th></tr></thead>
        <tbody>
          {lines.map((line) => (
            <tr key={line.key} class={line.differs ? "differs" : ""}>
              <th scope="row"><bdi>{line.key}</bdi></th><td><bdi>{line.mine}</bdi></td><td><bdi>{line.theirs}</bdi></td>
            </tr>
          ))}
        </tbody>
      </table>
      <footer>
        <Button onClick={back}>{texts.cancel}</Button>
        <Button onClick={take}>{texts.conflict.takeTheirs}</Button>
        <Button kind="main" disabled={busy || conflict.properties === null} onClick={keep}>{texts.conflict.keepMine}</Button>
      </footer>
    </div>
  );
}
