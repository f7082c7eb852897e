// When runs were paused: what the page has seen of it, for the timeline.
import type { RunState } from "../api/types";
import { listen } from "../store";

export interface Pause { from: number; to?: number }

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
    list.push({ from: at });
  } else if (last && last.to === undefined) last.to = Math.max(at, last.from);
}

const none: readonly Pause[] = [];

/** Returns when a run was paused. The list is changed in place. */
export function pausesOf(run: string): readonly Pause[] { return seen.get(run) ?? none; }
