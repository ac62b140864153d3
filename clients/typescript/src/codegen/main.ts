#!/usr/bin/env node
// ugs-codegen: types for an application, from the schema of a gateway or of one of its ontologies.
import { readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { generate } from "./generate.ts";

const USAGE = `usage: ugs-codegen URL|FILE [--documents PATH …] [--out FILE] [--token KEY] [--scalar NAME=TYPE …]

  URL          a gateway (http://127.0.0.1:8000), or the schema of an ontology (http://127.0.0.1:8000/graphql/default)
  FILE         a schema as SDL, instead
  --documents  .graphql files, or folders of them, with the operations of the application; without any: inputs and enums
  --out        where to write; standard output when left out
  --token      an API key or token, else the variable UGS_TOKEN`;

/** The address of the schema's text: of the gateway, or of the ontology whose endpoint is named. */
export function schemaAddress(url: string): string {
  const bare = url.replace(/\/+$/, "");
  if (bare.endsWith(".graphql")) return bare;
  return `${bare.endsWith("/graphql") ? bare.slice(0, -"/graphql".length) : bare}/schema.graphql`;
}

async function readSchema(place: string, token: string): Promise<string> {
  if (!/^https?:/.test(place)) return readFileSync(place, "utf8");
  const address = schemaAddress(place);
  const response = await fetch(address, { headers: token ? { authorization: `Bearer ${token}` } : {} });
  if (!response.ok) throw new Error(`${address} answered with status ${response.status}`);
  return response.text();
}

function readDocuments(path: string): string[] {
  if (!statSync(path).isDirectory()) return [readFileSync(path, "utf8")];
  const names = readdirSync(path, { recursive: true, encoding: "utf8" }).filter((name) => /\.(graphql|gql)$/.test(name) && !name.includes("node_modules"));
  return names.sort().map((name) => readFileSync(join(path, name), "utf8"));
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      documents: { type: "string", multiple: true, default: [] },
      out: { type: "string" },
      token: { type: "string", default: process.env.UGS_TOKEN ?? "" },
      scalar: { type: "string", multiple: true, default: [] },
      from: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  const [place] = positionals;
  if (values.help || !place) {
    console.log(USAGE);
    process.exitCode = place || values.help ? 0 : 2;
    return;
  }
  const scalars = Object.fromEntries(values.scalar.map((pair) => pair.split("=", 2) as [string, string]));
  const text = generate(await readSchema(place, values.token), values.documents.flatMap(readDocuments).join("\n"), { scalars, ...(values.from ? { from: values.from } : {}) });
  if (values.out) writeFileSync(values.out, text);
  else process.stdout.write(text);
}

main().catch((error: unknown) => {
  console.error(`ugs-codegen: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
});
