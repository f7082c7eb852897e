// How nodes and bodies look.
import type { NodeProps, Node } from "@xyflow/react";
import { Handle, Position } from "@xyflow/react";
import { memo } from "react";
import { count, duration, Icon, signs, typeIcon } from "../kit";
import { select, shallow, state, toggleBreakpoint, useBreakpoint, useStore } from "../store";
import { IterationButton } from "./iterations";
import { isPlain, shorten, type DrawnNode } from "./model";
import { momentOf, viewOf, type NodeView } from "./moment";
import { openMenu, toggleFold } from "./surface";

export type StepNode = Node<{ drawn: DrawnNode; onPath?: boolean }, "step">;
export type BodyNode = Node<{ key: string; name: string; owner: string }, "body">;

/** What screen readers say of a node. */
export function describe(drawn: DrawnNode, view: NodeView, breakpoint: boolean, pinned: boolean): string {
  const { node } = drawn;
  return [
    node.id, node.type, drawn.detail !== node.type && !isPlain(node) && drawn.detail,
    ...(node.policies ?? []),
    view.state && signs[view.state].label,
    view.count && `${count(view.count, "execution")}, ${timesOf(view).join(", ")}`,
    view.count && view.count > 1 && view.failed && `${view.failed} failed`,
    breakpoint && "breakpoint",
    pinned && view.state !== "pinned" && "pinned",
    drawn.bodies.length > 0 && (drawn.folded ? "folded" : "unfolded"),
  ].filter(Boolean).join(", ");
}

/** The times of the executions of a node, each with what it is. */
function timesOf({ count: n = 0, ms = 0, last = 0, max = 0 }: NodeView): string[] {
  return n > 1 ? [`last ${duration(last)}`, `mean ${duration(ms / n)}`, `max ${duration(max)}`] : [`last ${duration(last)}`];
}

export const elementId = (key: string) => `node-${key}`;

