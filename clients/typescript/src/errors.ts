// What can go wrong: errors of the gateway with their code, and those of the way there.
import type { JsonObject } from "./json.ts";

/** The gateway cannot be reached. */
export const OFFLINE = "OFFLINE";
/** No answer came in time. Whether a change was made is not known; a retry with the same key is safe. */
export const TIMEOUT = "TIMEOUT";

const AFTER_SECONDS = "retry-after";

/** An error with a code that never changes its meaning; docs/errors.md lists those of the gateway. */
export class GatewayError extends Error {
  override readonly name = "GatewayError";

  constructor(
    readonly code: string,
    message: string,
    readonly details: JsonObject = {},
    /** Whether the same request may simply be sent again, because nothing was done. */
    readonly retryable = false,
    /** The status of the HTTP answer; 0 where there was none. */
    readonly status = 0,
    /** How long the gateway asks to wait, in milliseconds; null when it does not say. */
    readonly waitMs: number | null = null,
  ) {
    super(message);
  }
}

interface ResponseError {
  message: string;
  extensions?: { code?: string; details?: JsonObject; retryable?: boolean };
}

/** The error in a GraphQL answer, or null when it is a good one. */
export function readResponseError(status: number, body: unknown, headers?: Headers): GatewayError | null {
  const { errors, error } = (typeof body === "object" && body !== null ? body : {}) as { errors?: ResponseError[]; error?: string };
  const first = errors?.[0];
  if (!first && status < 400) return null;
  const message = first?.message ?? error ?? `The gateway answered with status ${status}.`;
  const code = codeFor(status, first);
  const retryable = first?.extensions?.retryable ?? (status === 429 || status === 503);
  return new GatewayError(code, message, first?.extensions?.details, retryable, status, readWait(headers));
}

/** The error in an item of a subscription, or null. */
export function readItemError(errors: readonly ResponseError[] | undefined): GatewayError | null {
  return errors?.[0] ? readResponseError(200, { errors }) : null;
}

function codeFor(status: number, error: ResponseError | undefined): string {
  if (status === 401) return "UNAUTHENTICATED";
  if (status === 429) return "RATE_LIMITED";
  return error?.extensions?.code ?? (status >= 500 ? "UNAVAILABLE" : "REFUSED");
}

function readWait(headers: Headers | undefined): number | null {
  const seconds = Number(headers?.get(AFTER_SECONDS) ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : null;
}

/** Codes after which it makes no sense to subscribe again: the same would be refused the same way. */
const FINAL_CODES = new Set([
  "UNAUTHENTICATED", "FORBIDDEN", "REFUSED", "GRAPHQL_PARSE_FAILED", "GRAPHQL_VALIDATION_FAILED", "ANSWER_TOO_LARGE", "E005", "E006",
  "POSITION_NOT_FOUND", "HISTORY_GONE", "LIMIT_EXCEEDED",
]);

export function isFinal(error: unknown): boolean {
  return !(error instanceof GatewayError) || FINAL_CODES.has(error.code);
}
