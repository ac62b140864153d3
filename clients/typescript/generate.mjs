// Writes src/generated from the schema: the client's own operations with their types, and which inputs have no retry key.
// usage: node generate.mjs <schema.graphql>
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { buildSchema, isInputObjectType } from "graphql";

const here = dirname(fileURLToPath(import.meta.url));
const sdl = readFileSync(process.argv[2], "utf8");
const folder = join(here, "src", "generated");
const { outputFiles } = await build({ entryPoints: [join(here, "src", "codegen", "generate.ts")], bundle: true, format: "esm", platform: "node", packages: "external", write: false, logLevel: "warning" });
mkdirSync(folder, { recursive: true });
const compiled = join(here, "generate.compiled.mjs");
writeFileSync(compiled, outputFiles[0].contents);
const { generate } = await import(compiled);
const text = generate(sdl, readFileSync(join(here, "src", "operations.graphql"), "utf8"), { from: "../document.ts", json: "../json.ts" });
writeFileSync(join(folder, "operations.ts"), text);

const inputs = Object.values(buildSchema(sdl).getTypeMap()).filter(isInputObjectType);
const without = inputs.filter((input) => input.name.endsWith("Input") && !("idempotencyKey" in input.getFields())).map(({ name }) => name).sort();
writeFileSync(join(folder, "keys.ts"), `// Written by generate.mjs.\n\n/** Inputs that are a part of a change, not a change: the key stands beside them. */\nexport const WITHOUT_KEY: ReadonlySet<string> = new Set(${JSON.stringify(without)});\n`);
