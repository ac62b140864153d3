// A row of an exported file.
import type { Json } from "./types.ts";

export type ExportedNode = { [key: string]: Json } & { content?: { format: string; encoding: string; body: string } | null };

/** A node or an edge as a line of an export: a node without content says nothing of it. */
export function toExportLine({ content, ...row }: ExportedNode): string {
  if (!content) return JSON.stringify(row);
  return JSON.stringify({ ...row, content: { ...content, encoding: content.encoding === "BASE64" ? "base64" : "utf-8" } });
}
