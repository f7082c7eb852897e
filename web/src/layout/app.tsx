import { useEffect, useState } from "react";
import Asks from "../asks";
import { Button, Empty, IconButton } from "../kit";
import { change, onShowPanel, state, useStore } from "../store";
import Toolbar from "../toolbar";
import { useKeys } from "../toolbar/keys";
import { Notices } from "./notices";
import { Pane } from "./pane";
import { panels, type Area } from "./panels";
import { Splitter } from "./splitter";
import { Trouble } from "./trouble";

/** The whole page. */
export function App() {
  const fatal = useStore((s) => s.fatal);
  const ready = useStore((s) => s.server !== undefined);
  const announcement = useStore((s) => s.announcement);
  useKeys();
  return (
    <>
      {ready ? <Workspace /> : fatal ? (
        <main className="fatal"><Empty title="mcpgraph cannot be reached"><p>{fatal}</p><p><Button icon="refresh" onClick={() => location.reload()}>Try again</Button></p></Empty></main>
      ) : <main className="fatal"><Empty title="Loading…" /></main>}
      <div className="sr-only" role="status" aria-live="polite">{announcement}</div>
      <Notices />
    </>
  );
}

function useWindowSize() {
  const [size, setSize] = useState({ width: innerWidth, height: innerHeight });
  useEffect(() => {
    const resize = () => setSize({ width: innerWidth, height: innerHeight });
    addEventListener("resize", resize);
    return () => removeEventListener("resize", resize);
  }, []);
  return size;
}

function Workspace() {
  const { sizes, closed } = useStore((s) => s.settings);
  const { width, height } = useWindowSize();
  // The pane of executions is folded to its tabs until there is a run, or somebody wants it.
  const hasRuns = useStore((s) => s.runs.size > 0);
  const [wanted, setWanted] = useState(false);
  const folded = !hasRuns && !wanted;
  useEffect(() => onShowPanel((id) => {
    const panel = panels.find((p) => p.id === id);
    if (!panel) return;
    if (panel.area === "bottom") setWanted(true);
    const now = state.settings;
    if (now.tabs[panel.area] === id && !now.closed[panel.area]) return;
    change({ tabs: { ...now.tabs, [panel.area]: id }, closed: { ...now.closed, [panel.area]: false } });
  }), []);
  const narrow = width < 1000;
  const limit = (n: number, min: number, max: number) => Math.max(min, Math.min(max, n));
  const maxSide = Math.max(180, width * (narrow ? 0.38 : 0.42));
  const maxBottom = Math.max(100, height - 260);
  const left = limit(sizes.left ?? (narrow ? 200 : 250), 160, maxSide);
  const right = limit(sizes.right ?? (narrow ? 240 : width < 1500 ? 330 : 420), 180, maxSide);
  const bottom = limit(sizes.bottom ?? Math.round(height * 0.3), 90, maxBottom);
  const closeButton = (area: Area, icon: "panelLeft" | "panelRight" | "panelBottom", label: string) => (
    <IconButton icon={icon} small label={label} onClick={() => change({ closed: { ...state.settings.closed, [area]: true } })} />
  );
  return (
    <div className="workspace">
      <Toolbar />
      <Trouble />
      <main className="panes">
        <div className="upper">
          {!closed.left && <>
            <div className="side" style={{ width: left }}><Pane area="left" actions={closeButton("left", "panelLeft", "Close the left pane")} /></div>
            <Splitter pane="left" label="Width of the left pane" orientation="vertical" sign={1} size={left} min={160} max={maxSide} />
          </>}
          <div className="middle"><Pane area="center" /></div>
          {!closed.right && <>
            <Splitter pane="right" label="Width of the right pane" orientation="vertical" sign={-1} size={right} min={180} max={maxSide} />
            <div className="side" style={{ width: right }}><Pane area="right" actions={closeButton("right", "panelRight", "Close the right pane")} /></div>
          </>}
        </div>
        {!closed.bottom && <>
          {folded ? <div className="fold-line" />
            : <Splitter pane="bottom" label="Height of the bottom pane" orientation="horizontal" sign={-1} size={bottom} min={90} max={maxBottom} />}
          <div className="lower" style={folded ? undefined : { height: bottom }}><Pane area="bottom" folded={folded} onUnfold={() => setWanted(true)} actions={closeButton("bottom", "panelBottom", "Close the bottom pane")} /></div>
        </>}
      </main>
      <Asks />
    </div>
  );
}
