// Places in the log whose times are looked up, so that a slider over positions can also show the clock.

export interface Sample {
  seq: number;
  timestamp: number;
}

/** At most `count` positions from the first to the last event, evenly spread. */
export function samplePositions(last: number, count: number): number[] {
  if (last < 1) return [];
  const steps = Math.min(count, last);
  if (steps === 1) return [last];
  return [...new Set(Array.from({ length: steps }, (_, at) => Math.round(1 + (at * (last - 1)) / (steps - 1))))];
}

/** The time of a position, between the two samples around it. */
export function timeAt(samples: Sample[], seq: number): number | null {
  const after = samples.findIndex((sample) => sample.seq >= seq);
  if (after === -1) return samples.at(-1)?.timestamp ?? null;
  const [b, a] = [samples[after] as Sample, samples[after - 1]];
  if (!a || b.seq === seq) return b.timestamp;
  return a.timestamp + ((b.timestamp - a.timestamp) * (seq - a.seq)) / (b.seq - a.seq);
}

/** Changes per time between neighbouring samples, 1 for the densest; square roots, so that quiet times can be seen. */
export function densities(samples: Sample[]): number[] {
  const rates = samples.slice(1).map((sample, at) => {
    const before = samples[at] as Sample;
    return Math.sqrt((sample.seq - before.seq) / Math.max(sample.timestamp - before.timestamp, 1));
  });
  const most = Math.max(...rates, Number.MIN_VALUE);
  return rates.map((rate) => rate / most);
}
