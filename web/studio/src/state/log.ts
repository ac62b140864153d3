// The log as it grows: one subscription for the page, which every screen hears.
import { signal } from "@preact/signals";
import { documents } from "../api/documents.ts";
import { subscribe } from "../api/stream.ts";
import { Follower, type LinkState } from "../model/follower.ts";
import type { LogEvent } from "../model/types.ts";
import { overview, refreshOverview, report } from "./app.ts";

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

const follower = new Follower(
  (after, next, end) => subscribe<{ events: LogEvent }>(documents.liveEvents, { after }, ({ events }) => next(events), end),
  take,
  (state) => {
    link.value = state;
  },
);

/** Follow from the end of the log as it is now. */
export function follow(): void {
  follower.position = Math.max(follower.position, overview.peek()?.stats.events ?? 0);
  follower.start();
}

export function pause(): void {
  follower.stop();
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
