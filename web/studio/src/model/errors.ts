// Errors of the gateway, with the code they came with and words on what to do.
import { texts } from "../texts.ts";
import type { Json } from "./types.ts";

export class GatewayError extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly details: { [key: string]: Json } = {},
  ) {
    super(message);
  }

  /** What somebody may do about it; empty when the message says it all. */
  get advice(): string {
    const advice: Record<string, string> = texts.advice;
    return advice[this.code] ?? "";
  }
}

interface ResponseError {
  message: string;
  extensions?: { code?: string; details?: { [key: string]: Json } };
}

/** The error in a GraphQL response body, or null when there is none. */
export function readResponseError(status: number, body: unknown): GatewayError | null {
  const { errors, error } = (typeof body === "object" && body !== null ? body : {}) as {
    errors?: ResponseError[];
    error?: string;
  };
  const first = errors?.[0];
  if (first) return new GatewayError(codeFor(status, first), first.message, first.extensions?.details);
  if (status >= 400) return new GatewayError(codeFor(status, undefined), error ?? texts.errors.status(status));
  return null;
}

function codeFor(status: number, error: ResponseError | undefined): string {
  if (status === 401) return "UNAUTHENTICATED";
  if (status === 429) return "RATE_LIMITED";
  return error?.extensions?.code ?? (status >= 500 ? "UNAVAILABLE" : "REFUSED");
}

/** Any thrown value as an error that can be shown. */
export function toGatewayError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  return new GatewayError("STUDIO", error instanceof Error ? error.message : String(error));
}
