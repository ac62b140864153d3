// One query, one mutation and one subscription with each client that frontends use; prints what came back as JSON.
import { ApolloClient, ApolloLink, HttpLink, InMemoryCache, gql } from "@apollo/client";
import { GraphQLWsLink } from "@apollo/client/link/subscriptions";
import { Client, cacheExchange, fetchExchange, subscriptionExchange } from "@urql/core";
import { createClient as createSse } from "graphql-sse";
import { createClient as createWs } from "graphql-ws";
import WebSocket from "ws";

globalThis.WebSocket ??= WebSocket;
const http = process.argv[2];
const ws = http.replace("http:", "ws:");
const QUERY = "{ graphNode(id: \"alice\") { id label } }";
const CHANGE = "mutation($id: ID!) { addNode(input: {id: $id}) { node { id version } } }";
const WATCH = "subscription { events(afterSeq: 0) { seq type elementId } }";

const first = (subscribe) => new Promise((resolve, reject) => {
  const stop = subscribe((value) => { resolve(value); queueMicrotask(() => stop?.()); }, reject);
});
const sockets = () => createWs({ url: ws, webSocketImpl: WebSocket, retryAttempts: 0 });

async function apollo() {
  const socket = sockets();
  const link = ApolloLink.split(
    ({ query }) => query.definitions.some((found) => found.operation === "subscription"),
    new GraphQLWsLink(socket),
    new HttpLink({ uri: http, fetch }),
  );
  const client = new ApolloClient({ link, cache: new InMemoryCache() });
  const asked = await client.query({ query: gql(QUERY) });
  const changed = await client.mutate({ mutation: gql(CHANGE), variables: { id: "by_apollo" } });
  const heard = await first((next, fail) => {
    const watching = client.subscribe({ query: gql(WATCH) }).subscribe({ next: (value) => next(value.data), error: fail });
    return () => watching.unsubscribe();
  });
  await socket.dispose();
  client.stop();
  return { asked: asked.data, changed: changed.data, heard };
}

async function urql() {
  const socket = sockets();
  const client = new Client({
    url: http,
    fetch,
    preferGetMethod: false,
    exchanges: [cacheExchange, fetchExchange, subscriptionExchange({
      forwardSubscription: (request) => ({
        subscribe: (sink) => ({ unsubscribe: socket.subscribe({ ...request, query: request.query ?? "" }, sink) }),
      }),
    })],
  });
  const asked = await client.query(QUERY, {}).toPromise();
  const changed = await client.mutation(CHANGE, { id: "by_urql" }).toPromise();
  const heard = await first((next, fail) => {
    const watching = client.subscription(WATCH, {}).subscribe((result) => (result.error ? fail(result.error) : next(result.data)));
    return () => watching.unsubscribe();
  });
  await socket.dispose();
  if (asked.error || changed.error) throw asked.error ?? changed.error;
  return { asked: asked.data, changed: changed.data, heard };
}

async function graphqlWs() {
  const client = sockets();
  const heard = await first((next, fail) => client.subscribe({ query: WATCH }, { next: (value) => next(value.data), error: fail, complete() {} }));
  await client.dispose();
  return { heard };
}

async function graphqlSse() {
  const client = createSse({ url: http, singleConnection: false, fetchFn: fetch, retryAttempts: 0 });
  const heard = await first((next, fail) => client.subscribe({ query: WATCH }, { next: (value) => next(value.data), error: fail, complete() {} }));
  client.dispose();
  return { heard };
}

const told = { apollo: await apollo(), urql: await urql(), graphqlWs: await graphqlWs(), graphqlSse: await graphqlSse() };
console.log(JSON.stringify(told));
process.exit(0);
