// The lines of the console: what was entered and came of it, and what runs said.
import type { Event } from "../api/types";
import { keepJSON, keptJSON } from "../api/storage";
import { listen } from "../store";
import type { Value } from "../value/json";

/** Where an expression was evaluated: at a record of a run, or where the run is. */
export interface Scope { run: string; record?: number; text: string }

export type Line = { id: number; at: number; run?: string } & (
  | { kind: "input"; expression: string; scope: Scope }
  | { kind: "result"; value?: Value; expression: string }
  | { kind: "error"; message: string; expression: string; from?: number; to?: number }
  | { kind: "log"; level: string; text: string; key?: string }
  | { kind: "event"; text: string; look: "paused" | "done" | "failed" });

export type NewLine = Line extends infer L ? (L extends Line ? Omit<L, "id" | "at"> : never) : never;

const keep = 1000;
let lines: readonly Line[] = [];
let count = 0;
const listeners = new Set<() => void>();

export function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => { listeners.delete(listener); };
}

export const all = (): readonly Line[] => lines;

export function write(...more: NewLine[]) { put(more.map((line) => ({ ...line, at: Date.now() }))); }

export function clear() {
  lines = [];
  for (const l of listeners) l();
}

function put(more: (NewLine & { at: number })[]) {
  lines = [...lines, ...more.slice(-keep).map((l) => ({ ...l, id: ++count }) as Line)].slice(-keep);
  for (const l of listeners) l();
}

const states = new Map<string, string>();

listen((events: Event[]) => {
  const more: (NewLine & { at: number })[] = [];
  for (const e of events) {
    const at = Date.parse(e.time);
    if (e.type === "log") more.push({ at, kind: "log", run: e.run, level: e.level, text: e.text, key: e.key });
    if (e.type !== "run") continue;
    const { run } = e, now = run.state === "paused" ? `paused ${run.paused?.why} ${run.paused?.path} ${run.paused?.at}` : run.state;
    if (states.get(run.id) === now) continue;
    states.set(run.id, now);
    if (states.size > 1000) states.delete(states.keys().next().value!);
    if (run.state === "paused" && run.paused) more.push({ at, kind: "event", run: run.id, look: "paused", text: pausedText(run.paused) });
    else if (run.ended) more.push({ at, kind: "event", run: run.id, look: run.state === "done" ? "done" : "failed", text: `${run.tool}: ${run.state}${run.error ? `: ${run.error.message}` : ""}` });
  }
  if (more.length > 0) put(more);
});

const reasons = { breakpoint: "breakpoint", step: "step", pause: "pause", failure: "failure", start: "start of the run", enter: "tool entered" };

/** Says why and where a run is paused. */
export function pausedText(p: { why: keyof typeof reasons; path: string; text?: string }): string {
  return `Paused at ${p.path || "the start"}: ${reasons[p.why] ?? p.why}${p.text ? ` (${p.text})` : ""}`;
}

const historyKey = "mcpgraph.console";

export function loadHistory(): string[] {
  const v = keptJSON(historyKey);
  return Array.isArray(v) ? v.filter((e): e is string => typeof e === "string").slice(-100) : [];
}

export function saveHistory(list: string[]) {
  keepJSON(historyKey, list.slice(-100));
}
