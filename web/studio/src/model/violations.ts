// Where the graph does not keep to an ontology: one query for each rule, which finds the ids that break it.
import type { Ontology } from "./rules.ts";
import type { Properties, Stats } from "./types.ts";

export interface RuleQuery {
  rule: "ends" | "required" | "value";
  kind: "NODE" | "CONNECTION";
  type: string;
  /** The property that the rule is about; empty for the ends of a connection. */
  property: string;
  query: string;
  params: Properties;
}

export interface UnknownType {
  kind: "NODE" | "CONNECTION";
  type: string;
  count: number;
}

/** Types that the graph has and the ontology does not know. */
export function findUnknownTypes({ nodeTypes, connectionTypes }: Ontology, stats: Pick<Stats, "nodeTypes" | "edgeTypes">): UnknownType[] {
  const connections = connectionTypes.map(({ name }) => name);
  const pick = (kind: UnknownType["kind"], known: string[], counted: Stats["nodeTypes"]) =>
    counted.flatMap(({ type, count }) => (type === null || known.includes(type) ? [] : [{ kind, type, count }]));
  return [...pick("NODE", nodeTypes, stats.nodeTypes), ...pick("CONNECTION", connections, stats.edgeTypes)];
}

/** Queries that answer the ids of whatever breaks a rule of the ontology, rule by rule. */
export function queriesFor({ connectionTypes, properties }: Ontology): RuleQuery[] {
  const found: RuleQuery[] = [];
  const required = new Set<string>();
  const add = (rule: RuleQuery["rule"], kind: RuleQuery["kind"], type: string, property: string, condition: string, params: Properties = {}) => {
    const pattern = kind === "NODE" ? `(x:${quote(type)})` : `(a)-[x:${quote(type)}]->(b)`;
    found.push({ rule, kind, type, property, query: `MATCH ${pattern} WHERE ${condition} RETURN id(x)`, params });
  };
  const require = (kind: RuleQuery["kind"], type: string, name: string) => {
    if (required.has(`${kind} ${type} ${name}`)) return;
    required.add(`${kind} ${type} ${name}`);
    add("required", kind, type, name, `x.${quote(name)} IS NULL`);
  };
  for (const { name, fromTypes, toTypes, requiredProperties } of connectionTypes) {
    add("ends", "CONNECTION", name, "", `NOT (${isOneOf("a", fromTypes)} AND ${isOneOf("b", toTypes)})`);
    for (const property of requiredProperties) require("CONNECTION", name, property);
  }
  for (const { owner, type, definitions } of properties) {
    for (const definition of definitions) {
      if (definition.required) require(owner, type, definition.name);
      if (definition.enum.length > 0) add("value", owner, type, definition.name, `NOT x.${quote(definition.name)} IN $values`, { values: definition.enum });
    }
  }
  return found;
}

function isOneOf(name: string, types: string[]): string {
  return types.length === 0 ? "false" : `(${types.map((type) => `${name}:${quote(type)}`).join(" OR ")})`;
}

/** A name in openCypher, whatever it is made of. */
export function quote(name: string): string {
  return `\`${name.replaceAll("`", "``")}\``;
}
