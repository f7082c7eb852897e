// Executions puts the records of a run together: one Execution for each time that a
// node was executed, with its attempts and waits as segments.

import type { Active, Rec } from "../api/types";

export type SegmentKind = "work" | "failed" | "delay" | "sleep" | "ask" | "inner";

// Segment is a part of an execution's time. Times are milliseconds since 1970; an open
// end is undefined.
export interface Segment {
  kind: SegmentKind;
  from: number;
  to?: number;
  attempt?: number;
  text?: string;
}

export type ExecutionState = Rec["state"] | "running";

export interface Execution {
  id: string;
  key: string;
  path: string; // with items and branches: "sizes[17].info"
  walk: string; // the path without the node: "sizes[17]", empty for the tool's own walk
  node: string;
  type: string;
  execution: number; // counts the executions of its walk from 0
  visit: number; // counts the executions of this node in its walk from 1; see Executions.settle
  item?: number;
  branch?: string;
  order: number; // counts the executions of the run from 0
  record?: number; // index of its newest record; undefined before the first
  records: number[];
  start: number;
  end?: number;
  ms?: number; // how long it took, without pauses; undefined before its end
  state: ExecutionState;
  tries: number;
  segments: Segment[];
  server?: string;
  tool?: string;
  error?: string;
}

// TimeOfDay returns the time of day of a time in a record: those leave pauses out.
export type TimeOfDay = (t: number, record: number, begins: boolean) => number;

// Executions grows with the records of one run. Adding is constant time, so that long
// runs can be followed live.
export class Executions {
  readonly list: Execution[] = [];
  // What is under way has no frame: it is known by path and number until its first record.
  private byFrame = new Map<string, Execution>();
  private byPath = new Map<string, Execution>();
  private byRecord = new Map<number, Execution>();
  private visits = new Map<string, number>();

  constructor(private readonly day: TimeOfDay = (t) => t) {}

  private settled = true;
  private made = 0;

  // Version is raised by each change.
  version = 0;
  // First and last bound all times that are known.
  first = Infinity;
  last = -Infinity;

  // add takes the next record. Records that were seen before change nothing.
  add(r: Rec): void {
    if (this.byRecord.has(r.index)) return;
    const e = this.recorded(r);
    this.byRecord.set(r.index, e);
    e.records.push(r.index);
    e.record = Math.max(e.record ?? 0, r.index);
    e.server = r.server ?? e.server;
    e.tool = r.tool ?? e.tool;
    const end = Math.max(this.day(time(r.end), r.index, false), e.start);
    this.see(end);
    switch (r.event) {
      case "opened": {
        const kind = opened[r.type] ?? "ask";
        if (e.end !== undefined) { // it comes late
          if (e.segments.length === 1) e.segments = [{ kind, from: e.start, to: e.end }];
          break;
        }
        open(e, kind, end);
        e.state = kind === "ask" ? "waiting" : "running";
        break;
      }
      case "retried":
        if (e.end !== undefined) break;
        close(e, end, "failed", r.error?.message);
        open(e, "delay", end);
        e.tries = Math.max(e.tries, (r.tries ?? e.tries) + 1);
        break;
      case "answered":
        if (e.end !== undefined) break;
        open(e, "work", end);
        e.state = "running";
        break;
      case "replaced":
        break;
      default: {
        const last = e.segments[e.segments.length - 1];
        const failed = r.state === "failed" || r.state === "caught";
        close(e, end, failed && (!last || last.kind === "work") ? "failed" : undefined, r.error?.message);
        // Live runs do not tell what their executions open.
        if (e.segments.length === 1 && opened[r.type]) e.segments[0]!.kind = opened[r.type]!;
        e.end = end;
        e.ms = r.ms;
        e.state = r.state;
        e.error = r.error?.message;
        e.tries = r.tries ?? (r.attempts?.length || e.tries);
        if (r.attempts && r.attempts.length > 1) e.segments = attempted(r, e.start, end, this.day);
      }
    }
    this.version++;
  }

  // begin takes what is under way. It starts an attempt where that is a new one.
  begin(a: Active): void {
    if (a.attempt < 1) return; // it waits for its turn
    const now = Date.now(), start = a.start ? Math.min(this.day(time(a.start), Infinity, true), now) : now;
    let e = this.byPath.get(`${a.path}#${a.execution}`);
    if (e?.end !== undefined) {
      // What began before its end is that one, which is over: the news of its begin came late.
      if (!a.start || start <= e.end) return;
      e = undefined;
    }
    const before = e?.tries;
    e ??= this.make(a.path, a.execution, a.key, nodeOf(a.path), start);
    e.server = a.server ?? e.server;
    e.tool = a.tool ?? e.tool;
    const last = e.segments[e.segments.length - 1];
    const waits = waiting[a.state];
    if (waits && last?.kind === "work" && last.to === undefined) { // what came before took no time to speak of
      last.kind = waits;
      e.state = waits === "ask" ? "waiting" : "running";
      this.version++;
    }
    if (last?.kind === "delay" && a.state !== "retrying") open(e, "work", Math.max(Date.now(), last.from));
    e.tries = Math.max(e.tries, a.attempt);
    if (before !== e.tries) this.version++;
  }