export const Step = memo(function Step({ data: { drawn } }: NodeProps<StepNode>) {
  const { node } = drawn;
  const view = useStore((s) => viewOf(momentOf(s), node.key), shallow);
  const chosen = useStore((s) => s.selection.key === node.key);
  const momentHere = useStore((s) => momentOf(s).chosen === node.key);
  const found = useStore((s) => s.search !== "" && matches(drawn, s.search));
  const searching = useStore((s) => s.search !== "");
  const breakpoint = useBreakpoint(node.key);
  const pinned = useStore((s) => node.key in s.pins || !!momentOf(s).run?.pins?.includes(node.key));
  const readOnly = useStore((s) => !!s.server?.readOnly);
  const plain = isPlain(node);
  const unfolded = drawn.bodies.length > 0 && !drawn.folded;
  const many = (view.count ?? 0) > 1;
  const classes = ["step", `t-${node.type}`, plain && "plain", chosen && "chosen", momentHere && "moment", unfolded && "open", view.state && `s-${view.state}`, found && "found", searching && !found && "dim"];
  return (
    <div id={elementId(node.key)} className={classes.filter(Boolean).join(" ")} role="group" aria-label={node.id}
      onContextMenu={(e) => { e.preventDefault(); e.stopPropagation(); select({ key: node.key }); openMenu({ kind: "node", key: node.key }, { x: e.clientX, y: e.clientY }); }}>
      <Handle type="target" position={Position.Top} className="handle" />
      <div className="head" style={unfolded ? { height: drawn.height } : undefined}>
        <button type="button" tabIndex={-1} className={`gutter${breakpoint ? " set" : ""}${breakpoint?.disabled ? " off" : ""}`} aria-pressed={!!breakpoint} disabled={readOnly}
          aria-label={`Breakpoint at ${node.id}`} title={breakpointTitle(breakpoint)} onClick={(e) => { e.stopPropagation(); toggleBreakpoint(node.key); }}>
          {breakpoint && <span className="bp">{breakpoint.log !== undefined ? "…" : breakpoint.when || breakpoint.hits ? "?" : ""}</span>}
        </button>
        <button type="button" tabIndex={-1} className="main" aria-current={chosen || undefined}
          title={[node.id, drawn.detail, ...(node.policies ?? []), ...(view.count ? [`${count(view.count, "execution")}: ${timesOf(view).join(", ")}`] : [])].filter((t) => t !== "").join("\n")}
          onClick={() => select({ key: node.key })} onDoubleClick={() => { if (drawn.bodies.length) toggleFold(node.key); else if (node.calls) select({ tool: node.calls, run: state.selection.run, key: undefined }); }}>
          <span className="sr-only">{describe(drawn, view, !!breakpoint, pinned)}</span>
          <span className="type"><Icon name={typeIcon(node.type)} /></span>
          <span className="texts" aria-hidden="true">
            <span className="line">
              <strong>{shorten(node.id, 28)}</strong>{pinned && <span className="sign s-pinned"><Icon name="pin" /></span>}
              <span className="grow" />
              {view.state && view.state !== "skipped" && <span className={`sign s-${view.state}`} title={signs[view.state].label}><Icon name={signs[view.state].icon} /></span>}
            </span>
            {!plain && <span className="line detail">
              <span className="ellipsis">{drawn.detail}</span><Policies texts={node.policies} />
              <span className="grow" />
              {view.count ? <span className="figures">{timesOf(view)[many ? 1 : 0]}</span> : null}
            </span>}
          </span>
        </button>
        {drawn.bodies.length > 0 && (
          <button type="button" tabIndex={-1} className="fold" aria-expanded={!drawn.folded} aria-label={`${drawn.folded ? "Unfold" : "Fold"} ${node.id}`} title={drawn.folded ? `Unfold ${count(drawn.inside, "node")}` : "Fold"} onClick={(e) => { e.stopPropagation(); toggleFold(node.key); }}>
            <Icon name={drawn.folded ? "right" : "down"} />
          </button>
        )}
      </div>
      {!plain && (many || view.active > 1) && (
        <span className="counts figures" aria-hidden="true">
          {view.active > 1 && <span>{view.active.toLocaleString("en")} at once</span>}
          {many && <span>×{view.count!.toLocaleString("en")}</span>}
          {many && view.failed ? <span className="bad">{view.failed.toLocaleString("en")} failed</span> : null}
        </span>
      )}
      <Handle type="source" position={Position.Bottom} className="handle" />
    </div>
  );
});

function breakpointTitle(b?: { when?: string; hits?: number; log?: string; disabled?: boolean }): string {
  if (!b) return "Set a breakpoint";
  return [b.disabled ? "Breakpoint, disabled" : "Breakpoint", b.when && `when ${b.when}`, b.hits && `at execution ${b.hits}`, b.log !== undefined && `log ${b.log}`].filter(Boolean).join("\n");
}

function Policies({ texts }: { texts?: string[] }) {
  if (!texts?.length) return null;
  return (
    <span className="policies">
      {texts.map((t) => <Icon key={t} name={t.startsWith("retry") ? "refresh" : t.startsWith("timeout") ? "clock" : t.startsWith("catch") ? "catch" : "dot"} />)}
    </span>
  );
}

export const Body = memo(function Body({ data }: NodeProps<BodyNode>) {
  return (
    <div className="body-box" role="group" aria-label={`Body ${data.name}`}>
      <div className="body-head"><span className="ellipsis">{data.name}</span><IterationButton body={data.key} name={data.name} /></div>
    </div>
  );
});

export type SourceNode = Node<{ text: string }, "source">;

/** Where the catch of a body or of the tool begins. */
export const Source = memo(function Source({ data }: NodeProps<SourceNode>) {
  return (
    <div className="catch-source">
      <Handle type="target" position={Position.Top} isConnectable={false} className="handle" /><Icon name="catch" />{data.text}
      <Handle type="source" position={Position.Bottom} isConnectable={false} className="handle" />
    </div>
  );
});

/** Whether a node has what is searched for. */
export function matches(drawn: DrawnNode, text: string): boolean {
  const { node } = drawn;
  return `${node.id} ${node.type} ${node.server ?? ""} ${node.tool ?? ""} ${node.calls ?? ""} ${node.label ?? ""}`.toLowerCase().includes(text.toLowerCase());
}
