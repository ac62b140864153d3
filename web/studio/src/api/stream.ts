// Subscriptions over graphql-transport-ws.
import { type Client, createClient } from "graphql-ws";
import { GatewayError } from "../model/errors.ts";
import { texts } from "../texts.ts";
import { token } from "./client.ts";

let client: Client | null = null;

function connection(): Client {
  const url = new URL("/graphql", location.href);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  client ??= createClient({
    url: url.href,
    lazy: true,
    retryAttempts: 0,
    connectionParams: () => (token() ? { authorization: `Bearer ${token()}` } : {}),
  });
  return client;
}

/** Run one subscription until it completes; returns a function that ends it. */
export function subscribe<T>(query: string, variables: Record<string, unknown>, next: (data: T) => void, end: (error: GatewayError | null) => void): () => void {
  return connection().subscribe<T>(
    { query, variables },
    {
      next: ({ data, errors }) => {
        if (data) next(data);
        else if (errors?.[0]) end(new GatewayError(String(errors[0].extensions?.code ?? "REFUSED"), errors[0].message));
      },
      error: (error) => end(toStreamError(error)),
      complete: () => end(null),
    },
  );
}

function toStreamError(error: unknown): GatewayError {
  const first = Array.isArray(error) ? (error[0] as { message: string; extensions?: { code?: string } }) : null;
  if (first) return new GatewayError(first.extensions?.code ?? "REFUSED", first.message);
  if (error instanceof CloseEvent && error.code >= 4400) return new GatewayError("UNAUTHENTICATED", error.reason);
  return new GatewayError("OFFLINE", texts.errors.offline);
}
