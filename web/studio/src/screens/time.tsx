// Time: the graph at two places of the log, and what differs between them.
import { signal } from "@preact/signals";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { ask } from "../api/client.ts";
import { documents } from "../api/documents.ts";
import { CHANGE_COLOURS } from "../canvas/graphView.ts";
import { type Difference, type GraphState, countKinds, diffStates, unite } from "../model/changes.ts";
import { type GatewayError, toGatewayError } from "../model/errors.ts";
import { type Sample, densities, samplePositions, timeAt } from "../model/sampling.ts";
import { Scene } from "../model/scene.ts";
import { COLOUR_OF_NONE } from "../model/palette.ts";
import { attempt, overview, route, setParams } from "../state/app.ts";
import { readWhole } from "../state/graphs.ts";
import { texts } from "../texts.ts";
import { Canvas } from "../ui/canvas.tsx";
import { UndoDialog } from "../ui/undoDialog.tsx";
import { Button, ErrorBox, formatTime } from "../ui/widgets.tsx";

const MAX_NODES = 500;
const MAX_SAMPLES = 24;
const WAIT_MS = 80;
const PLAY_MS = 900;
const COST_OF_A_MOMENT = 2_000;
const COST_OF_A_PAGE = 501;
const KEPT_STATES = 12;

const states = new Map<number, Promise<GraphState>>();

/** The graph after so many events; the last few answers are kept, since the past does not change. */
function stateAt(position: number): Promise<GraphState> {
  const known = states.get(position);
  if (known) return known;
  const found = position === 0 ? Promise.resolve({ nodes: [], edges: [] }) : readWhole({ position }, MAX_NODES);
  states.set(position, found);
  found.catch(() => states.delete(position));
  for (const old of [...states.keys()].slice(0, Math.max(states.size - KEPT_STATES, 0))) states.delete(old);
  return found;
}

interface Shown {
  from: number;
  to: number;
  before: GraphState;
  after: GraphState;
  difference: Difference;
  took: number;
}

export function TimeScreen() {
  const last = overview.value?.stats.events ?? 0;
  const clamp = (text: string | undefined, other: number) => Math.min(Math.max(Number(text ?? other) || 0, 0), last);
  const to = clamp(route.value.params.to, last);
  const from = Math.min(clamp(route.value.params.from, 0), to);
  const [samples, setSamples] = useState<Sample[]>([]);
  const [playing, setPlaying] = useState(false);
  const [undo, setUndo] = useState(false);
  const { shown, error, scene, revision, arrangement } = useMoments(from, to);
  useEffect(() => void attempt(async () => setSamples(await readSamples(last))), [last]);
  useEffect(() => {
    if (!playing) return;
    const timer = setTimeout(() => (to >= last ? setPlaying(false) : setParams({ to: String(Math.min(to + Math.max(Math.ceil((last - from) / 20), 1), last)) })), PLAY_MS);
    return () => clearTimeout(timer);
  }, [playing, to, last, shown]);
  // Colours say what happened here; types stay in the background.
  const colourOf = useCallback(() => COLOUR_OF_NONE, []);
  if (last === 0) return <p class="nothing">{texts.time.empty}</p>;
  const play = () => {
    if (!playing && to >= last) setParams({ to: String(from) });
    setPlaying(!playing);
  };
  const counts = shown ? countKinds(shown.difference) : null;
  return (
    <div class="time-screen">
      <Canvas scene={scene} revision={revision} arrangement={arrangement} colourOf={colourOf} selected={selected} onSelect={(id) => { selected.value = new Set(id ? [id] : []); }} />
      {error && <ErrorBox error={error} />}
      <ul class="change-legend" aria-label={texts.time.changes}>
        {(["added", "changed", "gone"] as const).map((kind) => <li key={kind}><span class="dot" style={{ background: CHANGE_COLOURS[kind] }} />{texts.time[kind]} <b>{counts?.[kind] ?? texts.none}</b></li>)}
      </ul>
      <section class="time-panel" aria-label={texts.screens.time} aria-busy={shown?.from !== from || shown.to !== to} data-shown={shown ? `${shown.from}-${shown.to}` : undefined}>
        <Density samples={samples} last={last} from={from} to={to} />
        <Slider which={texts.time.from} value={from} last={last} samples={samples} change={(value) => setParams({ from: String(Math.min(value, to)) })} />
        <Slider which={texts.time.to} value={to} last={last} samples={samples} change={(value) => setParams({ to: String(Math.max(value, from)) })} />
        <div class="time-bar">
          <Button kind="main" icon={playing ? "pause" : "play"} onClick={play}>{playing ? texts.time.pause : texts.time.play}</Button>
          <Button disabled={from === to} onClick={() => setUndo(true)}>{texts.time.preview}</Button>
          <p class="hint" role="status">{shown && texts.time.cost(shown.took, costOf(shown, from, to))} {texts.time.costWhy}{shown && shown.after.nodes.length >= MAX_NODES && ` ${texts.time.limit(MAX_NODES)}`}</p>
        </div>
      </section>
      {undo && <UndoDialog from={from} to={to} close={() => setUndo(false)} />}
    </div>
  );
}

