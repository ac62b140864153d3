// Subscriptions over server-sent events: one request for each, the distinct connections mode of GraphQL-SSE.
import { GatewayError, OFFLINE, readItemError, readResponseError } from "../errors.ts";
import { type Endpoint, headersFor } from "../http.ts";
import type { Subscribe, SubscribeOptions } from "./subscription.ts";

/** The gateway sends something every 12 seconds: whoever hears nothing for so long has lost it. */
const SILENCE_MS = 40_000;

interface Item<T> {
  data?: T;
  errors?: { message: string; extensions?: { code?: string } }[];
}

export function subscribeBySse(endpoint: Endpoint): Subscribe {
  return async function* subscribe<T>(query: string, variables: Record<string, unknown>, { signal, onOpen }: SubscribeOptions = {}) {
    const own = new AbortController();
    const stop = () => own.abort(signal?.reason);
    signal?.addEventListener("abort", stop, { once: true });
    let silence = setTimeout(() => own.abort(), SILENCE_MS);
    const heard = () => {
      clearTimeout(silence);
      silence = setTimeout(() => own.abort(), SILENCE_MS);
    };
    try {
      signal?.throwIfAborted();
      const response = await connect(endpoint, { query, variables }, own.signal);
      onOpen?.();
      for await (const { event, data } of readEvents(response, heard)) {
        if (event === "complete") return;
        if (event !== "next") continue;
        const item = JSON.parse(data) as Item<T>;
        const error = readItemError(item.errors);
        if (error) throw error;
        if (item.data) yield item.data;
      }
      throw new GatewayError(OFFLINE, "The connection was lost.");
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      throw error instanceof GatewayError ? error : new GatewayError(OFFLINE, "The connection was lost.", { reason: String(error) });
    } finally {
      clearTimeout(silence);
      signal?.removeEventListener("abort", stop);
      own.abort();
    }
  };
}

async function connect(endpoint: Endpoint, body: object, signal: AbortSignal): Promise<Response> {
  const headers = await headersFor(endpoint, "text/event-stream");
  const response = await endpoint.fetch(endpoint.url, { method: "POST", headers, body: JSON.stringify(body), signal });
  if (response.ok && response.headers.get("content-type")?.startsWith("text/event-stream")) return response;
  const answer: unknown = await response.json().catch(() => null);
  throw readResponseError(response.status, answer, response.headers) ?? new GatewayError("REFUSED", "The gateway does not subscribe here.");
}

export interface ServerEvent {
  event: string;
  data: string;
}

/** The events of a response, as they come. A line may be cut anywhere on the way. */
export async function* readEvents(response: Pick<Response, "body">, heard: () => void = () => undefined): AsyncGenerator<ServerEvent, void, undefined> {
  const reader = response.body?.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array<ArrayBuffer>>).getReader();
  if (!reader) return;
  let rest = "";
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      heard();
      const blocks = (rest + part.value).split("\n\n");
      rest = blocks.pop() ?? "";
      for (const block of blocks) {
        const found = parseBlock(block);
        if (found) yield found;
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

/** A comment, which keeps the connection open, is no event. */
function parseBlock(block: string): ServerEvent | null {
  const found: ServerEvent = { event: "", data: "" };
  for (const line of block.split("\n")) {
    if (line.startsWith("event:")) found.event = line.slice(6).trim();
    else if (line.startsWith("data:")) found.data += (found.data ? "\n" : "") + line.slice(5).trimStart();
  }
  return found.event ? found : null;
}
