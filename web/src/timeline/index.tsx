import "./timeline.css";
import { Empty } from "../kit";
import { useMemo } from "react";
import { select, selectPresent, useRecords, useRun, useSelection, useStore } from "../store";
import { chooseExecution, useExecutions } from "./of";
import { pausesOf } from "./pauses";
import { startsIn } from "./starts";
import { Timeline } from "./view";

const nothing: [] = [];

/** The panel "Timeline". */
export default function TimelinePanel() {
  const run = useRun(), data = useRecords(), selection = useSelection();
  const { executions, version } = useExecutions(data);
  const openings = useStore((s) => s.server?.openings);
  const began = run?.began, ended = run?.ended;
  // Runs that are kept elsewhere call servers from there.
  const starts = useMemo(() => began === undefined || run?.durable ? nothing : startsIn(openings ?? nothing, Date.parse(began), ended ? Date.parse(ended) : Infinity), [openings, began, ended]);
  if (!run) return <Empty title="No run is chosen"><p>Run the tool, or choose a run: its executions are drawn here over time.</p></Empty>;
  return (
    <Timeline key={run.id} list={executions?.list ?? nothing} version={version} tool={run.tool} start={Date.parse(run.began)}
      end={run.ended ? Math.max(Date.parse(run.ended), executions?.last ?? 0) : undefined} pauses={pausesOf(run.id)} starts={starts}
      selected={executions?.at(selection.record)?.id} selectedKey={selection.key}
      onSelect={(e) => chooseExecution(run.id, e)} onSelectNode={(key) => select({ key })} onEscape={selectPresent} />
  );
}
