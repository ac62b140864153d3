// The timeline of a subject: a lane for each predicate, bars by validity, none over another, and supersession arrows.

export interface TimelineFact {
  factId: string;
  predicate: string;
  object: string;
  validFrom: number;
  validTo: number | null;
  createdAt: number;
  supersededBy: string[];
  state: string;
}

export interface Bar {
  fact: TimelineFact;
  /** From 0 to 1 across the whole width. */
  left: number;
  width: number;
  row: number;
  open: boolean;
}

export interface Lane {
  predicate: string;
  top: number;
  rows: number;
  bars: Bar[];
}

export interface Timeline {
  from: number;
  to: number;
  lanes: Lane[];
  rows: number;
  arrows: { from: Bar; to: Bar }[];
  ticks: { at: number; left: number; label: string }[];
}

const MIN_WIDTH = 0.004;
const DAY_MS = 86_400_000;

export function layOutTimeline(facts: TimelineFact[], now: number): Timeline {
  const [from, to] = spanOf(facts, now);
  const place = (time: number) => Math.min(Math.max((time - from) / (to - from), 0), 1);
  const lanes: Lane[] = [];
  let top = 0;
  for (const predicate of [...new Set(facts.map((fact) => fact.predicate))]) {
    const bars = stack(facts.filter((fact) => fact.predicate === predicate), place);
    const rows = Math.max(...bars.map((bar) => bar.row)) + 1;
    lanes.push({ predicate, top, rows, bars });
    top += rows;
  }
  return { from, to, lanes, rows: top, arrows: findArrows(lanes), ticks: ticksFor(from, to) };
}

function spanOf(facts: TimelineFact[], now: number): [number, number] {
  const times = [now, ...facts.flatMap((fact) => (fact.validTo === null ? [fact.validFrom] : [fact.validFrom, fact.validTo]))];
  const [least, greatest] = [Math.min(...times), Math.max(...times)];
  const margin = Math.max((greatest - least) * 0.06, DAY_MS / 24);
  return [least - margin, greatest + margin];
}

/** Facts in the order they began, each in the first row where it covers no other. */
function stack(facts: TimelineFact[], place: (time: number) => number): Bar[] {
  const ends: number[] = [];
  return [...facts]
    .sort((a, b) => a.validFrom - b.validFrom)
    .map((fact) => {
      const left = place(fact.validFrom);
      const width = Math.max((fact.validTo === null ? 1 : place(fact.validTo)) - left, MIN_WIDTH);
      const free = ends.findIndex((end) => end <= left + 1e-9);
      const row = free === -1 ? ends.length : free;
      ends[row] = left + width;
      return { fact, left, width, row, open: fact.validTo === null };
    });
}

function findArrows(lanes: Lane[]): { from: Bar; to: Bar }[] {
  const bars = new Map(lanes.flatMap((lane) => lane.bars.map((bar) => [bar.fact.factId, bar] as const)));
  return [...bars.values()].flatMap((from) =>
    from.fact.supersededBy.flatMap((id) => {
      const to = bars.get(id);
      return to ? [{ from, to }] : [];
    }),
  );
}

const STEPS_DAYS = [1 / 24, 0.25, 1, 7, 30.4375, 91.3125, 365.25, 730.5, 1826.25, 3652.5, 36525];

function ticksFor(from: number, to: number): Timeline["ticks"] {
  const days = (to - from) / DAY_MS;
  const step = (STEPS_DAYS.find((each) => days / each <= 8) ?? 36525) * DAY_MS;
  const first = Math.ceil(from / step) * step;
  const count = Math.max(Math.floor((to - first) / step) + 1, 0);
  return Array.from({ length: count }, (_, at) => first + at * step).map((at) => ({
    at,
    left: (at - from) / (to - from),
    label: new Date(at).toISOString().slice(0, step < DAY_MS ? 16 : step < 60 * DAY_MS ? 10 : 7).replace("T", " "),
  }));
}
