// Admin: the store and its health, figures as they change, keys, import and export.
import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { ask, subscribe } from "../api/client.ts";
import { documents } from "../api/documents.ts";
import { downloadLog } from "../api/logDownload.ts";
import { readExport } from "../state/exporting.ts";
import { attempt, isAdmin, latencies, overview, refreshOverview, report as showError, seesAdmin, viewer } from "../state/app.ts";
import { texts } from "../texts.ts";
import { GatewayCards } from "../ui/gatewayCards.tsx";
import { ImportForm } from "../ui/importDialog.tsx";
import { Async, Button, Dialog, ErrorBox, download, formatTime, useLoad } from "../ui/widgets.tsx";
import { GatewayError } from "../model/errors.ts";

const EVERY_MS = 2_000;
const MAX_SAMPLES = 60;
/** What a gateway says that knows no keys in its store. */
const NO_KEYS_IN_STORE = "E005";
/** What a check calls tables that differ from the log; every other code is about the log itself. */
const DIFFERENT = "DIGEST_MISMATCH";
const rates = signal<number[]>([]);

export function AdminScreen() {
  useEffect(() => {
    let before = overview.peek()?.stats.events ?? 0;
    const timer = setInterval(async () => {
      if (document.hidden) return;
      await refreshOverview().catch(() => undefined);
      const now = overview.peek()?.stats.events ?? before;
      rates.value = [...rates.peek(), ((now - before) * 1000) / EVERY_MS].slice(-MAX_SAMPLES);
      before = now;
    }, EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  if (!seesAdmin.value) return <ErrorBox error={new GatewayError("FORBIDDEN", texts.errors.adminOnly)} />;
  return (
    <div class="admin-screen">
      <Health />
      <section class="card" aria-label={texts.admin.load}>
        <h2>{texts.admin.load}</h2>
        <Sparkline title={texts.admin.latency} values={latencies.value} digits={1} />
        <Sparkline title={texts.admin.rate} values={rates.value} digits={1} />
      </section>
      {isAdmin.value && <Integrity />}
      {viewer.value?.managesKeys && <Keys />}
      {isAdmin.value && <Transfer />}
      {viewer.value?.managesGateway && <GatewayCards />}
    </div>
  );
}

function Health() {
  const found = overview.value;
  if (!found) return null;
  const { backend, stats } = found;
  const lines: [string, string][] = [
    [texts.admin.health, backend.name],
    [texts.admin.state, backend.state.toLowerCase()],
    ...(backend.version ? [[texts.admin.version, backend.version] as [string, string]] : []),
    [texts.admin.size, `${texts.nodes(stats.nodes)}, ${texts.edges(stats.edges)}, ${texts.events(stats.events)}`],
    [texts.admin.capabilities, backend.capabilities.join(", ")],
  ];
  return (
    <section class="card" aria-label={texts.admin.health}>
      <h2>{texts.admin.health}</h2>
      <dl class="properties">{lines.map(([name, value]) => <div key={name}><dt>{name}</dt><dd><bdi>{value}</bdi></dd></div>)}</dl>
    </section>
  );
}

export function Sparkline({ title, values, digits }: { title: string; values: number[]; digits: number }) {
  const most = Math.max(...values, 1e-9);
  const points = values.map((value, at) => `${((at / Math.max(MAX_SAMPLES - 1, 1)) * 240).toFixed(1)},${(46 - (value / most) * 42).toFixed(1)}`);
  const last = values.at(-1);
  return (
    <figure class="sparkline">
      <figcaption>{title} <strong>{last === undefined ? texts.none : last.toFixed(digits)}</strong></figcaption>
      <svg viewBox="0 0 240 50" preserveAspectRatio="none" role="img" aria-label={`${title}: ${last?.toFixed(digits) ?? texts.none}`}>
        <polyline points={points.join(" ")} />
      </svg>
    </figure>
  );
}

interface Report {
  ok: boolean;
  eventsChecked: number;
  digest: string;
  problems: { code: string; message: string }[];
}

interface VerifyUpdate {
  verifyRun: { eventsChecked: number; events: number; report: Report | null };
}

/** What a check of the store finds, as it goes on. It ends when the page is left. */
function useVerify() {
  const [report, setReport] = useState<Report | null>(null);
  const [progress, setProgress] = useState<[number, number] | null>(null);
  const stop = useRef<(() => void) | null>(null);
  useEffect(() => () => stop.current?.(), []);
  const start = () => {
    setReport(null);
    setProgress([0, overview.peek()?.stats.events ?? 1]);
    const next = ({ verifyRun }: VerifyUpdate) => {
      setProgress([verifyRun.eventsChecked, verifyRun.events]);
      setReport(verifyRun.report);
    };
    stop.current = subscribe<VerifyUpdate>(documents.verifyRun, {}, next, (error) => {
      setProgress(null);
      if (error) showError(error);
    });
  };
  return { report, progress, start };
}

/** What the log should be, in lines: a sentence, and whether it holds. */
function toChecks({ problems, eventsChecked, ok }: Report, state: string): [string, boolean][] {
  const damage = problems.filter(({ code }) => code !== DIFFERENT);
  const differs = !ok && damage.length < problems.length;
  return [
    [texts.admin.checks.state(state), true],
    damage.length === 0 ? [texts.admin.checks.log(eventsChecked), true] : [`${texts.admin.checks.logFailed} ${damage.map(({ code, message }) => `${code} ${message}`).join("; ")}`, false],
    differs ? [texts.admin.checks.differs, false] : [texts.admin.checks.equal, true],
  ];
}

function Integrity() {
  const { report, progress, start } = useVerify();
  const [snapshot, setSnapshot] = useState<number | null>(null);
  const write = () => attempt(async () => {
    const answer = await ask<{ snapshot: { snapshot: { eventCount: number } } }>(documents.snapshot);
    setSnapshot(answer.snapshot.snapshot.eventCount);
  });
  return (
    <section class="card" aria-label={texts.admin.doctor}>
      <h2>{texts.admin.doctor}</h2>
      <div class="actions"><Button disabled={progress !== null} onClick={start}>{texts.admin.verify}</Button><Button onClick={() => void write()}>{texts.admin.snapshot}</Button></div>
      <Backup />
      <div role="status">
        {progress && <p><progress value={progress[0]} max={Math.max(progress[1], 1)} aria-label={texts.admin.verify} /> {texts.admin.verifyProgress(...progress)}</p>}
        {report && <ul class="checks">{toChecks(report, overview.value?.backend.state.toLowerCase() ?? "").map(([words, holds]) => <li key={words} class={holds ? "good" : "wrong"}>{holds ? "✓" : "✗"} <bdi>{words}</bdi></li>)}</ul>}
        {report && <p><code class="digest">{report.digest}</code></p>}
        {snapshot !== null && <p class="good">{texts.admin.snapshotDone(snapshot)}</p>}
      </div>
    </section>
  );
}

/** The whole log as a file: every event, from which the store can be made again. */
function Backup() {
  const [progress, setProgress] = useState<[number, number] | null>(null);
  const [done, setDone] = useState<number | null>(null);
  const save = async () => {
    setDone(null);
    setProgress([0, 1]);
    const log = await attempt(() => downloadLog((at, of) => setProgress([at, of])));
    setProgress(null);
    if (!log) return;
    download("log.jsonl", log.file);
    setDone(log.events);
  };
  return (
    <>
      <div class="actions"><Button icon="download" disabled={progress !== null} onClick={() => void save()}>{texts.admin.backup}</Button></div>
      <div role="status">
        {progress && <p><progress value={progress[0]} max={progress[1]} aria-label={texts.admin.backup} /> {texts.admin.backupProgress(...progress)}</p>}
        {done !== null && <p class="good">{texts.admin.backedUp(done)}</p>}
      </div>
      <p class="hint">{texts.admin.backupHint}</p>
    </>
  );
}

interface Key {
  id: string;
  name: string;
  user: string;
  roles: ("READER" | "WRITER" | "ADMIN")[];
  tenant: string;
  createdAt: string;
  expiresAt: string | null;
  revokedAt: string | null;
  works: boolean;
}

function Keys() {
  const loaded = useLoad(() => ask<{ apiKeys: { nodes: Key[] } }>(documents.apiKeys), []);
  const [made, setMade] = useState<string | null>(null);
  const revoke = (id: string) => attempt(async () => { await ask(documents.revokeApiKey, { input: { id } }); loaded.reload(); });
  return (
    <section class="card wide" aria-label={texts.admin.keys}>
      <h2>{texts.admin.keys}</h2>
      {loaded.error?.code === NO_KEYS_IN_STORE ? <p class="nothing">{texts.admin.keysElsewhere}</p> : <Async of={loaded}>
        {({ apiKeys }) => apiKeys.nodes.length === 0 ? <p class="nothing">{texts.admin.noKeys}</p> : (
          <table class="table">
            <thead><tr><th>{texts.admin.keyName}</th><th>{texts.admin.role}</th><th>{texts.admin.expires}</th><th>{texts.admin.state}</th><th /></tr></thead>
            <tbody>
              {apiKeys.nodes.map((key) => (
                <tr key={key.id}>
                  <td><bdi>{key.name}</bdi> <small><bdi>{key.user}</bdi> · <bdi>{key.tenant}</bdi></small></td>
                  <td>{key.roles.map((name) => texts.admin.roles[name]).join(", ")}</td>
                  <td>{key.expiresAt ? formatTime(key.expiresAt) : texts.admin.never}</td>
                  <td>{key.works ? texts.admin.works : key.revokedAt ? texts.admin.revoked : texts.admin.expired}</td>
                  <td>{key.works && <Button kind="danger" onClick={() => void revoke(key.id)}>{texts.admin.revoke}</Button>}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Async>}
      {loaded.data && <NewKey made={(token) => { setMade(token); loaded.reload(); }} />}
      {made && (
        <Dialog title={texts.admin.newKey} close={() => setMade(null)}>
          <div class="form">
            <p>{texts.admin.shownOnce}</p>
            <pre class="json-view" tabIndex={0}>{made}</pre>
            <footer><Button kind="main" onClick={() => void navigator.clipboard?.writeText(made)}>{texts.copy}</Button></footer>
          </div>
        </Dialog>
      )}
    </section>
  );
}

function NewKey({ made }: { made: (token: string) => void }) {
  const [name, setName] = useState("");
  const [chosen, setChosen] = useState("READER");
  const [expires, setExpires] = useState("");
  const create = (event: Event) => {
    event.preventDefault();
    void attempt(async () => {
      const input = { name: name.trim(), roles: [chosen], expiresAt: expires ? new Date(expires).toISOString() : null };
      const { createApiKey } = await ask<{ createApiKey: { token: string | null } }>(documents.createApiKey, { input });
      setName("");
      if (createApiKey.token) made(createApiKey.token);
    });
  };
  return (
    <form class="row-form" onSubmit={create}>
      <label>{texts.admin.keyName}<input value={name} required onInput={(event) => setName(event.currentTarget.value)} /></label>
      <label>{texts.admin.role}<select value={chosen} onChange={(event) => setChosen(event.currentTarget.value)}>{Object.entries(texts.admin.roles).map(([key, words]) => <option key={key} value={key}>{words}</option>)}</select></label>
      <label>{texts.admin.expires}<input type="datetime-local" value={expires} onInput={(event) => setExpires(event.currentTarget.value)} /></label>
      <Button type="submit" kind="main" disabled={!name.trim()}>{texts.admin.create}</Button>
    </form>
  );
}

function Transfer() {
  const [progress, setProgress] = useState<[number, number] | null>(null);
  const [done, setDone] = useState<[number, number] | null>(null);
  const save = async () => {
    setDone(null);
    setProgress([0, 1]);
    const found = await attempt(() => readExport((at, of) => setProgress([at, of])));
    setProgress(null);
    if (!found) return;
    download("graph.json", found.file);
    setDone([found.nodes, found.edges]);
  };
  return (
    <section class="card wide" aria-label={texts.admin.transfer}>
      <h2>{texts.admin.transfer}</h2>
      <ImportForm done={() => void attempt(refreshOverview)} />
      <p><Button icon="download" disabled={progress !== null} onClick={() => void save()}>{texts.admin.export}</Button> <small>{texts.admin.exportHint}</small></p>
      <div role="status">
        {progress && <p><progress value={progress[0]} max={Math.max(progress[1], 1)} aria-label={texts.admin.export} /> {texts.admin.exportProgress(...progress)}</p>}
        {done && <p class="good">{texts.admin.exported(...done)}</p>}
      </div>
    </section>
  );
}
