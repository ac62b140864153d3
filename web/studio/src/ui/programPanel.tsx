// Programs: as text and as blocks side by side, run step by step, kept and opened again.
import { useEffect, useRef, useState } from "preact/hooks";
import { ask } from "../api/client.ts";
import { documents } from "../api/documents.ts";
import { subscribe } from "../api/stream.ts";
import { type GatewayError, toGatewayError } from "../model/errors.ts";
import { findParameters, toParameters } from "../model/parameters.ts";
import { type Statement, toStatements } from "../model/statements.ts";
import type { WorkingGraph } from "../model/results.ts";
import type { Json } from "../model/types.ts";
import { attempt, canWrite } from "../state/app.ts";
import { texts } from "../texts.ts";
import { CodeEditor } from "../screens/query.tsx";
import { ResultGraph } from "./resultGraph.tsx";
import { Async, Button, ErrorBox, useLoad } from "./widgets.tsx";

interface Step {
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
  const [text, setText] = useState(() => sessionStorage.getItem(DRAFT) ?? FIRST);
  const [name, setName] = useState("");
  const [typed, setTyped] = useState<Record<string, string>>({});
  const [saves, setSaves] = useState(0);
  const run = useProgramRun();
  const names = findParameters(text);
  const changeParameter = (name: string, value: string) => setTyped((before) => ({ ...before, [name]: value }));
  const change = (dsl: string) => {
    setText(dsl);
    sessionStorage.setItem(DRAFT, dsl);
  };
  const save = () =>
    attempt(async () => {
      const { saveProgram } = await ask<{ saveProgram: { validation: { valid: boolean } } }>(documents.saveProgram, { input: { name: name || null, dsl: text } });
      if (saveProgram.validation.valid) setSaves(saves + 1);
    });
  const start = () => run.start(text, toParameters(names, typed));
  return (
    <div class="split">
      <section class="editor-side" aria-label={texts.program.label}>
        <CodeEditor label={texts.program.label} text={text} change={change} run={start} />
        {names.length > 0 && (
          <fieldset class="parameters">
            <legend>{texts.query.parameters}</legend>
            {names.map((each) => <label key={each}>{`$${each}`}<input value={typed[each] ?? ""} placeholder={texts.query.parameterHint} onInput={(event) => changeParameter(each, event.currentTarget.value)} /></label>)}
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
        {run.steps.length > 0 && <StepTable steps={run.steps} />}
        {run.result?.aborted && <p class="wrong" role="alert">{texts.program.aborted} {run.result.aborted.reason}</p>}
        {run.result ? <ResultGraph graph={run.result.result} words={texts.program.noGraph} /> : run.steps.length === 0 && !run.error && <p class="nothing">{texts.query.ready}</p>}
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
    stop.current = subscribe<{ programRun: { step: Step | null; result: Result | null } }>(
      documents.programRun,
      { dsl, params },
      ({ programRun }) => {
        if (programRun.step) setSteps((before) => [...before, programRun.step as Step]);
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

function StepTable({ steps }: { steps: Step[] }) {
  return (
    <table class="table steps">
      <thead><tr><th>{texts.program.step}</th><th>{texts.program.operator}</th><th>{texts.program.affected}</th><th>{texts.program.size}</th><th>{texts.program.took}</th></tr></thead>
      <tbody>
        {steps.map((step, at) => (
          <tr key={at}>
            <td>{step.path}</td><td><code>{step.op}</code> {step.operationType.toLowerCase()} {step.branchTaken?.toLowerCase()}</td>
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
