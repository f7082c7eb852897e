// Places boxes and edges top-down, bodies inside their owners. Pure: it runs in the page and in a worker.
import { Graph, layout as run } from "@dagrejs/dagre";
import { layered } from "./layered";

export interface SketchNode {
  id: string;
  width: number;
  /** Of the node itself; bodies stand beneath. */
  height: number;
  bodies?: { key: string; sketch: Sketch }[];
}
export interface Sketch {
  nodes: SketchNode[];
  edges: { id: string; from: string; to: string; width: number; height: number }[];
}
export interface Box { x: number; y: number; width: number; height: number }
export interface Placed {
  nodes: Record<string, Box>;
  bodies: Record<string, Box>;
  edges: Record<string, { points: { x: number; y: number }[]; label?: { x: number; y: number } }>;
  width: number;
  height: number;
}

/** The room between a frame and what is in it, and the height of the head of a body. */
export const padding = 10;
export const bodyHead = 22;

/** Room for the name of a body and the picker of its iterations. */
const narrowestBody = 190;

interface Inner { key: string; placed: Placed; width: number; height: number }

export function layout(sketch: Sketch): Placed {
  const inner = new Map<string, Inner[]>();
  const g = new Graph({ multigraph: true });
  g.setGraph({ rankdir: "TB", rankalign: "top", nodesep: 28, ranksep: 30, edgesep: 16, marginx: 8, marginy: 8 });
  for (const n of sketch.nodes) {
    const bodies = (n.bodies ?? []).map(({ key, sketch }) => {
      const placed = layout(sketch);
      return { key, placed, width: Math.max(placed.width, narrowestBody), height: placed.height + bodyHead };
    });
    inner.set(n.id, bodies);
    const width = bodies.reduce((sum, b) => sum + b.width + padding, padding);
    const height = Math.max(0, ...bodies.map((b) => b.height + padding));
    g.setNode(n.id, { width: bodies.length ? Math.max(n.width, width) : n.width, height: n.height + height });
  }
  for (const e of sketch.edges) g.setEdge(e.from, e.to, { width: e.width, height: e.height, labelpos: "c" }, e.id);
  try {
    run(g);
  } catch (e) {
    if (!(e instanceof RangeError)) throw e;
    runLayered(g, sketch);
  }

  const placed: Placed = { nodes: {}, bodies: {}, edges: {}, width: 0, height: 0 };
  for (const n of sketch.nodes) {
    const at = g.node(n.id) as { x: number; y: number; width: number; height: number };
    const box = { x: at.x - at.width / 2, y: at.y - at.height / 2, width: at.width, height: at.height };
    placed.nodes[n.id] = box;
    const bodies = inner.get(n.id)!;
    const free = at.width - bodies.reduce((sum, b) => sum + b.width + padding, padding);
    let x = box.x + padding + Math.max(0, free / 2);
    for (const b of bodies) {
      const y = box.y + n.height;
      placed.bodies[b.key] = { x, y, width: b.width, height: box.height - n.height - padding };
      add(placed, b.placed, x + (b.width - b.placed.width) / 2, y + bodyHead);
      x += b.width + padding;
    }
  }
  for (const e of sketch.edges) {
    const at = g.edge(e.from, e.to, e.id) as { points: { x: number; y: number }[]; x?: number; y?: number };
    placed.edges[e.id] = { points: at.points, label: e.width > 0 && at.x !== undefined ? { x: at.x, y: at.y! } : undefined };
  }
  const size = g.graph() as { width?: number; height?: number };
  placed.width = size.width ?? 0;
  placed.height = size.height ?? 0;
  return placed;
}

/** Places all of a graph that is too deep for dagre. */
function runLayered(g: Graph, sketch: Sketch) {
  const { at, points, width, height } = layered({
    nodes: sketch.nodes.map((n) => ({ id: n.id, ...(g.node(n.id) as { width: number; height: number }) })),
    edges: sketch.edges,
  });
  for (const n of sketch.nodes) Object.assign(g.node(n.id) as object, { x: at.get(n.id)!.x, y: at.get(n.id)!.y });
  for (const e of sketch.edges) {
    const p = points.get(e.id)!;
    const a = p[(p.length >> 1) - 1]!, b = p[p.length >> 1]!;
    Object.assign(g.edge(e.from, e.to, e.id) as object, { points: p, x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 });
  }
  Object.assign(g.graph() as object, { width, height });
}

/** Adds what was placed on its own, moved to its place. */
function add(to: Placed, from: Placed, x: number, y: number) {
  const move = (p: { x: number; y: number }) => ({ x: p.x + x, y: p.y + y });
  for (const [id, box] of Object.entries(from.nodes)) to.nodes[id] = { ...box, ...move(box) };
  for (const [id, box] of Object.entries(from.bodies)) to.bodies[id] = { ...box, ...move(box) };
  for (const [id, edge] of Object.entries(from.edges)) to.edges[id] = { points: edge.points.map(move), label: edge.label && move(edge.label) };
}
