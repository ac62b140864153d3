import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { toExportLine } from "../src/model/exporting.ts";
import { parseMarkdown, safeHref } from "../src/model/documentText.ts";
import { Follower, type LinkState } from "../src/model/follower.ts";
import { type ImportFile, importFile, parseImport, splitParts } from "../src/model/importing.ts";
import { LineCounter } from "../src/model/lineCounter.ts";
import type { LogEvent } from "../src/model/types.ts";

describe("an import", () => {
  test("reads one object, or lines", () => {
    expect(parseImport('{"nodes":[{"id":"a"}],"edges":[]}')).toEqual({ nodes: [{ id: "a" }], edges: [] });
    expect(parseImport('{"id":"a"}\n\n{"from":"a","to":"b"}')).toEqual({ nodes: [{ id: "a" }], edges: [{ from: "a", to: "b" }] });
    expect(parseImport('{"id":"a"}')).toEqual({ nodes: [{ id: "a" }], edges: [] });
    expect(() => parseImport('{"id":"a"}\nnonsense')).toThrow("line 2");
  });

  test("goes in parts that fit a request, nodes first, nothing lost", () => {
    const file = { nodes: Array.from({ length: 1200 }, (_, id) => ({ id, text: "x".repeat(900) })), edges: [{ from: "a", to: "b" }] };
    const parts = splitParts(file);
    expect(parts.every((part) => JSON.stringify(part).length < 500_000)).toBe(true);
    expect(parts.flatMap((part) => part.nodes)).toEqual(file.nodes);
    expect(parts.at(-1)?.edges).toEqual(file.edges);
  });

  test("finds exactly the rows that are refused", async () => {
    const bad = new Set([3, 500, 501, 999]);
    const file: ImportFile = { nodes: Array.from({ length: 1000 }, (_, id) => ({ id })), edges: [] };
    let calls = 0;
    const send = async (part: ImportFile) => {
      calls += 1;
      if (part.nodes.some((row) => bad.has((row as { id: number }).id))) throw new Error("taken");
      return { nodes: part.nodes.length, edges: 0 };
    };
    const steps: number[] = [];
    const report = await importFile(file, send, (done) => steps.push(done), () => true);
    expect(report.nodes).toBe(996);
    expect(report.refused.map(({ row }) => (row as { id: number }).id)).toEqual([...bad]);
    expect(steps.at(-1)).toBe(1000);
    expect(calls).toBeLessThan(100);
  });

  test("stops when the gateway cannot be reached, instead of trying every row", async () => {
    const send = vi.fn().mockRejectedValue(new Error("offline"));
    await expect(importFile({ nodes: [1, 2, 3], edges: [] }, send, () => undefined, () => false)).rejects.toThrow("offline");
    expect(send).toHaveBeenCalledTimes(1);
  });
});

describe("Markdown", () => {
  test("HTML stays text, and only addresses of the web become links", () => {
    const blocks = JSON.stringify(parseMarkdown("# T\n<img src=x onerror=alert(1)>\n\n[a](javascript:alert(1)) [b](https://x.y) **s** `c`\n\n- one\n- two\n\n> q\n\n|h|\n|-|\n|c|"));
    expect(blocks).toContain("onerror");
    expect(blocks).toContain('"href":null');
    expect(blocks).toContain('"href":"https://x.y"');
    for (const kind of ["heading", "list", "quote", "table", "strong", "code"]) expect(blocks).toContain(`"kind":"${kind}"`);
  });

  test.each(["javascript:alert(1)", " JaVaScRiPt:alert(1)", "data:text/html,x", "vbscript:x", "//evil.example", "file:///etc/passwd", "\u0001javascript:x"])("%j is no link", (href) => {
    expect(safeHref(href)).toBeNull();
  });

  test("deep nesting ends", () => {
    expect(() => parseMarkdown(`${"> ".repeat(200)}x`)).not.toThrow();
  });
});

describe("a follower of the log", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());
  const event = (seq: number): LogEvent => ({ seq, timestamp: 0, type: "NodeAdded", elementId: "a", hidden: false, by: null, data: {} });

  test("takes the log up where it was lost: nothing twice, nothing left out", () => {
    const log = Array.from({ length: 40 }, (_, at) => event(at + 1));
    const got: number[] = [];
    const states: LinkState[] = [];
    let end: (error: Error | null) => void = () => undefined;
    let opened = 0;
    const follower = new Follower(
      (after, next, over) => {
        opened += 1;
        end = over;
        // A server may send again what was on its way when the connection broke.
        for (const each of log.slice(Math.max(after - 2, 0), after + 7)) next(each);
        return () => undefined;
      },
      ({ seq }) => got.push(seq),
      (state) => states.push(state),
    );
    follower.start();
    while (got.length < 40 && opened < 20) {
      end(new Error("lost"));
      vi.advanceTimersByTime(10_000);
    }
    expect(got).toEqual(log.map(({ seq }) => seq));
    expect(states).toContain("lost");
    expect(follower.state).toBe("live");
  });

  test("waits longer each time, and not at all after it was stopped", () => {
    const opened: number[] = [];
    const follower = new Follower((_, __, over) => { opened.push(Date.now()); queueMicrotask(() => over(new Error("down"))); return () => undefined; }, () => undefined, () => undefined);
    follower.start();
    return vi.advanceTimersByTimeAsync(60_000).then(async () => {
      const waits = opened.slice(1).map((time, at) => time - (opened[at] as number));
      expect(waits[0]).toBeLessThan(waits[2] as number);
      expect(Math.max(...waits)).toBeLessThanOrEqual(8_000);
      follower.stop();
      const count = opened.length;
      await vi.advanceTimersByTimeAsync(60_000);
      expect(opened.length).toBe(count);
      expect(follower.state).toBe("stopped");
    });
  });
});

test("lines are counted however the bytes are cut", () => {
  const bytes = new TextEncoder().encode("one\ntwo\n\nfoür\n");
  for (let cut = 0; cut <= bytes.length; cut++) {
    const lines = new LineCounter();
    lines.add(bytes.slice(0, cut));
    expect(lines.add(bytes.slice(cut))).toBe(4);
  }
});

test("an exported row says of its content what an import takes", () => {
  expect(toExportLine({ id: "a", content: null })).toBe('{"id":"a"}');
  expect(toExportLine({ id: "e", from: "a", to: "b" })).toBe('{"id":"e","from":"a","to":"b"}');
  expect(JSON.parse(toExportLine({ id: "a", content: { format: "markdown", encoding: "UTF8", body: "x" } }))).toEqual({ id: "a", content: { format: "markdown", encoding: "utf-8", body: "x" } });
});
