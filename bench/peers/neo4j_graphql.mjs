// @neo4j/graphql on graphql-yoga.
import { createServer } from "node:http";
import { load, port } from "./from_here.mjs";

const { Neo4jGraphQL } = await load("@neo4j/graphql");
const neo4j = (await load("neo4j-driver")).default;
const { createYoga } = await load("graphql-yoga");

const typeDefs = `
  type PeerNode @node {
    id: ID!
    type: String!
    properties: String!
    data: String!
    modified: Float!
    edges: [PeerNode!]! @relationship(type: "PEER_EDGE", direction: OUT, properties: "PeerEdge")
  }
  type PeerEdge @relationshipProperties { id: ID! type: String! weight: Float! }`;

const { NEO4J_URL, NEO4J_USER, NEO4J_PASSWORD } = process.env;
const driver = neo4j.driver(NEO4J_URL, neo4j.auth.basic(NEO4J_USER, NEO4J_PASSWORD), { maxConnectionPoolSize: 10 });
const schema = await new Neo4jGraphQL({ typeDefs, driver }).getSchema();
createServer(createYoga({ schema, logging: false, graphiql: false })).listen(port, "127.0.0.1");
