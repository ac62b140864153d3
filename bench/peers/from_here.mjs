// Packages are looked for in the folder where npm has put them, which is not the one this file lies in.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import fs from "node:fs";
import readline from "node:readline";

const require = createRequire(process.cwd() + "/x.js");
export const load = (name) => import(pathToFileURL(require.resolve(name)).href);
export const port = Number(process.env.PORT);

/** The graph from its file: one JSON object a line, nodes first. */
export async function* graph() {
  for await (const line of readline.createInterface({ input: fs.createReadStream(process.env.GRAPH) })) yield JSON.parse(line);
}
