// GraphiQL over the gateway it was served by: queries by POST, subscriptions over graphql-transport-ws.
import "./workers.js";
import "graphiql/style.css";
import "./page.css";

import { createGraphiQLFetcher } from "@graphiql/toolkit";
import { GraphiQL } from "graphiql";
import { parse } from "graphql";
import { createClient } from "graphql-ws";
import { createElement } from "react";
import { createRoot } from "react-dom/client";

import { EXAMPLES } from "./examples.js";

// An ontology has a schema of its own at /graphql/<ontology>; the page asks where it was served.
const address = new URL(location.pathname.startsWith("/graphql/") ? location.pathname : "/graphql", location.href);
const socket = new URL(address);
socket.protocol = address.protocol === "https:" ? "wss:" : "ws:";

// A browser cannot set headers on a WebSocket, so the headers editor reaches it through connection_init.
let headers = {};
const subscriptions = createClient({ url: socket.href, lazy: true, connectionParams: () => headers });
const ask = createGraphiQLFetcher({ url: address.href, wsClient: subscriptions });

function fetcher(parameters, options) {
  headers = lowered(options?.headers ?? {});
  const document = parsed(parameters.query);
  if (!document) return ask(parameters, options); // the server says what is wrong with it
  return ask({ ...parameters, operationName: operationIn(document, parameters) }, { ...options, documentAST: document });
}

// The editor looks at what is typed a moment later: right after a change of tabs it still names the old operation.
function operationIn(document, { operationName }) {
  const operations = document.definitions.filter((found) => found.kind === "OperationDefinition");
  return operations.length === 1 ? operations[0].name?.value : operationName;
}

function parsed(query) {
  try {
    return parse(query);
  } catch {
    return undefined;
  }
}

function lowered(given) {
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name.toLowerCase(), value]));
}

const graphiql = createElement(GraphiQL, {
  fetcher,
  defaultTabs: EXAMPLES,
  defaultEditorToolsVisibility: true,
  shouldPersistHeaders: false,
});

createRoot(document.getElementById("graphiql")).render(graphiql);
