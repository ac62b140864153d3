// Colours and sizes of nodes by type, degree or a property.
import type { GraphNode, Json } from "./types.ts";

/** Twelve colours that can be told apart on dark and on light ground. */
export const COLOURS = [
  "#4f8ff7", "#f2994a", "#2fb887", "#e0587d", "#a177f0", "#d9b52c",
  "#26b5c9", "#e8704c", "#7fb23a", "#c862c8", "#8d9db6", "#b98a5e",
] as const;
export const COLOUR_OF_NONE = "#8792a6";
const RAMP = ["#3a6ea5", "#4f8ff7", "#2fb887", "#d9b52c", "#e8704c"] as const;

export type ColourBy = { kind: "type" } | { kind: "degree" } | { kind: "property"; key: string };

export function parseColourBy(text: string | undefined): ColourBy {
  if (text === "degree") return { kind: "degree" };
  return text?.startsWith("property:") ? { kind: "property", key: text.slice(9) } : { kind: "type" };
}

export function formatColourBy(by: ColourBy): string {
  return by.kind === "property" ? `property:${by.key}` : by.kind === "degree" ? "degree" : "";
}

/** What a node is coloured by, as text: its type, a class of degrees, or the value of a property. */
export function classify(node: Pick<GraphNode, "type" | "degree" | "properties">, by: ColourBy): string {
  if (by.kind === "type") return node.type ?? "";
  if (by.kind === "degree") return DEGREE_CLASSES[degreeClass(node.degree)] ?? "";
  return describeValue(node.properties[by.key]);
}

export const DEGREE_CLASSES = ["0 – 1", "2 – 4", "5 – 19", "20 – 99", "100 +"] as const;

function degreeClass(degree: number): number {
  return [2, 5, 20, 100].filter((least) => degree >= least).length;
}

function describeValue(value: Json | undefined): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Gives every class a colour and keeps it, so that a type looks the same for the whole visit. */
export class Palette {
  private readonly given = new Map<string, string>();

  colourOf(name: string, by: ColourBy = { kind: "type" }): string {
    if (name === "") return COLOUR_OF_NONE;
    if (by.kind === "degree") return RAMP[DEGREE_CLASSES.indexOf(name as (typeof DEGREE_CLASSES)[number])] ?? RAMP[0];
    const key = by.kind === "property" ? `${by.key}=${name}` : name;
    const known = this.given.get(key);
    if (known) return known;
    const taken = [...this.given.keys()].filter((other) => other.includes("=") === key.includes("=")).length;
    const colour = COLOURS[taken % COLOURS.length] as string;
    this.given.set(key, colour);
    return colour;
  }
}

/** What the size of a node says: its edges, nothing, how rare its type is, or a number among its properties. */
export type SizeBy = { kind: "degree" } | { kind: "same" } | { kind: "rarity" } | { kind: "property"; key: string };

export function parseSizeBy(text: string | undefined): SizeBy {
  if (text === "same" || text === "rarity") return { kind: text };
  return text?.startsWith("property:") ? { kind: "property", key: text.slice(9) } : { kind: "degree" };
}

export function formatSizeBy(by: SizeBy): string {
  return by.kind === "property" ? `property:${by.key}` : by.kind === "degree" ? "" : by.kind;
}

const SAME_SIZE = 10;
const SIZES = { least: 7, most: 26 };

/** The radius of each node. A property counts from the least to the greatest number of it; without one a node is small. */
export function sizesOf(nodes: Pick<GraphNode, "id" | "type" | "degree" | "properties">[], by: SizeBy): Map<string, number> {
  const measure = measureFor(nodes, by);
  return new Map(nodes.map((node) => [node.id, measure(node)]));
}

function measureFor(nodes: Pick<GraphNode, "type" | "properties">[], by: SizeBy): (node: Pick<GraphNode, "type" | "degree" | "properties">) => number {
  if (by.kind === "degree") return ({ degree }) => sizeOf(degree);
  if (by.kind === "same") return () => SAME_SIZE;
  if (by.kind === "rarity") {
    const counts = new Map<string | null, number>();
    for (const { type } of nodes) counts.set(type, (counts.get(type) ?? 0) + 1);
    const ranks = [...new Set(counts.values())].sort((a, b) => b - a);
    return ({ type }) => SIZES.least + ((SIZES.most - SIZES.least) * ranks.indexOf(counts.get(type) ?? 0)) / Math.max(ranks.length - 1, 1);
  }
  const numbers = nodes.map(({ properties }) => properties[by.key]).filter((value) => typeof value === "number");
  const least = numbers.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const greatest = numbers.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  return ({ properties }) => {
    const value = properties[by.key];
    if (typeof value !== "number") return SIZES.least;
    return SIZES.least + (SIZES.most - SIZES.least) * (greatest > least ? (value - least) / (greatest - least) : 0.5);
  };
}

/** The radius of a node in pixels; it grows with the root of the degree, so that hubs do not cover the rest. */
export function sizeOf(degree: number): number {
  return Math.min(7 + 2.2 * Math.sqrt(degree), 26);
}
