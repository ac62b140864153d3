// Apollo Client for the gateway: requests over HTTP, subscriptions over a WebSocket.
import { ApolloClient, ApolloLink, HttpLink, InMemoryCache } from "@apollo/client";
import { GraphQLWsLink } from "@apollo/client/link/subscriptions";
import { OperationTypeNode } from "graphql";
import { createClient } from "graphql-ws";

declare const GATEWAY: string;
const endpoint = `${GATEWAY}/graphql/board`;

export const client = new ApolloClient({
  cache: new InMemoryCache(),
  link: ApolloLink.split(
    ({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION,
    // Whoever subscribes takes up what was lost by its position (live.ts), so the socket is not opened again by itself.
    new GraphQLWsLink(createClient({ url: endpoint.replace(/^http/, "ws"), retryAttempts: 0 })),
    new HttpLink({ uri: endpoint }),
  ),
});

/** The position of the last event: what happens after it comes by subscription. */
export async function readPosition(): Promise<number> {
  const response = await fetch(`${GATEWAY}/graphql`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ query: "{ stats { events } }" }) });
  const { data } = (await response.json()) as { data: { stats: { events: number } } };
  return data.stats.events;
}
