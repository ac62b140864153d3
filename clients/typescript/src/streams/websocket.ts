// Subscriptions over one WebSocket for all of them: graphql-transport-ws.
import { type Client as SocketClient, createClient } from "graphql-ws";
import { GatewayError, OFFLINE, readItemError } from "../errors.ts";
import type { Endpoint } from "../http.ts";
import type { Subscribe, SubscribeOptions } from "./subscription.ts";

const PING_MS = 12_000;
const PONG_MS = 8_000;
/** How long a connection may take. Not every platform says of each connection that failed that it did. */
const CONNECT_MS = 10_000;
/** What it means when a gateway closes a socket; any other code is a lost connection. */
const CLOSE_CODES: Record<number, string> = { 4400: "REFUSED", 4401: "UNAUTHENTICATED", 4403: "UNAUTHENTICATED", 4406: "REFUSED", 4429: "RATE_LIMITED" };

/** A WebSocket class for platforms without one, such as that of the package `ws` for Node.js 20. */
export type SocketClass = new (url: string, protocol: string) => object;

export interface SocketStreams {
  subscribe: Subscribe;
  close: () => void;
}

export function subscribeBySocket(endpoint: Endpoint, socketClass?: SocketClass): SocketStreams {
  let isConnected = false;
  const client = connectionTo(endpoint, socketClass);
  client.on("connected", () => {
    isConnected = true;
  });
  client.on("closed", () => {
    isConnected = false;
  });
  async function* subscribe<T>(query: string, variables: Record<string, unknown>, { signal, onOpen }: SubscribeOptions = {}) {
    signal?.throwIfAborted();
    if (isConnected) onOpen?.();
    const slow = isConnected ? undefined : setTimeout(() => client.terminate(), CONNECT_MS);
    const opened = client.on("connected", () => {
      clearTimeout(slow);
      onOpen?.();
    });
    const items = client.iterate<T>({ query, variables });
    const stop = () => void items.return?.();
    signal?.addEventListener("abort", stop, { once: true });
    try {
      for await (const { data, errors } of items) {
        const error = readItemError(errors as Parameters<typeof readItemError>[0]);
        if (error) throw error;
        if (data) yield data;
      }
      signal?.throwIfAborted();
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      throw toStreamError(error);
    } finally {
      opened();
      clearTimeout(slow);
      signal?.removeEventListener("abort", stop);
    }
  }
  return { subscribe, close: () => void client.dispose() };
}

function connectionTo(endpoint: Endpoint, socketClass: SocketClass | undefined): SocketClient {
  const url = new URL(endpoint.url);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  let waiting: ReturnType<typeof setTimeout> | undefined;
  const client = createClient({
    url: url.href,
    lazy: true,
    retryAttempts: 0,
    keepAlive: PING_MS,
    ...(socketClass ? { webSocketImpl: socketClass } : {}),
    connectionParams: async () => {
      const token = await endpoint.token();
      return token ? { authorization: `Bearer ${token}` } : {};
    },
    on: {
      ping: (received) => {
        if (!received) waiting = setTimeout(() => client.terminate(), PONG_MS);
      },
      pong: (received) => {
        if (received) clearTimeout(waiting);
      },
      closed: () => clearTimeout(waiting),
    },
  });
  return client;
}

function toStreamError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  const found = Array.isArray(error) ? readItemError(error) : null;
  if (found) return found;
  const { code, reason } = (error ?? {}) as { code?: unknown; reason?: unknown };
  const meaning = typeof code === "number" ? CLOSE_CODES[code] : undefined;
  if (meaning) return new GatewayError(meaning, String(reason || "The gateway closed the connection."));
  return new GatewayError(OFFLINE, "The connection was lost.", { reason: String(reason ?? error) });
}
