// Parameters of a query: which ones it names, and their values from a form.
import { parseValue } from "./editing.ts";
import type { Properties } from "./types.ts";

/** The names after `$`, in the order of first use; those in texts and comments do not count. */
export function findParameters(query: string): string[] {
  const bare = query
    .replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, " ")
    .replace(/'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"/g, " ");
  return [...new Set([...bare.matchAll(/\$([A-Za-z_][A-Za-z0-9_]*)/g)].map((match) => match[1] as string))];
}

/** The values for these names; a name without text is null. */
export function toParameters(names: string[], typed: Record<string, string>): Properties {
  return Object.fromEntries(names.map((name) => [name, typed[name] ? parseValue(typed[name]) : null]));
}

/** What was typed for these names, as it stands in the address; empty when nothing was. */
export function formatTyped(names: string[], typed: Record<string, string>): string {
  const filled = names.filter((name) => typed[name]);
  return filled.length ? JSON.stringify(Object.fromEntries(filled.map((name) => [name, typed[name]]))) : "";
}

export function parseTyped(text: string | undefined): Record<string, string> {
  try {
    const found: unknown = JSON.parse(text || "{}");
    const pairs = typeof found === "object" && found !== null ? Object.entries(found) : [];
    return Object.fromEntries(pairs.filter((pair): pair is [string, string] => typeof pair[1] === "string"));
  } catch {
    return {};
  }
}

/** A parameter that a program declares: `@param name: kind = default`. */
export interface Declared {
  name: string;
  kind: string;
  /** As it is written; empty when there is none. */
  fallback: string;
}

export function findDeclared(dsl: string): Declared[] {
  const lines = dsl.matchAll(/^[ \t]*@param[ \t]+([^\s:]+)[ \t]*:[ \t]*([A-Za-z]+)[ \t]*(?:=[ \t]*(.*))?$/gm);
  return [...lines].map(([, name = "", kind = "", fallback = ""]) => ({ name, kind, fallback: fallback.trim() }));
}

/** Values for a program: what nobody typed is left out, so that its default holds. Text is not read as a number. */
export function toProgramParameters(declared: Declared[], typed: Record<string, string>): Properties {
  const filled = declared.filter(({ name }) => typed[name]);
  return Object.fromEntries(filled.map(({ name, kind }) => [name, kind === "string" ? (typed[name] ?? "") : parseValue(typed[name] ?? "")]));
}
