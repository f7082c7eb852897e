import "./runs.css";
import { useEffect, useMemo, useRef, useState } from "react";
import { api } from "../api";
import type { RunState } from "../api/types";
import { Badge, Button, download, duration, Empty, IconButton, MenuButton, StateSign, when, type MenuItem } from "../kit";
import { fillFrom } from "../input/earlier";
import { foreign, loadDurable, loadRuns, notify, report, select, showRun, start, startDurable, useSelection, useStore } from "../store";
import type { Json } from "../api/types";
import type { Value } from "../value/json";
import { loader } from "../value/load";
import { whole } from "../value/rows";
import { CancelRun } from "./cancel";
import { CompareRuns } from "./compare";
import { TestExport } from "./export";

const states = ["running", "paused", "waiting", "done", "failed", "cancelled", "stopped"] as const;
const maxShown = 300;
const maxImport = 64 << 20; // bytes, as the server allows

/** The runs that are kept and those under way. */
export default function Runs() {
  const runs = useStore((s) => s.runs);
  const changes = useStore((s) => [...s.runs.values()].map((r) => r.id + r.state + r.executions).join());
  const tools = useStore((s) => s.server?.tools);
  const readOnly = useStore((s) => s.server?.readOnly ?? true);
  const chosen = useSelection().run;
  const [tool, setTool] = useState("");
  const [state, setState] = useState("");
  const [caller, setCaller] = useState("");
  const durable = useStore((s) => s.server?.durable);
  const { next, loading } = useStore((s) => s.durable);
  const [kept, setKept] = useState("");
  const [canceling, setCanceling] = useState<RunState>();
  const [marked, setMarked] = useState<string[]>([]);
  const [comparing, setComparing] = useState<[RunState, RunState]>();
  const [shown, setShown] = useState(maxShown);
  const [exporting, setExporting] = useState<RunState>();
  const file = useRef<HTMLInputElement>(null);
  useEffect(() => void loadRuns(), []);

  const all = useMemo(() => [...runs.values()].sort((a, b) => b.began.localeCompare(a.began)), [runs, changes]);
  const callers = useMemo(() => [...new Set(all.map((r) => r.caller ?? ""))].filter((c) => c !== "").sort(), [all]);
  const toolNames = useMemo(() => [...new Set([...(tools ?? []).map((t) => t.name), ...all.map((r) => r.tool)])].filter((t) => t !== ""), [tools, all]);
  const isKept = (r: RunState) => kept === "" || (kept === "here" ? !r.durable : !!r.durable && (kept === "durable" || r.durable.known));
  const list = all.filter((r) => isKept(r) && (tool === "" || r.tool === tool) && (state === "" || r.state === state) && (caller === "" || r.caller === caller));
  const pair = marked.map((id) => runs.get(id)).filter((r) => r !== undefined);

  const importRun = async (f: File | undefined) => {
    if (!f) return;
    if (f.size > maxImport) {
      notify("error", `${f.name} is too large for an exported run`);
      return;
    }
    try {
      const { id } = await api.importRun(await f.text());
      await loadRuns();
      select({ run: id });
      notify("info", `Imported ${f.name}`);
    } catch (e) {
      report(e, `Import of ${f.name}`);
    }
  };
  const hasTool = (r: RunState) => !r.durable || !!tools?.some((t) => t.name === r.tool);
  const menu = (r: RunState): MenuItem[] => [
    { label: "Use the arguments of this run", icon: "edit", disabled: !hasTool(r), onChoose: () => void fillFrom(r) },
    { label: "Run again with the same arguments", icon: "refresh", disabled: readOnly || !hasTool(r), onChoose: () => void again(r) },
    ...(r.durable?.parent ? [{ label: "Show the parent run", icon: "up", onChoose: () => void showRun(r.durable!.parent!) } as const] : []),
    ...(r.durable ? [{ label: "Cancel the run", icon: "stop", disabled: readOnly || !r.can.includes("cancel"), onChoose: () => setCanceling(r) } as const] : []),
    "-",
    { label: "Export as JSON", icon: "download", onChoose: () => void exportJSON(r) },
    { label: "Export as a test", icon: "file", disabled: foreign(r), onChoose: () => setExporting(r) },
  ];

  return (
    <div className="runs">
      <div className="runs-filter">
        <select className="select" aria-label="Tool" value={tool} onChange={(e) => setTool(e.target.value)}>
          <option value="">all tools</option>
          {toolNames.map((t) => <option key={t}>{t}</option>)}
        </select>
        <select className="select" aria-label="State" value={state} onChange={(e) => setState(e.target.value)}>
          <option value="">all states</option>
          {states.map((s) => <option key={s}>{s}</option>)}
        </select>
        {durable && (
          <select className="select" aria-label="Kept" value={kept} onChange={(e) => setKept(e.target.value)}>
            <option value="">here and durable</option>
            <option value="here">here</option>
            <option value="durable">durable</option>
            <option value="version">durable, of this file</option>
          </select>
        )}
        {callers.length > 0 && (
          <select className="select" aria-label="Caller" value={caller} onChange={(e) => setCaller(e.target.value)}>
            <option value="">all callers</option>
            {callers.map((c) => <option key={c}>{c}</option>)}
          </select>
        )}
      </div>
      <div className="runs-bar">
        <Button small disabled={pair.length !== 2} title={pair.length === 2 ? undefined : "Mark two runs to compare them"} onClick={() => setComparing([pair[0]!, pair[1]!])}>
          Compare{pair.length > 0 ? ` (${pair.length})` : ""}
        </Button>
        {!readOnly && (
          <Button small look="quiet" onClick={() => file.current?.click()}>
            Import
          </Button>
        )}
        <input ref={file} type="file" accept=".json,application/json" hidden aria-label="Exported run" onChange={(e) => { void importRun(e.target.files?.[0]); e.target.value = ""; }} />
        <span className="grow" />
        <IconButton icon="refresh" small label="Load the runs again" onClick={() => void loadRuns()} />
      </div>
      {list.length === 0 && (
        <Empty title={all.length === 0 ? "No runs yet" : "No run matches"}>
          {all.length === 0 && <p>Fill in the input and press Run.</p>}
        </Empty>
      )}
      <ul className="list" aria-label="Runs">
        {list.slice(0, shown).map((r) => (
          <li key={r.id} className="run">
            <input
              type="checkbox"
              aria-label={`Mark the run of ${r.tool} of ${when(r.began)} to compare`}
              checked={marked.includes(r.id)}
              onChange={() => setMarked(marked.includes(r.id) ? marked.filter((id) => id !== r.id) : [...marked, r.id].slice(-2))}
            />
            <button type="button" className="list-item" aria-current={r.id === chosen || undefined} onClick={() => select({ tool: r.tool, run: r.id })}>
              <span className="row">
                <StateSign state={r.state} text={false} />
                <strong className="ellipsis grow">{r.tool || "sealed"}</strong>
                {!r.ended && <Badge>live</Badge>}
                {r.imported && <Badge>imported</Badge>}
              </span>
              <span className="row muted small">
                <span>{when(r.began)}</span>
                {r.ended && <span>{duration(Date.parse(r.ended) - Date.parse(r.began))}</span>}
                {r.caller && <span className="ellipsis">{r.caller}</span>}
                {r.durable && <Badge title={`kept by ${durable?.place}`}>durable</Badge>}
                {r.durable?.parent && <Badge title={`Run ${r.durable.parent} waits for this one`}>child</Badge>}
                {foreign(r) && <Badge title={`The run began with version ${r.durable!.version || "?"} of its file, which this page has not loaded`}>other version</Badge>}
              </span>
              {r.error && <span className="error-text small clamp">{r.error.message}</span>}
            </button>
            <MenuButton icon="more" small look="quiet" label={`Actions for the run of ${r.tool} of ${when(r.began)}`} items={() => menu(r)} />
          </li>
        ))}
      </ul>
      {list.length > shown && (
        <p className="muted small i-pad row"><span className="grow">The newest {shown} of {list.length} are shown.</span><Button small onClick={() => setShown(shown + maxShown)}>Show more</Button></p>
      )}
      {next && kept !== "here" && (
        <p className="i-pad"><Button small disabled={loading} onClick={() => void loadDurable(true)}>Load older durable runs</Button></p>
      )}
      {canceling && <CancelRun run={canceling} onClose={() => setCanceling(undefined)} />}
      {comparing && <CompareRuns a={comparing[0]} b={comparing[1]} onClose={() => setComparing(undefined)} />}
      {exporting && <TestExport run={exporting} onClose={() => setExporting(undefined)} />}
    </div>
  );
}

async function exportJSON(r: RunState) {
  try {
    download(`${r.tool}-${r.id}.json`.replace(/[^\w.-]+/g, "_"), await api.exportJson(r.id), "application/json");
  } catch (e) {
    report(e, "Export");
  }
}

async function again(r: RunState) {
  try {
    const { value } = await api.value(r.id, { part: "args" });
    await (r.durable ? startDurable : start)(r.tool, (await whole(value as Value, [], loader(r.id, undefined, "args"))) as Json);
  } catch (e) {
    report(e, "Run again");
  }
}
