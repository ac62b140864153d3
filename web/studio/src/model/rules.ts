// What ontologies say about an element while it is edited: which types there are to choose from, what its properties
// must be, and what the gateway would refuse or warn of. The gateway decides; this only tells earlier.
import type { ConnectionType } from "./diagram.ts";
import { type Row, formatValue, isEqual, parseValue } from "./editing.ts";
import type { Json, Properties } from "./types.ts";

export type PropertyKind = "STRING" | "INTEGER" | "NUMBER" | "BOOLEAN";

export interface PropertyDefinition {
  name: string;
  kind: PropertyKind;
  required: boolean;
  enum: Json[];
  pattern: string | null;
  default?: Json;
  description: string;
}

export interface Ontology {
  name: string;
  nodeTypes: string[];
  connectionTypes: ConnectionType[];
  enforcement: "OFF" | "WARN" | "STRICT";
  createdAt: string;
  yaml: string;
  properties: { owner: "NODE" | "CONNECTION"; type: string; definitions: PropertyDefinition[] }[];
}

/** The element as it stands in the form. The types of the ends are undefined while they are not known. */
export interface Edited {
  kind: "NODE" | "CONNECTION";
  type: string;
  properties: Properties;
  fromType?: string | null | undefined;
  toType?: string | null | undefined;
}

export interface Breach {
  rule: "type" | "ends" | "required" | "kind" | "enum";
  /** The type or the property that the rule is about. */
  name: string;
  /** What is allowed, in words of the ontology. */
  allowed: string;
}

/** Types to choose from: of nodes all, of connections those that may join these ends. */
export function offeredTypes(ontologies: Ontology[], { kind, fromType, toType }: Pick<Edited, "kind" | "fromType" | "toType">): string[] {
  if (kind === "NODE") return unique(ontologies.flatMap(({ nodeTypes }) => nodeTypes));
  return unique(ontologies.flatMap(({ connectionTypes }) => connectionTypes.filter((found) => mayJoin(found, fromType, toType)).map(({ name }) => name)));
}

function mayJoin({ fromTypes, toTypes }: ConnectionType, from: string | null | undefined, to: string | null | undefined): boolean {
  const fits = (types: string[], type: string | null | undefined) => type === undefined || types.includes(type ?? "");
  return fits(fromTypes, from) && fits(toTypes, to);
}

/** What is said about the properties of a type, by all ontologies that know it; the first to define a name wins. */
export function definitionsOf(ontologies: Ontology[], kind: Edited["kind"], type: string): PropertyDefinition[] {
  const found = new Map<string, PropertyDefinition>();
  for (const { properties, connectionTypes } of ontologies) {
    for (const { owner, type: owned, definitions } of properties) {
      if (owner !== kind || owned !== type) continue;
      for (const definition of definitions) if (!found.has(definition.name)) found.set(definition.name, definition);
    }
    const required = kind === "CONNECTION" ? connectionTypes.filter(({ name }) => name === type).flatMap(({ requiredProperties }) => requiredProperties) : [];
    for (const name of required) {
      const known = found.get(name);
      found.set(name, { ...(known ?? { name, kind: "STRING", enum: [], pattern: null, description: "" }), required: true });
    }
  }
  return [...found.values()];
}

/** The rows, and one more for each required property that is missing, with its default where there is one. */
export function withRequired(rows: Row[], definitions: PropertyDefinition[]): Row[] {
  const filled = rows.filter((row) => row.key.trim() || row.text);
  const missing = definitions.filter(({ name, required }) => required && !filled.some((row) => row.key.trim() === name));
  return missing.length === 0 ? rows : [...filled, ...missing.map(toBlankRow)];
}

export function toBlankRow({ name, default: initial, enum: choices }: PropertyDefinition): Row {
  const value = initial ?? choices[0];
  return { key: name, text: value === undefined || value === null ? "" : formatValue(value) };
}

/** The value that a text stands for where a property has this definition: digits stay text in a text property. */
export function parseDefined(text: string, definition: PropertyDefinition | undefined): Json {
  const value = parseValue(text);
  return definition?.kind === "STRING" && typeof value !== "string" ? text : value;
}

/** Which choices a value has, as texts of a form; none where anything of its kind will do. */
export function choicesOf({ enum: choices, kind }: PropertyDefinition): string[] {
  if (choices.length > 0) return choices.map(formatValue);
  return kind === "BOOLEAN" ? ["true", "false"] : [];
}

/** How strictly the plain graph keeps to ontologies now. */
export function strictness(ontologies: Ontology[]): Ontology["enforcement"] {
  const levels = ontologies.map(({ enforcement }) => enforcement);
  return levels.includes("STRICT") ? "STRICT" : levels.includes("WARN") ? "WARN" : "OFF";
}

/** What the enforced ontologies would object to. It is enough that one of them knows the type. */
export function findBreaches(ontologies: Ontology[], edited: Edited): Breach[] {
  const enforced = ontologies.filter(({ enforcement }) => enforcement !== "OFF");
  if (enforced.length === 0) return [];
  const known = offeredTypes(enforced, { kind: edited.kind });
  if (!known.includes(edited.type)) return [{ rule: "type", name: edited.type, allowed: known.join(", ") }];
  const breaches: Breach[] = [];
  if (edited.kind === "CONNECTION" && !offeredTypes(enforced, edited).includes(edited.type)) {
    const ends = enforced.flatMap(({ connectionTypes }) => connectionTypes.filter(({ name }) => name === edited.type));
    breaches.push({ rule: "ends", name: edited.type, allowed: ends.map(({ fromTypes, toTypes }) => `${fromTypes.join(" | ")} → ${toTypes.join(" | ")}`).join("; ") });
  }
  for (const definition of definitionsOf(enforced, edited.kind, edited.type)) breaches.push(...checkValue(definition, edited.properties[definition.name]));
  return breaches;
}

function checkValue(definition: PropertyDefinition, value: Json | undefined): Breach[] {
  const { name, required, kind, enum: choices } = definition;
  if (value === undefined) return required ? [{ rule: "required", name, allowed: "" }] : [];
  if (!isOfKind(value, kind)) return [{ rule: "kind", name, allowed: kind.toLowerCase() }];
  if (choices.length > 0 && !choices.some((choice) => isEqual(choice, value))) return [{ rule: "enum", name, allowed: choices.map(formatValue).join(", ") }];
  return [];
}

function isOfKind(value: Json, kind: PropertyKind): boolean {
  if (kind === "STRING") return typeof value === "string";
  if (kind === "BOOLEAN") return typeof value === "boolean";
  return typeof value === "number" && (kind === "NUMBER" || Number.isInteger(value));
}

function unique(names: string[]): string[] {
  return [...new Set(names)];
}
