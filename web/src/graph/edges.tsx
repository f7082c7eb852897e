// How edges look.
import type { Edge, EdgeProps } from "@xyflow/react";
import { memo } from "react";
import { useStore } from "../store";
import { path, textWidth, labelFont, type DrawnEdge } from "./model";
import { momentOf, takenOf } from "./moment";
import { openMenu } from "./surface";

export type WayEdge = Edge<{ drawn: DrawnEdge; points: { x: number; y: number }[]; label?: { x: number; y: number } }, "way">;

export const Way = memo(function Way({ data }: EdgeProps<WayEdge>) {
  const { drawn: { edge, label }, points, label: at } = data!;
  const taken = useStore((s) => takenOf(momentOf(s), edge.from, edge.via));
  const running = useStore((s) => momentOf(s).active.size > 0 || momentOf(s).over);
  const d = path(points);
  const width = label ? textWidth(label, labelFont) + 8 : 0;
  return (
    <g className={`way k-${edge.kind}${taken ? " taken" : running ? " untaken" : ""}`}
      onContextMenu={(e) => { e.preventDefault(); e.stopPropagation(); openMenu({ kind: "edge", from: edge.from, via: edge.via, to: edge.to }, { x: e.clientX, y: e.clientY }); }}>
      <title>{[edge.rule ?? edge.label ?? edge.via, taken > 0 && `taken ${taken === 1 ? "once" : `${taken} times`}`].filter(Boolean).join("\n")}</title>
      <path className="hit" d={d} />
      <path className="line" d={d} markerEnd={`url(#arrow${taken ? "-taken" : edge.kind === "catch" ? "-catch" : ""})`} />
      {label && at && <>
        <rect className="label-box" x={at.x - width / 2} y={at.y - 8} width={width} height={16} rx={3} />
        <text className="label" x={at.x} y={at.y} dominantBaseline="central" textAnchor="middle">{label}</text>
      </>}
    </g>
  );
});

/** The heads of edges, for the whole graph. */
export function Arrows() {
  return (
    <svg className="arrows" aria-hidden="true">
      <defs>
        {["", "-taken", "-catch"].map((name) => (
          <marker key={name} id={`arrow${name}`} className={`arrow${name}`} viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" markerUnits="userSpaceOnUse" orient="auto">
            <path d="M0 0.5 8 4 0 7.5z" />
          </marker>
        ))}
      </defs>
    </svg>
  );
}
