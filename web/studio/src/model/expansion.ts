// Neighbours by edge type: counts first, then one page at a time.
import type { Direction, Json } from "./types.ts";

export const PAGE_SIZE = 25;

export interface Bundle {
  direction: Direction;
  type: string | null;
  count: number;
}

/** Rows `[type, count]` of both directions as bundles, the largest first. */
export function toBundles(outgoing: Json[], incoming: Json[]): Bundle[] {
  const read = (direction: Direction) => (row: Json): Bundle => {
    const [type, count] = row as [string | null, number];
    return { direction, type: type === "" ? null : type, count };
  };
  const bundles = [...outgoing.map(read("outgoing")), ...incoming.map(read("incoming"))];
  return bundles.sort((a, b) => b.count - a.count || (a.type ?? "").localeCompare(b.type ?? ""));
}

export function keyOf(bundle: Bundle): string {
  return `${bundle.direction}:${bundle.type ?? ""}`;
}
