// The records of attached runs.
import type { Active, Rec } from "../api/types";
import type { Counts, RunData } from "./state";

export function emptyRun(id: string): RunData {
  return { id, records: [], over: [], byKey: new Map(), counts: emptyCounts(), active: new Map(), dropped: 0, loading: true };
}

export function emptyCounts(): Counts {
  return { nodes: new Map(), edges: new Map() };
}

/** Names an edge of a graph by where it begins. */
export function edgeKey(from: string, via: string): string {
  return `${from} ${via}`;
}

/** Adds an execution that is over to the counts, in place. */
export function countRecord(counts: Counts, record: Rec) {
  let n = counts.nodes.get(record.key);
  if (!n) counts.nodes.set(record.key, (n = { count: 0, done: 0, failed: 0, caught: 0, cancelled: 0, pinned: 0, ms: 0 }));
  n.count++;
  n.ms += record.ms;
  if (record.state !== "waiting") n[record.state]++;
  if (record.via) {
    const edge = edgeKey(record.key, record.via);
    counts.edges.set(edge, (counts.edges.get(edge) ?? 0) + 1);
  }
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
  if (!known || !isOver(known)) countRecord(data.counts, record);
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

/** Adds executions under way, in place, without those that are over by now. */
export function addActive(data: RunData, active: Active[]) {
  for (const a of active) {
    if (!data.over.some((r) => activeKey(r) === activeKey(a))) data.active.set(activeKey(a), a);
  }
}

/** Replaces the executions under way, in place. */
export function setActive(data: RunData, active: Active[]) {
  data.active.clear();
  for (const a of active) data.active.set(activeKey(a), a);
}
