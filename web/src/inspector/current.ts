// What the inspector shows: the chosen execution, or the last one of the chosen node.

import type { Active, GNode, Rec, RunState } from "../api/types";
import { findNode, foreign, isOver, useGraph, useRecords, useRun, useSelection, type RunData } from "../store";

export interface Current {
  run: RunState | undefined;
  data: RunData | undefined;
  key: string | undefined;
  node: GNode | undefined;
  /** The execution; undefined if the node was not executed. */
  rec: Rec | undefined;
  /** The record that says that the output of the execution was set by a person; it has that output. */
  replaced: Rec | undefined;
  /** Executions of the node that are over. */
  executions: Rec[];
  /** Executions of the node that are under way. */
  active: Active[];
  /** Whether a moment of the past is chosen. */
  past: boolean;
}

/** useCurrent returns what the inspector shows. */
export function useCurrent(): Current {
  const selection = useSelection();
  const run = useRun();
  const data = useRecords();
  const chosen = selection.record === undefined ? undefined : data?.records[selection.record];
  const key = selection.key ?? chosen?.key ?? run?.paused?.key;
  useGraph(key?.split("#")[0]);
  const executions = (key !== undefined && data?.byKey.get(key)) || [];
  let rec = chosen;
  if (!rec || rec.key !== key) {
    const inFrame = selection.frame === undefined ? [] : executions.filter((r) => r.frame === selection.frame);
    rec = inFrame.at(-1) ?? executions.at(-1);
  } else if (!isOver(rec)) {
    // The record says that the execution began or was tried again; what came of it is in a later one.
    rec = executions.find((r) => r.frame === rec?.frame && r.execution === rec.execution) ?? rec;
  }
  const active = data && key !== undefined ? [...data.active.values()].filter((a) => a.key === key) : [];
  return { run, data, replaced: replacedOutput(data, rec), key, node: foreign(run) ? undefined : findNode(key), rec, executions, active, past: selection.record !== undefined };
}

function replacedOutput(data: RunData | undefined, rec: Rec | undefined): Rec | undefined {
  if (!data || !rec) return undefined;
  for (let i = data.records.length - 1; i > rec.index; i--) {
    const r = data.records[i];
    if (r?.event === "replaced" && r.key === rec.key && r.frame === rec.frame && r.execution === rec.execution) return r;
  }
  return undefined;
}

/** firstRecord returns the index of the first record of an execution: where a run has to begin again to execute it again. */
export function firstRecord(data: RunData | undefined, rec: Rec): number {
  const first = data?.records.findIndex((r) => r && r.frame === rec.frame && r.execution === rec.execution) ?? -1;
  return first >= 0 ? first : rec.index;
}
