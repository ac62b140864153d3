// One GraphQL request over HTTP.
import { GatewayError, OFFLINE, TIMEOUT, readResponseError } from "./errors.ts";

export interface Endpoint {
  /** The address of GraphQL, such as `http://127.0.0.1:8000/graphql`. */
  url: string;
  /** The API key or token, or what answers it now; empty where nobody logs in. */
  token: () => string | Promise<string>;
  headers: () => Record<string, string>;
  fetch: typeof fetch;
  timeoutMs: number;
}

export interface Body {
  query: string;
  variables: Record<string, unknown>;
}

export async function headersFor(endpoint: Endpoint, accept: string): Promise<Record<string, string>> {
  const token = await endpoint.token();
  return { "content-type": "application/json", accept, ...(token ? { authorization: `Bearer ${token}` } : {}), ...endpoint.headers() };
}

/** Send one request and read its data. Whatever goes wrong is a `GatewayError`; an abort by the caller is thrown as it is. */
export async function send<T>(endpoint: Endpoint, body: Body, signal?: AbortSignal): Promise<T> {
  const deadline = AbortSignal.timeout(endpoint.timeoutMs);
  const headers = await headersFor(endpoint, "application/json");
  let status = 0;
  let answer: unknown;
  let answered: Headers | undefined;
  try {
    const both = signal ? AbortSignal.any([signal, deadline]) : deadline;
    const response = await endpoint.fetch(endpoint.url, { method: "POST", headers, body: JSON.stringify(body), signal: both });
    [status, answered] = [response.status, response.headers];
    const text = await response.text();
    answer = parse(text);
  } catch (error) {
    throw toWayError(error, endpoint, deadline, signal);
  }
  const error = readResponseError(status, answer, answered);
  if (error) throw error;
  const { data } = (answer ?? {}) as { data?: T };
  if (!data) throw new GatewayError("UNAVAILABLE", `The gateway answered with status ${status}, and nothing that can be read.`, {}, false, status);
  return data;
}

/** What kept a request from being answered. */
export function toWayError(error: unknown, endpoint: Pick<Endpoint, "url" | "timeoutMs">, deadline: AbortSignal, signal?: AbortSignal): unknown {
  if (signal?.aborted) return signal.reason;
  if (deadline.aborted) return new GatewayError(TIMEOUT, `No answer came within ${endpoint.timeoutMs} ms.`);
  return new GatewayError(OFFLINE, "The gateway cannot be reached.", { reason: String(error) });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
