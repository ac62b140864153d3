// Composes our subgraph with another one that adds a field to our nodes; prints what the router would say of it.
import { readFileSync } from "node:fs";
import { composeServices } from "@apollo/composition";
import { parse } from "graphql";

const other = `
  extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key", "@shareable"])
  type GraphNode @key(fields: "id") { id: ID! reviews: [Review!]! }
  type Entity @key(fields: "id", resolvable: false) { id: ID! }
  type Review { text: String! node: GraphNode! about: Entity }
  type PageInfo @shareable {
    hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String
  }
  type Query { reviews: [Review!]! pages: PageInfo }
`;
const result = composeServices([
  { name: "graph", url: "http://graph", typeDefs: parse(readFileSync(process.argv[2], "utf8")) },
  { name: "reviews", url: "http://reviews", typeDefs: parse(other) },
]);
const errors = (result.errors ?? []).map((error) => error.message.slice(0, 300));
const hints = (result.hints ?? []).map((hint) => hint.message.slice(0, 300));
console.log(JSON.stringify({ errors, hints, supergraph: result.supergraphSdl ?? "" }));
