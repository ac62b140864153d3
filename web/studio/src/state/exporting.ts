// The whole graph as a file: read page by page, so that its size has no limit but the browser's, and its progress is known.
import { ask } from "../api/client.ts";
import { documents } from "../api/documents.ts";
import { type ExportedNode, toExportLine } from "../model/exporting.ts";
import type { Json, PageInfo } from "../model/types.ts";
import { overview, refreshOverview } from "./app.ts";

const PAGE = 500;

export interface ExportFile {
  file: Blob;
  nodes: number;
  edges: number;
}

/** Nodes and edges by id in the format of `ugs export`. What is changed meanwhile may be in it or not. */
export async function readExport(progress: (done: number, of: number) => void): Promise<ExportFile> {
  await refreshOverview();
  const { nodes = 0, edges = 0 } = overview.peek()?.stats ?? {};
  const parts: string[] = [];
  const counts = { graphNodes: 0, graphEdges: 0 };
  const read = async (document: string, field: keyof typeof counts) => {
    let after: string | null = null;
    do {
      const answer: Record<string, { nodes: Json[]; pageInfo: PageInfo }> = await ask(document, { first: PAGE, after });
      const page = answer[field];
      if (!page) return;
      for (const row of page.nodes) parts.push(`${counts[field]++ ? ",\n" : "\n"}${toExportLine(row as ExportedNode)}`);
      progress(counts.graphNodes + counts.graphEdges, Math.max(nodes + edges, counts.graphNodes + counts.graphEdges));
      after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null;
    } while (after);
  };
  parts.push('{"nodes": [');
  await read(documents.exportNodes, "graphNodes");
  parts.push('],\n"edges": [');
  await read(documents.exportEdges, "graphEdges");
  parts.push("]}\n");
  return { file: new Blob(parts, { type: "application/json" }), nodes: counts.graphNodes, edges: counts.graphEdges };
}
