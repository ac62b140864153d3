import { describe, expect, test } from "vitest";
import { FrameClock } from "../src/canvas/motion.ts";
import { countKinds, diffStates, unite } from "../src/model/changes.ts";
import { layOutDiagram } from "../src/model/diagram.ts";
import { drawSvg } from "../src/model/picture.ts";
import { densities, samplePositions, timeAt } from "../src/model/sampling.ts";
import { MAX_CANVAS_NODES, Scene, shorten } from "../src/model/scene.ts";
import { type TimelineFact, layOutTimeline } from "../src/model/timeline.ts";
import { edge, node } from "./elements.ts";

const HOSTILE = ["<script>alert(1)</script>", "\u202eevil", "a\u0000b", "]]>", "&amp;", "x".repeat(10_000), "🏳️‍🌈".repeat(100)];

describe("a scene", () => {
  test("takes over new states of what it has, and keeps its place", () => {
    const scene = new Scene();
    expect(scene.addNodes([node("a"), node("b")])).toEqual(["a", "b"]);
    const { x } = scene.graph.getNodeAttributes("a");
    expect(scene.addNodes([node("a", { label: "Ann" })], "b")).toEqual([]);
    expect(scene.graph.getNodeAttributes("a")).toMatchObject({ label: "Ann", x });
  });

  test("leaves out edges whose nodes are not there, and keeps parallel ones and loops", () => {
    const scene = new Scene();
    scene.addNodes([node("a"), node("b")]);
    scene.addEdges([edge("1", "a", "b"), edge("2", "a", "b"), edge("3", "a", "a"), edge("4", "a", "z"), edge("1", "a", "b", { type: "new" })]);
    expect(scene.graph.size).toBe(3);
    expect(scene.graph.getEdgeAttribute("1", "label")).toBe("new");
    scene.removeNode("b");
    scene.removeNode("b");
    expect(scene.graph.size).toBe(1);
  });

  test("never holds more than it can draw", () => {
    const scene = new Scene();
    const many = Array.from({ length: MAX_CANVAS_NODES + 10 }, (_, at) => node(`${at}`));
    expect(scene.addNodes(many)).toHaveLength(MAX_CANVAS_NODES);
  });

  test("is restored the same way twice", () => {
    const places = [new Scene(), new Scene()].map((scene) => {
      scene.addNodes([node("a"), node("b")]);
      return scene.graph.mapNodes((_, { x, y }) => [x, y]);
    });
    expect(places[0]).toEqual(places[1]);
  });

  test("arrow keys go to the nearest node in their direction", () => {
    const scene = new Scene();
    scene.addNodes([node("o"), node("east"), node("far"), node("north")]);
    const put = (id: string, x: number, y: number) => Object.assign(scene.graph.getNodeAttributes(id), { x, y });
    put("o", 0, 0);
    put("east", 5, 1);
    put("far", 50, 0);
    put("north", 0, 4);
    expect([scene.nextNode("o", 1, 0), scene.nextNode("o", 0, 1), scene.nextNode("o", -1, 0), scene.nextNode("gone", 1, 0)]).toEqual(["east", "north", null, null]);
    scene.setHidden(["east"], true);
    expect(scene.nextNode("o", 1, 0)).toBe("far");
  });

  test.each(HOSTILE.map((text) => [text]))("draws %j as plain text", (text) => {
    const scene = new Scene();
    scene.addNodes([node("a", { label: text })]);
    const svg = drawSvg(scene.graph, () => "#000000", { ground: "#fff", line: "#ccc", text: "#000" });
    expect(svg).not.toContain("<script");
    expect(svg).not.toContain("\u0000");
    expect([...shorten(text)].length).toBeLessThanOrEqual(40);
  });
});

describe("two states", () => {
  const before = { nodes: [node("a"), node("b"), node("c")], edges: [edge("1", "a", "b")] };
  const after = { nodes: [node("a"), node("b", { version: 2, properties: { x: 1 } }), node("d")], edges: [] };

  test("differ in what was added, changed and is gone", () => {
    const found = diffStates(before, after);
    expect(Object.fromEntries(found.nodes)).toEqual({ b: "changed", d: "added", c: "gone" });
    expect(Object.fromEntries(found.edges)).toEqual({ 1: "gone" });
    expect(countKinds(found)).toEqual({ added: 1, changed: 1, gone: 2 });
    expect(countKinds(diffStates(before, before))).toEqual({ added: 0, changed: 0, gone: 0 });
  });

  test("together hold everything once, in the later state", () => {
    const all = unite(before, after);
    expect(all.nodes.map((each) => each.id).sort()).toEqual(["a", "b", "c", "d"]);
    expect(all.nodes.find((each) => each.id === "b")?.version).toBe(2);
  });
});

