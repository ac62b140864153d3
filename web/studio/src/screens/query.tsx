// Query: openCypher and programs, with parameters as a form and results as table, graph and JSON.
import { useState } from "preact/hooks";
import { ask } from "../api/client.ts";
import { documents } from "../api/documents.ts";
import { type GatewayError, toGatewayError } from "../model/errors.ts";
import { findParameters, formatTyped, parseTyped, toParameters } from "../model/parameters.ts";
import { type WorkingGraph, toCell } from "../model/results.ts";
import type { Json } from "../model/types.ts";
import { attempt, route, setParams } from "../state/app.ts";
import { openNode } from "../ui/searchBox.tsx";
import { readNodes } from "../state/graphs.ts";
import { texts } from "../texts.ts";
import { ProgramPanel } from "../ui/programPanel.tsx";
import { ResultGraph } from "../ui/resultGraph.tsx";
import { Button, ErrorBox, JsonView, Loading, Tabs, TypeBadge, Value } from "../ui/widgets.tsx";

export function QueryScreen() {
  const tab = route.value.params.tab === "program" ? "program" : "cypher";
  const choices = Object.entries(texts.query.tabs).map(([key, label]) => ({ key: key as "cypher" | "program", label }));
  return (
    <div class="query-screen">
      <Tabs label={texts.screens.query} choices={choices} chosen={tab} choose={(key) => setParams({ tab: key === "cypher" ? "" : key })} />
      {tab === "cypher" ? <CypherPanel /> : <ProgramPanel />}
    </div>
  );
}

interface CypherResult {
  columns: string[];
  rows: Json[][];
  truncated: boolean;
  durationMs: number;
  explanation: string | null;
  plan: { operator: string; details: string; depth: number; rows: number | null }[];
  graph: WorkingGraph;
}

const EXAMPLES = [
  "MATCH (n)-[r]->(m)\nRETURN n, r, m\nLIMIT 50",
  "MATCH (n)\nRETURN labels(n)[0] AS type, count(*) AS nodes\nORDER BY nodes DESC, type",
  "MATCH (a)-[r]->(b)\nWHERE id(a) = $start\nRETURN a, r, b",
  "MATCH p = (a)-[*1..3]->(b)\nWHERE id(a) = 'alice'\nRETURN p\nLIMIT 20",
];
const DRAFT = "ugs.studio.query";
const HISTORY = "ugs.studio.queries";
const MAX_HISTORY = 15;

function readHistory(): string[] {
  try {
    return JSON.parse(localStorage.getItem(HISTORY) ?? "[]") as string[];
  } catch {
    return [];
  }
}

function remember(query: string): void {
  const kept = [query, ...readHistory().filter((other) => other !== query)].slice(0, MAX_HISTORY);
  localStorage.setItem(HISTORY, JSON.stringify(kept));
}

type View = keyof typeof texts.query.views;

function toView(name: string | undefined): View {
  return name !== undefined && name in texts.query.views ? (name as View) : "GRAPH";
}

function CypherPanel() {
  const [text, setText] = useState(() => route.peek().params.q ?? sessionStorage.getItem(DRAFT) ?? (EXAMPLES[0] as string));
  const [typed, setTyped] = useState(() => parseTyped(route.peek().params.values));
  const [view, setView] = useState(() => toView(route.peek().params.view));
  const [result, setResult] = useState<CypherResult | null>(null);
  const [error, setError] = useState<GatewayError | null>(null);
  const [busy, setBusy] = useState(false);
  const names = findParameters(text);
  const changeParameter = (name: string, value: string) => setTyped((before) => ({ ...before, [name]: value }));
  const change = (query: string) => {
    setText(query);
    sessionStorage.setItem(DRAFT, query);
  };
  const run = async (before = "") => {
    setBusy(true);
    setError(null);
    setParams({ q: text, values: formatTyped(names, typed), view: view === "GRAPH" ? "" : view });
    remember(text);
    try {
      setResult((await ask<{ cypher: CypherResult }>(documents.cypher, { query: before + text, params: toParameters(names, typed), limit: 1000, view })).cypher);
    } catch (thrown) {
      setError(toGatewayError(thrown));
    } finally {
      setBusy(false);
    }
  };
  return (
    <div class="split">
      <section class="editor-side" aria-label={texts.query.label}>
        <CodeEditor label={texts.query.label} text={text} change={change} run={() => void run()} />
        {names.length > 0 && (
          <fieldset class="parameters">
            <legend>{texts.query.parameters}</legend>
            {names.map((name) => <label key={name}>{`$${name}`}<input value={typed[name] ?? ""} placeholder={texts.query.parameterHint} onInput={(event) => changeParameter(name, event.currentTarget.value)} /></label>)}
          </fieldset>
        )}
        <div class="editor-bar">
          <Button kind="main" icon="play" disabled={busy} onClick={() => void run()}>{busy ? texts.query.running : texts.query.run}</Button>
          <Button disabled={busy} onClick={() => void run("EXPLAIN ")}>{texts.query.explain}</Button>
          <Button disabled={busy} onClick={() => void run("PROFILE ")}>{texts.query.profile}</Button>
          <label class="inline-field">{texts.query.view}<select value={view} onChange={(event) => setView(event.currentTarget.value as View)}>{Object.entries(texts.query.views).map(([key, words]) => <option key={key} value={key}>{words}</option>)}</select></label>
        </div>
        <p class="hint">{texts.query.hint}</p>
        <QueryList title={texts.query.examples} queries={EXAMPLES} choose={change} />
        <QueryList title={texts.query.history} queries={readHistory()} choose={change} />
      </section>
      <section class="result-side" aria-label={texts.query.ready} aria-busy={busy}>
        {error ? <ErrorBox error={error} /> : busy && !result ? <Loading /> : result ? <Results result={result} /> : <p class="nothing">{texts.query.ready}</p>}
      </section>
    </div>
  );
}

