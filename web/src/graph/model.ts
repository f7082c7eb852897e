// From the graph of a tool to what is drawn: texts, sizes, and the sketch for the layout.
import type { GEdge, GNode, Graph } from "../api/types";
import type { Sketch, SketchNode } from "./dagre";
import { headOf } from "../kit/format";
import { shortRule } from "./rule";

export interface DrawnNode {
  node: GNode;
  /** The second line: what the node calls, or its type. */
  detail: string;
  width: number;
  height: number;
  depth: number;
  /** Bodies that it owns; empty where it has none. */
  bodies: Graph["bodies"];
  /** How many nodes its bodies have, at all depths. */
  inside: number;
  folded: boolean;
}
/** Where the `catch` of a body or of the tool begins: not a node, but drawn as one. */
export interface DrawnSource { key: string; text: string; width: number; height: number; depth: number }
export interface DrawnEdge { id: string; edge: GEdge; label: string; depth: number }
export interface Model {
  graph: Graph;
  nodes: Map<string, DrawnNode>;
  sources: DrawnSource[];
  edges: DrawnEdge[];
  sketch: Sketch;
}

const headHeight = 38;
const plainHeight = 26;
const sourceHeight = 20;
/** Room for the longest time, "mean 59 min 59 s". */
const figures = 100;

export const sourceId = (key: string) => `catch:${key}`;

let context: CanvasRenderingContext2D | null | undefined;

/** The width of a text in pixels. */
export function textWidth(text: string, font: string): number {
  context ??= document.createElement("canvas").getContext("2d");
  if (!context) return text.length * 7;
  context.font = font;
  return context.measureText(text).width;
}

export const family = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';
export const idFont = `600 12px ${family}`;
export const detailFont = `11px ${family}`;
export const labelFont = `600 11px ${family}`;

export const shorten = (text: string, length: number) => text.length > length ? `${headOf(text, length - 1)}…` : text;

function detail(node: GNode): string {
  if (node.calls) return `call ${node.calls}`;
  if (node.server || node.tool) return [node.server, node.tool].filter(Boolean).join(" · ");
  return node.label && node.label !== node.id ? node.label : node.type;
}

/** Whether a node needs no second line: its type says all. */
export const isPlain = (node: GNode) => node.type === "entry" || node.type === "exit";

/** How wide nodes are at most, and the labels of edges in characters; the second pair is for graphs that would not fit. */
export const wide = { node: 300, label: 26 }, narrow = { node: 184, label: 12 };

/** Builds what is drawn of a graph, the bodies of the folded nodes left out. */
export function model(graph: Graph, folded: ReadonlySet<string>, longest = wide): Model {
  const byBody = new Map<string, GNode[]>();
  for (const n of graph.nodes) {
    const list = byBody.get(n.body ?? "");
    if (list) list.push(n);
    else byBody.set(n.body ?? "", [n]);
  }
  const bodiesOf = new Map<string, Graph["bodies"]>();
  for (const b of graph.bodies) bodiesOf.set(b.owner, [...(bodiesOf.get(b.owner) ?? []), b]);
  const edgesFrom = new Map<string, { edge: GEdge; id: string }[]>();
  graph.edges.forEach((edge, i) => {
    const list = edgesFrom.get(edge.from);
    if (list) list.push({ edge, id: `e${i}` });
    else edgesFrom.set(edge.from, [{ edge, id: `e${i}` }]);
  });
  const nodes = new Map<string, DrawnNode>();
  const edges: DrawnEdge[] = [];
  const sources: DrawnSource[] = [];
  const inside = (key: string): number =>
    (bodiesOf.get(key) ?? []).reduce((sum, b) => sum + (byBody.get(b.key) ?? []).reduce((n, x) => n + 1 + inside(x.key), 0), 0);

  const build = (body: string, depth: number): Sketch => {
    const members = byBody.get(body) ?? [];
    const names = new Set(members.map((n) => n.key));
    const sketch: Sketch = { nodes: [], edges: [] };
    for (const node of members) {
      const bodies = bodiesOf.get(node.key) ?? [];
      const isFolded = bodies.length > 0 && folded.has(node.key);
      const text = shorten(detail(node), 34);
      const plain = isPlain(node);
      const wanted = 14 + 26 + Math.max(textWidth(shorten(node.id, 28), idFont) + 40, plain ? 0 : textWidth(text, detailFont) + figures + (node.policies?.length ?? 0) * 13) + (bodies.length ? 24 : 0);
      const drawn: DrawnNode = {
        node, detail: text, width: Math.ceil(Math.max(plain ? 96 : 184, Math.min(longest.node, wanted))), height: plain ? plainHeight : headHeight,
        depth, bodies, inside: bodies.length ? inside(node.key) : 0, folded: isFolded,
      };
      nodes.set(node.key, drawn);
      const box: SketchNode = { id: node.key, width: drawn.width, height: drawn.height };
      if (bodies.length && !isFolded) box.bodies = bodies.map((b) => ({ key: b.key, sketch: build(b.key, depth + 1) }));
      sketch.nodes.push(box);
      connect(node.key);
    }
    const source = body === "" ? `${graph.tool}#` : body;
    if (edgesFrom.has(source)) {
      const text = "any node fails";
      const width = Math.ceil(textWidth(text, detailFont)) + 30;
      sources.push({ key: source, text, width, height: sourceHeight, depth });
      sketch.nodes.push({ id: sourceId(source), width, height: sourceHeight });
      connect(source, sourceId(source));
    }
    return sketch;

    function connect(from: string, at = from) {
      for (const { edge, id } of edgesFrom.get(from) ?? []) {
        if (!names.has(edge.to)) continue;
        const label = shorten(shortRule(edge.rule ?? edge.label ?? ""), longest.label);
        edges.push({ id, edge, label, depth });
        sketch.edges.push({ id, from: at, to: edge.to, width: label ? Math.ceil(textWidth(label, labelFont)) + 10 : 0, height: label ? 16 : 0 });
      }
    }
  };
  const sketch = build("", 0);
  return { graph, nodes, sources, edges, sketch };
}

/** How far from a corner an edge begins to turn. */
const turn = 22;

/** The path of an edge through its points, with round corners. */
export function path(points: { x: number; y: number }[]): string {
  const [first] = points;
  if (!first) return "";
  const r = (n: number) => Math.round(n * 10) / 10;
  let d = `M${r(first.x)} ${r(first.y)}`;
  for (let i = 1; i < points.length; i++) {
    const p = points[i]!, next = points[i + 1];
    if (!next) {
      d += `L${r(p.x)} ${r(p.y)}`;
      break;
    }
    const before = points[i - 1]!;
    const part = (to: { x: number; y: number }) => {
      const length = Math.hypot(to.x - p.x, to.y - p.y);
      const t = length === 0 ? 0 : Math.min(turn, length / 2) / length;
      return { x: p.x + (to.x - p.x) * t, y: p.y + (to.y - p.y) * t };
    };
    const from = part(before), to = part(next);
    d += `L${r(from.x)} ${r(from.y)}Q${r(p.x)} ${r(p.y)} ${r(to.x)} ${r(to.y)}`;
  }
  return d;
}
