// Shows what undoing a part of the log would change, and does it.
import { useState } from "preact/hooks";
import { type GatewayError, toGatewayError } from "../model/errors.ts";
import { CHANGE_COLOURS } from "../canvas/graphView.ts";
import { canWrite, notify, refreshOverview, overview, setParams } from "../state/app.ts";
import { type UndoPlan, carryOut, planUndo } from "../state/undoing.ts";
import { texts } from "../texts.ts";
import { Async, Button, Dialog, ErrorBox, useLoad } from "./widgets.tsx";

const MAX_LINES = 200;
/** Fields that no undo brings back. */
const KEPT = new Set(["created", "modified", "version"]);
const COLOURS = { ADDED: CHANGE_COLOURS.added, CHANGED: CHANGE_COLOURS.changed, REMOVED: CHANGE_COLOURS.gone };

export function UndoDialog({ from, to, close }: { from: number; to: number; close: () => void }) {
  const plan = useLoad(() => planUndo(from, to), [from, to]);
  const [key] = useState(() => `studio-${Date.now()}-${Math.random()}`);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<GatewayError | null>(null);
  const undo = async (planned: UndoPlan) => {
    setBusy(true);
    setError(null);
    try {
      const number = await carryOut(planned, key);
      notify("info", texts.time.undone(number));
      await refreshOverview();
      setParams({ to: String(overview.peek()?.stats.events ?? to) });
      close();
    } catch (thrown) {
      setError(toGatewayError(thrown));
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog title={texts.time.undoTitle(from, to)} close={close}>
      <div class="form">
        <Async of={plan}>
          {(planned) => (
            <>
              <PlanView plan={planned} />
              {error && <ErrorBox error={error} />}
              <footer>
                <Button onClick={close}>{texts.cancel}</Button>
                {canWrite.value && <Button kind="main" disabled={busy || planned.changes.length === 0 || planned.conflicts.length > 0} onClick={() => void undo(planned)}>{texts.time.undo}</Button>}
              </footer>
            </>
          )}
        </Async>
      </div>
    </Dialog>
  );
}

function PlanView({ plan }: { plan: UndoPlan }) {
  if (plan.events.length === 0) return <p>{texts.time.undoNone}</p>;
  return (
    <>
      <p class="hint">{texts.time.undoWords(plan.events.length)}</p>
      {plan.conflicts.length > 0 && (
        <div role="alert">
          <p class="wrong">{texts.time.undoConflicts}</p>
          <ul class="plain-list">{plan.conflicts.map((conflict) => <li key={conflict.seq}><bdi>{conflict.message}</bdi></li>)}</ul>
        </div>
      )}
      {plan.changes.length === 0 && plan.conflicts.length === 0 && <p>{texts.time.undoSame}</p>}
      <ul class="plain-list undo">
        {plan.changes.slice(0, MAX_LINES).map(({ elementId, kind, fields }) => (
          <li key={elementId}><span class="dot" style={{ background: COLOURS[kind] }} /><bdi>{elementId}</bdi> <small>{texts.time.undoKinds[kind]}{kind === "CHANGED" && `: ${fields.filter((field) => !KEPT.has(field)).join(", ")}`}</small></li>
        ))}
      </ul>
      {plan.changes.length > MAX_LINES && <p class="hint">{texts.time.undoMore(plan.changes.length - MAX_LINES)}</p>}
    </>
  );
}
