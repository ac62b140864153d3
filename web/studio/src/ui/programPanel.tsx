// Programs: as text and as blocks side by side, run step by step, kept and opened again.
import { useEffect, useRef, useState } from "preact/hooks";
import { ask, subscribe } from "../api/client.ts";
import { documents } from "../api/documents.ts";
import { type GatewayError, toGatewayError } from "../model/errors.ts";
import { findDeclared, formatTyped, parseTyped, toProgramParameters } from "../model/parameters.ts";
import { type Statement, toStatements } from "../model/statements.ts";
import type { WorkingGraph } from "../model/results.ts";
import type { Json } from "../model/types.ts";
import { attempt, canWrite, notify, route, setParams } from "../state/app.ts";
import { texts } from "../texts.ts";
import { CodeEditor } from "../screens/query.tsx";
import { ResultGraph } from "./resultGraph.tsx";
import { Async, Button, ErrorBox, useLoad } from "./widgets.tsx";

interface Step {
  /** The working graph that the step left; null when it could not be kept. */
  graph: WorkingGraph | null;
  path: string;
  op: string;
  operationType: string;
  branchTaken: string | null;
  nodesAffected: number;
  linksAffected: number;
  durationMs: number;
  wSize: { nodes: number; links: number };
}

interface Result {
  result: WorkingGraph;
  aborted: { reason: string } | null;
}

interface Saved {
  validation: { valid: boolean; errors: { ruleId: string; message: string }[] };
}

interface Program {
  programId: number;
  name: string;
  dsl: string;
  description: string | null;
  operationCount: number;
}

const DRAFT = "ugs.studio.program";
const FIRST = "+ MATCH (p) WHERE p.role = 'engineer' RETURN p;\n+ MATCH (a)-[r]->(b) RETURN a, r, b;\n";
const CHECK_WAIT_MS = 400;

export function ProgramPanel() {
  const [text, setText] = useState(() => route.peek().params.dsl || (sessionStorage.getItem(DRAFT) ?? FIRST));
  const [name, setName] = useState("");
  const [typed, setTyped] = useState(() => parseTyped(route.peek().params.values));
  const [saves, setSaves] = useState(0);
  const run = useProgramRun();
  const declared = findDeclared(text);
  const changeParameter = (name: string, value: string) => setTyped((before) => ({ ...before, [name]: value }));
  const change = (dsl: string) => {
    setText(dsl);
    sessionStorage.setItem(DRAFT, dsl);
  };
  const save = () =>
    attempt(async () => {
      const { saveProgram } = await ask<{ saveProgram: Saved }>(documents.saveProgram, { input: { name: name || null, dsl: text } });
      const { valid, errors } = saveProgram.validation;
      if (valid) setSaves(saves + 1);
      else notify("error", texts.program.notKeptInvalid, errors.map(({ ruleId, message }) => `${ruleId} ${message}`).join("; "));
    });
  const [chosen, setChosen] = useState<number | null>(null);
  const start = () => {
    setParams({ dsl: text, values: formatTyped(declared.map(({ name }) => name), typed) });
    setChosen(null);
    run.start(text, toProgramParameters(declared, typed));
  };
  return (
    <div class="split">
      <section class="editor-side" aria-label={texts.program.label}>
        <CodeEditor label={texts.program.label} text={text} change={change} run={start} />
        {declared.length > 0 && (
          <fieldset class="parameters">
            <legend>{texts.query.parameters}</legend>
            {declared.map(({ name: each, kind, fallback }) => <label key={each}>{`$${each}`}<input value={typed[each] ?? ""} placeholder={fallback || kind} onInput={(event) => changeParameter(each, event.currentTarget.value)} /></label>)}
          </fieldset>
        )}
        <div class="editor-bar">
          <Button kind="main" icon="play" disabled={run.busy} onClick={start}>{texts.program.run}</Button>
          {canWrite.value && (
            <>
              <input aria-label={texts.program.name} placeholder={texts.program.name} value={name} onInput={(event) => setName(event.currentTarget.value)} />
              <Button onClick={() => void save()} disabled={!name.trim()}>{texts.program.save}</Button>
            </>
          )}
        </div>
        <Blocks dsl={text} />
        <SavedPrograms saves={saves} open={(program) => { change(program.dsl); setName(program.name); }} />
      </section>
      <section class="result-side" aria-label={texts.program.log}>
        {run.error && <ErrorBox error={run.error} />}
        {run.steps.length > 0 && <StepTable steps={run.steps} chosen={chosen} choose={setChosen} />}
        {run.result?.aborted && <p class="wrong" role="alert">{texts.program.aborted} {run.result.aborted.reason}</p>}
        <StepGraph run={run} chosen={chosen} />
      </section>
    </div>
  );
}

function useProgramRun() {
  const [steps, setSteps] = useState<Step[]>([]);
  const [result, setResult] = useState<Result | null>(null);
  const [error, setError] = useState<GatewayError | null>(null);
  const [busy, setBusy] = useState(false);
  const stop = useRef<(() => void) | null>(null);
  useEffect(() => () => stop.current?.(), []);
  const start = (dsl: string, params: object) => {
    stop.current?.();
    setSteps([]);
    setResult(null);
    setError(null);
    setBusy(true);
    stop.current = subscribe<{ programRun: { step: Omit<Step, "graph"> | null; graph: WorkingGraph | null; result: Result | null } }>(
      documents.programRun,
      { dsl, params },
      ({ programRun }) => {
        const { step, graph } = programRun;
        if (step) setSteps((before) => [...before, { ...step, graph }]);
        if (programRun.result) setResult(programRun.result);
      },
      (problem) => {
        setError(problem);
        setBusy(false);
      },
    );
  };
  return { steps, result, error, busy, start };
}

