import { describe, expect, test, vi } from "vitest";
import { toExportLine } from "../src/model/exporting.ts";
import { parseMarkdown, safeHref } from "../src/model/documentText.ts";
import { type ImportFile, importFile, parseImport, splitParts } from "../src/model/importing.ts";
import { LineCounter } from "../src/model/lineCounter.ts";

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
