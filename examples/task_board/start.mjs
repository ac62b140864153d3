// One command: packages, the page, a gateway with an ontology and a few tasks, and a server for the page.
// Variables: UGS (the program), STORE, GATEWAY_PORT, PORT.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const { PORT = "5173", GATEWAY_PORT = "8000", STORE = `file:${join(here, "data")}` } = process.env;
const page = `http://127.0.0.1:${PORT}`;
const gateway = `http://127.0.0.1:${GATEWAY_PORT}`;
const own = join(here, "../../.venv/bin/ugs");
const ugs = process.env.UGS ?? (existsSync(own) ? own : "ugs");

if (!existsSync(join(here, "node_modules"))) execFileSync("npm", ["ci", "--no-audit", "--no-fund"], { cwd: here, stdio: "inherit" });
const { build } = await import("esbuild");
await build({ absWorkingDir: here, entryPoints: ["src/main.tsx"], bundle: true, minify: true, format: "esm", outdir: "dist", jsx: "automatic", define: { "process.env.NODE_ENV": '"production"', GATEWAY: JSON.stringify(gateway) } });

const serving = spawn(ugs, ["serve", "--store", STORE, "--port", GATEWAY_PORT, "--allowed-origins", page], { stdio: ["ignore", "inherit", "inherit"] });
serving.on("exit", (code) => process.exit(code ?? 1));
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => serving.kill());

async function ask(query, variables = {}, path = "/graphql") {
  const response = await fetch(gateway + path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ query, variables }) });
  const { data, errors } = await response.json();
  if (errors) throw new Error(errors[0].message);
  return data;
}

async function waitForGateway() {
  while (!(await fetch(`${gateway}/readyz`).then((answer) => answer.ok, () => false))) await new Promise((resolve) => setTimeout(resolve, 100));
}

await waitForGateway();
if (!(await ask("{ ontologies { name } }")).ontologies.some(({ name }) => name === "board")) {
  const definitions = [
    { name: "title", kind: "STRING", required: true },
    { name: "status", kind: "STRING", required: true, enum: ["todo", "doing", "done"] },
    { name: "notes", kind: "STRING" },
  ];
  const input = { name: "board", nodeTypes: ["Task"], connectionTypes: [], properties: [{ type: "Task", definitions }] };
  await ask("mutation ($input: CreateOntologyInput!) { createOntology(input: $input) { ontology { name } } }", { input });
  for (const [title, status] of [["Write the invitation", "doing"], ["Find a room", "todo"], ["Ask who comes", "todo"], ["Set the date", "done"]])
    await ask("mutation ($input: CreateTaskInput!) { createTask(input: $input) { node { id } } }", { input: { title, status } }, "/graphql/board");
}

const files = { "/": ["index.html", "text/html"], "/main.js": ["dist/main.js", "text/javascript"], "/main.css": ["dist/main.css", "text/css"] };
createServer((request, response) => {
  const [file, type] = files[new URL(request.url, page).pathname] ?? [];
  response.writeHead(file ? 200 : 404, { "content-type": `${type ?? "text/plain"}; charset=utf-8` });
  response.end(file ? readFileSync(join(here, file)) : "not here");
}).listen(Number(PORT), "127.0.0.1", () => console.log(`The board is at ${page}`));
