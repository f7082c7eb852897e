// The executions of attached runs: made once per run, and kept up with its records.
import { useEffect, useMemo, useRef, useState } from "react";
import { select, type RunData } from "../store";
import { Executions, type Execution } from "./executions";
import { timeOfDay } from "./pauses";

interface Known { executions: Executions; next: number }

// The arrays of records stay the same ones while a run is attached.
const known = new WeakMap<RunData["records"], Known>();

/** Returns the executions of a run, with all records that have come. */
export function executionsOf(data: RunData): Executions {
  let k = known.get(data.records);
  if (!k) known.set(data.records, (k = { executions: new Executions((t, record, begins) => timeOfDay(data.id, t, record, begins)), next: 0 }));
  let hole: number | undefined;
  for (let i = k.next; i < data.records.length; i++) {
    const record = data.records[i];
    if (record) k.executions.add(record);
    else if (i >= data.dropped) hole ??= i; // it may still come
  }
  k.next = hole ?? data.records.length;
  for (const active of data.active.values()) k.executions.begin(active);
  k.executions.settle();
  return k.executions;
}

/** Long lists are shown anew at most this often, in milliseconds. */
const pace = 250;
const long = 2000;

/** The executions of a run. Its list grows in place; the version says when. */
export function useExecutions(data: RunData | undefined): { executions: Executions | undefined; version: number } {
  const executions = useMemo(() => (data ? executionsOf(data) : undefined), [data]);
  const now = executions?.version ?? 0;
  const [shown, setShown] = useState(now);
  const last = useRef(0);
  const hurried = !executions || executions.list.length < long;
  useEffect(() => {
    if (hurried || now === shown) return;
    const timer = setTimeout(() => {
      last.current = performance.now();
      setShown(now);
    }, Math.max(0, pace - (performance.now() - last.current)));
    return () => clearTimeout(timer);
  }, [now, shown, hurried]);
  return { executions, version: hurried ? now : shown };
}

/** Selects an execution everywhere: the moment of its newest record or, where it has none, its node. */
export function chooseExecution(run: string, e: Execution) {
  select({ run, record: e.end === undefined ? undefined : e.record, key: e.key });
}
