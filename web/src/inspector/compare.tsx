import { useEffect, useState } from "react";
import { api } from "../api";
import type { Rec, RunState } from "../api/types";
import { Empty, when } from "../kit";
import { shallow, useStore } from "../store";
import { Diff } from "../value/diffview";
import type { Value } from "../value/json";
import { loader } from "../value/load";
import { whole } from "../value/rows";
import type { Current } from "./current";

/** Execution names an execution of a run. */
export interface Execution {
  run: string;
  record: number;
  name: string;
}

type ComparedPart = "output" | "arguments" | "reply" | "error" | "document";
const parts: [ComparedPart, string][] = [["output", "Output"], ["arguments", "Arguments"], ["reply", "Reply"], ["error", "Error"], ["document", "Document"]];

async function fetchValue(e: Execution, part: ComparedPart): Promise<Value | undefined> {
  try {
    const { value } = await api.value(e.run, { record: e.record, part });
    return value === undefined ? undefined : await whole(value as Value, [], loader(e.run, e.record, part));
  } catch (err) {
    if (err instanceof Error && "status" in err && err.status === 404) return undefined;
    throw err;
  }
}

/** CompareValues shows what differs between two executions. */
export function CompareValues({ a, b }: { a: Execution; b: Execution }) {
  const [part, setPart] = useState<ComparedPart>("output");
  const [state, setState] = useState<{ a?: Value; b?: Value; error?: string; of: string }>();
  const of = `${a.run} ${a.record} ${b.run} ${b.record} ${part}`;
  useEffect(() => {
    let given = true;
    Promise.all([fetchValue(a, part), fetchValue(b, part)]).then(
      ([x, y]) => given && setState({ of, ...(x === undefined ? {} : { a: x }), ...(y === undefined ? {} : { b: y }) }),
      (e: unknown) => given && setState({ of, error: e instanceof Error ? e.message : String(e) }),
    );
    return () => {
      given = false;
    };
  }, [of]);
  return (
    <div className="i-compare">
      <label className="i-actions">
        <span className="i-label">Compare</span>
        <select className="select" value={part} onChange={(e) => setPart(e.target.value as ComparedPart)}>
          {parts.map(([id, title]) => (
            <option key={id} value={id}>
              {title}
            </option>
          ))}
        </select>
      </label>
      {state?.of !== of ? <p className="muted i-pad">Loading …</p> : state.error ? <p className="error-text i-pad">{state.error}</p> : <Diff a={state.a} b={state.b} nameA={a.name} nameB={b.name} label={`Differences of ${part}`} />}
    </div>
  );
}

const nameOf = (r: Rec, list: Rec[]) => `${list.indexOf(r) + 1} of ${list.length}: ${r.path}`;

/** CompareTab compares an execution with another one of the same node, in this run or another one. */
export function CompareTab({ current }: { current: Current }) {
  const { run, rec, executions } = current;
  const others = useStore((s) => [...s.runs.values()].filter((r) => r.tool === run?.tool && r.id !== run?.id).sort((a, b) => b.began.localeCompare(a.began)).slice(0, 50), shallow);
  const [chosen, setChosen] = useState("");
  const [other, setOther] = useState<{ run: string; record?: number; error?: string }>();
  const otherRun = chosen.startsWith("run ") ? chosen.slice(4) : undefined;
  const index = rec?.index;
  useEffect(() => {
    setOther(undefined);
    if (otherRun === undefined || run === undefined || index === undefined) return;
    let given = true;
    api.compare(run.id, otherRun).then(
      ({ pairs }) => {
        const pair = pairs.find((p) => p.a === index);
        if (given) setOther({ run: otherRun, ...(pair?.b === undefined ? {} : { record: pair.b }) });
      },
      (e: unknown) => given && setOther({ run: otherRun, error: e instanceof Error ? e.message : String(e) }),
    );
    return () => {
      given = false;
    };
  }, [otherRun, run?.id, index]);

  if (!rec || !run) return <Empty title="Nothing to compare"><p>This node was not executed yet.</p></Empty>;
  const rest = executions.filter((r) => r !== rec).slice(-200);
  const sibling = chosen.startsWith("rec ") ? executions.find((r) => r.index === Number(chosen.slice(4))) : undefined;
  const a: Execution = { run: run.id, record: rec.index, name: "This execution" };
  let b: Execution | undefined;
  if (sibling) b = { run: run.id, record: sibling.index, name: nameOf(sibling, executions) };
  else if (other && other.run === otherRun && other.record !== undefined) b = { run: other.run, record: other.record, name: runName(others.find((r) => r.id === other.run)) };
  return (
    <div className="i-scroll">
      <label className="i-actions">
        <span className="i-label">With</span>
        <select className="select" value={chosen} onChange={(e) => setChosen(e.target.value)}>
          <option value="">Choose an execution</option>
          {rest.length > 0 && (
            <optgroup label="In this run">
              {rest.map((r) => (
                <option key={r.index} value={`rec ${r.index}`}>
                  {nameOf(r, executions)} ({r.state})
                </option>
              ))}
            </optgroup>
          )}
          {others.length > 0 && (
            <optgroup label="The same one in another run">
              {others.map((r) => (
                <option key={r.id} value={`run ${r.id}`}>
                  {runName(r)}
                </option>
              ))}
            </optgroup>
          )}
        </select>
      </label>
      {rest.length === 0 && others.length === 0 && <p className="muted i-pad">There is no other execution of this node, and no other run of this tool.</p>}
      {otherRun !== undefined && other?.run === otherRun && other.error && <p className="error-text i-pad">{other.error}</p>}
      {otherRun !== undefined && other?.run === otherRun && !other.error && other.record === undefined && <p className="muted i-pad">That run did not execute {rec.path}.</p>}
      {b && <CompareValues a={a} b={b} />}
    </div>
  );
}

function runName(r: RunState | undefined): string {
  return r ? `Run of ${when(r.began)} (${r.state})` : "Other run";
}
