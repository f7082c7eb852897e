import "./inspector.css";
import { useEffect, useState } from "react";
import { api } from "../api";
import { Badge, Button, duration, Empty, Icon, StateSign, TabView, typeIcon, when } from "../kit";
import { selectPresent, useStore } from "../store";
import type { Value } from "../value/json";
import { loader } from "../value/load";
import { jsonata } from "../value/path";
import { Pictures } from "../value/safe";
import { Tree } from "../value/tree";
import { CompareTab } from "./compare";
import { useCurrent, type Current } from "./current";
import { DefinitionTab } from "./definition";
import { ErrorTab } from "./error";
import { Picker } from "./picker";
import { PinTab } from "./pin";
import { mentioned, RecordValue, ScopeTree, useScope } from "./values";
import { WatchTab } from "./watch";

const titles = { in: "In", args: "Args", out: "Out", document: "Document", definition: "Definition", error: "Error", pin: "Pin", watch: "Watch", compare: "Compare" };
type TabId = keyof typeof titles;

/** The inspector: all that is known of the chosen execution or node. */
export default function Inspector() {
  const current = useCurrent();
  const { key, rec, run } = current;
  const pinned = useStore((s) => key !== undefined && key in s.pins);
  const [chosen, setChosen] = useState<TabId>("out");
  const failed = rec?.error !== undefined;
  return (
    <div className="inspector">
      <Head current={current} pinned={pinned} />
      <TabView
        label="Inspector"
        className="i-body"
        chosen={chosen}
        onChoose={(id) => setChosen(id as TabId)}
        tabs={(Object.keys(titles) as TabId[]).map((id) => ({
          id,
          title: titles[id],
          ...(id === "error" && failed ? { badge: <Badge look="error">!</Badge> } : {}),
          ...(id === "pin" && pinned ? { badge: <Icon name="pin" title="pinned" /> } : {}),
        }))}
      >
        <Body key={chosen === "watch" || chosen === "pin" ? "" : `${run?.id} ${key}`} tab={chosen} current={current} />
      </TabView>
    </div>
  );
}

function Head({ current, pinned }: { current: Current; pinned: boolean }) {
  const { key, node, rec, active, run, past } = current;
  if (key === undefined) return <div className="i-head"><span className="muted">{run ? `Run of ${run.tool}` : "No node chosen"}</span></div>;
  return (
    <div className="i-head">
      <div className="i-title">
        <Icon name={typeIcon(node?.type ?? rec?.type ?? "")} />
        <strong className="ellipsis">{rec?.path ?? key.split("#")[1] ?? key}</strong>
        <span className="muted">{node?.type ?? rec?.type}</span>
        {pinned && <Badge>pinned</Badge>}
        {rec?.fromCache && <Badge title="The answer came from the cache">cached</Badge>}
        <span className="grow" />
        {past && (
          <Button small look="quiet" icon="resume" onClick={selectPresent} title="Back to the present">
            Now
          </Button>
        )}
      </div>
      <div className="i-state">
        {rec ? (
          <>
            <StateSign state={rec.state} />
            <span className="muted">{duration(rec.ms)}</span>
            <span className="muted" title={rec.start}>{when(rec.start)}</span>
            {(rec.tries ?? rec.attempts?.length ?? 1) > 1 && <span className="muted">{rec.tries ?? rec.attempts?.length} attempts</span>}
          </>
        ) : run?.paused?.key === key ? (
          <>
            <StateSign state="paused" />
            <span className="muted">before it is executed</span>
          </>
        ) : active.length > 0 ? (
          <StateSign state="running" />
        ) : (
          <span className="muted">{run ? "not executed in this run" : "no run"}</span>
        )}
        {rec && active.length > 0 && <span className="muted">{active.length} under way</span>}
      </div>
      <Picker current={current} />
    </div>
  );
}

function Body({ tab, current }: { tab: TabId; current: Current }) {
  switch (tab) {
    case "watch":
      return <WatchTab current={current} />;
    case "definition":
      return current.key === undefined ? <Nothing /> : <DefinitionTab node={current.node} />;
    case "pin":
      return <PinTab current={current} />;
    case "document":
      return <ScopeTab current={current} />;
    case "in":
      return current.key === undefined ? <Nothing /> : <ScopeTab current={current} only={mentioned(current.node?.yaml ?? "")} />;
    case "out":
      return current.key === undefined ? <RunResult current={current} /> : <OutTab current={current} />;
  }
  const { rec, run } = current;
  if (!rec || !run) return current.key === undefined ? <Nothing /> : <NotExecuted current={current} />;
  switch (tab) {
    case "args":
      return rec.arguments === undefined ? (
        <Empty title="No arguments">
          <p>{rec.server ? "The server was not called." : "Nodes of this type call nothing. In shows what its expressions read."}</p>
        </Empty>
      ) : (
        <>
          {rec.server && (
            <p className="i-line">
              <span className="muted">Sent to</span> <code>{rec.server}</code>
              {rec.tool && <> · <code>{rec.tool}</code></>}
            </p>
          )}
          {rec.unsent?.map((text) => (
            <p className="i-line" key={text}>
              <span className="muted">Not sent:</span> {text}
            </p>
          ))}
          <RecordValue run={run.id} rec={rec} part="arguments" label={`Arguments of ${rec.path}`} />
        </>
      );
    case "error":
      return <ErrorTab rec={rec} />;
    case "compare":
      return <CompareTab current={current} />;
  }
}

