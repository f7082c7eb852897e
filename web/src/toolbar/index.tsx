import { useState } from "react";
import type { BreakOn } from "../api";
import { Button, copy, IconButton } from "../kit";
import { CancelRun } from "../runs/cancel";
import { change, command, liveSession, runChosen, select, setBreakpoints, state, useRun, useSelection, useStore, type Command } from "../store";
import { BreakpointMenu } from "./breakpoints";
import { openFile } from "./open";
import { Status } from "./status";

const paneNames = { left: "left pane", bottom: "bottom pane", right: "right pane" } as const;

/** The header: file, tool, run control, status. */
export default function Toolbar() {
  const server = useStore((s) => s.server)!;
  const { tool } = useSelection();
  const run = useRun();
  const [canceling, setCanceling] = useState(false);
  const settings = useStore((s) => s.settings);
  const breakOn = useStore((s) => s.breakOn);
  const session = liveSession();
  const can = (name: Command) => !server.readOnly && !!session && session.can.includes(name);
  const control = (name: Command, icon: "resume" | "pause" | "step" | "into" | "out" | "stop", label: string, keys: string) => (
    <IconButton icon={icon} label={`${label}${keys && ` (${keys})`}`} aria-keyshortcuts={keys || undefined} disabled={!can(name)} onClick={() => void command(name)} />
  );
  const themes = { system: "auto", light: "sun", dark: "moon" } as const;
  const nextTheme = { system: "light", light: "dark", dark: "system" } as const;
  return (
    <header className="toolbar">
      <h1 className="sr-only">mcpgraph</h1>
      <Button look="quiet" icon="file" title={server.file.path} onClick={openFile}>{server.file.name}</Button>
      <label className="row"><span className="sr-only">Tool</span>
        <select className="select" value={tool ?? ""} onChange={(e) => select({ tool: e.target.value })}>
          {server.tools.map((t) => <option key={t.name}>{t.name}</option>)}
        </select>
      </label>
      <div className="row controls" role="group" aria-label="Run control">
        <Button look="primary" icon="play" disabled={server.readOnly || !tool} aria-keyshortcuts="Control+Enter" title="Run (Ctrl+Enter)" onClick={() => void runChosen()}>Run</Button>
        {server.durable && (
          <select className="select" aria-label="Where to run" value={settings.here ? "here" : "durable"} disabled={server.readOnly}
            title={settings.here ? "Runs in this process can be debugged" : `Durable runs are kept by ${server.durable.place}. Breakpoints and pins need a run here`}
            onChange={(e) => change({ here: e.target.value === "here" })}>
            <option value="durable">durable</option>
            <option value="here">here</option>
          </select>
        )}
        {control("resume", "resume", "Resume", "F8")}
        {control("pause", "pause", "Pause", "F8")}
        {control("step", "step", "Step", "F10")}
        {control("stepInto", "into", "Step into", "F11")}
        {control("stepOut", "out", "Step out", "Shift+F11")}
        {run?.durable && !run.session
          ? <IconButton icon="stop" label="Cancel the run" disabled={server.readOnly || !run.can.includes("cancel")} onClick={() => setCanceling(true)} />
          : control("stop", "stop", "Stop", "")}
      </div>
      {canceling && run && <CancelRun run={run} onClose={() => setCanceling(false)} />}
      <BreakpointMenu />
      <label className="row break-on"><span className="sr-only">Break on failure</span>
        <select className="select" title="Pause where a node fails" value={breakOn.failure ?? "none"} disabled={server.readOnly}
          onChange={(e) => void setBreakpoints(state.breakpoints, { ...state.breakOn, failure: e.target.value as BreakOn["failure"] })}>
          <option value="none">no break on failure</option>
          <option value="uncaught">break on uncaught failure</option>
          <option value="any">break on any failure</option>
        </select>
      </label>
      <Status />
      <IconButton icon="link" label="Copy link" onClick={() => void copy(location.href, "Link")} />
      {(Object.keys(paneNames) as (keyof typeof paneNames)[]).map((name) => (
        <IconButton key={name} icon={name === "left" ? "panelLeft" : name === "right" ? "panelRight" : "panelBottom"} label={`Show the ${paneNames[name]}`}
          aria-pressed={!settings.closed[name]} onClick={() => change({ closed: { ...state.settings.closed, [name]: !settings.closed[name] } })} />
      ))}
      <IconButton icon={themes[settings.theme]} label={`Theme: ${settings.theme}`} onClick={() => change({ theme: nextTheme[settings.theme] })} />
    </header>
  );
}

