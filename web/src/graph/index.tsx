import { MiniMap, ReactFlow, ReactFlowProvider, type MiniMapNodeProps, type Viewport } from "@xyflow/react";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState, type KeyboardEvent } from "react";
import type { Graph, RunState } from "../api/types";
import { Button, Empty } from "../kit";
import { foreign, report, select, showPanel, state, toggleBreakpoint, useGraph, useRun, useSelection, useStore } from "../store";
import { Bar } from "./bar";
import type { Placed } from "./dagre";
import { Dialogs } from "./dialogs";
import { Arrows, Way, type WayEdge } from "./edges";
import "./graph.css";
import { GraphMenu } from "./menu";
import { model, narrow, sourceId, type Model } from "./model";
import { momentOf, viewOf } from "./moment";
import { neighbour } from "./neighbour";
import { Body, elementId, Source, Step, type BodyNode, type SourceNode, type StepNode } from "./nodes";
import { place } from "./place";
import { openDialog, openMenu, surface, toggleFold } from "./surface";

const nodeTypes = { step: Step, body: Body, source: Source };
const edgeTypes = { way: Way };
/** The smallest text of a node has 11 px: what does not fit without making it smaller is panned to. */
const fit = { margin: 12, maxZoom: 1.1, minZoom: 1 };
/** Up to so many nodes all are in the document, also those out of sight, so that screen readers find them. */
const fewNodes = 150;

/** The graph of the chosen tool. */
export default function GraphPanel() {
  const { tool } = useSelection();
  const graph = useGraph();
  const run = useRun();
  const folded = useStore(() => surface.folded);
  const [shown, setShown] = useState<{ model: Model; placed: Placed }>();
  useEffect(() => {
    if (!graph) return;
    let current = true;
    draw(graph, folded).then((drawn) => { if (current) setShown(drawn); }, (e) => report(e, "Layout"));
    return () => { current = false; };
  }, [graph, folded]);
  if (run && foreign(run)) return <Foreign run={run} />;
  if (!tool) return <Empty title="The file has no tools"><p>Add one to the file; it appears here once the file is saved.</p></Empty>;
  if (!shown || shown.model.graph.tool !== tool) return <Empty title={graph ? "Drawing…" : "Loading…"} />;
  return (
    <ReactFlowProvider key={tool}>
      <Canvas graph={shown.model.graph} model={shown.model} placed={shown.placed} />
    </ReactFlowProvider>
  );
}

/** Places a graph, with nodes that are narrower if it does not fit beside the other panes. */
async function draw(graph: Graph, folded: ReadonlySet<string>): Promise<{ model: Model; placed: Placed }> {
  const drawn = model(graph, folded), placed = await place(drawn.sketch);
  const room = (document.querySelector(".pane.center")?.clientWidth ?? Infinity) - 2 * fit.margin;
  if (placed.width <= room || graph.nodes.length > fewNodes) return { model: drawn, placed };
  const small = model(graph, folded, narrow);
  return { model: small, placed: await place(small.sketch) };
}

/** Stands in the place of a graph that is not that of the chosen run. */
function Foreign({ run }: { run: RunState }) {
  return (
    <Empty title="The graph of this run is not known">
      <p>
        The run began with version <code>{run.durable!.version || "?"}</code> of its file. That is not what this page has loaded: it is an earlier version, or another file.
      </p>
      <p>What it did is in the timeline and in the table.</p>
      <p className="row">
        <Button onClick={() => showPanel("table")}>Show the table</Button>
        <Button look="quiet" onClick={() => select({ run: undefined, record: undefined, key: undefined, frame: undefined })}>Show the graph of the file</Button>
      </p>
    </Empty>
  );
}

type AnyNode = StepNode | BodyNode | SourceNode;

