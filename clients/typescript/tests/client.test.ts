import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { declares, withRetryKeys } from "../src/document.ts";
import { Client, type ClientOptions, GatewayError, readResponseError } from "../src/index.ts";
import { pages } from "../src/pages.ts";
import { waitBefore } from "../src/retry.ts";

interface Sent {
  url: string;
  query: string;
  variables: Record<string, unknown>;
  headers: Record<string, string>;
}

/** A client whose requests are answered by a list: a body, a status with a body, or an error to throw. */
function clientFor(answers: (object | [number, object, Record<string, string>?] | Error)[], options: Partial<ClientOptions> = {}): { client: Client; sent: Sent[] } {
  const sent: Sent[] = [];
  const answer = async (url: unknown, init?: RequestInit): Promise<Response> => {
    sent.push({ url: String(url), ...JSON.parse(String(init?.body)), headers: init?.headers as Record<string, string> });
    const next = answers.shift();
    if (next instanceof Error || next === undefined) throw next ?? new Error("nothing is left to answer");
    const [status, body, headers] = Array.isArray(next) ? next : [200, next];
    return new Response(JSON.stringify(body), { status, ...(headers ? { headers } : {}) });
  };
  return { client: new Client({ url: "http://gateway.example", fetch: answer as typeof fetch, retry: { firstWaitMs: 1, longestWaitMs: 2 }, ...options }), sent };
}

/** Never answers; an abort ends it, as it ends a real one. */
const never = ((_: unknown, { signal }: RequestInit) =>
  new Promise((_resolve, reject) => (signal?.aborted ? reject(signal.reason) : signal?.addEventListener("abort", () => reject(signal.reason))))) as typeof fetch;

const refused = (code: string, more: object = {}) => ({ data: null, errors: [{ message: code, extensions: { code, ...more } }] });
const ADD = "mutation ($input: AddNodeInput!) { addNode(input: $input) { node { id } } }";

describe("a request", () => {
  test("goes to the endpoint with the key of this moment", async () => {
    let key = "one";
    const { client, sent } = clientFor([{ data: { a: 1 } }, { data: { a: 2 } }], { token: async () => key });
    expect(await client.query<{ a: number }>("{ a }")).toEqual({ a: 1 });
    key = "";
    await client.query("{ a }");
    expect(sent.map(({ url, headers }) => [url, headers.authorization])).toEqual([["http://gateway.example/graphql", "Bearer one"], ["http://gateway.example/graphql", undefined]]);
  });

  test.each([["http://x/", "http://x/graphql"], ["http://x/graphql", "http://x/graphql"], ["http://x/graphql/default", "http://x/graphql/default"]])("%s is asked at %s", async (url, asked) => {
    const { client, sent } = clientFor([{ data: { a: 1 } }], { url });
    await client.query("{ a }");
    expect(sent[0]?.url).toBe(asked);
  });

  test("that was refused is an error with its code, and is not sent again", async () => {
    const { client, sent } = clientFor([refused("VERSION_CONFLICT", { details: { current: 3 } })]);
    await expect(client.query("{ a }")).rejects.toMatchObject({ name: "GatewayError", code: "VERSION_CONFLICT", details: { current: 3 }, retryable: false });
    expect(sent).toHaveLength(1);
  });

  test.each([[401, "UNAUTHENTICATED"], [429, "RATE_LIMITED"], [503, "UNAVAILABLE"], [500, "UNAVAILABLE"], [400, "REFUSED"]])("status %i is %s", (status, code) => {
    expect(readResponseError(status, null)?.code).toBe(code);
    expect(readResponseError(status, { errors: [] })?.code).toBe(code);
    expect(readResponseError(200, { data: {} })).toBeNull();
  });

  test("whose answer is no JSON, or empty, is an error that says so", async () => {
    const { client } = clientFor([], { fetch: (async () => new Response("<html>", { status: 200 })) as typeof fetch, retry: { tries: 1 } });
    await expect(client.query("{ a }")).rejects.toMatchObject({ code: "UNAVAILABLE" });
  });

  test("that takes too long is given up", async () => {
    const { client } = clientFor([], { fetch: never, timeoutMs: 5, retry: { tries: 1 } });
    await expect(client.query("{ a }")).rejects.toMatchObject({ code: "TIMEOUT" });
  });

  test("that the caller aborts ends with the caller's reason", async () => {
    const { client } = clientFor([], { fetch: never });
    const stopping = new AbortController();
    const asked = client.query("{ a }", {}, { signal: stopping.signal });
    stopping.abort(new Error("enough"));
    await expect(asked).rejects.toThrow("enough");
  });
});

