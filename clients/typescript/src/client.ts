// The client: queries, changes that are safe to retry, pages, and subscriptions that resume.
import { type Document, declares, textOf, withRetryKeys } from "./document.ts";
import { GatewayError } from "./errors.ts";
import { Actors } from "./features/actors.ts";
import { Facts } from "./features/facts.ts";
import { Graph } from "./features/graph.ts";
import { Programs } from "./features/programs.ts";
import { FollowEvents, type EventType, type FollowEventsResult, LastPosition } from "./generated/operations.ts";
import { type Endpoint, send } from "./http.ts";
import { DEFAULT_RETRY, type RetryOptions, isWorthRetrying, sleep, waitBefore } from "./retry.ts";
import { type FollowOptions, follow } from "./streams/follow.ts";
import { subscribeBySse } from "./streams/sse.ts";
import type { Subscribe, SubscribeOptions } from "./streams/subscription.ts";
import { type SocketClass, type SocketStreams, subscribeBySocket } from "./streams/websocket.ts";

export interface ClientOptions {
  /** The gateway, such as `http://127.0.0.1:8000`, or its GraphQL endpoint: `…/graphql`, `…/graphql/default`. */
  url: string;
  /** An API key or token, or a function that answers the one to use now. */
  token?: string | (() => string | Promise<string>) | undefined;
  headers?: (() => Record<string, string>) | undefined;
  /** How subscriptions travel: server-sent events, one connection each, or one WebSocket for all. */
  transport?: "sse" | "websocket" | undefined;
  /** For platforms that have no WebSocket, such as Node.js 20. */
  webSocket?: SocketClass | undefined;
  fetch?: typeof fetch | undefined;
  /** How long one try of a request may take. */
  timeoutMs?: number | undefined;
  retry?: Partial<RetryOptions> | undefined;
}

export interface RequestOptions {
  signal?: AbortSignal | undefined;
  /** How often this request is sent at most. */
  tries?: number | undefined;
}

export type LogEvent = FollowEventsResult["events"];
type Values = Record<string, unknown>;

export interface EventOptions extends FollowOptions {
  /** The position after which to begin; the end of the log, as it is now, when left out. */
  after?: number | undefined;
  types?: EventType[] | undefined;
}

export class Client {
  readonly graph: Graph;
  readonly facts: Facts;
  readonly programs: Programs;
  readonly actors: Actors;
  private readonly endpoint: Endpoint;
  private readonly retry: RetryOptions;
  private readonly stream: Subscribe;
  private readonly sockets: SocketStreams | null;

  constructor(options: ClientOptions | string) {
    const { url, token = "", headers, transport = "sse", webSocket, fetch: own, timeoutMs = 60_000, retry } = typeof options === "string" ? { url: options } as ClientOptions : options;
    this.endpoint = {
      url: toEndpointUrl(url),
      token: typeof token === "function" ? token : () => token,
      headers: headers ?? (() => ({})),
      fetch: own ?? ((...request) => globalThis.fetch(...request)),
      timeoutMs,
    };
    this.retry = { ...DEFAULT_RETRY, ...retry };
    this.sockets = transport === "websocket" ? subscribeBySocket(this.endpoint, webSocket) : null;
    this.stream = this.sockets?.subscribe ?? subscribeBySse(this.endpoint);
    this.graph = new Graph(this);
    this.facts = new Facts(this);
    this.programs = new Programs(this);
    this.actors = new Actors(this);
  }

  /** Read. It is sent again when no answer came, as often as the client's options say. */
  query<Result = unknown, Variables extends object = Values>(document: Document<Result, Variables>, variables?: Variables, options: RequestOptions = {}): Promise<Result> {
    return this.request(textOf(document), { ...variables } as Values, true, options);
  }

  /**
   * Change something. One retry key, made here unless it is given, goes with every try: so however often it is sent, it is
   * done once. A change without a place for a key is sent again only where the gateway says that nothing was done.
   */
  mutate<Result = unknown, Variables extends object = Values>(document: Document<Result, Variables>, variables?: Variables, options: RequestOptions = {}): Promise<Result> {
    const text = textOf(document);
    const { variables: keyed, isSafe } = withRetryKeys(text, { ...variables } as Values, () => crypto.randomUUID());
    return this.request(text, keyed, isSafe, options);
  }

  /** One subscription as it is: it ends with its connection. `follow` takes it up again. */
  async *subscribe<Result = unknown, Variables extends object = Values>(document: Document<Result, Variables>, variables?: Variables, options: SubscribeOptions = {}): AsyncGenerator<Result, void, undefined> {
    yield* this.stream<Result>(textOf(document), { ...variables } as Values, options);
  }

  /**
   * A subscription with the variable `$afterSeq` and items with a `seq`, for ever: nothing lost, nothing twice, however
   * often the connection breaks. Ends when the loop is left or `signal` aborts.
   */
  async *follow<Result extends object = Record<string, { seq: number }>, Variables extends object = Values>(
    document: Document<Result, Variables>,
    variables?: Omit<Variables, "afterSeq"> & { afterSeq?: number | null | undefined },
    options: FollowOptions = {},
  ): AsyncGenerator<Result, void, undefined> {
    const text = textOf(document);
    if (!declares(text, "afterSeq")) throw new TypeError("a subscription can only be followed with a variable $afterSeq");
    const given: Values = { ...variables };
    const after = typeof given.afterSeq === "number" ? given.afterSeq : await this.position(options);
    const open = (from: number, subscribing: SubscribeOptions) => this.stream<Result>(text, { ...given, afterSeq: from }, subscribing);
    yield* follow<Result>(open, seqOf, after, options);
  }

  /** Every event after a position, for ever. */
  async *events({ after, types, ...options }: EventOptions = {}): AsyncGenerator<LogEvent, void, undefined> {
    for await (const { events } of this.follow(FollowEvents, { types: types ?? null, afterSeq: after }, options)) yield events;
  }

  /** The position of the last event. */
  async position(options: RequestOptions = {}): Promise<number> {
    return (await this.query(LastPosition, {}, options)).stats.events;
  }

  /** Close the connection of subscriptions. Those that are followed over it come to an end by their `signal` or by leaving them. */
  close(): void {
    this.sockets?.close();
  }

  private async request<Result>(query: string, variables: Values, isSafe: boolean, { signal, tries = this.retry.tries }: RequestOptions): Promise<Result> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await send<Result>(this.endpoint, { query, variables }, signal);
      } catch (error) {
        if (attempt + 1 >= tries || !isWorthRetrying(error, isSafe)) throw error;
        await sleep(waitBefore(attempt, error, this.retry), signal);
      }
    }
  }
}

function toEndpointUrl(url: string): string {
  const bare = url.replace(/\/+$/, "");
  return /\/graphql(\/|$)/.test(bare) ? bare : `${bare}/graphql`;
}

/** The position of an item: of its only field. */
function seqOf(item: object): number {
  const [found] = Object.values(item) as ({ seq?: number } | null)[];
  if (typeof found?.seq !== "number") throw new GatewayError("REFUSED", "a subscription can only be followed if it asks for seq");
  return found.seq;
}