/** Nodes and edges as React Flow takes them: all in places of the whole graph, deeper ones in front. */
function elements({ nodes, sources, edges }: Model, placed: Placed): { nodes: AnyNode[]; edges: WayEdge[] } {
  const steps: AnyNode[] = [];
  const common = { draggable: false, selectable: false, focusable: false, connectable: true };
  const size = (b: { width: number; height: number }) => ({ width: b.width, height: b.height, initialWidth: b.width, initialHeight: b.height });
  for (const drawn of nodes.values()) {
    const box = placed.nodes[drawn.node.key];
    if (!box) continue;
    steps.push({ id: drawn.node.key, type: "step", position: { x: box.x, y: box.y }, ...size(box), zIndex: drawn.depth * 3 + 1, data: { drawn }, ...common });
    if (drawn.folded) continue;
    for (const b of drawn.bodies) {
      const at = placed.bodies[b.key];
      if (at) steps.push({ id: `body:${b.key}`, type: "body", position: { x: at.x, y: at.y }, ...size(at), zIndex: drawn.depth * 3 + 2, data: { key: b.key, name: b.name, owner: b.owner }, ...common, connectable: false });
    }
  }
  for (const { key, text, depth } of sources) {
    const box = placed.nodes[sourceId(key)];
    if (box) steps.push({ id: sourceId(key), type: "source", position: { x: box.x, y: box.y }, ...size(box), zIndex: depth * 3 + 1, data: { text }, ...common, connectable: false });
  }
  const ids = new Set(steps.map((n) => n.id));
  const ways: WayEdge[] = [];
  for (const drawn of edges) {
    const at = placed.edges[drawn.id];
    if (at) ways.push({ id: drawn.id, type: "way", source: ids.has(drawn.edge.from) ? drawn.edge.from : sourceId(drawn.edge.from), target: drawn.edge.to, zIndex: drawn.depth * 3, focusable: false, selectable: false, data: { drawn, points: at.points, label: at.label } });
  }
  return { nodes: steps, edges: ways };
}

