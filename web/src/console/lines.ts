// The lines of the console: what was entered and came of it, and what runs said.
import type { Event } from "../api/types";
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

export function write(...more: NewLine[]) { put(more, Date.now()); }

export function clear() {
  lines = [];
  for (const l of listeners) l();
}

function put(more: NewLine[], at: number) {
  lines = [...lines.slice(-(keep - more.length)), ...more.map((l) => ({ ...l, id: ++count, at }) as Line)];
  for (const l of listeners) l();
}

const states = new Map<string, string>();

listen((events: Event[]) => {
  for (const e of events) {
    if (e.type === "log") put([{ kind: "log", run: e.run, level: e.level, text: e.text, key: e.key }], Date.parse(e.time));
    if (e.type !== "run") continue;
    const { run } = e, now = run.state === "paused" ? `paused ${run.paused?.why} ${run.paused?.path} ${run.paused?.at}` : run.state;
    if (states.get(run.id) === now) continue;
    states.set(run.id, now);
    if (states.size > 1000) states.delete(states.keys().next().value!);
    if (run.state === "paused" && run.paused) put([{ kind: "event", run: run.id, look: "paused", text: pausedText(run.paused) }], Date.parse(e.time));
    else if (run.ended) put([{ kind: "event", run: run.id, look: run.state === "done" ? "done" : "failed", text: `${run.tool}: ${run.state}${run.error ? `: ${run.error.message}` : ""}` }], Date.parse(e.time));
  }
});

const reasons = { breakpoint: "breakpoint", step: "step", pause: "pause", failure: "failure", start: "start of the run", enter: "tool entered" };

/** Says why and where a run is paused. */
export function pausedText(p: { why: keyof typeof reasons; path: string; text?: string }): string {
  return `Paused at ${p.path || "the start"}: ${reasons[p.why] ?? p.why}${p.text ? ` (${p.text})` : ""}`;
}

const historyKey = "mcpgraph.console";

export function loadHistory(): string[] {
  try {
    const v: unknown = JSON.parse(localStorage.getItem(historyKey) ?? "[]");
    return Array.isArray(v) ? v.filter((e): e is string => typeof e === "string").slice(-100) : [];
  } catch {
    return [];
  }
}

export function saveHistory(list: string[]) {
  try {
    localStorage.setItem(historyKey, JSON.stringify(list.slice(-100)));
  } catch {
    // It is kept until the page is closed.
  }
}
