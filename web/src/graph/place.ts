// Calls the layout: in a worker where the graph is large.
import type { Placed, Sketch } from "./dagre";

const largeGraph = 200;

const url = () => new URL("layout.js", import.meta.url).href;
let worker: Worker | undefined;
let calls = 0;
const waiting = new Map<number, { resolve: (placed: Placed) => void; reject: (e: Error) => void }>();

function startWorker(): Worker {
  const w = new Worker(url(), { type: "module" });
  w.onmessage = (e: MessageEvent<{ id: number; placed: Placed }>) => {
    waiting.get(e.data.id)?.resolve(e.data.placed);
    waiting.delete(e.data.id);
  };
  w.onerror = (e) => {
    for (const { reject } of waiting.values()) reject(new Error(e.message || "the layout failed"));
    waiting.clear();
    w.terminate();
    worker = undefined;
  };
  return w;
}

/** How many nodes a sketch has, with those of bodies. */
function size(sketch: Sketch): number {
  return sketch.nodes.reduce((sum, n) => sum + 1 + (n.bodies ?? []).reduce((inner, b) => inner + size(b.sketch), 0), 0);
}

/** Returns where nodes and edges stand. */
export async function place(sketch: Sketch): Promise<Placed> {
  if (size(sketch) <= largeGraph) {
    const { layout }: typeof import("./layout.worker") = await import(url());
    return layout(sketch);
  }
  worker ??= startWorker();
  const id = ++calls;
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject });
    worker!.postMessage({ id, sketch });
  });
}
