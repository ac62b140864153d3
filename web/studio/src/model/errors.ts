// Errors of the gateway, with the code they came with and words on what to do.
import { GatewayError as ClientError, OFFLINE } from "@ugs/client";
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

/** Any thrown value as an error that can be shown. */
export function toGatewayError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  if (error instanceof ClientError) return new GatewayError(error.code, error.code === OFFLINE ? texts.errors.offline : error.message, error.details);
  return new GatewayError("STUDIO", error instanceof Error ? error.message : String(error));
}
