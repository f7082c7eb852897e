// Where arrow keys lead in the graph.
import type { Placed } from "./dagre";
import type { Model } from "./model";

/** The node that an arrow key leads to: along edges up and down, else the nearest one in that direction. */
export function neighbour(model: Model, placed: Placed, from: string | undefined, key: string): string | undefined {
  const all = [...model.nodes.keys()];
  if (from === undefined || key === "Home") return all[0];
  if (key === "End") return all[all.length - 1];
  if (key === "ArrowDown") {
    const drawn = model.nodes.get(from)!;
    if (drawn.bodies.length && !drawn.folded) return drawn.bodies[0]!.entry;
    const next = model.edges.find((e) => e.edge.from === from);
    if (next) return next.edge.to;
  }
  if (key === "ArrowUp") {
    const before = model.edges.find((e) => e.edge.to === from);
    if (before) return before.edge.from;
    const owner = model.graph.bodies.find((b) => b.key === model.nodes.get(from)?.node.body)?.owner;
    if (owner) return owner;
  }
  const centre = (k: string) => {
    const box = placed.nodes[k]!;
    return { x: box.x + box.width / 2, y: box.y + model.nodes.get(k)!.height / 2 };
  };
  const here = centre(from);
  const across = key === "ArrowLeft" || key === "ArrowRight";
  const sign = key === "ArrowRight" || key === "ArrowDown" ? 1 : -1;
  let best: string | undefined, least = Infinity;
  for (const k of all) {
    if (k === from || !placed.nodes[k]) continue;
    const there = centre(k);
    const dx = there.x - here.x, dy = there.y - here.y;
    const ahead = (across ? dx : dy) * sign, aside = Math.abs(across ? dy : dx);
    if (ahead <= 1) continue;
    const cost = ahead + aside * 3;
    if (cost < least) { least = cost; best = k; }
  }
  return best;
}