const selected = signal<ReadonlySet<string>>(new Set());

function costOf(shown: Shown, from: number, to: number): number {
  const moments = new Set([from, to].filter((position) => position > 0)).size;
  const pages = Math.ceil(shown.after.nodes.length / 500) + Math.ceil(shown.after.edges.length / 500);
  return moments * (2 * COST_OF_A_MOMENT + Math.max(pages, 2) * COST_OF_A_PAGE);
}

function useMoments(from: number, to: number) {
  const scene = useRef(new Scene());
  const [shown, setShown] = useState<Shown | null>(null);
  const [error, setError] = useState<GatewayError | null>(null);
  const [revision, setRevision] = useState(0);
  const [arrangement, setArrangement] = useState(0);
  useEffect(() => {
    let current = true;
    const timer = setTimeout(async () => {
      const started = performance.now();
      try {
        const [before, after] = await Promise.all([stateAt(from), stateAt(to)]);
        if (!current) return;
        const difference = diffStates(before, after);
        const fresh = draw(scene.current, before, after, difference);
        setShown({ from, to, before, after, difference, took: performance.now() - started });
        setError(null);
        setRevision((count) => count + 1);
        if (fresh) setArrangement((count) => count + 1);
      } catch (thrown) {
        if (current) setError(toGatewayError(thrown));
      }
    }, WAIT_MS);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [from, to]);
  return { shown, error, scene: scene.current, revision, arrangement };
}

/** Draw both states over each other; what was drawn before keeps its place. Returns whether nodes are new. */
function draw(scene: Scene, before: GraphState, after: GraphState, difference: Difference): boolean {
  const all = unite(before, after);
  const nodes = new Set(all.nodes.map((node) => node.id));
  const edges = new Set(all.edges.map((edge) => edge.id));
  for (const id of scene.graph.nodes()) if (!nodes.has(id)) scene.removeNode(id);
  for (const id of scene.graph.edges()) if (!edges.has(id)) scene.removeEdge(id);
  const added = scene.addNodes(all.nodes);
  scene.addEdges(all.edges);
  scene.markChanges(difference.nodes, difference.edges);
  return added.length > 0;
}

async function readSamples(last: number): Promise<Sample[]> {
  const positions = samplePositions(last, MAX_SAMPLES);
  const answers = await Promise.all(positions.map((position) => ask<{ events: { nodes: Sample[] } }>(documents.eventAt, { after: position - 1 })));
  return answers.flatMap(({ events }) => events.nodes);
}

function Density({ samples, last, from, to }: { samples: Sample[]; last: number; from: number; to: number }) {
  const heights = densities(samples);
  return (
    <svg class="density" viewBox="0 0 1000 44" preserveAspectRatio="none" aria-hidden="true">
      <rect class="range" x={(from / last) * 1000} width={Math.max(((to - from) / last) * 1000, 2)} y="0" height="44" />
      {heights.map((height, at) => {
        const [a, b] = [samples[at] as Sample, samples[at + 1] as Sample];
        return <rect key={at} x={(a.seq / last) * 1000} width={Math.max(((b.seq - a.seq) / last) * 1000 - 2, 1)} y={44 - Math.max(height * 40, 2)} height={Math.max(height * 40, 2)} rx="2" />;
      })}
    </svg>
  );
}

function Slider({ which, value, last, samples, change }: { which: string; value: number; last: number; samples: Sample[]; change: (value: number) => void }) {
  const time = timeAt(samples, value);
  return (
    <label class="slider">
      <span>{which}</span>
      <input type="range" min={0} max={last} value={value} aria-label={texts.time.slider(which)} aria-valuetext={texts.time.position(value)} onInput={(event) => change(Number(event.currentTarget.value))} />
      <output><b>{value.toLocaleString("en")}</b> <time>{value === 0 || time === null ? texts.none : formatTime(time)}</time></output>
    </label>
  );
}
