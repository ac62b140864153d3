import { describe, expect, test } from "vitest";
import { compareSides, diffProperties, formatValue, isEqual, parseValue, repeatedKeys, toProperties, toRows } from "../src/model/editing.ts";
import { GatewayError, readResponseError, toGatewayError } from "../src/model/errors.ts";
import { keyOf, toBundles } from "../src/model/expansion.ts";
import { NO_FILTERS, isEdgeShown, isShown, toggle } from "../src/model/filters.ts";
import { Palette, classify, formatColourBy, parseColourBy, sizeOf } from "../src/model/palette.ts";
import { findParameters, toParameters } from "../src/model/parameters.ts";
import { toCell, toScene } from "../src/model/results.ts";
import { SCREENS, formatRoute, joinIds, parseRoute, splitIds } from "../src/model/route.ts";
import { toStatements } from "../src/model/statements.ts";
import type { Json } from "../src/model/types.ts";
import { edge, node } from "./elements.ts";

describe("the address", () => {
  test.each(SCREENS)("restores %s", (screen) => {
    const route = { screen, params: { sel: "a b&c=#%", q: "MATCH (n)\nRETURN n", tab: "" } };
    expect(parseRoute(formatRoute(route))).toEqual({ screen, params: { sel: "a b&c=#%", q: "MATCH (n)\nRETURN n" } });
  });

  test("is the same for equal views, and Explore for anything unknown", () => {
    expect(formatRoute({ screen: "live", params: { b: "1", a: "2" } })).toBe(formatRoute({ screen: "live", params: { a: "2", b: "1" } }));
    expect(parseRoute("#/nowhere?x=1")).toEqual({ screen: "explore", params: { x: "1" } });
    expect(parseRoute("")).toEqual({ screen: "explore", params: {} });
  });

  test("holds ids with any characters", () => {
    const ids = ["a,b", "~", "~1", "@user:x", "<b>", "\u202eabc", "é🎈"];
    expect(splitIds(joinIds(ids))).toEqual(ids);
    expect(splitIds(undefined)).toEqual([]);
  });
});

describe("values in forms", () => {
  const values: Json[] = [null, true, 0, -1.5, 1e21, "", "text", "12", "true", "null", '"quoted"', "[1", "{x}", " 7", "a\nb", [1, "2"], { a: [null] }];
  test.each(values.map((value) => [value]))("%j comes back as it was", (value) => {
    expect(parseValue(formatValue(value))).toEqual(value);
  });

  test("the change of a form is the smallest one", () => {
    const before = { a: 1, b: "x", c: [1, { y: 1, z: 2 }] };
    const rows = [...toRows(before), { key: "new", text: "5" }].filter((row) => row.key !== "b");
    expect(diffProperties(before, toProperties(rows))).toEqual({ properties: { new: 5 }, removeProperties: ["b"] });
    expect(diffProperties(before, before)).toEqual({ properties: {}, removeProperties: [] });
    expect(isEqual({ a: 1, b: 2 }, { b: 2, a: 1 })).toBe(true);
  });

  test("a name that occurs twice is told, not swallowed", () => {
    expect(repeatedKeys([{ key: "a", text: "1" }, { key: " a ", text: "2" }, { key: "", text: "" }])).toEqual(["a"]);
  });

  test("a conflict shows every line of both sides", () => {
    expect(compareSides({ a: 1, b: 2 }, { b: 3, c: 4 })).toEqual([
      { key: "a", mine: "1", theirs: "", differs: true },
      { key: "b", mine: "2", theirs: "3", differs: true },
      { key: "c", mine: "", theirs: "4", differs: true },
    ]);
  });
});

describe("errors", () => {
  test("carry the code, the words and what to do", () => {
    const body = { errors: [{ message: "stale", extensions: { code: "VERSION_CONFLICT", details: { current: 3 } } }] };
    const error = readResponseError(200, body);
    expect(error).toMatchObject({ code: "VERSION_CONFLICT", message: "stale", details: { current: 3 } });
    expect(error?.advice).toContain("both sides");
  });

  test.each([[401, "UNAUTHENTICATED"], [429, "RATE_LIMITED"], [503, "UNAVAILABLE"], [400, "REFUSED"]])("status %i is %s", (status, code) => {
    expect(readResponseError(status, null)?.code).toBe(code);
    expect(readResponseError(status, { errors: [] })?.code).toBe(code);
  });

  test("a good answer is none, and anything thrown can be shown", () => {
    expect(readResponseError(200, { data: {} })).toBeNull();
    expect(toGatewayError("odd").message).toBe("odd");
    const known = new GatewayError("E001", "taken");
    expect(toGatewayError(known)).toBe(known);
  });
});

