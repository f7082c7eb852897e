// Expressions in the scope of a run, and what runs say.
import "./console.css";
import { useLayoutEffect, useRef, useState, useSyncExternalStore } from "react";
import { api, RequestError } from "../api";
import { Button, clock, Icon } from "../kit";
import { select, useRecord, useRun, useSelection } from "../store";
import type { Value } from "../value/json";
import { Tree } from "../value/tree";
import { all, clear, subscribe, write, type Line, type Scope } from "./lines";
import { Prompt } from "./prompt";

/** The panel "Console". */
export default function Console() {
  const lines = useSyncExternalStore(subscribe, all);
  const run = useRun(), record = useRecord(), selection = useSelection();
  const [mine, setMine] = useState(false);
  const box = useRef<HTMLDivElement>(null), atEnd = useRef(true);
  const shown = mine && run ? lines.filter((l) => l.run === undefined || l.run === run.id) : lines;
  // The end stays in sight, also while values get their height.
  useLayoutEffect(() => {
    const b = box.current!;
    const stay = () => { if (atEnd.current) b.scrollTop = b.scrollHeight; };
    const observer = new ResizeObserver(stay);
    observer.observe(b);
    observer.observe(b.firstElementChild!);
    return () => observer.disconnect();
  }, []);

  let scope: Scope | undefined, why = "Run the tool, or choose a run: expressions are evaluated in its document";
  if (run) {
    if (record && selection.record !== undefined) scope = { run: run.id, record: record.index, text: `at ${record.path}` };
    else if (run.state === "paused") scope = { run: run.id, text: `where the run is paused, ${run.paused?.path || "at the start"}` };
    else if (run.ended) scope = { run: run.id, text: "at the end of the run" };
    else why = "The run is under way: pause it, or choose an execution";
    if (scope) why = scope.text;
  }

  const enter = async (expression: string) => {
    if (!scope) return;
    atEnd.current = true;
    const { run } = scope;
    write({ kind: "input", run, expression, scope });
    try {
      const { value } = await api.evaluate(run, expression, scope.record === undefined ? {} : { record: scope.record });
      write({ kind: "result", run, expression, ...(value === undefined ? {} : { value: value as Value }) });
    } catch (e) {
      const at = e instanceof RequestError ? e.at : undefined;
      write({ kind: "error", run, expression, message: e instanceof Error ? e.message : String(e), from: at?.from, to: at?.to });
    }
  };
  return (
    <div className="console">
      <div className="panel-bar">
        <span className="muted ellipsis">{scope ? <>Scope: <strong>{why}</strong></> : why}</span>
        <span className="grow" />
        <label className="check"><input type="checkbox" checked={mine} onChange={(e) => setMine(e.target.checked)} />Chosen run only</label>
        <Button small icon="trash" disabled={lines.length === 0} title="Remove all lines (Ctrl+L)" onClick={clear}>Clear</Button>
      </div>
      <div ref={box} className="console-lines" role="log" aria-label="Console" tabIndex={0}
        onScroll={(e) => { const b = e.currentTarget; atEnd.current = b.scrollHeight - b.scrollTop - b.clientHeight < 30; }}>
        <div>{shown.map((l) => <LineView key={l.id} line={l} />)}</div>
      </div>
      <Prompt scope={scope} moment={run?.ended ? "end" : `${run?.paused?.at} ${run?.paused?.path} ${run?.executions}`} why={why} onEnter={(e) => void enter(e)} onClear={clear} />
    </div>
  );
}

function LineView({ line: l }: { line: Line }) {
  switch (l.kind) {
    case "input":
      return (
        <div className="console-line is-input">
          <span className="console-mark" aria-hidden="true">❯</span><pre className="grow">{l.expression}</pre>
          <span className="muted small">{l.scope.text}</span>
        </div>
      );
    case "result":
      if (l.value === undefined) return <div className="console-line"><span className="console-mark" aria-hidden="true">←</span><span className="muted">nothing (undefined)</span></div>;
      return (
        <div className="console-line is-result">
          <span className="console-mark" aria-hidden="true">←</span>
          <div className="grow"><Tree value={l.value} label={`Value of ${l.expression}`} root={/^[$\w.`[\]]+$/.test(l.expression) ? l.expression : `(${l.expression})`} depth={1} maxRows={16} plain /></div>
        </div>
      );
    case "error":
      return <div className="console-line is-error"><Icon name="cross" /><div className="grow"><Caret line={l} />{l.message}</div></div>;
    case "log":
      return (
        <div className={`console-line is-log is-${l.level}`}>
          <span className="muted num">{clock(new Date(l.at).toISOString(), true)}</span>
          <span className="console-level">{l.level}</span>
          {l.key && <button type="button" className="console-key mono" title="Choose this node" onClick={() => select(l.run ? { run: l.run, key: l.key } : { key: l.key })}>{l.key.slice(l.key.indexOf("#") + 1)}</button>}
          <span className="console-text">{l.text}</span>
        </div>
      );
    case "event":
      return (
        <div className="console-line is-event">
          <span className="muted num">{clock(new Date(l.at).toISOString(), true)}</span>
          <span className={`sign s-${l.look}`}><Icon name={l.look === "paused" ? "pause" : l.look === "done" ? "check" : "cross"} />{l.text}</span>
        </div>
      );
  }
}

/** The line of an expression with an error, and a caret beneath its place. */
function Caret({ line }: { line: Extract<Line, { kind: "error" }> }) {
  if (line.from === undefined) return null;
  const { expression, from } = line;
  const begin = expression.lastIndexOf("\n", from - 1) + 1;
  const found = expression.indexOf("\n", from);
  const end = found < 0 ? expression.length : found;
  const width = Math.max(1, Math.min((line.to ?? from + 1) - from, end - from));
  const before = expression.slice(begin, from).replace(/[^\t]/g, " ");
  return <pre aria-label={`Error at character ${from + 1}`}>{expression.slice(begin, end)}{"\n"}{before}<b>{"^".repeat(width)}</b></pre>;
}
