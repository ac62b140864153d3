// PostGraphile 5 with its Amber preset on Node's own HTTP server, in production mode, with a pool of 10.
import { createServer } from "node:http";
import { load, port } from "./from_here.mjs";

const { postgraphile } = await load("postgraphile");
const { PostGraphileAmberPreset } = await load("postgraphile/presets/amber");
const { makePgService } = await load("postgraphile/adaptors/pg");
const { grafserv } = await load("postgraphile/grafserv/node");

const { PostGraphileConnectionFilterPreset } = await load("postgraphile-plugin-connection-filter");

const service = makePgService({
  connectionString: process.env.DATABASE_URL,
  schemas: [process.env.SCHEMA],
  poolConfig: { max: 10 },
});
const built = postgraphile({
  extends: [PostGraphileAmberPreset, PostGraphileConnectionFilterPreset],
  // Filters on columns without an index of their own, as on those of ours.
  disablePlugins: ["PgIndexBehaviorsPlugin"],
  schema: { connectionFilterRelations: true },
  pgServices: [service],
  grafserv: { port, graphiql: false, watch: false },
  grafast: { explain: false },
});
const server = createServer();
await built.createServ(grafserv).addTo(server);
server.listen(port, "127.0.0.1");
