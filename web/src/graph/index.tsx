import { Background, Controls, ReactFlow } from "@xyflow/react";
import { useEffect, useMemo, useState } from "react";
import { Empty } from "../kit";
import { select, useGraph, useSelection } from "../store";
import type { Placed } from "./dagre";
import { place } from "./place";

/** The graph of the chosen tool. */
export default function GraphPanel() {
  const graph = useGraph();
  const { key, tool } = useSelection();
  const [placed, setPlaced] = useState<Placed>();
  useEffect(() => {
    setPlaced(undefined);
    if (graph) void place({
      nodes: graph.nodes.map((n) => ({ id: n.key, width: 180, height: 44 })),
      edges: graph.edges.map((e, i) => ({ id: String(i), from: e.from, to: e.to, width: 40, height: 14 })),
    }).then(setPlaced);
  }, [graph]);
  const drawn = useMemo(() => {
    if (!graph || !placed || !graph.nodes.every((n) => placed.nodes[n.key])) return undefined;
    return {
      nodes: graph.nodes.map((n) => ({ id: n.key, position: placed.nodes[n.key]!, width: 180, height: 44, data: { label: n.id } })),
      edges: graph.edges.map((e, i) => ({ id: String(i), source: e.from, target: e.to, label: e.label })),
    };
  }, [graph, placed]);
  if (!tool) return <Empty title="The file has no tools" />;
  if (!drawn) return <Empty title="Loading…" />;
  return (
    <ReactFlow key={tool} nodes={drawn.nodes.map((n) => ({ ...n, selected: n.id === key }))} edges={drawn.edges} fitView
      nodesDraggable={false} onNodeClick={(_, n) => select({ key: n.id })}>
      <Background /><Controls showInteractive={false} />
    </ReactFlow>
  );
}
