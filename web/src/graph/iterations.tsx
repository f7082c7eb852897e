// Chooses one iteration of a body, or one execution of a node that was executed more than once.
import { useEffect, useMemo, useRef, useState, type KeyboardEvent } from "react";
import { createPortal } from "react-dom";
import type { Rec } from "../api/types";
import { Button, count, duration, Icon, IconButton, signs, type StateName } from "../kit";
import { findNode, select, state, useRecords, useSelection, useStore, type RunData } from "../store";
import { placeOf } from "./moment";

interface Item { id: string; label: string; state: StateName; ms: number; note?: string; choose: () => void; current: boolean }

const rowHeight = 26;

/** The iterations of a body: one for each frame, in the order in which they began. */
function framesOf(data: RunData, body: string): Map<string, Rec[]> {
  const frames = new Map<string, Rec[]>();
  const inside = new Map<string, boolean>();
  for (const r of data.over) {
    const known = inside.get(r.key) ?? placeOf(r) === body;
    inside.set(r.key, known);
    if (!known) continue;
    const list = frames.get(r.frame);
    if (list) list.push(r);
    else frames.set(r.frame, [r]);
  }
  return frames;
}

/** Shows how many iterations a body had; opens the picker. */
export function IterationButton({ body, name }: { body: string; name: string }) {
  const data = useRecords();
  const { frame, key } = useSelection();
  const frames = useMemo(() => data && framesOf(data, body), [data, body]);
  if (!frames || frames.size < 2) return null;
  const items = (): Item[] => [...frames].map(([f, records]) => {
    const failed = records.find((r) => r.state === "failed") ?? records.find((r) => r.state === "caught");
    const best = failed ?? records.find((r) => r.key === key) ?? records[records.length - 1]!;
    return {
      id: f, label: iterationLabel(records[0]!), state: failed?.state ?? records[records.length - 1]!.state, note: failed?.error?.message,
      ms: records.reduce((end, r) => Math.max(end, Date.parse(r.end)), 0) - records.reduce((start, r) => Math.min(start, Date.parse(r.start)), Infinity),
      current: frame === f || !!frame?.startsWith(`${f}/`), choose: () => select({ record: best.index, frame: f }),
    };
  });
  const within = [...frames.keys()].find((f) => f === frame || frame?.startsWith(`${f}/`));
  return <Picker label={`Iterations of ${name}`} text={within === undefined ? count(frames.size, "iteration") : `${iterationLabel(frames.get(within)![0]!)} of ${frames.size}`} items={items}
    onClear={within === undefined ? undefined : () => select({ frame: undefined, record: undefined })} />;
}

/** The path of an iteration: that of its first execution without the node. */
function iterationLabel(r: Rec): string {
  const dot = r.path.lastIndexOf(".");
  return dot > 0 ? r.path.slice(0, dot) : r.branch ?? (r.item !== undefined ? `item ${r.item}` : r.path);
}

/** The executions of the chosen node, where there is more than one. */
export function ExecutionButton() {
  const data = useRecords();
  const { key, record } = useSelection();
  const records = key ? data?.byKey.get(key) : undefined;
  if (!records || records.length < 2) return null;
  const items = (): Item[] => records.map((r, i) => ({
    id: String(r.index), label: `${i + 1}: ${r.path}`, state: r.state, ms: r.ms, note: r.error?.message, current: r.index === record,
    choose: () => select({ record: r.index }),
  }));
  const at = records.findIndex((r) => r.index === record);
  return (
    <span className="row picker-row">
      <IconButton small icon="before" label="Previous execution" disabled={at <= 0} onClick={() => select({ record: records[at - 1]!.index })} />
      <Picker label={`Executions of ${findNode(key)?.id ?? key}`} text={at < 0 ? count(records.length, "execution") : `execution ${at + 1} of ${records.length}`} items={items} />
      <IconButton small icon="after" label="Next execution" disabled={at >= records.length - 1} onClick={() => select({ record: records[at + 1]!.index })} />
    </span>
  );
}

function Picker({ label, text, items, onClear }: { label: string; text: string; items: () => Item[]; onClear?: () => void }) {
  const [at, setAt] = useState<{ x: number; y: number }>();
  return (
    <>
      <button type="button" className="btn small picker nodrag nopan" aria-haspopup="dialog" aria-expanded={!!at} aria-label={`${label}: ${text}`} onClick={(e) => {
        e.stopPropagation();
        const box = e.currentTarget.getBoundingClientRect();
        setAt({ x: box.left, y: box.bottom + 2 });
      }}>{text}<Icon name="down" /></button>
      {at && <List label={label} at={at} items={items()} onClear={onClear} onClose={() => setAt(undefined)} />}
    </>
  );
}

