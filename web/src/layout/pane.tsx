import { useState, type ReactNode } from "react";
import { Tabs, TabPanel } from "../kit";
import { change, useStore } from "../store";
import { Boundary } from "./boundary";
import { panelsOf, type Area, type Panel } from "./panels";

const labels: Record<Area, string> = { left: "Tools, input, runs and servers", center: "Graph and file", right: "Inspector", bottom: "Executions, console and problems" };

/** The tab that an area shows. */
export function useChosen(area: Area): string {
  return useStore((s) => {
    const all = panelsOf(area);
    return all.find((p) => p.id === s.settings.tabs[area])?.id ?? all[0]!.id;
  });
}

/** An area with its tabs. Panels that want it stay in the page once they were shown. One that is folded shows its tabs alone. */
export function Pane({ area, actions, folded, onUnfold }: { area: Area; actions?: ReactNode; folded?: boolean; onUnfold?: () => void }) {
  const chosen = useChosen(area);
  const tabs = useStore((s) => s.settings.tabs);
  const [seen, setSeen] = useState<ReadonlySet<string>>(new Set());
  if (!seen.has(chosen)) setSeen(new Set(seen).add(chosen));
  const all = panelsOf(area);
  return (
    <section className={`pane ${area}`} aria-label={labels[area]}>
      <h2 className="sr-only">{labels[area]}</h2>
      <div className="pane-head" onClick={folded ? onUnfold : undefined}>
        <Tabs group={area} label={labels[area]} chosen={chosen} onChoose={(id) => { change({ tabs: { ...tabs, [area]: id } }); onUnfold?.(); }}
          tabs={all.map((p) => ({ id: p.id, title: p.title, badge: p.useBadge && <PanelBadge panel={p} /> }))} />
        <span className="grow" />
        {actions}
      </div>
      {folded && <div hidden><TabPanel group={area} id={chosen}>{null}</TabPanel></div>}
      {!folded && all.map((p) => (p.id === chosen || (p.keep && seen.has(p.id))) && (
        <div key={p.id} className="pane-body" hidden={p.id !== chosen}>
          <TabPanel group={area} id={p.id} className="panel"><Boundary name={p.title}><p.component /></Boundary></TabPanel>
        </div>
      ))}
    </section>
  );
}

function PanelBadge({ panel }: { panel: Panel }) {
  return panel.useBadge!();
}
