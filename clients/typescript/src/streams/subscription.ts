// What both ways of subscribing have in common.

/** How a subscription is doing. */
export type LinkState = "connecting" | "live" | "lost" | "stopped";

export interface SubscribeOptions {
  signal?: AbortSignal | undefined;
  /** Called once the gateway has taken the subscription. */
  onOpen?: (() => void) | undefined;
}

/** Runs one subscription to its end: items in order. A connection that ends without saying so is an error. */
export type Subscribe = <T>(query: string, variables: Record<string, unknown>, options?: SubscribeOptions) => AsyncGenerator<T, void, undefined>;
