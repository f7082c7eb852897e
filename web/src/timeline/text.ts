// Executions in words, for the text at the mouse and for screen readers.
import type { Execution, Segment } from "./executions";
import { duration } from "../kit";
import { startOf, type Start } from "./starts";

const kinds: Record<Segment["kind"], string> = {
  work: "attempt", failed: "failed attempt", delay: "delay before the next attempt", sleep: "wait", ask: "waits for an answer",
  inner: "bodies",
};

export function segmentText(g: Segment, now: number): string {
  const what = g.attempt !== undefined && (g.kind === "work" || g.kind === "failed") ? `${kinds[g.kind]} ${g.attempt}` : kinds[g.kind];
  return `${what}, ${duration((g.to ?? now) - g.from)}${g.text ? `: ${g.text}` : ""}`;
}

/** How long an execution took without pauses, or takes so far. */
export function lengthOf(e: Execution, now = Date.now()): number {
  return e.ms ?? (e.end ?? Math.max(now, e.start)) - e.start;
}

/** How much of an execution was the start of its server. */
export function startText(e: Execution, starts: readonly Start[], now: number): string[] {
  return startOf(e, starts, now).map((s) => `${duration(s.to - s.from)} of it ${s.server} started`);
}

/** One line about an execution. */
export function executionText(e: Execution, start: number, starts: readonly Start[] = [], now = Date.now()): string {
  const parts = [e.path, e.state, `at ${duration(e.start - start)}`, e.end === undefined ? `for ${duration(lengthOf(e, now))} so far` : `took ${duration(lengthOf(e))}`];
  if (e.visit > 1) parts.splice(1, 0, `execution ${e.visit}`);
  if (e.tries > 1) parts.push(`${e.tries} attempts`);
  parts.push(...startText(e, starts, now));
  if (e.error) parts.push(e.error);
  return parts.join(", ");
}
