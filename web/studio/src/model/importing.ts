// Importing a file: what it holds, in parts that fit a request, with a report of rows that were refused.
import type { Json } from "./types.ts";

export interface ImportFile {
  nodes: Json[];
  edges: Json[];
}

export interface Refusal {
  row: Json;
  kind: "node" | "edge";
  reason: string;
}

export interface ImportReport {
  nodes: number;
  edges: number;
  refused: Refusal[];
}

export type SendPart = (part: ImportFile) => Promise<{ nodes: number; edges: number }>;

const MAX_PART_ROWS = 500;
const MAX_PART_CHARS = 400_000;

/** The graph in a file: one JSON object with `nodes` and `edges`, or JSON lines with one element each. */
export function parseImport(text: string): ImportFile {
  const trimmed = text.trim();
  const whole = trimmed.startsWith("{") ? tryJson(trimmed) : undefined;
  const rows = whole === undefined ? trimmed.split("\n").filter((line) => line.trim()).map(parseLine) : null;
  if (rows) return { nodes: rows.filter((row) => !isEdge(row)), edges: rows.filter(isEdge) };
  const { nodes, edges } = whole as { nodes?: Json; edges?: Json };
  if (!Array.isArray(nodes) && !Array.isArray(edges)) return { nodes: isEdge(whole as Json) ? [] : [whole as Json], edges: isEdge(whole as Json) ? [whole as Json] : [] };
  return { nodes: Array.isArray(nodes) ? nodes : [], edges: Array.isArray(edges) ? edges : [] };
}

function tryJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

function parseLine(line: string, at: number): Json {
  const row = tryJson(line);
  if (row === undefined) throw new SyntaxError(`line ${at + 1} is not JSON`);
  return row;
}

function isEdge(row: Json): boolean {
  return typeof row === "object" && row !== null && !Array.isArray(row) && "from" in row && "to" in row;
}

/** Parts of a file in order, nodes before edges, none too large for a request. */
export function splitParts(file: ImportFile): ImportFile[] {
  const parts: ImportFile[] = [];
  for (const kind of ["nodes", "edges"] as const) {
    let rows: Json[] = [];
    let chars = 0;
    const close = () => {
      if (rows.length) parts.push({ nodes: [], edges: [], [kind]: rows });
      [rows, chars] = [[], 0];
    };
    for (const row of file[kind]) {
      const size = JSON.stringify(row).length;
      if (rows.length >= MAX_PART_ROWS || chars + size > MAX_PART_CHARS) close();
      rows.push(row);
      chars += size;
    }
    close();
  }
  return parts;
}

/** Send all parts. A part that is refused is halved until the rows are found that cannot be taken. */
export async function importFile(file: ImportFile, send: SendPart, progress: (done: number, of: number) => void, isRefusal: (error: unknown) => boolean): Promise<ImportReport> {
  const report: ImportReport = { nodes: 0, edges: 0, refused: [] };
  const total = file.nodes.length + file.edges.length;
  let done = 0;
  const sendPart = async (part: ImportFile): Promise<void> => {
    const count = part.nodes.length + part.edges.length;
    try {
      const added = await send(part);
      report.nodes += added.nodes;
      report.edges += added.edges;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      if (count > 1) {
        for (const half of halve(part)) await sendPart(half);
        return;
      }
      const kind = part.nodes.length ? "node" : "edge";
      report.refused.push({ kind, row: (part.nodes[0] ?? part.edges[0]) as Json, reason: (error as Error).message });
    }
    done += count;
    progress(done, total);
  };
  for (const part of splitParts(file)) await sendPart(part);
  return report;
}

function halve(part: ImportFile): ImportFile[] {
  const kind = part.nodes.length ? "nodes" : "edges";
  const middle = Math.ceil(part[kind].length / 2);
  return [part[kind].slice(0, middle), part[kind].slice(middle)].map((rows) => ({ nodes: [], edges: [], [kind]: rows }));
}