describe("retries", () => {
  test("of a change carry the same key each time", async () => {
    const { client, sent } = clientFor([new TypeError("connection reset"), [503, {}], refused("CONFLICT", { retryable: true }), { data: { addNode: {} } }]);
    await client.mutate(ADD, { input: { id: "a" } });
    const keys = sent.map(({ variables }) => (variables.input as { idempotencyKey: string }).idempotencyKey);
    expect(keys).toHaveLength(4);
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
  });

  test("keep a key that is given, and two changes have different ones", async () => {
    const { client, sent } = clientFor([{ data: { a: 1 } }, { data: { a: 1 } }, { data: { a: 1 } }]);
    await client.mutate(ADD, { input: { id: "a", idempotencyKey: "mine" } });
    await client.mutate(ADD, { input: { id: "b" } });
    await client.mutate(ADD, { input: { id: "c" } });
    const [mine, b, c] = sent.map(({ variables }) => (variables.input as { idempotencyKey: string }).idempotencyKey);
    expect(mine).toBe("mine");
    expect(b).not.toBe(c);
  });

  test("are not made where the outcome is unknown and there is no key", async () => {
    const { client, sent } = clientFor([new TypeError("connection reset")]);
    await expect(client.mutate("mutation { snapshot { snapshot { eventCount } } }")).rejects.toMatchObject({ code: "OFFLINE" });
    expect(sent).toHaveLength(1);
  });

  test("are made without a key where the gateway says that nothing was done", async () => {
    const { client, sent } = clientFor([refused("CONFLICT", { retryable: true }), { data: { a: 1 } }]);
    await client.mutate("mutation { snapshot { snapshot { eventCount } } }");
    expect(sent).toHaveLength(2);
  });

  test("end", async () => {
    const { client, sent } = clientFor(Array.from({ length: 9 }, () => new TypeError("down")), { retry: { tries: 3, firstWaitMs: 1, longestWaitMs: 1 } });
    await expect(client.query("{ a }")).rejects.toMatchObject({ code: "OFFLINE" });
    expect(sent).toHaveLength(3);
  });

  test("wait longer each time, never beyond the longest wait, and as long as the gateway asks", () => {
    const options = { tries: 9, firstWaitMs: 100, longestWaitMs: 1000 };
    const waits = [0, 1, 2, 8].map((attempt) => waitBefore(attempt, null, options));
    for (const [at, most] of [100, 200, 400, 1000].entries()) {
      expect(waits[at]).toBeGreaterThanOrEqual(most / 2);
      expect(waits[at]).toBeLessThanOrEqual(most);
    }
    const asked = readResponseError(429, null, new Headers({ "retry-after": "7" }));
    expect(waitBefore(0, asked, options)).toBe(7000);
    expect(waitBefore(0, readResponseError(429, null, new Headers({ "retry-after": "soon" })), options)).toBeLessThan(200);
  });
});

describe("retry keys", () => {
  let made = 0;
  const make = () => `key ${++made}`;
  beforeEach(() => { made = 0; });

  test("go into a variable of their own, and into each input", () => {
    const text = "mutation M($a: AddNodeInput!, $b: AddEdgeInput!, $idempotencyKey: String, $type: ConnectionTypeInput!, $list: [NoteInput!]) { x }";
    expect(withRetryKeys(text, { a: {}, b: {}, type: {}, list: [{}] }, make)).toEqual({
      isSafe: true,
      variables: { a: { idempotencyKey: "key 1" }, b: { idempotencyKey: "key 2" }, idempotencyKey: "key 3", type: {}, list: [{}] },
    });
    expect(withRetryKeys("mutation { x }", {}, make)).toEqual({ isSafe: false, variables: {} });
    expect(declares(text, "a")).toBe(true);
    expect(declares(text, "afterSeq")).toBe(false);
  });
});

test("pages are read while they are used, and no further", async () => {
  const read = vi.fn(async (after: string | null) => ({ nodes: [`${after}1`, `${after}2`], pageInfo: { hasNextPage: after !== "c", endCursor: after === null ? "b" : "c" } }));
  const all: string[] = [];
  for await (const node of pages(read)) all.push(node);
  expect(all).toEqual(["null1", "null2", "b1", "b2", "c1", "c2"]);
  read.mockClear();
  for await (const node of pages(read)) if (node === "null2") break;
  expect(read).toHaveBeenCalledTimes(1);
});

describe("helpers", () => {
  afterEach(() => void vi.restoreAllMocks());

  test("list with a filter, page by page", async () => {
    const page = (id: string, next: string | null) => ({ data: { graphNodes: { nodes: [{ id }], pageInfo: { hasNextPage: next !== null, endCursor: next } } } });
    const { client, sent } = clientFor([page("a", "x"), page("b", null)]);
    const found: string[] = [];
    for await (const { id } of client.graph.nodes({ filter: { type: "task" }, first: 1 })) found.push(id);
    expect(found).toEqual(["a", "b"]);
    expect(sent.map(({ variables }) => variables)).toEqual([{ filter: { type: "task" }, first: 1, after: null }, { filter: { type: "task" }, first: 1, after: "x" }]);
  });

  test("a subscription without a position cannot be followed", async () => {
    const { client } = clientFor([]);
    await expect(client.follow("subscription { events { seq } }").next()).rejects.toThrow(TypeError);
    expect(new GatewayError("X", "y").name).toBe("GatewayError");
  });
});
