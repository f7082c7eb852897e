// The layout is a bundle of its own, dist/layout.js: a worker for large graphs, and the same file as a
// module for small ones, so that dagre is in the page once.
import { layout, type Sketch } from "./dagre";

export { layout };

if (typeof document === "undefined") {
  self.onmessage = (e: MessageEvent<{ id: number; sketch: Sketch }>) => {
    self.postMessage({ id: e.data.id, placed: layout(e.data.sketch) });
  };
}
