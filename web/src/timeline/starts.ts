// Servers start when they are first called: what of an execution was spent on that.
import type { Opening } from "../api/types";
import type { Execution } from "./executions";
import { time } from "./executions";

/** A time in which executions waited for a server to start. */
export interface Start { server: string; from: number; to: number }

/** Returns the starts of servers between two times. */
export function startsIn(openings: readonly Opening[], from: number, to: number): Start[] {
  return openings.map((o) => ({ server: o.server, from: time(o.from), to: time(o.to) })).filter((o) => o.from < to && o.to > from);
}

/** Returns what of an execution was the start of its server, without times below a millisecond. */
export function startOf(e: Execution, starts: readonly Start[], now: number): Start[] {
  if (!e.server) return [];
  const end = e.end ?? now;
  return starts.filter((s) => s.server === e.server && s.from < end && s.to > e.start)
    .map((s) => ({ server: s.server, from: Math.max(s.from, e.start), to: Math.min(s.to, end) })).filter((s) => s.to - s.from >= 1);
}

/** Returns the times in which a run did nothing but wait for servers to start, in order and apart. */
export function idleStarts(list: readonly Execution[], starts: readonly Start[], now: number): { from: number; to: number }[] {
  if (starts.length === 0) return [];
  const all = list.flatMap((e) => startOf(e, starts, now)).sort((a, b) => a.from - b.from);
  let idle: { from: number; to: number }[] = [];
  for (const { from, to } of all) {
    const last = idle.at(-1);
    if (last && from <= last.to) last.to = Math.max(last.to, to);
    else idle.push({ from, to });
  }
  for (const e of list) {
    if (idle.length === 0) break;
    const own = startOf(e, starts, now);
    for (const g of e.segments) {
      if (g.kind === "inner" || g.kind === "ask") continue;
      for (const busy of without({ from: g.from, to: g.to ?? e.end ?? now }, own)) idle = idle.flatMap((i) => without(i, [busy]));
    }
  }
  return idle.filter((i) => i.to - i.from >= 1);
}

/** Returns what is left of a time without others. */
function without(t: { from: number; to: number }, others: readonly { from: number; to: number }[]): { from: number; to: number }[] {
  let left = [t];
  for (const o of others) {
    left = left.flatMap((l) => o.to <= l.from || o.from >= l.to ? [l]
      : [{ from: l.from, to: o.from }, { from: o.to, to: l.to }].filter((p) => p.to > p.from));
  }
  return left;
}
