// Import of a file with progress and a report of the rows that were refused.
import { useState } from "preact/hooks";
import { ask } from "../api/client.ts";
import { documents } from "../api/documents.ts";
import { toGatewayError, type GatewayError } from "../model/errors.ts";
import { type ImportReport, importFile, parseImport } from "../model/importing.ts";
import { texts } from "../texts.ts";
import { Dialog, ErrorBox } from "./widgets.tsx";

/** Codes after which it makes no sense to try the rows one by one. */
const NO_REFUSAL = new Set(["OFFLINE", "UNAUTHENTICATED", "FORBIDDEN", "RATE_LIMITED", "UNAVAILABLE", "TIMEOUT", "STUDIO"]);

export function ImportDialog({ close, done }: { close: () => void; done: () => void }) {
  return (
    <Dialog title={texts.empty.import} close={close}>
      <div class="form"><ImportForm done={done} /></div>
    </Dialog>
  );
}

export function ImportForm({ done }: { done: () => void }) {
  const [onConflict, setOnConflict] = useState("error");
  const [progress, setProgress] = useState<[number, number] | null>(null);
  const [report, setReport] = useState<ImportReport | null>(null);
  const [error, setError] = useState<GatewayError | null>(null);
  const send = async (graph: object) => (await ask<{ importGraph: { nodes: number; edges: number } }>(documents.importGraph, { graph, onConflict })).importGraph;
  const take = async (file: File | undefined) => {
    if (!file) return;
    setReport(null);
    setError(null);
    setProgress([0, 1]);
    try {
      const refusal = (thrown: unknown) => !NO_REFUSAL.has(toGatewayError(thrown).code);
      setReport(await importFile(parseImport(await file.text()), send, (at, of) => setProgress([at, of]), refusal));
      done();
    } catch (thrown) {
      setError(toGatewayError(thrown));
    } finally {
      setProgress(null);
    }
  };
  return (
    <div class="import">
      <p>{texts.admin.importHint}</p>
      <label>
        {texts.admin.conflict}
        <select value={onConflict} onChange={(event) => setOnConflict(event.currentTarget.value)}>
          {Object.entries(texts.admin.conflicts).map(([key, words]) => <option key={key} value={key}>{words}</option>)}
        </select>
      </label>
      <label class="file">{texts.admin.choose}<input type="file" accept=".json,.jsonl,.ndjson,application/json" disabled={progress !== null} onChange={(event) => void take(event.currentTarget.files?.[0])} /></label>
      {progress && <p role="status"><progress value={progress[0]} max={progress[1]} aria-label={texts.empty.import} /> {texts.admin.progress(...progress)}</p>}
      {error && <ErrorBox error={error} />}
      {report && <ImportSummary report={report} />}
    </div>
  );
}

function ImportSummary({ report }: { report: ImportReport }) {
  return (
    <div role="status">
      <p>{texts.admin.imported(report.nodes, report.edges)}</p>
      {report.refused.length > 0 && (
        <>
          <p class="wrong">{texts.admin.refused(report.refused.length)}</p>
          <ul class="refusals">
            {report.refused.slice(0, 50).map((refusal, at) => (
              <li key={at}><code><bdi>{JSON.stringify(refusal.row).slice(0, 120)}</bdi></code> <bdi>{refusal.reason}</bdi></li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}
