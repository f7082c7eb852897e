// What the chosen run does, in words.
import { useEffect, useState } from "react";
import type { Paused, RunState } from "../api";
import { Badge, count, duration, StateSign } from "../kit";
import { select, showRun, useRecords, useRun, useStore } from "../store";

/** Why a run is paused, in words before the place. */
const reasons: Record<Paused["why"], string> = {
  breakpoint: "breakpoint at", step: "before", pause: "before", failure: "failure at", start: "start at", enter: "entered",
};

/** The time that a run has taken, going on while it does. */
function Elapsed({ run }: { run: RunState }) {
  const [now, setNow] = useState(Date.now());
  const live = !run.ended;
  useEffect(() => {
    if (!live) return;
    const timer = setInterval(() => setNow(Date.now()), 250);
    return () => clearInterval(timer);
  }, [live]);
  const end = run.ended ? Date.parse(run.ended) : Math.max(now, Date.parse(run.began));
  return <span className="muted small elapsed">{duration(end - Date.parse(run.began))}</span>;
}

export function Status() {
  const run = useRun();
  const data = useRecords();
  // Calls of durable runs have a progress each: that of the first one is shown.
  const progress = data?.progress ?? run?.active.find((a) => a.progress !== undefined);
  const problems = useStore((s) => s.server!.problems.filter((p) => p.severity === "error").length);
  const stale = useStore((s) => s.server!.revision !== s.server!.file.revision);
  const readOnly = useStore((s) => s.server!.readOnly);
  const connection = useStore((s) => s.connection);
  return (
    <div className="status row grow" role="group" aria-label="Run state">
      {run && <>
        <StateSign state={run.state} />
        {run.durable?.parent && (
          <button type="button" className="link parent small" title={`Show the run that waits for this one: ${run.durable.parent}`} onClick={() => void showRun(run.durable!.parent!)}>parent run</button>
        )}
        {run.paused && (
          <button type="button" className="link ellipsis small" title={run.paused.text ?? "Show it"} onClick={() => select({ key: run.paused!.key, record: undefined, frame: run.paused!.frame || undefined })}>
            {`${reasons[run.paused.why]} ${run.paused.path}`}
          </button>
        )}
        {run.error && <span className="ellipsis small error-text" title={run.error.message}>{run.error.message}</span>}
        {progress?.progress !== undefined && !run.ended && (
          <span className="row small muted" title={progress.message}>
            {progress.total ? <progress value={progress.progress} max={progress.total} aria-label="Progress of the run" /> : progress.progress}
            {progress.message && <span className="ellipsis">{progress.message}</span>}
          </span>
        )}
        {!run.error && <span className="muted small executions">{count(data?.over.length ?? run.executions, "execution")}</span>}
        <Elapsed run={run} />
      </>}
      <span className="grow" />
      {stale && problems > 0 && <Badge look="error" title="The file on disk has errors; the version before it is in use">file has errors</Badge>}
      {readOnly && <Badge title="The page was started with --read-only">read only</Badge>}
      {connection !== "open" && <Badge look="warning">{connection === "denied" ? "no access" : connection === "connecting" ? "connecting…" : "not connected"}</Badge>}
    </div>
  );
}
