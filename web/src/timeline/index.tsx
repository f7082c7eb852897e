import "./timeline.css";
import { Empty } from "../kit";
import { select, selectPresent, useRecords, useRun, useSelection } from "../store";
import { chooseExecution, useExecutions } from "./of";
import { pausesOf } from "./pauses";
import { Timeline } from "./view";

const nothing: [] = [];

/** The panel "Timeline". */
export default function TimelinePanel() {
  const run = useRun(), data = useRecords(), selection = useSelection();
  const { executions, version } = useExecutions(data);
  if (!run) return <Empty title="No run is chosen"><p>Run the tool, or choose a run: its executions are drawn here over time.</p></Empty>;
  return (
    <Timeline key={run.id} list={executions?.list ?? nothing} version={version} tool={run.tool} start={Date.parse(run.began)}
      end={run.ended ? Math.max(Date.parse(run.ended), executions?.last ?? 0) : undefined} pauses={pausesOf(run.id)}
      selected={executions?.at(selection.record)?.id} selectedKey={selection.key}
      onSelect={(e) => chooseExecution(run.id, e)} onSelectNode={(key) => select({ key })} onEscape={selectPresent} />
  );
}
