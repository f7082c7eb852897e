// The bar above the graph: search, folds, moment, export.
import { useReactFlow } from "@xyflow/react";
import { useRef, useState } from "react";
import { Icon, IconButton, MenuButton } from "../kit";
import { select, state, useStore } from "../store";
import type { Placed } from "./dagre";
import { exportPng, exportSvg } from "./export";
import { ExecutionButton, MomentNote } from "./iterations";
import type { Model } from "./model";
import { matches } from "./nodes";
import { foldAll, openDialog, search, surface } from "./surface";

export function Bar({ model, placed, center, onFit, onZoom }: { model: Model; placed: Placed; center: (key: string) => void; onFit: () => void; onZoom: () => void }) {
  const flow = useReactFlow();
  const text = useStore((s) => s.search);
  const editable = useStore((s) => !!s.server?.file.editable && !s.server.readOnly);
  const folded = useStore(() => surface.folded.size);
  const [at, setAt] = useState(-1);
  const input = useRef<HTMLInputElement>(null);
  const found = text === "" ? [] : [...model.nodes.values()].filter((n) => matches(n, text));
  const go = (to: number) => {
    if (found.length === 0) return;
    const next = (to + found.length) % found.length;
    setAt(next);
    select({ key: found[next]!.node.key });
    center(found[next]!.node.key);
  };
  const owners = [...model.graph.bodies.map((b) => b.owner)];
  return (
    <div className="graph-bar" role="group" aria-label="Graph">
      <label className="searchbox">
        <Icon name="search" /><span className="sr-only">Search nodes</span>
        <input ref={input} className="input" type="search" placeholder="Search" value={text} onChange={(e) => { search(e.target.value); setAt(-1); }}
          onKeyDown={(e) => {
            if (e.key === "Enter") { e.preventDefault(); go(e.shiftKey ? at - 1 : at + 1); }
            if (e.key === "Escape" && text !== "") { e.stopPropagation(); search(""); }
          }} />
      </label>
      {text !== "" && <>
        <span className="muted small" role="status">{found.length === 0 ? "none" : `${Math.max(0, at) + 1}/${found.length}`}</span>
        <IconButton small icon="before" label="Previous match" disabled={found.length === 0} onClick={() => go(at - 1)} />
        <IconButton small icon="after" label="Next match" disabled={found.length === 0} onClick={() => go(at + 1)} />
      </>}
      <span className="grow" />
      <MomentNote />
      <ExecutionButton />
      {editable && <IconButton small icon="plus" label="Add a node" onClick={() => openDialog({ kind: "add", after: state.selection.key })} />}
      {owners.length > 0 && <IconButton small icon={folded ? "unfold" : "fold"} label={folded ? "Unfold all bodies" : "Fold all bodies"} onClick={() => foldAll(folded ? [] : owners)} />}
      <MenuButton small look="quiet" icon="download" label="Export" items={() => [
        { label: "Save as SVG", icon: "image", onChoose: () => exportSvg(model, placed) },
        { label: "Save as PNG", icon: "image", onChoose: () => void exportPng(model, placed) },
      ]} />
      <IconButton small className="zoom" icon="zoomOut" label="Zoom out" onClick={() => { onZoom(); void flow.zoomOut({ duration: 120 }); }} />
      <IconButton small className="zoom" icon="zoomIn" label="Zoom in" onClick={() => { onZoom(); void flow.zoomIn({ duration: 120 }); }} />
      <IconButton small icon="fit" label="Fit the graph" onClick={onFit} />
    </div>
  );
}
