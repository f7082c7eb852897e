// The events of the server as they are.
import "./events.css";
import { useEffect, useId, useMemo, useRef, useState, useSyncExternalStore } from "react";
import type { Event } from "../api/types";
import { Button, clock, copy, count, Empty, useKept, Virtual, type VirtualHandle } from "../kit";
import { select, useRecords, useSelection } from "../store";
import { events, eventsOf, json, runOf, subscribe, summary } from "./log";

const types = ["run", "record", "task", "log", "progress", "file", "reloaded", "runs", "durable", "servers", "gap"] as const;

/** The panel "Events". */
export default function Events() {
  const all = useSyncExternalStore(subscribe, events);
  const data = useRecords(), { run } = useSelection();
  const [text, setText] = useKept("events.text", "");
  const [type, setType] = useKept("events.type", "");
  const [mine, setMine] = useKept("events.mine", true);
  const [follow, setFollow] = useKept("events.follow", true);
  const [frozen, setFrozen] = useState<{ all: readonly Event[]; records: number }>();
  const [chosen, setChosen] = useState<Event>();
  const list = useRef<VirtualHandle>(null);
  const rowId = useId();

  const source = frozen?.all ?? all, recordCount = frozen?.records ?? data?.records.length ?? 0;
  const rows = useMemo(() => {
    let found = mine && run ? eventsOf(source, run, (data?.records ?? []).slice(0, recordCount)) : [...source];
    if (type) found = found.filter((e) => e.type === type);
    const wanted = text.trim().toLowerCase();
    if (wanted) found = found.filter((e) => json(e).toLowerCase().includes(wanted));
    return found;
  }, [source, recordCount, run, mine, type, text]);
  const at = chosen ? rows.indexOf(chosen) : -1;
  useEffect(() => { if (chosen && at < 0) setChosen(undefined); }, [chosen, at]);

  const choose = (i: number) => {
    const e = rows[i];
    if (!e) return;
    setChosen(e);
    setFollow(false);
    if (e.type === "record") select({ run: e.run, record: e.record.index });
    else if (e.type === "task") select({ run: e.run, key: e.active.key, record: undefined });
  };
  const waiting = frozen ? all.length - frozen.all.length : 0;
  return (
    <div className="events-panel">
      <div className="panel-bar" role="group" aria-label="Filter of events">
        <input type="search" className="input bar-search" placeholder="Filter" aria-label="Filter by text of the JSON" value={text} onChange={(e) => setText(e.target.value)} />
        <select className="select bar-select" aria-label="Type" value={type} onChange={(e) => setType(e.target.value)}>
          <option value="">All types</option>
          {types.map((t) => <option key={t} value={t}>{t}</option>)}
        </select>
        <label className="check"><input type="checkbox" checked={mine} onChange={(e) => setMine(e.target.checked)} />Chosen run only</label>
        <span className="row tight">
          <Button small icon={frozen ? "play" : "pause"} aria-pressed={!!frozen} title={frozen ? "Show new events again" : "Keep the list as it is while events arrive"}
            onClick={() => setFrozen(frozen ? undefined : { all, records: data?.records.length ?? 0 })}>
            {frozen ? "Continue" : "Pause"}{waiting > 0 && ` (${waiting} new)`}
          </Button>
          <Button small icon="down" aria-pressed={follow} title="Keep the newest event in sight" onClick={() => setFollow(!follow)}>Follow</Button>
          <Button small icon="copy" disabled={rows.length === 0} title="Copy the events in the list as JSON" onClick={() => void copy(`[\n${rows.map(json).join(",\n")}\n]\n`, count(rows.length, "event"))}>Copy JSON</Button>
        </span>
        <span className="bar-count">{count(rows.length, "event")}</span>
      </div>
      <div className="events-body">
        <Virtual ref={list} role="listbox" label="Events" count={rows.length} rowHeight={22} active={at} activeId={rowId} follow={follow && !frozen}
          onFollow={(on) => { if (!on || !chosen) setFollow(on); }} onActive={(i) => choose(i)} onChoose={choose}>
          {(i) => {
            const e = rows[i]!;
            return (
              <div role="option" id={i === at ? rowId : undefined} aria-selected={i === at} aria-setsize={rows.length} aria-posinset={i + 1}
                className={`event-row${i === at ? " is-selected is-active" : ""}`} onClick={() => choose(i)}>
                <span className="num muted">{clock(e.time, true)}</span>
                <span className={`event-type is-${e.type}`}>{e.type}</span>
                {!mine && <span className="muted mono ellipsis event-run">{runOf(e)?.slice(0, 8)}</span>}
                <span className="ellipsis">{summary(e)}</span>
              </div>
            );
          }}
        </Virtual>
        {chosen && (
          <div className="event-detail">
            <div className="row">
              <strong className="grow">{chosen.type}{chosen.n > 0 && ` ${chosen.n}`}</strong>
              <Button small look="quiet" icon="copy" onClick={() => void copy(JSON.stringify(chosen, null, 2), "Event")}>Copy</Button>
              <Button small look="quiet" icon="cross" aria-label="Close the event" title="Close" onClick={() => { setChosen(undefined); list.current?.focus(); }} />
            </div>
            <pre tabIndex={0} aria-label="The event as JSON">{JSON.stringify(chosen, null, 2)}</pre>
          </div>
        )}
      </div>
      {rows.length === 0 && <Empty title={all.length === 0 ? "No events yet" : "No event matches the filter"} />}
    </div>
  );
}
