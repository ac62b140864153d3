// Admin: the store and its health, figures as they change, keys, import and export.
import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { ask } from "../api/client.ts";
import { documents } from "../api/documents.ts";
import { downloadLog } from "../api/logDownload.ts";
import { attempt, isAdmin, latencies, overview, refreshOverview, seesAdmin, viewer } from "../state/app.ts";
import { texts } from "../texts.ts";
import { GatewayCards } from "../ui/gatewayCards.tsx";
import { ImportForm } from "../ui/importDialog.tsx";
import { Async, Button, Dialog, ErrorBox, download, formatTime, useLoad } from "../ui/widgets.tsx";
import { GatewayError } from "../model/errors.ts";

const EVERY_MS = 2_000;
const MAX_SAMPLES = 60;
/** What a gateway says that knows no keys in its store. */
const NO_KEYS_IN_STORE = "E005";
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

function Integrity() {
  const [report, setReport] = useState<Report | "running" | null>(null);
  const [snapshot, setSnapshot] = useState<number | null>(null);
  const verify = async () => {
    setReport("running");
    setReport((await attempt(async () => (await ask<{ verify: Report }>(documents.verify)).verify)) ?? null);
  };
  const write = () => attempt(async () => {
    const answer = await ask<{ snapshot: { snapshot: { eventCount: number } } }>(documents.snapshot);
    setSnapshot(answer.snapshot.snapshot.eventCount);
  });
  return (
    <section class="card" aria-label={texts.admin.verify}>
      <h2>{texts.admin.verify}</h2>
      <div class="actions"><Button disabled={report === "running"} onClick={() => void verify()}>{texts.admin.verify}</Button><Button onClick={() => void write()}>{texts.admin.snapshot}</Button></div>
      <Backup />
      <div role="status">
        {report === "running" && <p><progress aria-label={texts.admin.verify} /> {texts.admin.verifying}</p>}
        {report !== null && report !== "running" && (report.ok ? <p class="good">{texts.admin.verified(report.eventsChecked)}</p> : <p class="wrong">{texts.admin.verifyFailed} {report.problems.map((problem) => `${problem.code} ${problem.message}`).join("; ")}</p>)}
        {report !== null && report !== "running" && <p><code class="digest">{report.digest}</code></p>}
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
  const save = () => attempt(async () => download("graph.json", JSON.stringify((await ask<{ exportGraph: unknown }>(documents.exportGraph)).exportGraph, null, 2)));
  return (
    <section class="card wide" aria-label={texts.admin.transfer}>
      <h2>{texts.admin.transfer}</h2>
      <ImportForm done={() => void attempt(refreshOverview)} />
      <p><Button icon="download" onClick={() => void save()}>{texts.admin.export}</Button> <small>{texts.admin.exportHint}</small></p>
    </section>
  );
}
