// The states of runs and executions, each with its own sign, so that nobody needs the colour.
import { Icon, type IconName } from "./icons";

export type StateName = "running" | "paused" | "done" | "failed" | "caught" | "skipped" | "pinned" | "waiting" | "cancelled" | "stopped";

export const signs: Record<StateName, { icon: IconName; label: string }> = {
  running: { icon: "play", label: "running" },
  paused: { icon: "pause", label: "paused" },
  done: { icon: "check", label: "done" },
  failed: { icon: "cross", label: "failed" },
  caught: { icon: "catch", label: "failed, caught" },
  skipped: { icon: "skip", label: "skipped" },
  pinned: { icon: "pin", label: "pinned" },
  waiting: { icon: "person", label: "waiting" },
  cancelled: { icon: "minus", label: "cancelled" },
  stopped: { icon: "stop", label: "stopped" },
};

/** Draws a state by sign, colour and name; without `text` the name is for screen readers alone. */
export function StateSign({ state, text = true }: { state: StateName; text?: boolean }) {
  const { icon, label } = signs[state] ?? signs.skipped;
  return (
    <span className={`sign s-${state}`} title={text ? undefined : label}>
      <Icon name={icon} />
      <span className={text ? undefined : "sr-only"}>{label}</span>
    </span>
  );
}
