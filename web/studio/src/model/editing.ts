// Forms that edit an element: rows of text, what they mean as JSON, and the smallest change that follows from them.
import type { Json, Properties } from "./types.ts";

export interface Row {
  key: string;
  /** As typed; JSON where it parses as a number, boolean, null, list, object or quoted text, else plain text. */
  text: string;
}

export interface Draft {
  id: string;
  type: string;
  rows: Row[];
  content: string;
  /** The version the form was filled from; a change is refused when the element has moved on. */
  version: number;
}

/** The value that a text stands for. */
export function parseValue(text: string): Json {
  const trimmed = text.trim();
  if (!/^(-?\d|true$|false$|null$|["[{])/.test(trimmed)) return text;
  try {
    return JSON.parse(trimmed) as Json;
  } catch {
    return text;
  }
}

/** The text that stands for a value, so that `parseValue` gives the value back. */
export function formatValue(value: Json): string {
  if (typeof value !== "string") return JSON.stringify(value);
  return parseValue(value) === value ? value : JSON.stringify(value);
}

export function toRows(properties: Properties): Row[] {
  return Object.entries(properties).map(([key, value]) => ({ key, text: formatValue(value) }));
}

export function toProperties(rows: Row[], parse: (text: string, key: string) => Json = parseValue): Properties {
  return Object.fromEntries(rows.filter((row) => row.key.trim()).map((row) => [row.key.trim(), parse(row.text, row.key.trim())]));
}

/** Names that occur twice, which a form must not swallow. */
export function repeatedKeys(rows: Row[]): string[] {
  const keys = rows.map((row) => row.key.trim()).filter(Boolean);
  return [...new Set(keys.filter((key, at) => keys.indexOf(key) !== at))];
}

export interface PropertyChange {
  properties: Properties;
  removeProperties: string[];
}

/** What to set and what to take away so that `before` becomes `after`. */
export function diffProperties(before: Properties, after: Properties): PropertyChange {
  const set = Object.entries(after).filter(([key, value]) => !isEqual(before[key], value));
  return {
    properties: Object.fromEntries(set),
    removeProperties: Object.keys(before).filter((key) => !(key in after)),
  };
}

export function isEqual(a: Json | undefined, b: Json | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && canonical(a) === canonical(b));
}

function canonical(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const members = Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${canonical(value[key] as Json)}`);
  return `{${members.join(",")}}`;
}

export interface ConflictLine {
  key: string;
  mine: string;
  theirs: string;
  differs: boolean;
}

/** Both sides of a conflict, line by line. */
export function compareSides(mine: Properties, theirs: Properties): ConflictLine[] {
  const keys = [...new Set([...Object.keys(mine), ...Object.keys(theirs)])].sort();
  return keys.map((key) => ({
    key,
    mine: mine[key] === undefined ? "" : formatValue(mine[key]),
    theirs: theirs[key] === undefined ? "" : formatValue(theirs[key]),
    differs: !isEqual(mine[key], theirs[key]),
  }));
}
