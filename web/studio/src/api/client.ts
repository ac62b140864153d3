// Sends GraphQL to the gateway that served the page. Errors are thrown with their code and words.
import { GatewayError, readResponseError } from "../model/errors.ts";
import { texts } from "../texts.ts";

const TOKEN_KEY = "ugs.studio.token";
const TIMEOUT_MS = 60_000;

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

export async function ask<T>(query: string, variables: object = {}): Promise<T> {
  const started = performance.now();
  try {
    const data = await send<T>(query, variables);
    for (const listener of listeners) listener(null, performance.now() - started);
    return data;
  } catch (error) {
    for (const listener of listeners) listener(error as GatewayError, performance.now() - started);
    throw error;
  }
}

async function send<T>(query: string, variables: object): Promise<T> {
  const headers: Record<string, string> = { "content-type": "application/json", accept: "application/json" };
  if (token()) headers.authorization = `Bearer ${token()}`;
  let response: Response;
  try {
    response = await fetch("/graphql", {
      method: "POST",
      headers,
      body: JSON.stringify({ query, variables }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  } catch {
    throw new GatewayError("OFFLINE", texts.errors.offline);
  }
  const body = (await response.json().catch(() => null)) as { data?: T } | null;
  const error = readResponseError(response.status, body);
  if (error) throw error;
  if (!body?.data) throw new GatewayError("UNAVAILABLE", texts.errors.status(response.status));
  return body.data;
}
