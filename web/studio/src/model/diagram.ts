// The diagram of an ontology: node types in layers, connections as lines between boxes.
import { groupBy } from "./grouping.ts";

export interface ConnectionType {
  name: string;
  fromTypes: string[];
  toTypes: string[];
  requiredProperties: string[];
  acyclic: boolean;
}

export interface Box {
  type: string;
  x: number;
  y: number;
}

export interface Line {
  name: string;
  from: Box;
  to: Box;
  acyclic: boolean;
  /** Where among the lines of the same two boxes, and how many there are. */
  index: number;
  of: number;
}

export interface Diagram {
  boxes: Box[];
  lines: Line[];
  width: number;
  height: number;
}

export const BOX = { width: 168, height: 56, gapX: 120, gapY: 84 } as const;

/** Types that lead to others stand left of them, as far as circles allow. */
export function layOutDiagram(nodeTypes: string[], connections: ConnectionType[]): Diagram {
  const layers = findLayers(nodeTypes, connections);
  const columns = Math.max(0, ...layers.values()) + 1;
  const rows = Array.from({ length: columns }, (_, column) => nodeTypes.filter((type) => layers.get(type) === column));
  const tallest = Math.max(1, ...rows.map((row) => row.length));
  const boxes = rows.flatMap((types, column) =>
    types.map((type, row) => ({
      type,
      x: column * (BOX.width + BOX.gapX) + BOX.width / 2 + 24,
      y: (row + (tallest - types.length) / 2) * BOX.gapY + BOX.gapY / 2 + 44,
    })),
  );
  const width = columns * (BOX.width + BOX.gapX) - BOX.gapX + 96;
  return { boxes, lines: connect(boxes, connections), width, height: tallest * BOX.gapY + 88 };
}

function findLayers(nodeTypes: string[], connections: ConnectionType[]): Map<string, number> {
  const layers = new Map(nodeTypes.map((type) => [type, 0]));
  const pairs = connections.flatMap(({ fromTypes, toTypes }) =>
    fromTypes.flatMap((from) => toTypes.filter((to) => to !== from).map((to) => [from, to] as const)),
  );
  const most = Math.min(nodeTypes.length - 1, 4);
  for (let round = 0; round < most; round++) {
    for (const [from, to] of pairs) {
      const wanted = (layers.get(from) ?? 0) + 1;
      if (wanted <= most && (layers.get(to) ?? most) < wanted && !leadsBack(to, from, pairs)) layers.set(to, wanted);
    }
  }
  return layers;
}

function leadsBack(from: string, to: string, pairs: (readonly [string, string])[]): boolean {
  const seen = new Set([from]);
  for (const type of seen) for (const [a, b] of pairs) if (a === type) seen.add(b);
  return seen.has(to);
}

function connect(boxes: Box[], connections: ConnectionType[]): Line[] {
  const at = new Map(boxes.map((box) => [box.type, box]));
  const found = connections.flatMap(({ name, fromTypes, toTypes, acyclic }) =>
    fromTypes.flatMap((a) =>
      toTypes.flatMap((b) => {
        const [from, to] = [at.get(a), at.get(b)];
        return from && to ? [{ name, from, to, acyclic, index: 0, of: 1 }] : [];
      }),
    ),
  );
  const together = groupBy(found, (line) => [line.from.type, line.to.type].sort().join("\n"));
  for (const lines of together.values()) for (const [index, line] of lines.entries()) Object.assign(line, { index, of: lines.length });
  return found;
}
