// Documents: text, or text with the types of its variables and of its result.
import { WITHOUT_KEY } from "./generated/keys.ts";

/** A GraphQL document whose types are known. `ugs-codegen` writes them. */
export interface TypedDocument<Result, Variables> {
  readonly text: string;
  /** Never there; carries the types. */
  readonly types?: (variables: Variables) => Result;
}

/** A document with its types, which nobody checks: `ugs-codegen` derives them from the schema. */
export function typed<Result, Variables>(text: string): TypedDocument<Result, Variables> {
  return { text };
}

export type Document<Result, Variables> = string | TypedDocument<Result, Variables>;

export function textOf(document: Document<unknown, never>): string {
  return typeof document === "string" ? document : document.text;
}

/** Whether a document names a variable, such as `$afterSeq`. */
export function declares(text: string, name: string): boolean {
  return new RegExp(`\\$${name}\\s*:`).test(text);
}

type Values = Record<string, unknown>;

/** The variable that holds a retry key of its own. */
const KEY_VARIABLE = "idempotencyKey";

/**
 * Variables with a retry key, and whether they have one. A key that is given stays. Else one is made for the variable
 * `$idempotencyKey`, or inside of each variable whose type is an input with such a field: its name ends in `Input`.
 */
export function withRetryKeys(text: string, variables: Values, make: () => string): { variables: Values; isSafe: boolean } {
  const found: Values = { ...variables };
  let isSafe = false;
  for (const [, name = "", type = ""] of text.matchAll(/\$(\w+)\s*:\s*(\w+)/g)) {
    const value = found[name];
    if (name === KEY_VARIABLE) {
      found[name] = value ?? make();
      isSafe = true;
    } else if (type.endsWith("Input") && !WITHOUT_KEY.has(type) && typeof value === "object" && value !== null && !Array.isArray(value)) {
      found[name] = { ...value, [KEY_VARIABLE]: (value as Values)[KEY_VARIABLE] ?? make() };
      isSafe = true;
    }
  }
  return { variables: found, isSafe };
}
