import { useEffect, useId, useRef, useState, type KeyboardEvent, type ReactNode } from "react";
import { Icon } from "./icons";

export interface Tab { id: string; title: string; badge?: ReactNode }

/** Names of tab and panel elements; give the panel's to TabPanel. */
export const tabId = (group: string, id: string) => `${group}-tab-${id}`;
export const panelId = (group: string, id: string) => `${group}-panel-${id}`;

const reveal = (tab: Element | null) => tab?.scrollIntoView({ block: "nearest", inline: "nearest" });

/** Whether tabs are out of sight at the left and the right end of their list. */
function useHidden(list: { current: HTMLDivElement | null }) {
  const [hidden, setHidden] = useState({ left: false, right: false });
  useEffect(() => {
    const el = list.current!;
    const look = () => {
      const left = el.scrollLeft > 1, right = el.scrollLeft + el.clientWidth < el.scrollWidth - 1;
      setHidden((h) => (h.left === left && h.right === right ? h : { left, right }));
    };
    const observer = new ResizeObserver((entries) => {
      if (entries.some((e) => e.target === el)) reveal(el.querySelector('[aria-selected="true"]'));
      look();
    });
    observer.observe(el);
    for (const tab of el.children) observer.observe(tab);
    el.addEventListener("scroll", look, { passive: true });
    return () => { observer.disconnect(); el.removeEventListener("scroll", look); };
  }, [list]);
  return hidden;
}

/** A list of tabs. Arrow keys, Home and End move between them. Those that have no room are scrolled to. */
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
  const hidden = useHidden(list);
  useEffect(() => {
    reveal(list.current!.querySelector(`#${CSS.escape(tabId(group, chosen))}`));
  }, [group, chosen]);
  // For the mouse alone: keys move between the tabs themselves.
  const more = (side: "left" | "right") => hidden[side] && (
    <button type="button" className={`tabs-more ${side}`} tabIndex={-1} aria-hidden="true" title={side === "left" ? "Tabs before these" : "More tabs"}
      onClick={() => list.current?.scrollBy({ left: (side === "left" ? -0.7 : 0.7) * list.current.clientWidth })}>
      <Icon name={side} />
    </button>
  );
  return (
    <div className="tabs-box">
      {more("left")}
      <div className="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={move}>
        {tabs.map((t) => (
          <button key={t.id} type="button" role="tab" className="tab" id={tabId(group, t.id)} aria-selected={t.id === chosen}
            aria-controls={t.id === chosen ? panelId(group, t.id) : undefined} tabIndex={t.id === chosen ? 0 : -1} onClick={() => onChoose(t.id)}>
            {t.title}{t.badge}
          </button>
        ))}
      </div>
      {more("right")}
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
