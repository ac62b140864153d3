// Subscriptions over one WebSocket for all of them: graphql-transport-ws.
import { type Client as SocketClient, createClient } from "graphql-ws";
import { GatewayError, OFFLINE, readItemError } from "../errors.ts";
import type { Endpoint } from "../http.ts";
import type { Subscribe, SubscribeOptions } from "./subscription.ts";

const PING_MS = 12_000;
const PONG_MS = 8_000;
/** Codes with which a gateway closes a socket whose key or token it does not take. */
const FIRST_REFUSAL_CODE = 4400;

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
    const opened = onOpen ? client.on("connected", onOpen) : () => undefined;
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
      signal?.removeEventListener("abort", stop);
    }
  }
  return { subscribe, close: () => void client.dispose() };
}

function connectionTo(endpoint: Endpoint, socketClass: SocketClass | undefined): SocketClient {
  const url = new URL(endpoint.url);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  let socket: { close: (code: number, reason: string) => void } | null = null;
  let waiting: ReturnType<typeof setTimeout> | undefined;
  return createClient({
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
      opened: (opened) => {
        socket = opened as typeof socket;
      },
      ping: (received) => {
        if (!received) waiting = setTimeout(() => socket?.close(4408, "no pong came"), PONG_MS);
      },
      pong: (received) => {
        if (received) clearTimeout(waiting);
      },
      closed: () => clearTimeout(waiting),
    },
  });
}

function toStreamError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  const found = Array.isArray(error) ? readItemError(error) : null;
  if (found) return found;
  const { code, reason } = (error ?? {}) as { code?: unknown; reason?: unknown };
  if (typeof code === "number" && code >= FIRST_REFUSAL_CODE && code !== 4408) return new GatewayError("UNAUTHENTICATED", String(reason || "The key or token is not taken."));
  return new GatewayError(OFFLINE, "The connection was lost.", { reason: String(reason ?? error) });
}
