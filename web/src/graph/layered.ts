// A plain layered layout for graphs that are too deep for dagre, whose functions call themselves along
// each path: a worker has no stack for a thousand nodes in a row.

export interface Layered {
  nodes: { id: string; width: number; height: number }[];
  edges: { id: string; from: string; to: string }[];
}
export interface Point { x: number; y: number }

const between = 28;
const below = 40;
const margin = 8;
const lane = 12;
const lanes = 8;

/** Returns the centre of each node and the points of each edge, from the top down. */
export function layered({ nodes, edges }: Layered) {
  const ranks = ranksOf(nodes.map((n) => n.id), edges);
  const rows: Layered["nodes"][] = [];
  for (const n of nodes) (rows[ranks.get(n.id)!] ??= []).push(n);
  order(rows, edges);

  const at = new Map<string, Point & { width: number; height: number }>();
  const widths = rows.map((row) => row.reduce((sum, n) => sum + n.width + between, -between));
  const widest = Math.max(0, ...widths);
  let y = margin;
  rows.forEach((row, i) => {
    const height = Math.max(...row.map((n) => n.height));
    let x = margin + (widest - widths[i]!) / 2;
    for (const n of row) {
      at.set(n.id, { x: x + n.width / 2, y: y + n.height / 2, width: n.width, height: n.height });
      x += n.width + between;
    }
    y += height + below;
  });

  let beside = 0;
  const points = new Map<string, Point[]>();
  for (const e of edges) {
    const from = at.get(e.from)!, to = at.get(e.to)!;
    const start = { x: from.x, y: from.y + from.height / 2 }, end = { x: to.x, y: to.y - to.height / 2 };
    if (ranks.get(e.to) === ranks.get(e.from)! + 1) points.set(e.id, [start, end]);
    else { // past other rows: at the right of all
      const x = margin + widest + between + (beside++ % lanes) * lane;
      points.set(e.id, [start, { x, y: start.y + below / 3 }, { x, y: end.y - below / 3 }, end]);
    }
  }
  return { at, points, width: widest + 2 * margin + (beside ? between + lanes * lane : 0), height: y - below + margin };
}

/** Returns how many edges lead to each node at most, without those that close a loop. */
function ranksOf(ids: string[], edges: Layered["edges"]): Map<string, number> {
  const next = new Map<string, string[]>(ids.map((id) => [id, []]));
  for (const e of edges) next.get(e.from)!.push(e.to);
  const seen = new Map<string, "open" | "done">();
  const finished: string[] = []; // after all that follows
  const loops = new Set<string>();
  for (const root of ids) {
    if (seen.has(root)) continue;
    const stack = [{ id: root, at: 0 }];
    seen.set(root, "open");
    while (stack.length > 0) {
      const top = stack[stack.length - 1]!;
      const to = next.get(top.id)![top.at++];
      if (to === undefined) {
        seen.set(top.id, "done");
        finished.push(top.id);
        stack.pop();
      } else if (seen.get(to) === "open") loops.add(`${top.id}\n${to}`);
      else if (!seen.has(to)) {
        seen.set(to, "open");
        stack.push({ id: to, at: 0 });
      }
    }
  }
  const ranks = new Map<string, number>(ids.map((id) => [id, 0]));
  for (const id of finished.reverse()) {
    for (const to of next.get(id)!) {
      if (!loops.has(`${id}\n${to}`)) ranks.set(to, Math.max(ranks.get(to)!, ranks.get(id)! + 1));
    }
  }
  return ranks;
}

/** Orders each row by the places of the nodes that lead to it. */
function order(rows: Layered["nodes"][], edges: Layered["edges"]) {
  const before = new Map<string, string[]>();
  for (const e of edges) before.set(e.to, [...(before.get(e.to) ?? []), e.from]);
  const place = new Map<string, number>();
  for (const row of rows) {
    const wanted = new Map(row.map((n, i) => {
      const places = (before.get(n.id) ?? []).map((id) => place.get(id)).filter((p) => p !== undefined);
      return [n.id, places.length ? places.reduce((a, b) => a + b, 0) / places.length : i];
    }));
    row.sort((a, b) => wanted.get(a.id)! - wanted.get(b.id)!);
    row.forEach((n, i) => place.set(n.id, i - row.length / 2));
  }
}