  // settle puts the executions into the order in which they began, and counts them by that: records come when
  // executions end, and news of what is under way may come before older records.
  settle(): void {
    if (this.settled) return;
    this.settled = true;
    this.list.sort((a, b) => a.start - b.start || (a.records[0] ?? Infinity) - (b.records[0] ?? Infinity) || a.order - b.order);
    this.visits.clear();
    this.list.forEach((e, i) => {
      e.order = i;
      this.visits.set(e.path, (e.visit = (this.visits.get(e.path) ?? 0) + 1));
    });
    this.version++;
  }

  // at returns the execution that a record is about.
  at(record: number | undefined): Execution | undefined {
    return record === undefined ? undefined : this.byRecord.get(record);
  }

  private see(t: number): void {
    if (t < this.first) this.first = t;
    if (t > this.last) this.last = t;
  }

  // recorded returns the execution that a record is about, a new one if it is the first.
  private recorded(r: Rec): Execution {
    const id = `${r.frame}:${r.execution}`;
    let e = this.byFrame.get(id);
    if (e) return e;
    e = this.byPath.get(`${r.path}#${r.execution}`);
    if (!e || e.end !== undefined || e.records.length > 0) e = this.make(r.path, r.execution, r.key, r.id, this.startOf(r));
    else { // what was known of it while it was under way is not exact
      e.start = this.startOf(r);
      this.settled = false;
      const first = e.segments[0]!;
      first.from = e.start;
      if (first.to !== undefined) first.to = Math.max(first.to, e.start);
    }
    this.byFrame.set(id, e);
    e.type = r.type;
    e.item = r.item;
    e.branch = r.branch;
    return e;
  }

  // startOf returns when the execution of a record began, which is before it ended.
  private startOf(r: Rec): number {
    return Math.min(this.day(time(r.start), r.index, true), this.day(time(r.end), r.index, false));
  }

  private make(path: string, execution: number, key: string, node: string, start: number): Execution {
    const visit = (this.visits.get(path) ?? 0) + 1;
    if (start < (this.list.at(-1)?.start ?? -Infinity)) this.settled = false;
    this.visits.set(path, visit);
    const e: Execution = {
      id: `${this.made++}`, key, path, node, walk: walkOf(path, node), type: "", execution, visit, order: this.list.length, records: [],
      start, state: "running", tries: 1, segments: [{ kind: "work", from: start, attempt: 1 }],
    };
    this.byPath.set(`${path}#${execution}`, e);
    this.list.push(e);
    this.see(start);
    this.version++;
    return e;
  }
}

// What executions in a state wait for.
const waiting: Record<string, SegmentKind> = { sleeping: "sleep", joining: "inner", asking: "ask" };

// What the executions that open something wait for, by type. All others ask a person.
const opened: Record<string, SegmentKind> = { map: "inner", parallel: "inner", call: "inner", wait: "sleep" };

export function time(s: string): number {
  const ms = Date.parse(s);
  // Date.parse drops what is below a millisecond; bars of fast nodes need it.
  const fraction = /\.\d{3}(\d+)/.exec(s);
  return fraction ? ms + Number(`0.${fraction[1]}`) : ms;
}

function nodeOf(path: string): string {
  return path.slice(Math.max(path.lastIndexOf("."), path.lastIndexOf(">")) + 1);
}

function walkOf(path: string, node: string): string {
  if (path === node) return "";
  return path.endsWith(node) ? path.slice(0, -node.length).replace(/[.>]$/, "") : path;
}

function close(e: Execution, at: number, kind?: SegmentKind, text?: string): void {
  const last = e.segments[e.segments.length - 1];
  if (!last || last.to !== undefined) return;
  last.to = Math.max(at, last.from);
  if (kind) last.kind = kind;
  if (text) last.text = text;
}

function open(e: Execution, kind: SegmentKind, from: number): void {
  close(e, from);
  const last = e.segments[e.segments.length - 1];
  if (last && last.to === last.from && last.kind === "work") e.segments.pop();
  e.segments.push({ kind, from, attempt: kind === "work" ? e.tries : undefined });
}

// attempted returns the attempts of a call, with the delays between them.
function attempted(r: Rec, start: number, end: number, day: TimeOfDay): Segment[] {
  const list: Segment[] = [];
  let at = start;
  r.attempts!.forEach((a, i) => {
    const from = Math.max(day(time(a.start), r.index, true), at), to = Math.max(day(time(a.end), r.index, false), from);
    if (from > at) list.push({ kind: i === 0 ? "work" : "delay", from: at, to: from });
    list.push({ kind: a.error ? "failed" : "work", from, to, attempt: i + 1, text: a.error });
    at = to;
  });
  if (end > at) list.push({ kind: "work", from: at, to: end });
  return list;
}
