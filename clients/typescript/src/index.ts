// @ugs/client: what applications use.
export { Client, type ClientOptions, type EventOptions, type LogEvent, type RequestOptions } from "./client.ts";
export { type Document, type TypedDocument, typed } from "./document.ts";
export { GatewayError, OFFLINE, TIMEOUT, readResponseError } from "./errors.ts";
export type { Fact } from "./features/facts.ts";
export type { At, ChangeWarning, Changed, GraphEdge, GraphNode } from "./features/graph.ts";
export type { ProgramToRun, StoredProgram } from "./features/programs.ts";
export type * from "./generated/operations.ts";
export type { Json, JsonObject } from "./json.ts";
export { type Connection, type PageInfo, pages } from "./pages.ts";
export { DEFAULT_RETRY, type RetryOptions } from "./retry.ts";
export { type FollowOptions, follow } from "./streams/follow.ts";
export { type ServerEvent, readEvents } from "./streams/sse.ts";
export type { LinkState, SubscribeOptions } from "./streams/subscription.ts";
export type { SocketClass } from "./streams/websocket.ts";
