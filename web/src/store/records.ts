// The records of attached runs.
import type { Active, Rec, RunState } from "../api/types";
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
  if (!n) counts.nodes.set(record.key, (n = { count: 0, done: 0, failed: 0, caught: 0, cancelled: 0, pinned: 0, ms: 0, last: 0, max: 0 }));
  n.count++;
  n.ms += record.ms;
  n.last = record.ms;
  n.max = Math.max(n.max, record.ms);
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
  insert(data.over, record);
  insert(list, record);
}

/** Puts a record into a list that is in the order of indexes; one with its index is replaced. */
function insert(list: Rec[], record: Rec) {
  let from = 0, to = list.length;
  if (to > 0 && list[to - 1]!.index < record.index) from = to;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (list[middle]!.index < record.index) from = middle + 1;
    else to = middle;
  }
  list.splice(from, list[from]?.index === record.index ? 1 : 0, record);
}

/** Adds executions under way, in place, without those that are over by now. */
export function addActive(data: RunData, active: Active[]) {
  if (active.length === 0) return;
  const over = new Set(data.over.map(activeKey));
  for (const a of active) {
    const key = activeKey(a);
    if (!over.has(key)) data.active.set(key, a);
  }
}

/** Replaces the executions under way, in place. */
export function setActive(data: RunData, active: Active[]) {
  data.active.clear();
  for (const a of active) data.active.set(activeKey(a), a);
}

/** The oldest runs that are over and that nothing shows, at most n. */
export function oldestRuns(runs: Iterable<RunState>, n: number, shown: (id: string) => boolean): string[] {
  const over = [...runs].filter((r) => r.ended && !shown(r.id));
  over.sort((a, b) => a.began.localeCompare(b.began));
  return over.slice(0, n).map((r) => r.id);
}
