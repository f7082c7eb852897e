// The timeline: bars of executions over time, by node or by body.
import { useEffect, useId, useRef, useState, type KeyboardEvent } from "react";
import { Chart, type ChartData, type Hit } from "./chart";
import { axisHeight } from "./draw";
import type { Execution } from "./executions";
import { Button, count, duration, IconButton, StateSign } from "../kit";
import type { Start } from "./starts";
import { executionText, lengthOf, segmentText, startText } from "./text";

export interface TimelineProps extends Omit<ChartData, "grouping"> {
  /** Raised when the list, which grows in place, has changed. */
  version: number;
  onSelect(e: Execution): void;
  onSelectNode(key: string): void;
  /** Returns to the present. */
  onEscape(): void;
}

const keys = "Arrow keys go through the executions, Enter chooses, plus and minus zoom, Shift with arrow keys moves, 0 shows all";

export function Timeline(p: TimelineProps) {
  const [grouping, setGrouping] = useState<ChartData["grouping"]>("node");
  const [hit, setHit] = useState<Hit>();
  const [zoomed, setZoomed] = useState(false);
  const [height, setHeight] = useState(0);
  const [focused, setFocused] = useState<Execution>();
  const box = useRef<HTMLDivElement>(null), canvas = useRef<HTMLCanvasElement>(null), chart = useRef<Chart>(undefined);
  const latest = useRef(p);
  latest.current = p;
  const option = useId();

  useEffect(() => {
    const c = new Chart(box.current!, canvas.current!, {
      choose: (e) => latest.current.onSelect(e),
      chooseRow: (row) => row.items[0] && latest.current.onSelectNode(row.items[0].key),
      hover: setHit, focus: setFocused, zoomed: setZoomed, height: setHeight,
    });
    chart.current = c;
    return () => c.destroy();
  }, []);

  useEffect(() => {
    chart.current!.set({
      list: p.list, grouping, tool: p.tool, start: p.start, end: p.end, pauses: p.pauses, starts: p.starts, selected: p.selected, selectedKey: p.selectedKey,
    });
  }, [p.list, p.version, grouping, p.tool, p.start, p.end, p.pauses, p.pauses.length, p.starts, p.selected, p.selectedKey]);

  useEffect(() => {
    const e = p.selected && p.list.find((i) => i.id === p.selected);
    if (e) chart.current!.reveal(e);
  }, [p.selected, grouping]);

  const key = (e: KeyboardEvent) => {
    const c = chart.current!;
    const steps: Record<string, Parameters<Chart["step"]>[0]> = {
      ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down", Home: "first", End: "last",
    };
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.shiftKey && (e.key === "ArrowLeft" || e.key === "ArrowRight")) c.pan(e.key === "ArrowLeft" ? -0.2 : 0.2);
    else if (steps[e.key]) c.step(steps[e.key]!);
    else if (e.key === "Enter" || e.key === " ") c.focused && p.onSelect(c.focused);
    else if (e.key === "+" || e.key === "=") c.zoom(0.6);
    else if (e.key === "-" || e.key === "_") c.zoom(1 / 0.6);
    else if (e.key === "0") c.reset();
    else if (e.key === "PageDown" || e.key === "PageUp") box.current!.scrollTop += (e.key === "PageDown" ? 0.9 : -0.9) * box.current!.clientHeight;
    else if (e.key === "Escape") p.onEscape();
    else return;
    e.preventDefault();
  };

  const focusChange = (on: boolean) => {
    const c = chart.current!;
    c.active = on;
    if (on && !c.focused) c.focusOn(p.list.find((e) => e.id === p.selected) ?? p.list[0]);
    c.paint();
  };

  return (
    <div className="timeline">
      <div className="panel-bar">
        <span className="row tight" role="group" aria-label="Rows">
          <Button small aria-pressed={grouping === "node"} onClick={() => setGrouping("node")}>By node</Button>
          <Button small aria-pressed={grouping === "body"} onClick={() => setGrouping("body")}>By body</Button>
        </span>
        <span className="row tight" role="group" aria-label="Zoom">
          <IconButton small icon="zoomIn" label="Zoom in (+)" onClick={() => chart.current!.zoom(0.5)} />
          <IconButton small icon="zoomOut" label="Zoom out (−)" onClick={() => chart.current!.zoom(2)} />
          <Button small icon="fit" disabled={!zoomed} title="Show the whole run (0, or a double click)" onClick={() => chart.current!.reset()}>Fit</Button>
        </span>
        <span className="bar-count">{count(p.list.length, "execution")}</span>
        <Legend />
      </div>
      <div className="timeline-view">
        <div ref={box} className="timeline-box" role="listbox" tabIndex={0} aria-label={`Timeline of executions. ${keys}. The table shows the same as text.`}
          aria-activedescendant={focused ? option : undefined} onKeyDown={key} onFocus={() => focusChange(true)} onBlur={() => focusChange(false)}>
          <div className="timeline-rows" style={{ height: height + axisHeight }}><canvas ref={canvas} aria-hidden="true" /></div>
          {focused && (
            <div id={option} role="option" aria-selected={focused.id === p.selected} className="sr-only">{executionText(focused, p.start, p.starts)}</div>
          )}
        </div>
        {p.list.length === 0 && <p className="timeline-empty">{p.end === undefined ? "Nothing has been executed yet" : "Nothing was executed"}</p>}
        {hit && <HoverText hit={hit} start={p.start} starts={p.starts} box={box.current!} />}
      </div>
    </div>
  );
}

function HoverText({ hit, start, starts, box }: { hit: Hit; start: number; starts: readonly Start[]; box: HTMLElement }) {
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const e = element.current!;
    const x = Math.min(hit.x + 12, box.clientWidth - e.offsetWidth - 4);
    const below = hit.y + 16, y = below + e.offsetHeight < box.clientHeight ? below : Math.max(hit.y - e.offsetHeight - 8, 0);
    e.style.transform = `translate(${Math.max(x, 4)}px, ${y}px)`;
  });
  const e = hit.execution, now = Date.now();
  return (
    <div ref={element} className="timeline-hover" aria-hidden="true">
      <strong>{e.path}</strong>{e.visit > 1 && <span> #{e.visit}</span>}
      <div><StateSign state={e.state} /> · at {duration(e.start - start)} · {duration(lengthOf(e, now))}{e.end === undefined ? " so far" : ""}{e.tries > 1 ? ` · ${e.tries} attempts` : ""}</div>
      {e.server && <div className="muted">{e.server}.{e.tool}</div>}
      {startText(e, starts, now).map((text) => <div key={text} className="muted">{text}</div>)}
      {hit.segment && e.segments.length > 1 && <div className="muted">{segmentText(hit.segment, now)}</div>}
      {e.error && <div className="error-text">{e.error}</div>}
    </div>
  );
}

const legend = [["work", "attempt"], ["failed", "failed attempt"], ["delay", "retry delay"], ["sleep", "wait"], ["ask", "answer"], ["inner", "bodies"], ["start", "server starts"], ["paused", "paused"]] as const;

function Legend() {
  return <span className="timeline-legend" aria-hidden="true">{legend.map(([kind, text]) => <span key={kind}><i className={`is-${kind}`} />{text}</span>)}</span>;
}
