// The statements of a program's syntax tree, as they are shown as blocks.
import type { Json } from "./types.ts";

export interface Statement {
  op: string;
  kind: string;
  text: string;
  branches: { name: "then" | "else"; statements: Statement[] }[];
}

type Tree = { [key: string]: Json | undefined };

export function toStatements(program: Json): Statement[] {
  return asList(asTree(program).statements).map(toStatement);
}

function toStatement(value: Json): Statement {
  const { op, operation } = asTree(value);
  const { type, query, then: held, else: otherwise, ...rest } = asTree(operation ?? null);
  return {
    op: String(op ?? ""),
    kind: String(type ?? ""),
    text: typeof query === "string" ? query : JSON.stringify(rest),
    branches: [
      { name: "then", statements: asList(held).map(toStatement) },
      { name: "else", statements: asList(otherwise).map(toStatement) },
    ],
  };
}

function asTree(value: Json | undefined): Tree {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}

function asList(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : [];
}
