// GraphiQL as plain files for the gateway to serve: nothing inline, no address of another machine.
// usage: node build.mjs <output folder>
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { build } from "esbuild";

const out = process.argv[2] ?? "../gateway/static/graphiql";
rmSync(out, { recursive: true, force: true });

const common = {
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  outdir: join(out, "assets"),
  legalComments: "none",
  loader: { ".ttf": "file", ".jsx": "jsx" },
  define: { "process.env.NODE_ENV": '"production"' },
  logLevel: "warning",
  metafile: true,
};

// Workers keep their names: the page finds them by these (src/workers.js).
await build({
  ...common,
  entryPoints: {
    "editor.worker": "monaco-editor/esm/vs/editor/editor.worker.js",
    "json.worker": "monaco-editor/esm/vs/language/json/json.worker.js",
    "graphql.worker": "monaco-graphql/esm/graphql.worker.js",
  },
  entryNames: "[name]",
});
const page = await build({
  ...common,
  entryPoints: { main: "src/main.jsx" },
  splitting: true,
  entryNames: "[name]-[hash]",
});

const made = Object.entries(page.metafile.outputs);
const script = made.find(([, file]) => file.entryPoint === "src/main.jsx");
const html = readFileSync("index.html", "utf8")
  .replace("{script}", basename(script[0]))
  .replace("{style}", basename(script[1].cssBundle));
writeFileSync(join(out, "index.html"), html);
