import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { GatewayError, OFFLINE } from "../src/errors.ts";
import type { Endpoint } from "../src/http.ts";
import { follow } from "../src/streams/follow.ts";
import { readEvents, subscribeBySse } from "../src/streams/sse.ts";
import type { LinkState } from "../src/streams/subscription.ts";

function bodyOf(parts: Uint8Array[]): Pick<Response, "body"> {
  return new Response(new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  }));
}

async function drain<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

describe("server-sent events", () => {
  const text = ':\n\nevent: next\ndata: {"data":{"a":"ä🎈"}}\n\n:\n\nevent: complete\ndata:\n\n';

  test("are read however their bytes are cut", async () => {
    const bytes = new TextEncoder().encode(text);
    for (let cut = 0; cut <= bytes.length; cut++) {
      expect(await drain(readEvents(bodyOf([bytes.slice(0, cut), bytes.slice(cut)])))).toEqual([{ event: "next", data: '{"data":{"a":"ä🎈"}}' }, { event: "complete", data: "" }]);
    }
  });

  const endpointFor = (answer: () => Response): Endpoint => ({ url: "http://x/graphql", token: () => "k", headers: () => ({}), fetch: (async () => answer()) as unknown as typeof fetch, timeoutMs: 1000 });
  const stream = (words: string) => new Response(words, { headers: { "content-type": "text/event-stream" } });

  test("end when the gateway says so", async () => {
    expect(await drain(subscribeBySse(endpointFor(() => stream(text)))("subscription { a }", {}))).toEqual([{ a: "ä🎈" }]);
  });

  test("that break off are an error, after what came", async () => {
    const items = subscribeBySse(endpointFor(() => stream('event: next\ndata: {"data":{"a":1}}\n\nevent: ne')))("subscription { a }", {});
    expect((await items.next()).value).toEqual({ a: 1 });
    await expect(items.next()).rejects.toMatchObject({ code: OFFLINE });
  });

  test("that are refused, at once or later, are an error with its code", async () => {
    const refusal = JSON.stringify({ errors: [{ message: "no", extensions: { code: "FORBIDDEN" } }] });
    const later = subscribeBySse(endpointFor(() => stream(`event: next\ndata: ${refusal}\n\n`)))("subscription { a }", {});
    await expect(later.next()).rejects.toMatchObject({ code: "FORBIDDEN" });
    const once = subscribeBySse(endpointFor(() => new Response(refusal, { status: 403 })))("subscription { a }", {});
    await expect(once.next()).rejects.toMatchObject({ code: "FORBIDDEN" });
  });
});

describe("following", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());
  const log = Array.from({ length: 40 }, (_, at) => ({ seq: at + 1 }));

  test("takes the log up where it was lost: nothing twice, nothing left out", async () => {
    const states: LinkState[] = [];
    const stopping = new AbortController();
    const got: number[] = [];
    async function* open(after: number) {
      // A server may send again what was on its way when the connection broke.
      yield* log.slice(Math.max(after - 2, 0), after + 7);
      throw new GatewayError(OFFLINE, "lost");
    }
    const items = follow(open, ({ seq }) => seq, 3, { signal: stopping.signal, onState: (state) => states.push(state) });
    const done = (async () => {
      for await (const { seq } of items) {
        got.push(seq);
        if (seq === 40) stopping.abort();
      }
    })();
    await vi.advanceTimersByTimeAsync(120_000);
    await done;
    expect(got).toEqual(log.slice(3).map(({ seq }) => seq));
    expect(states).toContain("lost");
    expect(states.at(-1)).toBe("stopped");
  });

  test("waits longer each time, and not at all after it was stopped", async () => {
    const opened: number[] = [];
    const stopping = new AbortController();
    // biome-ignore lint/correctness/useYield: a connection that never comes about
    async function* open(): AsyncGenerator<{ seq: number }, void, undefined> {
      opened.push(Date.now());
      throw new GatewayError("UNAVAILABLE", "down");
    }
    const done = follow(open, ({ seq }) => seq, 0, { signal: stopping.signal }).next();
    await vi.advanceTimersByTimeAsync(120_000);
    const waits = opened.slice(1).map((time, at) => time - (opened[at] ?? 0));
    expect(waits[0]).toBeLessThan(waits[3] ?? 0);
    expect(Math.max(...waits)).toBeLessThanOrEqual(8_000);
    stopping.abort();
    expect(await done).toEqual({ done: true, value: undefined });
    const count = opened.length;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(opened.length).toBe(count);
  });

  test("ends with an error that would only come again", async () => {
    // biome-ignore lint/correctness/useYield: it is refused at once
    async function* open(): AsyncGenerator<{ seq: number }, void, undefined> {
      throw new GatewayError("UNAUTHENTICATED", "who?");
    }
    await expect(follow(open, ({ seq }) => seq, 0).next()).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
  });

  test("closes the connection when its loop is left", async () => {
    const closed = vi.fn();
    async function* open() {
      try {
        yield* log;
      } finally {
        closed();
      }
    }
    for await (const { seq } of follow(open, ({ seq: at }) => at, 0)) if (seq === 2) break;
    expect(closed).toHaveBeenCalledTimes(1);
  });
});
