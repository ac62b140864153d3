// graphql-yoga with graphql-jit over maps in memory.
import { createServer } from "node:http";
import { graph, load, port } from "./from_here.mjs";

const nodes = new Map(), outgoing = new Map(), byType = new Map();
const listed = (map, key) => map.get(key) ?? map.set(key, []).get(key);
for await (const one of graph()) {
  if (one.from === undefined) {
    nodes.set(one.id, one);
    listed(byType, one.type).push(one.id);
  } else listed(outgoing, one.from).push(one);
}

const typeDefs = `
  scalar JSON
  type Node { id: ID! type: String! properties: JSON! data: JSON! modified: Float! edges(first: Int = 20): [Edge!]! }
  type Edge { id: ID! type: String! weight: Float! properties: JSON! target: Node! }
  type PageInfo { hasNextPage: Boolean! endCursor: String }
  type NodeEdge { cursor: String! node: Node! }
  type NodeConnection { edges: [NodeEdge!]! pageInfo: PageInfo! }
  type Query { node(id: ID!): Node nodes(type: String!, first: Int = 100, after: String): NodeConnection! }`;

function page(type, first, after) {
  const ids = byType.get(type) ?? [];
  const start = after ? ids.findIndex((id) => id > after) : 0;
  const shown = ids.slice(start, start + first);
  const edges = shown.map((id) => ({ cursor: id, node: nodes.get(id) }));
  return { edges, pageInfo: { hasNextPage: ids.length > start + first, endCursor: shown.at(-1) } };
}
const resolvers = {
  Query: { node: (_, { id }) => nodes.get(id), nodes: (_, { type, first, after }) => page(type, first, after) },
  Node: { edges: (node, { first }) => (outgoing.get(node.id) ?? []).slice(0, first) },
  Edge: { target: (edge) => nodes.get(edge.to) },
};

const { createYoga, createSchema } = await load("graphql-yoga");
const { compileQuery, isCompiledQuery } = await load("graphql-jit");
const compiled = new WeakMap();
function execute({ schema, document, operationName, rootValue, contextValue, variableValues }) {
  let found = compiled.get(document);
  if (!found) compiled.set(document, (found = compileQuery(schema, document, operationName)));
  return isCompiledQuery(found) ? found.query(rootValue, contextValue, variableValues) : found;
}
const plugins = [{ onExecute: ({ setExecuteFn }) => setExecuteFn(execute) }];
const yoga = createYoga({ schema: createSchema({ typeDefs, resolvers }), plugins, logging: false, graphiql: false });
createServer(yoga).listen(port, "127.0.0.1");
