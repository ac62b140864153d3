// Undo of the events of nodes and edges in a part of the log: which they are, what it would change, and the change.
import { ask } from "../api/client.ts";
import { documents } from "../api/documents.ts";
import { GatewayError } from "../model/errors.ts";
import type { PageInfo } from "../model/types.ts";
import { texts } from "../texts.ts";

export const MAX_UNDONE = 10_000;
const PAGE = 500;

export interface UndoPlan {
  events: number[];
  changes: { elementId: string; element: "NODE" | "EDGE"; kind: "ADDED" | "CHANGED" | "REMOVED"; fields: string[] }[];
  conflicts: { seq: number; elementId: string | null; message: string }[];
}

interface UndoAnswer {
  undo: { done: boolean; changes: UndoPlan["changes"]; conflicts: UndoPlan["conflicts"]; events: { seq: number }[] };
}

/** What undoing everything behind `from`, up to `to`, would change. Nothing is changed. */
export async function planUndo(from: number, to: number): Promise<UndoPlan> {
  const events = await readUndoable(from, to);
  if (events.length === 0) return { events, changes: [], conflicts: [] };
  const { undo } = await ask<UndoAnswer>(documents.undo, { events, preview: true, key: null });
  return { events, changes: undo.changes, conflicts: undo.conflicts };
}

/** Do what was planned; answers how many new events it took. The key makes a second try safe. */
export async function carryOut(plan: UndoPlan, key: string): Promise<number> {
  const { undo } = await ask<UndoAnswer>(documents.undo, { events: plan.events, preview: false, key });
  return undo.events.length;
}

async function readUndoable(from: number, to: number): Promise<number[]> {
  const found: number[] = [];
  let after: string | null = null;
  for (;;) {
    const variables: object = { afterSeq: after === null ? from : null, after, first: PAGE };
    const { events }: { events: { nodes: { seq: number }[]; pageInfo: PageInfo } } = await ask(documents.undoable, variables);
    const inside = events.nodes.filter(({ seq }) => seq <= to);
    found.push(...inside.map(({ seq }) => seq));
    if (found.length > MAX_UNDONE) throw new GatewayError("LIMIT", texts.time.undoMany(MAX_UNDONE));
    if (inside.length < events.nodes.length || !events.pageInfo.hasNextPage) return found;
    after = events.pageInfo.endCursor;
  }
}
