// Reads the whole event log for a backup, line by line, so that its progress is known.
import { readResponseError } from "@ugs/client";
import { GatewayError, toGatewayError } from "../model/errors.ts";
import { LineCounter } from "../model/lineCounter.ts";
import { texts } from "../texts.ts";
import { token } from "./client.ts";

/** The log as a file of JSON lines. One that broke off on the way is an error, not a short backup. */
export async function downloadLog(progress: (done: number, of: number) => void): Promise<{ file: Blob; events: number }> {
  const response = await connect();
  const error = response.ok ? null : readResponseError(response.status, await response.json().catch(() => null));
  if (error) throw toGatewayError(error);
  const last = Number(response.headers.get("ugs-last") ?? 0);
  const [parts, lines] = [[] as Uint8Array<ArrayBuffer>[], new LineCounter()];
  const reader = response.body?.getReader();
  try {
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
      parts.push(part.value);
      progress(lines.add(part.value), last);
    }
  } catch {
    throw new GatewayError("OFFLINE", texts.admin.backupBroken(lines.count, last));
  }
  if (lines.count < last) throw new GatewayError("OFFLINE", texts.admin.backupBroken(lines.count, last));
  return { file: new Blob(parts, { type: "application/x-ndjson" }), events: last };
}

async function connect(): Promise<Response> {
  try {
    return await fetch("/log", { headers: token() ? { authorization: `Bearer ${token()}` } : {} });
  } catch {
    throw new GatewayError("OFFLINE", texts.errors.offline);
  }
}
