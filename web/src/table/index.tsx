// The table of executions. It shows as text what the timeline shows as a picture.
import "./table.css";
import { memo, useDeferredValue, useEffect, useId, useMemo, useRef, useState } from "react";
import { Button, count, duration, Empty, Icon, StateSign, typeIcon, useKept, Virtual, type VirtualHandle } from "../kit";
import { selectPresent, useRecords, useRun, useSelection } from "../store";
import type { Execution } from "../timeline/executions";
import { chooseExecution, useExecutions } from "../timeline/of";
import { lengthOf } from "../timeline/text";
import { filterRows, iterationOf, noFilter, sortRows, type Column, type Filter } from "./rows";

const columns: { id: Column; title: string; right?: boolean }[] = [
  { id: "order", title: "#", right: true }, { id: "node", title: "Node" }, { id: "path", title: "Path" }, { id: "iteration", title: "Iteration" },
  { id: "start", title: "Start", right: true }, { id: "duration", title: "Duration", right: true }, { id: "state", title: "State" },
  { id: "attempts", title: "Attempts", right: true },
];
const states = ["running", "waiting", "done", "failed", "caught", "cancelled", "pinned"] as const;

/** The panel "Table". */
export default function Table() {
  const run = useRun(), data = useRecords(), selection = useSelection();
  const { executions, version } = useExecutions(data);
  const [filter, setFilter] = useKept<Filter>("table.filter", noFilter);
  const [sort, setSort] = useKept<{ by: Column; descending: boolean }>("table.sort", { by: "order", descending: false });
  const [active, setActive] = useState<string>();
  const list = useRef<VirtualHandle>(null);
  const rowId = useId();
  const wanted = useDeferredValue(filter);

  const rows = useMemo(() => sortRows(filterRows(executions?.list ?? [], wanted, selection.key), sort.by, sort.descending, Date.now()),
    // The list grows in place; its version says when.
    [executions, version, wanted, sort, wanted.node && selection.key]);
  const places = useMemo(() => new Map(rows.map((e, i) => [e.id, i])), [rows]);

  const selected = executions?.at(selection.record);
  useEffect(() => {
    if (!selected) return;
    setActive(selected.id);
    const at = places.get(selected.id);
    if (at !== undefined) list.current?.reveal(at);
  }, [selected]);

  if (!run || !executions) return <Empty title="No run is chosen"><p>Run the tool, or choose a run: its executions are listed here.</p></Empty>;
  const set = (change: Partial<Filter>) => setFilter({ ...filter, ...change });
  const start = Date.parse(run.began), now = Date.now();
  const filtered = Object.keys(noFilter).some((k) => filter[k as keyof Filter] !== noFilter[k as keyof Filter]);
  const choose = (e: Execution | undefined) => e && chooseExecution(run.id, e);
  const at = active === undefined ? -1 : places.get(active) ?? -1;
  return (
    <div className="table-panel">
      <div className="panel-bar" role="group" aria-label="Filter of executions">
        <input type="search" className="input bar-search" placeholder="Filter" aria-label="Filter by node, path, tool or error" value={filter.text}
          onChange={(e) => set({ text: e.target.value })} />
        <select className="select bar-select" aria-label="State" value={filter.state} onChange={(e) => set({ state: e.target.value })}>
          <option value="">All states</option>
          {states.map((s) => <option key={s} value={s}>{s}</option>)}
        </select>
        <label className="check"><input type="checkbox" checked={filter.failed} onChange={(e) => set({ failed: e.target.checked })} />Failed only</label>
        <label className="check"><input type="checkbox" checked={filter.node} onChange={(e) => set({ node: e.target.checked })} />Chosen node only</label>
        <label className="check">Iteration<input className="input bar-number" inputMode="numeric" value={filter.iteration} title="Number of an item, from 0, or of a repeated execution, from 1"
          onChange={(e) => set({ iteration: e.target.value.replace(/\D/g, "") })} /></label>
        {filtered && <Button small onClick={() => setFilter(noFilter)}>Clear</Button>}
        <span className="bar-count" role="status">{filtered ? `${rows.length.toLocaleString("en")} of ${count(executions.list.length, "execution")}` : count(rows.length, "execution")}</span>
      </div>
      <Virtual ref={list} role="grid" label="Executions" count={rows.length} rowHeight={24} columns={columns.length} className="table-grid"
        active={at} activeId={rowId}
        onActive={(i, held) => { setActive(rows[i]!.id); if (!held) choose(rows[i]); }}
        onChoose={(i) => choose(rows[i])}
        onKeyUp={(e) => { if (e.key.startsWith("Arrow") || e.key.startsWith("Page")) { const now = rows[at]; if (now && now !== selected) choose(now); } }}
        onKeyDown={(e) => { if (e.key === "Escape" && selection.record !== undefined) { e.preventDefault(); selectPresent(); } }}
        header={
          <div role="rowgroup" className="table-head">
            <div role="row" aria-rowindex={1} className="table-row">
              {columns.map((c) => (
                <div key={c.id} role="columnheader" className={c.right ? "right" : undefined}
                  aria-sort={sort.by === c.id ? (sort.descending ? "descending" : "ascending") : "none"}>
                  <button type="button" onClick={() => setSort({ by: c.id, descending: sort.by === c.id && !sort.descending })}>
                    {c.title}{sort.by === c.id && <Icon name={sort.descending ? "down" : "up"} />}
                  </button>
                </div>
              ))}
            </div>
          </div>
        }>
        {(i) => {
          const e = rows[i]!;
          return <Row execution={e} id={i === at ? rowId : undefined} index={i} start={start} selected={e === selected} active={i === at} sameNode={e.key === selection.key}
            length={e.end === undefined ? lengthOf(e, now) : undefined} state={e.state} tries={e.tries} onChoose={choose} />;
        }}
      </Virtual>
      {rows.length === 0 && <Empty title={filtered ? "No execution matches the filter" : run.ended ? "Nothing was executed" : "Nothing has been executed yet"} />}
    </div>
  );
}