function List({ label, at, items, onClear, onClose }: { label: string; at: { x: number; y: number }; items: Item[]; onClear?: () => void; onClose: () => void }) {
  const [text, setText] = useState("");
  const [failedOnly, setFailedOnly] = useState(false);
  const [top, setTop] = useState(0);
  const [active, setActive] = useState(() => Math.max(0, items.findIndex((i) => i.current)));
  const ref = useRef<HTMLDivElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const back = useRef(document.activeElement as HTMLElement | null);
  const found = items.filter((i) => (!failedOnly || i.state === "failed" || i.state === "caught") && (text === "" || `${i.label} ${i.note ?? ""}`.toLowerCase().includes(text.toLowerCase())));
  const failures = items.filter((i) => i.state === "failed" || i.state === "caught").length;
  useEffect(() => {
    const outside = (e: PointerEvent) => { if (!ref.current?.contains(e.target as Node)) onClose(); };
    document.addEventListener("pointerdown", outside, true);
    return () => document.removeEventListener("pointerdown", outside, true);
  }, [onClose]);
  useEffect(() => {
    const box = scroller.current!;
    if (active * rowHeight < box.scrollTop) box.scrollTop = active * rowHeight;
    else if ((active + 1) * rowHeight > box.scrollTop + box.clientHeight) box.scrollTop = (active + 1) * rowHeight - box.clientHeight;
  }, [active, text, failedOnly]);
  const close = () => { onClose(); back.current?.focus(); };
  const choose = (item?: Item) => { if (item) { close(); item.choose(); } };
  const keys = (e: KeyboardEvent) => {
    e.stopPropagation();
    if (e.key === "Escape") close();
    else if (e.key === "ArrowDown") setActive(Math.min(found.length - 1, active + 1));
    else if (e.key === "ArrowUp") setActive(Math.max(0, active - 1));
    else if (e.key === "Enter" && (e.target as HTMLElement).tagName === "INPUT") choose(found[active]);
    else return;
    e.preventDefault();
  };
  const visible = 10;
  const first = Math.max(0, Math.floor(top / rowHeight) - 2);
  return createPortal(
    <div ref={ref} className="menu picker-list nowheel" role="dialog" aria-label={label} style={{ left: Math.max(4, Math.min(at.x, innerWidth - 360)), top: Math.max(4, Math.min(at.y, innerHeight - 350)) }} onKeyDown={keys}>
      <div className="row picker-head">
        <input autoFocus className="input" type="search" role="combobox" aria-expanded="true" aria-controls="picker-options" aria-activedescendant={found[active] ? `picker-${active}` : undefined}
          aria-label={`Filter ${label}`} placeholder="Filter" value={text} onChange={(e) => { setText(e.target.value); setActive(0); }} />
        <label className="check small"><input type="checkbox" checked={failedOnly} onChange={(e) => { setFailedOnly(e.target.checked); setActive(0); }} />failed only ({failures})</label>
      </div>
      <div ref={scroller} className="picker-scroll" style={{ height: Math.max(1, Math.min(visible, found.length)) * rowHeight }} onScroll={(e) => setTop(e.currentTarget.scrollTop)}>
        <div id="picker-options" role="listbox" aria-label={label} style={{ height: found.length * rowHeight, position: "relative" }}>
          {found.slice(first, first + visible + 4).map((item, i) => (
            <div key={item.id} id={`picker-${first + i}`} role="option" aria-selected={item.current} className={`picker-item${first + i === active ? " active" : ""}`} style={{ top: (first + i) * rowHeight, height: rowHeight }}
              title={item.note} onClick={() => choose(item)}>
              <span className={`sign s-${item.state}`}><Icon name={signs[item.state].icon} title={signs[item.state].label} /></span>
              <span className="ellipsis grow">{item.label}{item.note && <span className="muted"> – {item.note}</span>}</span>
              <span className="muted small">{duration(item.ms)}</span>
            </div>
          ))}
        </div>
      </div>
      {found.length === 0 && <p className="muted small">Nothing matches.</p>}
      {onClear && <Button small onClick={() => { close(); onClear(); }}>Show all iterations</Button>}
    </div>, document.body);
}

/** Says that the past is shown, and leads back. */
export function MomentNote() {
  const { record, run } = useSelection();
  const total = useStore((s) => s.attached.get(run ?? "")?.records.length);
  if (record === undefined || !run) return null;
  return (
    <span className="row moment-note">
      <Icon name="clock" /><span>moment {record + 1} of {total}</span>
      <Button small onClick={() => select({ record: undefined, frame: undefined })}>{state.runs.get(run)?.ended ? "Show the end" : "Back to now"}</Button>
    </span>
  );
}
