import { useId, useRef, type KeyboardEvent, type ReactNode } from "react";

export interface Tab { id: string; title: string; badge?: ReactNode }

/** Names of tab and panel elements; give the panel's to TabPanel. */
export const tabId = (group: string, id: string) => `${group}-tab-${id}`;
export const panelId = (group: string, id: string) => `${group}-panel-${id}`;

/** A list of tabs. Arrow keys, Home and End move between them. */
export function Tabs({ group, label, tabs, chosen, onChoose }: {
  group: string; label: string; tabs: Tab[]; chosen: string; onChoose: (id: string) => void;
}) {
  const list = useRef<HTMLDivElement>(null);
  const move = (e: KeyboardEvent) => {
    const at = tabs.findIndex((t) => t.id === chosen);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[e.key];
    if (to === undefined) return;
    e.preventDefault();
    const next = tabs[(to + tabs.length) % tabs.length]!;
    onChoose(next.id);
    list.current?.querySelector<HTMLElement>(`#${CSS.escape(tabId(group, next.id))}`)?.focus();
  };
  return (
    <div className="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={move}>
      {tabs.map((t) => (
        <button key={t.id} type="button" role="tab" className="tab" id={tabId(group, t.id)} aria-selected={t.id === chosen}
          aria-controls={t.id === chosen ? panelId(group, t.id) : undefined} tabIndex={t.id === chosen ? 0 : -1} onClick={() => onChoose(t.id)}>
          {t.title}{t.badge}
        </button>
      ))}
    </div>
  );
}

export function TabPanel({ group, id, className, children }: { group: string; id: string; className?: string; children: ReactNode }) {
  return <div role="tabpanel" id={panelId(group, id)} aria-labelledby={tabId(group, id)} className={className} tabIndex={-1}>{children}</div>;
}

/** Tabs with a panel, for use inside a panel; renders the chosen one alone. */
export function TabView({ label, tabs, chosen, onChoose, children, className }: {
  label: string; tabs: Tab[]; chosen: string; onChoose: (id: string) => void; children: ReactNode; className?: string;
}) {
  const group = useId();
  return (
    <>
      <Tabs group={group} label={label} tabs={tabs} chosen={chosen} onChoose={onChoose} />
      <TabPanel group={group} id={chosen} className={className}>{children}</TabPanel>
    </>
  );
}