describe("neighbours", () => {
  test("are counted by type and direction, most first", () => {
    const bundles = toBundles([["b", 2], ["a", 2], ["", 1]], [["a", 500]]);
    expect(bundles.map(keyOf)).toEqual(["incoming:a", "outgoing:a", "outgoing:b", "outgoing:"]);
    expect(bundles.at(-1)?.type).toBeNull();
  });
});

describe("filters", () => {
  const alice = node("alice", { properties: { status: "Active", n: 12 } });
  test.each([["status", true], ["status=act", true], ["status=done", false], ["n=12", true], ["missing", false], ["", true]])("property %s: %s", (property, shown) => {
    expect(isShown(alice, { ...NO_FILTERS, property })).toBe(shown);
  });

  test("types, scopes, times and edges", () => {
    expect(isShown(alice, { ...NO_FILTERS, hiddenTypes: new Set(["person"]) })).toBe(false);
    expect(isShown(node("x", { type: null }), { ...NO_FILTERS, hiddenTypes: new Set([""]) })).toBe(false);
    expect(isShown(alice, { ...NO_FILTERS, scope: "USER" })).toBe(false);
    expect(isShown(alice, { ...NO_FILTERS, createdAfter: "2020-01-01T00:00" })).toBe(false);
    expect(isEdgeShown(edge("e", "a", "b"), { ...NO_FILTERS, hiddenEdgeTypes: new Set(["knows"]) })).toBe(false);
    expect([...toggle(toggle(new Set(), "a"), "a")]).toEqual([]);
  });
});

describe("colours", () => {
  test("a type keeps its colour, and no two of the first twelve are alike", () => {
    const palette = new Palette();
    const first = palette.colourOf("person");
    const all = Array.from({ length: 11 }, (_, at) => palette.colourOf(`t${at}`));
    expect(new Set([first, ...all]).size).toBe(12);
    expect(palette.colourOf("person")).toBe(first);
  });

  test("what to colour by survives the address", () => {
    for (const text of ["", "degree", "property:a:b"]) expect(formatColourBy(parseColourBy(text))).toBe(text);
    expect(classify(node("a", { degree: 7 }), { kind: "degree" })).toBe("5 – 19");
    expect(classify(node("a", { properties: { p: [1] } }), { kind: "property", key: "p" })).toBe("[1]");
    expect(sizeOf(1_000_000)).toBeLessThan(30);
  });
});

describe("queries", () => {
  test("parameters are found outside of texts and comments", () => {
    expect(findParameters("MATCH (n {a: $a}) // $no\nWHERE n.x = '$no' AND n.y > $b /* $no */ RETURN $a")).toEqual(["a", "b"]);
    expect(toParameters(["a", "b", "c"], { a: "7", b: "x y" })).toEqual({ a: 7, b: "x y", c: null });
  });

  test("cells know nodes and relationships", () => {
    expect(toCell({ id: "a", labels: ["person"], properties: { name: "Ann" } })).toEqual({ kind: "node", id: "a", label: "Ann", type: "person" });
    expect(toCell({ id: "e", type: "knows", from: "a", to: "b", properties: {} })).toEqual({ kind: "edge", id: "e", type: "knows" });
    expect(toCell([1])).toEqual({ kind: "value", value: [1] });
  });

  test("a working graph becomes a scene", () => {
    const raw = (id: string) => ({ conceptId: id, label: id, properties: {}, node: { id, type: "t" } });
    const scene = toScene({ nodes: [raw("a"), raw("b")], links: [{ fromId: "a", toId: "b", relationshipType: "r", properties: {} }] });
    expect([scene.graph.order, scene.graph.size]).toEqual([2, 1]);
    expect(scene.nodes()[0]).toMatchObject({ type: "t", degree: 1 });
  });

  test("a program's statements are shown with their branches", () => {
    const inner = { op: "-", operation: { type: "cypher", query: "Q2" } };
    const conditional = `{"type": "conditional", "condition": {}, "then": [${JSON.stringify(inner)}], "else": []}`;
    const program: Json = { statements: [{ op: "+", operation: { type: "cypher", query: "Q1" } }, { op: "?", operation: JSON.parse(conditional) as Json }] };
    const [first, second] = toStatements(program);
    expect(first).toMatchObject({ op: "+", kind: "cypher", text: "Q1" });
    expect(second?.branches[0]?.statements[0]).toMatchObject({ op: "-", text: "Q2" });
    expect(toStatements("nonsense")).toEqual([]);
  });
});
