// Places boxes and edges top-down. Pure, so that it runs in the page and in a worker.
import { Graph, layout as run } from "@dagrejs/dagre";

export interface Sketch {
  nodes: { id: string; width: number; height: number }[];
  edges: { id: string; from: string; to: string; width: number; height: number }[];
}
export interface Placed {
  nodes: Record<string, { x: number; y: number }>;
  width: number;
  height: number;
}

export function layout(sketch: Sketch): Placed {
  const g = new Graph({ multigraph: true });
  g.setGraph({ rankdir: "TB", nodesep: 40, ranksep: 44, marginx: 16, marginy: 16 });
  g.setDefaultEdgeLabel(() => ({}));
  for (const n of sketch.nodes) g.setNode(n.id, { width: n.width, height: n.height });
  for (const e of sketch.edges) g.setEdge(e.from, e.to, { width: e.width, height: e.height, labelpos: "c" }, e.id);
  run(g);
  const nodes: Placed["nodes"] = {};
  for (const n of sketch.nodes) {
    const at = g.node(n.id) as { x: number; y: number };
    nodes[n.id] = { x: at.x - n.width / 2, y: at.y - n.height / 2 };
  }
  const size = g.graph() as { width?: number; height?: number };
  return { nodes, width: size.width ?? 0, height: size.height ?? 0 };
}
