// Follows something that has positions, and takes it up again where it was lost: nothing twice, nothing left out.
import { isFinal } from "../errors.ts";
import { sleep } from "../retry.ts";
import type { LinkState, SubscribeOptions } from "./subscription.ts";

export interface FollowOptions {
  signal?: AbortSignal | undefined;
  onState?: ((state: LinkState) => void) | undefined;
  firstWaitMs?: number | undefined;
  longestWaitMs?: number | undefined;
}

export type Open<T> = (after: number, options: SubscribeOptions) => AsyncGenerator<T, void, undefined>;

/**
 * Items behind a position, for ever: a lost connection is made again, behind the last item that was taken. Ends when the
 * caller leaves or aborts; throws what would be refused again, such as a key that is not valid any more.
 */
export async function* follow<T>(open: Open<T>, positionOf: (item: T) => number, after: number, options: FollowOptions = {}): AsyncGenerator<T, void, undefined> {
  const { signal, onState = () => undefined, firstWaitMs = 250, longestWaitMs = 8_000 } = options;
  let position = after;
  let wait = firstWaitMs;
  try {
    for (;;) {
      onState("connecting");
      try {
        for await (const item of open(position, { signal, onOpen: () => onState("live") })) {
          const reached = positionOf(item);
          if (reached <= position) continue;
          position = reached;
          wait = firstWaitMs;
          onState("live");
          yield item;
        }
      } catch (error) {
        if (signal?.aborted) return;
        if (isFinal(error)) throw error;
      }
      if (signal?.aborted) return;
      onState("lost");
      await sleep(wait * (0.5 + Math.random() / 2), signal).catch(() => undefined);
      if (signal?.aborted) return;
      wait = Math.min(wait * 2, longestWaitMs);
    }
  } finally {
    onState("stopped");
  }
}
