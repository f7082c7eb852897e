// The events that the page has received, the newest last.
import type { Event, Rec } from "../api/types";
import { listen } from "../store";

/** How many events are kept. */
export const keep = 10_000;

const list: Event[] = [];
/** Counts all events; list has the last of them. */
let total = 0;
let snapshot: readonly Event[] = [];
const listeners = new Set<() => void>();

listen((events) => {
  for (const event of events) list.push(event);
  total += events.length;
  if (list.length > keep + 1000) list.splice(0, list.length - keep);
  for (const l of listeners) l();
});

export function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => { listeners.delete(listener); };
}

let made = 0;

/** Returns the events that are kept; the same array until there are new ones. */
export function events(): readonly Event[] {
  if (made !== total) {
    made = total;
    snapshot = list.slice(-keep);
  }
  return snapshot;
}

/** Returns the run that an event is about. */
export function runOf(e: Event): string | undefined {
  return e.type === "run" ? e.run.id : "run" in e ? e.run : undefined;
}

/** Returns events of a run, with those for the records that came before the page listened. */
export function eventsOf(all: readonly Event[], run: string, records: readonly Rec[]): Event[] {
  const mine = all.filter((e) => runOf(e) === run);
  const seen = new Set(mine.map((e) => (e.type === "record" ? e.record.index : -1)));
  const earlier: Event[] = [];
  for (const record of records) {
    if (record && !seen.has(record.index)) earlier.push({ n: 0, time: record.end, type: "record", run, record });
  }
  return earlier.length === 0 ? mine : [...earlier, ...mine].sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : a.n - b.n));
}

const texts = new WeakMap<Event, string>();

/** Returns an event as JSON, on one line. */
export function json(e: Event): string {
  let text = texts.get(e);
  if (text === undefined) texts.set(e, (text = JSON.stringify(e)));
  return text;
}

/** Returns what an event says, in short. */
export function summary(e: Event): string {
  switch (e.type) {
    case "run": return `${e.run.tool} ${e.run.state}${e.run.paused ? ` at ${e.run.paused.path || "the start"}: ${e.run.paused.why}` : ""}`;
    case "record": return `${e.record.path} ${e.record.event}${e.record.event === "done" && e.record.state !== "done" ? ` (${e.record.state})` : ""}${e.record.error ? `: ${e.record.error.message}` : ""}`;
    case "task": return `${e.active.path} ${e.active.state}${e.active.attempt > 1 ? `, attempt ${e.active.attempt}` : ""}`;
    case "log": return `${e.level}: ${e.text}`;
    case "progress": return `${e.progress}${e.total === undefined ? "" : ` of ${e.total}`}${e.message ? ` ${e.message}` : ""}`;
    case "durable": return e.text ?? "can be reached";
    case "reloaded": return `generation ${e.generation}`;
    case "file": return e.problems.length === 1 ? "1 problem" : `${e.problems.length} problems`;
    case "gap": return "events were lost; everything is fetched again";
    case "runs": return "many runs changed; the list is fetched again";
    case "servers": return "figures changed";
  }
}
