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
