// The canvas as SVG.
import type { SceneGraph } from "./scene.ts";

export interface Theme {
  ground: string;
  line: string;
  text: string;
}

const SCALE = 900;
const MARGIN = 60;

/** The graph as an SVG document; labels are escaped. */
export function drawSvg(graph: SceneGraph, colourOf: (id: string) => string, theme: Theme): string {
  const shown = graph.filterNodes((_, node) => !node.hidden);
  const xs = shown.map((id) => graph.getNodeAttribute(id, "x"));
  const ys = shown.map((id) => graph.getNodeAttribute(id, "y"));
  const [left, top] = [Math.min(...xs, 0), Math.max(...ys, 0)];
  const span = Math.max(Math.max(...xs, 1) - left, top - Math.min(...ys, 0), 1);
  const place = (id: string) => ({
    x: MARGIN + ((graph.getNodeAttribute(id, "x") - left) / span) * SCALE,
    y: MARGIN + ((top - graph.getNodeAttribute(id, "y")) / span) * SCALE,
  });
  const visible = new Set(shown);
  const edges = graph.mapEdges((_, { label }, from, to) => {
    if (!visible.has(from) || !visible.has(to)) return "";
    const [a, b] = [place(from), place(to)];
    const line = `<line x1="${a.x.toFixed(1)}" y1="${a.y.toFixed(1)}" x2="${b.x.toFixed(1)}" y2="${b.y.toFixed(1)}" stroke="${theme.line}"/>`;
    return `${line}<text x="${((a.x + b.x) / 2).toFixed(1)}" y="${((a.y + b.y) / 2).toFixed(1)}" font-size="9" fill="${theme.line}" text-anchor="middle">${escapeXml(label)}</text>`;
  });
  const nodes = shown.map((id) => {
    const { x, y } = place(id);
    const { size, label } = graph.getNodeAttributes(id);
    const circle = `<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="${size.toFixed(1)}" fill="${colourOf(id)}"/>`;
    return `${circle}<text x="${x.toFixed(1)}" y="${(y + size + 13).toFixed(1)}" font-size="12" fill="${theme.text}" text-anchor="middle">${escapeXml(label)}</text>`;
  });
  const side = SCALE + 2 * MARGIN;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${side} ${side}" font-family="sans-serif"><rect width="${side}" height="${side}" fill="${theme.ground}"/>${edges.join("")}${nodes.join("")}</svg>`;
}

export function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`).replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, "�");
}
