import { GatewayError as ClientError, OFFLINE } from "@ugs/client";
import { describe, expect, test } from "vitest";
import { compareSides, diffProperties, formatValue, isEqual, parseValue, repeatedKeys, toProperties, toRows } from "../src/model/editing.ts";
import { GatewayError, toGatewayError } from "../src/model/errors.ts";
import { keyOf, toBundles } from "../src/model/expansion.ts";
import { NO_FILTERS, isEdgeShown, isShown, toggle } from "../src/model/filters.ts";
import { Palette, classify, formatColourBy, formatSizeBy, parseColourBy, parseSizeBy, sizeOf, sizesOf } from "../src/model/palette.ts";
import { findDeclared, findParameters, formatTyped, parseTyped, toParameters, toProgramParameters } from "../src/model/parameters.ts";
import { type WorkingGraph, findAdded, showGraph, toCell } from "../src/model/results.ts";
import { Scene } from "../src/model/scene.ts";
import { SCREENS, formatRoute, joinIds, parseRoute, splitIds } from "../src/model/route.ts";
import { toStatements } from "../src/model/statements.ts";
import type { Json } from "../src/model/types.ts";
import { edge, node } from "./elements.ts";

describe("sizes", () => {
  const nodes = [node("a", { degree: 0, properties: { rank: 1 } }), node("b", { degree: 9, properties: { rank: 3 } }), node("c", { type: "task", properties: { rank: "high" } })];

  test.each(["", "same", "rarity", "property:rank"])("%s is restored from the address", (text) => {
    expect(formatSizeBy(parseSizeBy(text))).toBe(text);
  });

  test("say edges, a number, or how rare the type is", () => {
    expect([...sizesOf(nodes, { kind: "degree" }).values()]).toEqual([sizeOf(0), sizeOf(9), sizeOf(1)]);
    expect(new Set(sizesOf(nodes, { kind: "same" }).values()).size).toBe(1);
    expect([...sizesOf(nodes, { kind: "property", key: "rank" }).values()]).toEqual([7, 26, 7]);
    expect([...sizesOf(nodes, { kind: "rarity" }).values()]).toEqual([7, 7, 26]);
    expect([...sizesOf(nodes.slice(0, 1), { kind: "property", key: "rank" }).values()]).toEqual([16.5]);
    expect(sizesOf([], { kind: "rarity" }).size).toBe(0);
  });
});

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
  test("of the client carry their code, words that people read, and what to do", () => {
    const error = toGatewayError(new ClientError("VERSION_CONFLICT", "stale", { current: 3 }));
    expect(error).toMatchObject({ code: "VERSION_CONFLICT", message: "stale", details: { current: 3 } });
    expect(error.advice).toContain("both sides");
    expect(toGatewayError(new ClientError(OFFLINE, "ECONNREFUSED")).message).toBe("The gateway cannot be reached.");
  });

  test.each(["OFFLINE", "UNAUTHENTICATED", "FORBIDDEN", "RATE_LIMITED", "LIMIT_EXCEEDED", "TIMEOUT", "ANSWER_TOO_LARGE", "UNAVAILABLE"])("%s says what to do", (code) => {
    expect(new GatewayError(code, "x").advice).not.toBe("");
  });

  test("anything thrown can be shown", () => {
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

  const raw = (id: string) => ({ conceptId: id, label: id, properties: {}, node: { id, type: "t" } });
  const link = (fromId: string, toId: string) => ({ fromId, toId, relationshipType: "r", properties: {} });

  test("a working graph becomes a scene, and the next one takes its place without moving what stays", () => {
    const scene = new Scene();
    expect(showGraph(scene, { nodes: [raw("a"), raw("b")], links: [link("a", "b")] })).toBe(true);
    expect([scene.graph.order, scene.graph.size]).toEqual([2, 1]);
    expect(scene.nodes()[0]).toMatchObject({ type: "t", degree: 1 });
    Object.assign(scene.graph.getNodeAttributes("a"), { x: 5, y: 7 });
    expect(showGraph(scene, { nodes: [raw("a"), raw("c")], links: [] })).toBe(true);
    expect(scene.graph.getNodeAttributes("a")).toMatchObject({ x: 5, y: 7 });
    expect([scene.graph.nodes(), scene.graph.size]).toEqual([["a", "c"], 0]);
    expect(showGraph(scene, { nodes: [raw("c")], links: [] })).toBe(false);
  });

  test("what a step added is told from what was there", () => {
    const before: WorkingGraph = { nodes: [raw("a"), raw("b")], links: [link("a", "b")] };
    const added = findAdded({ nodes: [raw("a"), raw("b"), raw("c")], links: [link("b", "c"), link("a", "b")] }, before);
    expect([[...added.nodes], [...added.edges]]).toEqual([[["c", "added"]], [["edge 0", "added"]]]);
  });

  test("a program's parameters are those it declares; text stays text, and what is not typed keeps its default", () => {
    const declared = findDeclared('-- x\n@param who: string = "Ada"\n  @param least:number\n+ MATCH (n) WHERE n.id IN $W_IDS RETURN n;');
    expect(declared).toEqual([{ name: "who", kind: "string", fallback: '"Ada"' }, { name: "least", kind: "number", fallback: "" }]);
    expect(toProgramParameters(declared, { who: "12", least: "7", other: "x" })).toEqual({ who: "12", least: 7 });
    expect(toProgramParameters(declared, { who: "" })).toEqual({});
  });

  test("what was typed for parameters stands in the address", () => {
    expect(formatTyped(["a", "b"], { a: "7", other: "x" })).toBe('{"a":"7"}');
    expect(formatTyped(["a"], {})).toBe("");
    expect(parseTyped('{"a":"7","b":3}')).toEqual({ a: "7" });
    for (const broken of [undefined, "", "{", "null", "[1]", "7"]) expect(parseTyped(broken)).toEqual({});
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