interface Check {
  validateProgram: { valid: boolean; operationCount: number | null; errors: { ruleId: string; message: string; path: string | null }[] };
}

/** The program as blocks, as far as it is valid; checked a moment after typing. */
function Blocks({ dsl }: { dsl: string }) {
  const [check, setCheck] = useState<Check["validateProgram"] | null>(null);
  const [blocks, setBlocks] = useState<Statement[]>([]);
  const [error, setError] = useState<GatewayError | null>(null);
  useEffect(() => {
    let current = true;
    const timer = setTimeout(async () => {
      try {
        const { validateProgram } = await ask<Check>(documents.validateProgram, { dsl });
        if (!current) return;
        setCheck(validateProgram);
        setError(null);
        if (!validateProgram.valid) return;
        const { parseProgram } = await ask<{ parseProgram: Json }>(documents.parseProgram, { dsl });
        if (current) setBlocks(toStatements(parseProgram));
      } catch (thrown) {
        if (current) setError(toGatewayError(thrown));
      }
    }, CHECK_WAIT_MS);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [dsl]);
  return (
    <section class="blocks" aria-label={texts.program.blocks}>
      <h3>{texts.program.blocks}</h3>
      {error && <p class="wrong" role="status">{error.message}</p>}
      {!error && check && <p role="status" class={check.valid ? "good" : "wrong"}>{check.valid ? texts.program.valid(check.operationCount ?? 0) : texts.program.invalid}</p>}
      {!error && check?.errors.map((issue) => <p key={issue.ruleId + issue.message} class="wrong">{issue.ruleId} {issue.path ?? ""} {issue.message}</p>)}
      {!error && check?.valid && <BlockList statements={blocks} />}
    </section>
  );
}

function BlockList({ statements }: { statements: Statement[] }) {
  return (
    <ol class="block-list">
      {statements.map((statement, at) => (
        <li key={at}>
          <strong><code>{statement.op}</code> {statement.kind}</strong>
          <code>{statement.text}</code>
          {statement.branches.map(({ name, statements: inner }) => inner.length > 0 && <div key={name}><small>{name}</small><BlockList statements={inner} /></div>)}
        </li>
      ))}
    </ol>
  );
}

const EMPTY: WorkingGraph = { nodes: [], links: [] };

/** The working graph after the chosen step, with what that step added; without a choice the newest one, at last the result. */
function StepGraph({ run, chosen }: { run: ReturnType<typeof useProgramRun>; chosen: number | null }) {
  const { steps, result, error } = run;
  const step = chosen === null ? undefined : steps[chosen];
  if (step && !step.graph) return <p class="nothing">{texts.program.notKept}</p>;
  const graph = step?.graph ?? result?.result ?? steps.at(-1)?.graph;
  if (!graph) return steps.length === 0 && !error ? <p class="nothing">{texts.query.ready}</p> : null;
  const before = step && chosen !== null ? (steps[chosen - 1]?.graph ?? EMPTY) : undefined;
  return (
    <>
      <h3 class="step-title">{step ? texts.program.after(step.path) : texts.program.graph}</h3>
      <ResultGraph graph={graph} before={before} words={texts.program.noGraph} />
    </>
  );
}

function StepTable({ steps, chosen, choose }: { steps: Step[]; chosen: number | null; choose: (at: number | null) => void }) {
  return (
    <table class="table steps">
      <thead><tr><th>{texts.program.step}</th><th>{texts.program.operator}</th><th>{texts.program.affected}</th><th>{texts.program.size}</th><th>{texts.program.took}</th></tr></thead>
      <tbody>
        {steps.map((step, at) => (
          <tr key={at}>
            <td><button type="button" class="step-choice" aria-pressed={at === chosen} aria-label={texts.program.after(step.path)} onClick={() => choose(at === chosen ? null : at)}>{step.path}</button></td><td><code>{step.op}</code> {step.operationType.toLowerCase()} {step.branchTaken?.toLowerCase()}</td>
            <td>{texts.nodes(step.nodesAffected)}, {texts.edges(step.linksAffected)}</td><td>{texts.nodes(step.wSize.nodes)}, {texts.edges(step.wSize.links)}</td><td class="number">{step.durationMs.toFixed(1)} ms</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function SavedPrograms({ saves, open }: { saves: number; open: (program: Program) => void }) {
  const loaded = useLoad(() => ask<{ programs: { nodes: Program[] } }>(documents.programs), [saves]);
  const remove = (id: number) => attempt(async () => { await ask(documents.deleteProgram, { id }); loaded.reload(); });
  return (
    <section class="saved" aria-label={texts.program.saved}>
      <h3>{texts.program.saved}</h3>
      <Async of={loaded}>
        {({ programs }) => programs.nodes.length === 0 ? <p class="nothing">{texts.program.noneSaved}</p> : (
          <ul class="plain-list">
            {programs.nodes.map((program) => (
              <li key={program.programId}>
                <Button kind="quiet" onClick={() => open(program)}><bdi>{program.name}</bdi></Button>
                <small><bdi>{program.description}</bdi></small>
                {canWrite.value && <Button kind="quiet" icon="trash" label={texts.program.delete} onClick={() => void remove(program.programId)} />}
              </li>
            ))}
          </ul>
        )}
      </Async>
    </section>
  );
}
