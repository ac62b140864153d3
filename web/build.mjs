// GraphiQL and Studio as plain files for the gateway to serve: nothing inline, no address of another machine.
// usage: node build.mjs <output folder>
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { build } from "esbuild";

const out = process.argv[2] ?? "../gateway/ugs_gateway/static";

const common = {
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  legalComments: "none",
  loader: { ".ttf": "file", ".jsx": "jsx" },
  define: { "process.env.NODE_ENV": '"production"' },
  logLevel: "warning",
  metafile: true,
};

await buildGraphiql(join(out, "graphiql"));
await buildStudio(join(out, "studio"));

async function buildGraphiql(folder) {
  rmSync(folder, { recursive: true, force: true });
  const outdir = join(folder, "assets");
  // Workers keep their names: the page finds them by these (src/workers.js).
  await build({
    ...common,
    outdir,
    entryPoints: {
      "editor.worker": "monaco-editor/esm/vs/editor/editor.worker.js",
      "json.worker": "monaco-editor/esm/vs/language/json/json.worker.js",
      "graphql.worker": "monaco-graphql/esm/graphql.worker.js",
    },
    entryNames: "[name]",
  });
  const page = await build({ ...common, outdir, entryPoints: { main: "src/main.jsx" }, splitting: true, entryNames: "[name]-[hash]" });
  writePage("index.html", folder, page, "src/main.jsx");
}

async function buildStudio(folder) {
  rmSync(folder, { recursive: true, force: true });
  const outdir = join(folder, "assets");
  const worker = await build({ ...common, outdir, entryPoints: { layout: "studio/src/canvas/layout.worker.ts" }, entryNames: "[name]-[hash]" });
  const page = await build({
    ...common,
    outdir,
    alias: { "@ugs/client": "./client/src/index.ts" },
    jsx: "automatic",
    jsxImportSource: "preact",
    define: { ...common.define, LAYOUT_WORKER: JSON.stringify(basename(Object.keys(worker.metafile.outputs)[0])) },
    entryPoints: { main: "studio/src/main.tsx" },
    entryNames: "[name]-[hash]",
  });
  writePage("studio/index.html", folder, page, "studio/src/main.tsx");
}

function writePage(template, folder, { metafile }, entry) {
  const script = Object.entries(metafile.outputs).find(([, file]) => file.entryPoint === entry);
  const html = readFileSync(template, "utf8").replace("{script}", basename(script[0])).replace("{style}", basename(script[1].cssBundle));
  writeFileSync(join(folder, "index.html"), html);
}
