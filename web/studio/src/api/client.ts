// The client of the gateway that served the page. Errors are thrown with their code and words.
import { Client, type LinkState } from "@ugs/client";
import { type GatewayError, toGatewayError } from "../model/errors.ts";
import { documents } from "./documents.ts";
import type { LogEvent } from "../model/types.ts";

const TOKEN_KEY = "ugs.studio.token";

type Listener = (error: GatewayError | null, took: number) => void;
const listeners = new Set<Listener>();

/** Hear of every answer: null for a good one, else the error; and how many milliseconds it took. */
export function onAnswer(listener: Listener): void {
  listeners.add(listener);
}

/** The key or token of this tab. It is kept for the tab alone and gone when that is closed. */
export function token(): string {
  return sessionStorage.getItem(TOKEN_KEY) ?? "";
}

export function setToken(text: string): void {
  if (text) sessionStorage.setItem(TOKEN_KEY, text);
  else sessionStorage.removeItem(TOKEN_KEY);
}

const client = new Client({ url: location.origin, token, transport: "websocket" });

/** Ask once: whoever waits in front of the page is told what went wrong, and decides whether to try again. */
export async function ask<T>(query: string, variables: object = {}): Promise<T> {
  const started = performance.now();
  try {
    const send = query.startsWith("mutation") ? client.mutate : client.query;
    const data = await send.call<Client, [string, object, { tries: number }], Promise<T>>(client, query, variables, { tries: 1 });
    for (const listener of listeners) listener(null, performance.now() - started);
    return data;
  } catch (thrown) {
    const error = toGatewayError(thrown);
    for (const listener of listeners) listener(error, performance.now() - started);
    throw error;
  }
}

/** Run one subscription until it completes; returns a function that ends it. */
export function subscribe<T>(query: string, variables: Record<string, unknown>, next: (data: T) => void, end: (error: GatewayError | null) => void): () => void {
  const stopping = new AbortController();
  const run = async () => {
    for await (const data of client.subscribe<T>(query, variables, { signal: stopping.signal })) next(data);
  };
  run().then(() => end(null), (thrown) => stopping.signal.aborted || end(toGatewayError(thrown)));
  return () => stopping.abort();
}

/** Every event after a position, in order and once each, over however many connections; ends with `signal`. */
export async function followEvents(after: number, take: (event: LogEvent) => void, signal: AbortSignal, onState: (state: LinkState) => void): Promise<void> {
  for await (const { events } of client.follow<{ events: LogEvent }>(documents.liveEvents, { afterSeq: after }, { signal, onState })) take(events);
}