function Nothing() {
  return (
    <Empty title="No node chosen">
      <p>Choose a node in the graph, or an execution in the timeline.</p>
    </Empty>
  );
}

function NotExecuted({ current: { active, run } }: { current: Current }) {
  const a = active[0];
  if (a) {
    return (
      <Empty title="Under way">
        <p>
          {a.server ? `Calls ${a.tool ?? ""} of ${a.server}. ` : ""}
          {a.attempt > 1 ? `Attempt ${a.attempt}. ` : ""}
          {a.worker ? `Worker ${a.worker}.` : ""}
        </p>
        {a.progress !== undefined && (
          <p className="row">
            {a.total ? <progress value={a.progress} max={a.total} aria-label={`Progress of ${a.path}`} /> : null}
            <span>{a.total ? `${a.progress} of ${a.total}` : a.progress}{a.message ? `: ${a.message}` : ""}</span>
          </p>
        )}
      </Empty>
    );
  }
  return <Empty title="Not executed">{run ? <p>This node has not been executed in this run.</p> : <p>Run the tool to see values here.</p>}</Empty>;
}

function ScopeTab({ current, only }: { current: Current; only?: Set<string> }) {
  const { run, rec, past } = current;
  // At present, a paused run shows what expressions see now.
  const record = past || !run?.paused || run.paused.key !== current.key ? rec?.index : undefined;
  const moment = `${run?.state} ${run?.paused?.at}`;
  const { scope, error } = useScope(run?.id, record, record === undefined ? moment : "");
  if (!run) return <NotExecuted current={current} />;
  if (error) return <Empty title="The document cannot be shown"><p>{error}</p></Empty>;
  if (!scope) return <p className="muted i-pad">Loading …</p>;
  return <ScopeTree run={run.id} record={record} scope={scope} {...(only ? { only } : {})} label={only ? "What this execution reads" : "Document"} />;
}

function OutTab({ current }: { current: Current }) {
  const { rec, run, replaced } = current;
  if (!rec || !run) return <NotExecuted current={current} />;
  if (replaced) {
    return (
      <>
        <p className="i-line">This output was set by hand. What followed saw it.</p>
        <RecordValue run={run.id} rec={replaced} part="output" label={`Output of ${rec.path}`} root={jsonata("$", [rec.id])} />
        <details className="i-details">
          <summary>Output of the execution</summary>
          <RecordValue run={run.id} rec={rec} part="output" label="Output before it was set" maxRows={14} />
        </details>
      </>
    );
  }
  const nothing = rec.output === undefined;
  return (
    <>
      {nothing ? (
        <Empty title={rec.error ? "Failed" : "No output"}>{rec.error ? <p>{rec.error.message}</p> : undefined}</Empty>
      ) : (
        <RecordValue run={run.id} rec={rec} part="output" label={`Output of ${rec.path}`} root={jsonata("$", [rec.id])} />
      )}
      <Pictures value={(rec.reply ?? rec.output) as Value | undefined} />
      {rec.reply !== undefined && (
        <details className="i-details" open={nothing}>
          <summary>Reply of {rec.server ?? "the server"}</summary>
          <RecordValue run={run.id} rec={rec} part="reply" label="Reply of the server" maxRows={14} />
        </details>
      )}
    </>
  );
}

/** RunResult shows what came of the run, while no node is chosen. */
function RunResult({ current: { run } }: { current: Current }) {
  const [fetched, setFetched] = useState<{ run: string; value?: Value }>();
  const missing = run?.state === "done" && run.result === undefined;
  const id = run?.id;
  useEffect(() => {
    if (!missing || id === undefined) return;
    let given = true;
    // Runs without a result have nothing at this place.
    api.value(id, { part: "result" }).then(
      (r) => given && setFetched({ run: id, value: r.value as Value }),
      () => given && setFetched({ run: id }),
    );
    return () => {
      given = false;
    };
  }, [id, missing]);
  if (!run) return <Nothing />;
  if (run.error) {
    return (
      <div className="i-scroll i-failure">
        <h2>{run.error.name}</h2>
        <p className="i-message">{run.error.message}</p>
      </div>
    );
  }
  const result = (run.result as Value | undefined) ?? (fetched?.run === run.id ? fetched.value : undefined);
  if (result === undefined) return <Nothing />;
  return (
    <>
      <p className="i-line"><span className="muted">Result of the run</span></p>
      <Tree value={result} label={`Result of ${run.tool}`} load={loader(run.id, undefined, "result")} />
      <Pictures value={result} />
    </>
  );
}