function QueryList({ title, queries, choose }: { title: string; queries: string[]; choose: (query: string) => void }) {
  if (queries.length === 0) return null;
  return (
    <details class="query-list" open={title === texts.query.examples}>
      <summary>{title}</summary>
      <ul>{queries.map((query) => <li key={query}><button type="button" onClick={() => choose(query)}><code>{query.replace(/\s+/g, " ").slice(0, 110)}</code></button></li>)}</ul>
    </details>
  );
}

/** A text field for code with line numbers; Tab leaves it, so that keyboards are not caught. */
export function CodeEditor({ label, text, change, run }: { label: string; text: string; change: (text: string) => void; run: () => void }) {
  const lines = text.split("\n").length;
  // One more than there are: the bar under long lines takes the place of one.
  const shown = Math.max(lines + 1, 8);
  const press = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    run();
  };
  return (
    <div class="code-editor">
      <pre aria-hidden="true">{Array.from({ length: shown }, (_, at) => (at < lines ? at + 1 : "")).join("\n")}</pre>
      <textarea aria-label={label} spellcheck={false} autocapitalize="off" rows={shown} value={text} onInput={(event) => change(event.currentTarget.value)} onKeyDown={press} />
    </div>
  );
}

type ResultTab = "table" | "graph" | "json" | "plan";

function Results({ result }: { result: CypherResult }) {
  const hasPlan = result.plan.length > 0;
  const [wanted, setWanted] = useState<ResultTab>((route.peek().params.result as ResultTab) || "table");
  const tab = hasPlan && result.rows.length === 0 ? "plan" : wanted === "plan" && !hasPlan ? "table" : wanted;
  const choose = (key: ResultTab) => {
    setWanted(key);
    setParams({ result: key === "table" ? "" : key });
  };
  const choices = [
    { key: "table" as const, label: texts.query.table, count: result.rows.length },
    { key: "graph" as const, label: texts.query.graph, count: result.graph.nodes.length },
    { key: "json" as const, label: texts.query.json },
    ...(hasPlan ? [{ key: "plan" as const, label: texts.query.plan }] : []),
  ];
  return (
    <>
      <div class="result-head">
        <Tabs label={texts.query.ready} choices={choices} chosen={tab} choose={choose} />
        <span role="status">{texts.query.took(result.rows.length, result.durationMs)}</span>
      </div>
      {result.truncated && <p class="hint">{texts.query.truncated}</p>}
      <div class="result-body" role="tabpanel" aria-label={texts.query[tab]} tabIndex={0}>
        {tab === "table" && <ResultTable result={result} />}
        {tab === "graph" && <ResultGraph graph={result.graph} words={texts.query.noGraph} />}
        {tab === "json" && <JsonView value={{ columns: result.columns, rows: result.rows }} />}
        {tab === "plan" && <Plan result={result} />}
      </div>
    </>
  );
}

function Plan({ result }: { result: CypherResult }) {
  return (
    <table class="table plan">
      <thead><tr><th>{texts.program.operator}</th><th /><th>{texts.query.table}</th></tr></thead>
      <tbody>
        {result.plan.map((step, at) => (
          <tr key={at}><td><span style={{ paddingInlineStart: `${step.depth * 1.25}rem` }}><strong>{step.operator}</strong></span></td><td><code>{step.details}</code></td><td class="number">{step.rows?.toLocaleString("en") ?? ""}</td></tr>
        ))}
      </tbody>
    </table>
  );
}

function ResultTable({ result }: { result: CypherResult }) {
  if (result.rows.length === 0) return <p class="nothing">{texts.query.noRows}</p>;
  return (
    <table class="table">
      <thead><tr>{result.columns.map((name) => <th key={name} scope="col"><bdi>{name}</bdi></th>)}</tr></thead>
      <tbody>{result.rows.map((row, at) => <tr key={at}>{row.map((value, column) => <td key={column}><CellView value={value} /></td>)}</tr>)}</tbody>
    </table>
  );
}

function CellView({ value }: { value: Json }) {
  const cell = toCell(value);
  if (cell.kind === "value") return <Value value={cell.value} />;
  if (cell.kind === "edge") return <span class="edge-cell">→ <bdi>{cell.type}</bdi></span>;
  const open = () => attempt(async () => { for (const node of await readNodes([cell.id])) await openNode(node); });
  return <button type="button" class="node-cell" onClick={() => void open()}><TypeBadge type={cell.type || null} /> <bdi>{cell.label}</bdi></button>;
}
