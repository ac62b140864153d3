import { describe, expect, test } from "vitest";
import { type Ontology, choicesOf, definitionsOf, findBreaches, offeredTypes, parseDefined, strictness, toBlankRow, withRequired } from "../src/model/rules.ts";
import { findUnknownTypes, queriesFor, quote } from "../src/model/violations.ts";

const STATUS = { name: "status", kind: "STRING", required: true, enum: ["active", "done"], pattern: null, description: "How far it is" } as const;
const RANK = { name: "rank", kind: "INTEGER", required: false, enum: [], pattern: null, description: "" } as const;
const OPEN = { name: "open", kind: "BOOLEAN", required: false, enum: [], pattern: null, description: "" } as const;

function ontology(enforcement: Ontology["enforcement"]): Ontology {
  return {
    name: "work",
    nodeTypes: ["Project", "Action", "Person"],
    connectionTypes: [
      { name: "Next", fromTypes: ["Project"], toTypes: ["Action"], requiredProperties: [], acyclic: false },
      { name: "WaitsFor", fromTypes: ["Action", "Project"], toTypes: ["Person"], requiredProperties: ["since"], acyclic: false },
    ],
    enforcement,
    createdAt: "",
    yaml: "",
    properties: [{ owner: "NODE", type: "Project", definitions: [{ ...STATUS, enum: [...STATUS.enum] }, { ...RANK, enum: [] }, { ...OPEN, enum: [] }] }],
  };
}

describe("what an ontology offers", () => {
  test("all node types, and the connections that may join two ends", () => {
    const all = [ontology("OFF")];
    expect(offeredTypes(all, { kind: "NODE" })).toEqual(["Project", "Action", "Person"]);
    expect(offeredTypes(all, { kind: "CONNECTION", fromType: "Project", toType: "Person" })).toEqual(["WaitsFor"]);
    expect(offeredTypes(all, { kind: "CONNECTION", fromType: "Project" })).toEqual(["Next", "WaitsFor"]);
    expect(offeredTypes(all, { kind: "CONNECTION", fromType: "Person", toType: null })).toEqual([]);
  });

  test("values to choose from", () => {
    const [status, rank, open] = definitionsOf([ontology("OFF")], "NODE", "Project");
    expect(status && choicesOf(status)).toEqual(["active", "done"]);
    expect(rank && choicesOf(rank)).toEqual([]);
    expect(open && choicesOf(open)).toEqual(["true", "false"]);
    expect(status && toBlankRow(status)).toEqual({ key: "status", text: "active" });
  });

  test("a row for each required property that is missing, and none twice", () => {
    const definitions = definitionsOf([ontology("OFF")], "NODE", "Project");
    expect(withRequired([{ key: "", text: "" }], definitions)).toEqual([{ key: "status", text: "active" }]);
    const rows = [{ key: "status", text: "done" }];
    expect(withRequired(rows, definitions)).toBe(rows);
    expect(definitionsOf([ontology("OFF")], "CONNECTION", "WaitsFor").map(({ name, required }) => [name, required])).toEqual([["since", true]]);
  });

  test("digits in a text property stay text", () => {
    expect(parseDefined("12", { ...STATUS, enum: [] })).toBe("12");
    expect(parseDefined("12", undefined)).toBe(12);
    expect(parseDefined('"12"', { ...STATUS, enum: [] })).toBe("12");
  });
});

describe("what an enforced ontology objects to", () => {
  const strict = [ontology("STRICT")];
  const node = (type: string, properties: Record<string, string | number>) => findBreaches(strict, { kind: "NODE", type, properties }).map(({ rule, name }) => `${rule} ${name}`);

  test("nothing where it is not enforced", () => {
    expect(findBreaches([ontology("OFF")], { kind: "NODE", type: "Nonsense", properties: {} })).toEqual([]);
    expect([strictness([]), strictness([ontology("WARN")]), strictness([ontology("WARN"), ontology("STRICT")])]).toEqual(["OFF", "WARN", "STRICT"]);
  });

  test("types, required properties, kinds and values", () => {
    expect(node("Nonsense", {})).toEqual(["type Nonsense"]);
    expect(node("Project", {})).toEqual(["required status"]);
    expect(node("Project", { status: "other", rank: "high" })).toEqual(["enum status", "kind rank"]);
    expect(node("Project", { status: "done", rank: 2 })).toEqual([]);
    expect(node("Project", { status: "done", rank: 2.5 })).toEqual(["kind rank"]);
  });

  test("connections between the wrong types, said with those that would do", () => {
    const edge = { kind: "CONNECTION", type: "Next", properties: {} } as const;
    expect(findBreaches(strict, { ...edge, fromType: "Person", toType: "Action" })).toEqual([{ rule: "ends", name: "Next", allowed: "Project → Action" }]);
    expect(findBreaches(strict, edge)).toEqual([]);
  });
});

describe("violations", () => {
  const stats = { nodeTypes: [{ type: "Project", count: 2 }, { type: null, count: 1 }, { type: "Odd", count: 3 }], edgeTypes: [{ type: "Next", count: 1 }, { type: "odd", count: 4 }] };

  test("are types that it does not know", () => {
    expect(findUnknownTypes(ontology("OFF"), stats)).toEqual([
      { kind: "NODE", type: "Odd", count: 3 },
      { kind: "CONNECTION", type: "odd", count: 4 },
    ]);
  });

  test("are found by a query for each rule, each once", () => {
    const queries = queriesFor(ontology("OFF"));
    expect(queries.map(({ rule, type, property }) => [rule, type, property])).toEqual([
      ["ends", "Next", ""],
      ["ends", "WaitsFor", ""],
      ["required", "WaitsFor", "since"],
      ["required", "Project", "status"],
      ["value", "Project", "status"],
    ]);
    expect(queries[0]?.query).toBe("MATCH (a)-[x:`Next`]->(b) WHERE NOT ((a:`Project`) AND (b:`Action`)) RETURN id(x)");
    expect(queries.at(-1)).toMatchObject({ query: "MATCH (x:`Project`) WHERE NOT x.`status` IN $values RETURN id(x)", params: { values: ["active", "done"] } });
  });

  test("name whatever an ontology calls things", () => {
    expect(quote("a`b")).toBe("`a``b`");
    const connection = { name: "x`) DETACH", fromTypes: [], toTypes: ["t"], requiredProperties: [], acyclic: false };
    expect(queriesFor({ ...ontology("OFF"), connectionTypes: [connection], properties: [] })[0]?.query).toBe("MATCH (a)-[x:`x``) DETACH`]->(b) WHERE NOT (false AND (b:`t`)) RETURN id(x)");
  });
});