function Canvas({ graph, model: drawn, placed }: { graph: Graph; model: Model; placed: Placed }) {
  const { nodes, edges } = useMemo(() => elements(drawn, placed), [drawn, placed]);
  const box = useRef<HTMLDivElement>(null);
  const [viewport, setViewport] = useState<Viewport>(() => ({ x: 0, y: 0, zoom: 1 }));
  const key = useStore((s) => s.selection.key);
  const editable = useStore((s) => !!s.server?.file.editable && !s.server.readOnly);
  const moved = useRef(false);

  // The view fits the graph until somebody moves it; after that, only what is chosen is kept in sight.
  const fitNow = useCallback(() => {
    const el = box.current;
    if (!el || el.clientWidth === 0 || placed.width === 0) return;
    const width = el.clientWidth - 2 * fit.margin, height = el.clientHeight - 2 * fit.margin;
    const zoom = Math.max(fit.minZoom, Math.min(fit.maxZoom, width / placed.width, height / placed.height));
    const first = Object.values(placed.nodes).reduce((a, b) => (b.y < a.y ? b : a)); // it begins there if not all fits
    setViewport({
      zoom,
      x: placed.width * zoom <= width ? (el.clientWidth - placed.width * zoom) / 2 : el.clientWidth / 2 - (first.x + first.width / 2) * zoom,
      y: placed.height * zoom <= height ? (el.clientHeight - placed.height * zoom) / 2 : fit.margin - first.y * zoom,
    });
  }, [placed]);
  const fitAgain = () => { moved.current = false; fitNow(); };
  useLayoutEffect(() => { if (!moved.current) fitNow(); }, [fitNow]);
  useEffect(() => {
    const observer = new ResizeObserver(() => { if (!moved.current) fitNow(); });
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, [fitNow]);

  const center = useCallback((k: string, focus = false) => {
    const at = placed.nodes[k], el = box.current;
    if (!at || !el) return;
    const head = drawn.nodes.get(k)!.height;
    setViewport((v) => {
      const x = at.x * v.zoom + v.x, y = at.y * v.zoom + v.y;
      const inside = x >= 0 && y >= 0 && x + Math.min(at.width * v.zoom, 200) <= el.clientWidth && y + head * v.zoom <= el.clientHeight;
      if (inside && v.zoom >= 0.35) return v;
      moved.current = true;
      const zoom = Math.max(v.zoom, 0.7);
      return { zoom, x: el.clientWidth / 2 - (at.x + at.width / 2) * zoom, y: el.clientHeight / 2 - (at.y + head / 2) * zoom };
    });
    if (focus) setTimeout(() => !surface.menu && !surface.dialog && document.getElementById(elementId(k))?.querySelector<HTMLElement>(".main")?.focus({ preventScroll: true }), 60);
  }, [placed, drawn]);
  const follow = useStore((s) => momentOf(s).paused ?? (s.selection.record !== undefined ? s.selection.key : undefined));
  useEffect(() => { if (follow && placed.nodes[follow]) center(follow); }, [follow, center, placed, drawn]);

  // What gets the focus out of sight is scrolled to by the browser, which is panning here.
  const scrolled = (el: Element) => {
    const { scrollLeft: left, scrollTop: top } = el;
    if (left === 0 && top === 0) return;
    el.scrollTo(0, 0);
    moved.current = true;
    setViewport((v) => ({ ...v, x: v.x - left, y: v.y - top }));
  };

  const keys = (e: KeyboardEvent) => {
    const target = e.target as HTMLElement;
    if (target.closest(".graph-bar") || e.altKey) return;
    const mod = e.ctrlKey || e.metaKey;
    if (mod && e.key === "f") { e.preventDefault(); box.current?.parentElement?.querySelector<HTMLElement>(".graph-bar input")?.focus(); return; }
    if (mod) return;
    const now = key && drawn.nodes.has(key) ? key : undefined;
    if (e.key.startsWith("Arrow") || e.key === "Home" || e.key === "End") {
      const next = neighbour(drawn, placed, now, e.key);
      if (next) { select({ key: next }); center(next, true); }
    } else if (!now) return;
    else if (e.key === "F9" || e.key === "b") toggleBreakpoint(now);
    else if (e.key === "ContextMenu" || (e.key === "F10" && e.shiftKey)) {
      const at = document.getElementById(elementId(now))?.getBoundingClientRect();
      if (at) openMenu({ kind: "node", key: now }, { x: at.left + 20, y: at.top + 20 });
    } else if (e.key === "f" && drawn.nodes.get(now)!.bodies.length) toggleFold(now);
    else if (e.key === "F2" && editable) openDialog({ kind: "rename", key: now });
    else if (e.key === "Delete" && editable && drawn.nodes.get(now)!.node.type !== "entry") openDialog({ kind: "remove", key: now });
    else return;
    e.preventDefault();
    e.stopPropagation();
  };

  return (
    <div className="graph" onKeyDown={keys}>
      <Bar model={drawn} placed={placed} center={center} onFit={fitAgain} onZoom={() => { moved.current = true; }} />
      <div className="canvas" ref={box} tabIndex={0} role="group" aria-label={`Graph of ${graph.tool}: ${graph.nodes.length} nodes. Arrow keys move between nodes, F9 sets a breakpoint, Shift F10 opens the menu.`}
        onScrollCapture={(e) => scrolled(e.target as Element)}
        onContextMenu={(e) => { e.preventDefault(); openMenu({ kind: "pane" }, { x: e.clientX, y: e.clientY }); }}>
        <Arrows />
        <ReactFlow<AnyNode, WayEdge> nodes={nodes} edges={edges} nodeTypes={nodeTypes} edgeTypes={edgeTypes} viewport={viewport}
          onViewportChange={setViewport} onMove={(e) => { if (e instanceof UIEvent) moved.current = true; }}
          minZoom={0.02} maxZoom={2.5} onlyRenderVisibleElements={drawn.nodes.size > fewNodes} nodesDraggable={false} nodesConnectable={editable} nodesFocusable={false} edgesFocusable={false}
          elementsSelectable={false} zoomOnDoubleClick={false} panOnScroll={false} disableKeyboardA11y deleteKeyCode={null} selectionKeyCode={null} multiSelectionKeyCode={null}
          proOptions={{ hideAttribution: true }} onPaneClick={() => { if (state.selection.key) select({ key: undefined, record: state.selection.record }); }}
          onConnect={(c) => openDialog({ kind: "connect", from: c.source, to: c.target })}>
          {drawn.nodes.size > 8 && <MiniMap<AnyNode> pannable zoomable ariaLabel="Overview of the graph" nodeComponent={MiniNode} nodeStrokeWidth={0} />}
        </ReactFlow>
      </div>
      <GraphMenu model={drawn} onFit={fitAgain} />
      <Dialogs model={drawn} />
    </div>
  );
}

function MiniNode({ id, x, y, width, height }: MiniMapNodeProps) {
  const view = useStore((s) => viewOf(momentOf(s), id).state);
  const chosen = useStore((s) => s.selection.key === id);
  if (id.startsWith("body:") || id.startsWith("catch:")) return null;
  return <rect className={`mini${view ? ` s-${view}` : ""}${chosen ? " chosen" : ""}`} x={x} y={y} width={width} height={height} rx={4} />;
}