/** State and tries change in place in the execution: they are given apart, so that the row is drawn again. */
const Row = memo(function Row({ execution: e, id, index, start, selected, active, sameNode, length, state, tries, onChoose }: {
  execution: Execution; id?: string; index: number; start: number; selected: boolean; active: boolean; sameNode: boolean;
  length?: number; state: Execution["state"]; tries: number; onChoose: (e: Execution) => void;
}) {
  return (
    <div role="row" id={id} aria-rowindex={index + 2} aria-selected={selected} onClick={() => onChoose(e)}
      className={["table-row", selected && "is-selected", active && "is-active", sameNode && "is-node"].filter(Boolean).join(" ")}>
      <div role="gridcell" className="right num">{e.order + 1}</div>
      <div role="gridcell" className="ellipsis"><Icon name={typeIcon(e.type)} /> {e.node}</div>
      <div role="gridcell" className="ellipsis mono" title={e.path}>{e.path}</div>
      <div role="gridcell" className="ellipsis num">{iterationOf(e)}</div>
      <div role="gridcell" className="right num">{duration(Math.max(0, e.start - start))}</div>
      <div role="gridcell" className="right num">{duration(length ?? lengthOf(e))}</div>
      <div role="gridcell" className="ellipsis" title={e.error}><StateSign state={state} />{e.error && <span className="muted"> {e.error}</span>}</div>
      <div role="gridcell" className="right num">{tries > 1 ? tries : ""}</div>
    </div>
  );
}, (a, b) => a.execution === b.execution && a.id === b.id && a.index === b.index && a.start === b.start && a.selected === b.selected &&
  a.active === b.active && a.sameNode === b.sameNode && a.length === b.length && a.state === b.state && a.tries === b.tries);
