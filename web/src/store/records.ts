// The records of attached runs.
import type { Active, Rec } from "../api/types";
import type { RunData } from "./state";

export function emptyRun(id: string): RunData {
  return { id, records: [], over: [], byKey: new Map(), active: new Map(), dropped: 0, loading: true };
}

/** Whether the execution of a record is over with it. */
export function isOver(record: Rec): boolean {
  return record.event === "done" || record.event === "cancelled";
}

export function activeKey(at: { path: string; execution: number }): string {
  return `${at.path}:${at.execution}`;
}

/** Adds a record, in place; one with an index that is known replaces that. */
export function addRecord(data: RunData, record: Rec) {
  const known = data.records[record.index];
  data.records[record.index] = record;
  if (!isOver(record)) return;
  data.active.delete(activeKey(record));
  let list = data.byKey.get(record.key);
  if (!list) data.byKey.set(record.key, (list = []));
  insert(data.over, record, known);
  insert(list, record, known);
}

function insert(list: Rec[], record: Rec, known?: Rec) {
  if (known) {
    const at = list.indexOf(known);
    if (at >= 0) {
      list[at] = record;
      return;
    }
  }
  let at = list.length;
  while (at > 0 && list[at - 1]!.index > record.index) at--;
  list.splice(at, 0, record);
}

/** Replaces the executions under way, in place. */
export function setActive(data: RunData, active: Active[]) {
  data.active.clear();
  for (const a of active) data.active.set(activeKey(a), a);
}
