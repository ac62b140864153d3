// The log as it grows: one subscription for the page, which every screen hears.
import { signal } from "@preact/signals";
import type { LinkState } from "@ugs/client";
import { followEvents } from "../api/client.ts";
import type { LogEvent } from "../model/types.ts";
import { texts } from "../texts.ts";
import { notify, overview, refreshOverview, report } from "./app.ts";

export const link = signal<LinkState>("stopped");
export const recent = signal<LogEvent[]>([]);
export const heard = signal(0);

const MAX_RECENT = 200;
const REFRESH_MS = 700;
const listeners = new Set<(events: LogEvent[]) => void>();
let waiting: LogEvent[] = [];
let refreshing = false;

/** Hear of new events, those of one moment together; returns a function that stops it. */
export function onEvents(listener: (events: LogEvent[]) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

let position: number | null = null;
let following = new AbortController();
let wasLost = false;

/** Follow from the end of the log as it is now; later, from where it was left. */
export function follow(): void {
  following.abort();
  const own = new AbortController();
  following = own;
  position ??= overview.peek()?.stats.events ?? 0;
  const note = (event: LogEvent) => {
    position = event.seq;
    take(event);
  };
  followEvents(position, note, own.signal, (state) => own === following && noteState(state)).catch(report);
}

function noteState(state: LinkState): void {
  link.value = state;
  if (state === "lost") wasLost = true;
  if (state !== "live" || !wasLost) return;
  wasLost = false;
  void compareLog().catch(report);
}

/** A gateway that came back with a shorter log has another store: what the page shows is of the past. */
async function compareLog(): Promise<void> {
  await refreshOverview();
  const events = overview.peek()?.stats.events ?? 0;
  if (events >= (position ?? 0)) return;
  notify("info", texts.link.replaced, texts.link.replacedAdvice);
  position = events;
  follow();
}

export function pause(): void {
  following.abort();
}

function take(event: LogEvent): void {
  if (waiting.length === 0) setTimeout(deliver, 50);
  waiting.push(event);
}

function deliver(): void {
  const events = waiting;
  waiting = [];
  heard.value = heard.peek() + events.length;
  recent.value = [...events.toReversed(), ...recent.peek()].slice(0, MAX_RECENT);
  for (const listener of listeners) listener(events);
  if (!refreshing) {
    refreshing = true;
    setTimeout(() => {
      refreshing = false;
      refreshOverview().catch(report);
    }, REFRESH_MS);
  }
}