describe("samples of the log", () => {
  test("reach from the first to the last event", () => {
    expect(samplePositions(0, 5)).toEqual([]);
    expect(samplePositions(1, 5)).toEqual([1]);
    expect(samplePositions(3, 5)).toEqual([1, 2, 3]);
    const many = samplePositions(200_000, 24);
    expect([many.length, many[0], many.at(-1)]).toEqual([24, 1, 200_000]);
  });

  test("tell the time between them, and how dense changes are", () => {
    const samples = [{ seq: 1, timestamp: 0 }, { seq: 11, timestamp: 100 }, { seq: 21, timestamp: 1100 }];
    expect([timeAt(samples, 6), timeAt(samples, 11), timeAt(samples, 99), timeAt([], 1)]).toEqual([50, 100, 1100, null]);
    const [dense, sparse] = densities(samples);
    expect(dense).toBe(1);
    expect(sparse).toBeLessThan(0.5);
  });
});

describe("a timeline", () => {
  const fact = (factId: string, predicate: string, from: number, to: number | null, supersededBy: string[] = []): TimelineFact => ({
    factId, predicate, object: factId, validFrom: from, validTo: to, createdAt: from, supersededBy, state: "CURRENT",
  });
  const DAY = 86_400_000;

  test("has a lane for each predicate, and no bar covers another", () => {
    const facts = [fact("1", "a", 0, 10 * DAY, ["2"]), fact("2", "a", 10 * DAY, null), fact("3", "a", 5 * DAY, 8 * DAY), fact("4", "b", 0, null)];
    const { lanes, arrows, rows } = layOutTimeline(facts, 20 * DAY);
    expect(lanes.map((lane) => [lane.predicate, lane.rows])).toEqual([["a", 2], ["b", 1]]);
    expect(rows).toBe(3);
    for (const { bars } of lanes) {
      for (const a of bars) for (const b of bars) if (a !== b && a.row === b.row) expect(a.left + a.width <= b.left + 1e-6 || b.left + b.width <= a.left + 1e-6).toBe(true);
    }
    expect(arrows.map(({ from, to }) => [from.fact.factId, to.fact.factId])).toEqual([["1", "2"]]);
  });

  test("stands one fact of a moment, and none", () => {
    const one = layOutTimeline([fact("1", "a", 0, 0)], 0);
    expect(one.lanes[0]?.bars[0]?.width).toBeGreaterThan(0);
    expect(one.ticks.length).toBeLessThan(12);
    expect(layOutTimeline([], 0).lanes).toEqual([]);
  });
});

describe("a diagram", () => {
  const connection = (name: string, fromTypes: string[], toTypes: string[]) => ({ name, fromTypes, toTypes, requiredProperties: [], acyclic: false });

  test("puts what leads to others left of them, and stands circles", () => {
    const { boxes, lines } = layOutDiagram(["a", "b", "c"], [connection("x", ["a"], ["b"]), connection("y", ["b"], ["c", "a"]), connection("self", ["c"], ["c"]), connection("unknown", ["a"], ["gone"])]);
    expect(new Set(boxes.map(({ x, y }) => `${x},${y}`)).size).toBe(3);
    expect(lines.map((line) => line.name)).toEqual(["x", "y", "y", "self"]);
    const at = Object.fromEntries(boxes.map((box) => [box.type, box.x]));
    expect(at.c as number).toBeGreaterThan(at.b as number);
  });

  test("lines of the same two boxes are told apart", () => {
    const { lines } = layOutDiagram(["a", "b"], [connection("x", ["a"], ["b"]), connection("y", ["a"], ["b"]), connection("z", ["b"], ["a"])]);
    expect(lines.map((line) => [line.index, line.of])).toEqual([[0, 3], [1, 3], [2, 3]]);
  });
});

describe("motion", () => {
  const told = (gaps: number[]) => {
    const clock = new FrameClock();
    const times = gaps.map((_, at) => gaps.slice(0, at + 1).reduce((sum, gap) => sum + gap, 1000));
    return times.map((time) => clock.note(time));
  };

  test("is slow when several frames are late, not when one is", () => {
    expect(told([0, 16, 16, 16, 16, 16])).not.toContain(true);
    expect(told([0, 16, 16, 90, 16, 16, 16])).not.toContain(true);
    expect(told([0, 60, 60, 60, 60]).at(-1)).toBe(true);
    expect(told([0, 60, 60, 60]).at(-1)).toBe(false);
  });

  test("counts nothing between two movements", () => {
    const clock = new FrameClock();
    for (const time of [0, 16, 32, 48]) clock.note(time);
    clock.rest();
    for (const time of [9000, 9016, 9032, 9048, 9064]) expect(clock.note(time)).toBe(false);
  });
});
