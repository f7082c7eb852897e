// What the graph shows of a run: the present, or the moment of the chosen record and its iteration.
import type { Rec, RunState } from "../api/types";
import type { StateName } from "../kit";
import { countRecord, edgeKey, emptyCounts, findNode, state, toolOf, type AppState, type Counts, type NodeStats, type RunData } from "../store";

export interface Moment {
  run?: RunState;
  data?: RunData;
  counts: Counts;
  /** How many executions are under way, by node. */
  active: Map<string, { count: number; state: string }>;
  /** Node where the run is paused. */
  paused?: string;
  /** Node of the chosen record. */
  chosen?: string;
  /** Nodes without an execution were skipped. */
  over: boolean;
}

const nothing: Moment = { counts: emptyCounts(), active: new Map(), over: false };
let last: { data?: RunData; run?: RunState; record?: number; frame?: string; moment: Moment } = { moment: nothing };

/** The moment that the selection names. Equal selections of an unchanged run return the same object. */
export function momentOf(s: AppState): Moment {
  const { run: id, record, frame } = s.selection;
  const data = id ? s.attached.get(id) : undefined;
  const run = id ? s.runs.get(id) : undefined;
  if (last.data === data && last.run === run && last.record === record && last.frame === frame) return last.moment;
  const moment = data && run ? compute(data, run, record, frame) : nothing;
  last = { data, run, record, frame, moment };
  return moment;
}

function compute(data: RunData, run: RunState, record?: number, frame?: string): Moment {
  const at = record === undefined ? undefined : data.records[record];
  const active: Moment["active"] = new Map();
  const note = (key: string, state: string) => {
    const now = active.get(key);
    active.set(key, { count: (now?.count ?? 0) + 1, state });
  };
  if (!at) {
    for (const a of data.active.values()) note(a.key, a.state);
    const counts = frame ? count(data.over, ownFrames(data, frame)) : data.counts;
    return { run, data, counts, active, paused: run.paused?.key, over: !!run.ended };
  }
  const own = ownFrames(data, frame ?? at.frame);
  const past: Rec[] = [];
  const end = Date.parse(at.end);
  for (const r of data.over) {
    if (r.index <= at.index) past.push(r);
    else if (Date.parse(r.start) < end && own(r)) note(r.key, "running");
  }
  return { run, data, counts: count(past, own), active, chosen: at.key, over: false };
}

function count(records: Rec[], own: (r: Rec) => boolean): Counts {
  const counts = emptyCounts();
  for (const r of records) if (own(r)) countRecord(counts, r);
  return counts;
}

/** The place in the graph that the executions of a frame have: a body, or a called tool. */
export const placeOf = (r: Rec) => findNode(r.key)?.body ?? toolOf(r.key);

/**
 * Reports whether a record is one of the iteration: of other iterations of the same bodies it is not,
 * of all else it is.
 */
function ownFrames(data: RunData, frame: string): (r: Rec) => boolean {
  if (!frame) return () => true;
  const places = new Map<string, string>(); // by frame: the first record that stands right in it
  for (const r of data.over) if (!places.has(r.frame)) places.set(r.frame, placeOf(r));
  const parts = frame.split("/");
  const chain = parts.map((_, i) => parts.slice(0, i + 1).join("/"));
  const verdicts = new Map<string, boolean>();
  return (r) => {
    const known = verdicts.get(r.frame);
    if (known !== undefined) return known;
    const theirs = r.frame === "" ? [] : r.frame.split("/");
    let verdict = true;
    for (let i = 0; i < chain.length && i < theirs.length; i++) {
      const prefix = theirs.slice(0, i + 1).join("/");
      if (prefix === chain[i]) continue;
      const place = places.get(prefix);
      verdict = place === undefined || place !== places.get(chain[i]!);
      break;
    }
    verdicts.set(r.frame, verdict);
    return verdict;
  };
}

/**
 * How often an edge was taken. The edges of the catch of a body or of a tool begin at no node: any node
 * in there may take them.
 */
export function takenOf(moment: Moment, from: string, via: string): number {
  const own = moment.counts.edges.get(edgeKey(from, via));
  if (own !== undefined || findNode(from)) return own ?? 0;
  const body = from.endsWith("#") ? undefined : from;
  let sum = 0;
  for (const n of state.graphs.get(toolOf(from))?.nodes ?? []) {
    if (n.body === body) sum += moment.counts.edges.get(edgeKey(n.key, via)) ?? 0;
  }
  return sum;
}

export interface NodeView extends Partial<NodeStats> {
  state?: StateName;
  active: number;
}

const worst = ["failed", "caught", "pinned", "done", "cancelled"] as const;

/** What a node shows: one state for all of its executions, the worst one. */
export function viewOf(moment: Moment, key: string): NodeView {
  const stats = moment.counts.nodes.get(key);
  const active = moment.active.get(key);
  let state: StateName | undefined;
  if (moment.paused === key) state = "paused";
  else if (active) state = active.state === "asking" || active.state === "waiting" ? "waiting" : "running";
  else if (stats) state = worst.find((w) => stats[w] > 0) ?? "done";
  else if (moment.over) state = "skipped";
  return { ...stats, state, active: active?.count ?? 0 };
}
