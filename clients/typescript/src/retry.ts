// When a request is sent again, and after which pause.
import { GatewayError, OFFLINE, TIMEOUT } from "./errors.ts";

export interface RetryOptions {
  /** How often a request is sent at most; 1 for never again. */
  tries: number;
  /** The first pause in milliseconds; each further one is twice as long. */
  firstWaitMs: number;
  longestWaitMs: number;
}

export const DEFAULT_RETRY: RetryOptions = { tries: 5, firstWaitMs: 200, longestWaitMs: 8_000 };

/** Codes after which it is not known whether the gateway did what was asked. */
const UNKNOWN_OUTCOME = new Set([OFFLINE, TIMEOUT, "UNAVAILABLE", "OUTCOME_UNKNOWN"]);

/** Whether to send it again: after a refusal that says so, or, if doing it twice is harmless, whenever the outcome is unknown. */
export function isWorthRetrying(error: unknown, isSafe: boolean): boolean {
  if (!(error instanceof GatewayError)) return false;
  return error.retryable || (isSafe && UNKNOWN_OUTCOME.has(error.code));
}

/** The pause before a try, which some chance keeps from being the same for everybody. */
export function waitBefore(attempt: number, error: unknown, { firstWaitMs, longestWaitMs }: RetryOptions): number {
  const asked = error instanceof GatewayError ? error.waitMs : null;
  const own = Math.min(firstWaitMs * 2 ** attempt, longestWaitMs);
  return Math.max(asked ?? 0, own * (0.5 + Math.random() / 2));
}

/** Wait; an abort ends the waiting with its reason. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", abort, { once: true });
  });
}
