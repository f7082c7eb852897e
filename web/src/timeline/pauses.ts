// When runs were paused: what the page has seen of it, for the timeline.
import type { RunState } from "../api/types";
import { listen } from "../store";

/** A pause; `at` is the index of the record before it. */
export interface Pause { from: number; to?: number; at: number }

/** How many runs are known to have been paused. */
const keptRuns = 1000;

const none: readonly Pause[] = [];
const seen = new Map<string, Pause[]>();

listen((events) => {
  for (const event of events) if (event.type === "run") note(event.run, Date.parse(event.time));
});

function note(run: RunState, at: number) {
  let list = seen.get(run.id);
  const last = list?.[list.length - 1];
  if (run.state === "paused") {
    if (last && last.to === undefined) return;
    if (!list) seen.set(run.id, (list = []));
    if (seen.size > keptRuns) seen.delete(seen.keys().next().value!);
    list.push({ from: at, at: run.paused?.at ?? -1 });
  } else if (last && last.to === undefined) last.to = Math.max(at, last.from);
}

/** How late the page hears of a pause at most, in milliseconds. */
const late = 60;

/**
 * Returns the time of day of a time in a record of a run: when its execution ended or, with `begins`,
 * when it began. The clock of a run stands still while that is paused.
 */
export function timeOfDay(run: string, t: number, record: number, begins: boolean): number {
  let lost = 0;
  for (const pause of seen.get(run) ?? none) {
    if (pause.to === undefined || record <= pause.at || (begins && t + late < pause.from - lost)) break;
    lost += pause.to - pause.from;
  }
  return t + lost;
}

/** Returns when a run was paused. The list is changed in place. */
export function pausesOf(run: string): readonly Pause[] { return seen.get(run) ?? none; }
