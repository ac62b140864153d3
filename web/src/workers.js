// Monaco does its thinking in workers; these are files of our own, named by build.mjs.
const WORKERS = { json: "json.worker.js", graphql: "graphql.worker.js" };

globalThis.MonacoEnvironment = {
  getWorker(_, label) {
    const file = WORKERS[label] ?? "editor.worker.js";
    return new Worker(`/graphiql/assets/${file}`, { type: "module", name: label });
  },
};
