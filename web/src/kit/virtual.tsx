// Long lists: only the rows in sight are in the page.
import { useEffect, useImperativeHandle, useLayoutEffect, useRef, useState, type KeyboardEvent, type ReactNode, type Ref } from "react";

export interface VirtualHandle {
  /** Scrolls so that a row is in sight. */
  reveal(index: number): void;
  focus(): void;
}

export interface VirtualProps {
  count: number;
  /** Height of each row in pixels. */
  rowHeight: number;
  role: "grid" | "listbox";
  label: string;
  /** The row that keys act on; it is always in the page. */
  active?: number;
  /** Id of the element of the active row. */
  activeId?: string;
  columns?: number;
  /** Stands above the rows and stays in sight. */
  header?: ReactNode;
  headerHeight?: number;
  /** Keeps the last row in sight. */
  follow?: boolean;
  /** Called where the user scrolls away from the end, or back to it. */
  onFollow?(on: boolean): void;
  /** Keys moved to a row. */
  onActive?(index: number, held: boolean): void;
  /** Enter or the space bar. */
  onChoose?(index: number): void;
  onKeyDown?(e: KeyboardEvent): void;
  onKeyUp?(e: KeyboardEvent): void;
  className?: string;
  children(index: number): ReactNode;
  ref?: Ref<VirtualHandle>;
}

const spare = 6;

export function Virtual(p: VirtualProps) {
  const box = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState({ from: 0, to: 40 });
  const header = p.header ? p.headerHeight ?? p.rowHeight : 0;
  const measure = () => {
    const b = box.current;
    if (!b || b.clientHeight === 0) return;
    const from = Math.max(0, Math.floor(b.scrollTop / p.rowHeight) - spare);
    const to = Math.ceil((b.scrollTop + b.clientHeight) / p.rowHeight) + spare;
    setSeen((s) => (s.from === from && s.to === to ? s : { from, to }));
  };
  const latest = useRef(measure);
  latest.current = measure;
  useEffect(() => {
    const observer = new ResizeObserver(() => latest.current());
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    const b = box.current!;
    if (p.follow) b.scrollTop = b.scrollHeight;
    latest.current();
  }, [p.follow, p.count]);

  const reveal = (i: number) => {
    const b = box.current!, top = i * p.rowHeight, bottom = top + p.rowHeight + header;
    if (top < b.scrollTop) b.scrollTop = top;
    else if (bottom > b.scrollTop + b.clientHeight) b.scrollTop = bottom - b.clientHeight;
    latest.current();
  };
  useImperativeHandle(p.ref, () => ({ reveal, focus: () => box.current!.focus() }));

  const keys = (e: KeyboardEvent) => {
    p.onKeyDown?.(e);
    if (e.defaultPrevented || e.target !== e.currentTarget || e.ctrlKey || e.metaKey || e.altKey || p.count === 0) return;
    const now = p.active ?? -1, page = Math.max(1, Math.floor(box.current!.clientHeight / p.rowHeight) - 1);
    const to = {
      ArrowDown: now + 1, ArrowUp: now < 0 ? p.count - 1 : now - 1, PageDown: now + page, PageUp: now - page, Home: 0, End: p.count - 1,
    }[e.key];
    if (to !== undefined) {
      const index = Math.max(0, Math.min(to, p.count - 1));
      p.onActive?.(index, e.repeat);
      reveal(index);
    } else if ((e.key === "Enter" || e.key === " ") && now >= 0) p.onChoose?.(now);
    else return;
    e.preventDefault();
  };

  const rows: number[] = [];
  for (let i = seen.from; i < Math.min(seen.to, p.count); i++) rows.push(i);
  if (p.active !== undefined && p.active >= 0 && p.active < p.count && (p.active < seen.from || p.active >= seen.to)) rows.push(p.active);
  const items = rows.map((i) => (
    <div key={i} role="presentation" className="virtual-row" style={{ top: i * p.rowHeight, height: p.rowHeight }}>{p.children(i)}</div>
  ));
  return (
    <div ref={box} className={["virtual", p.className].filter(Boolean).join(" ")} role={p.role} tabIndex={0} aria-label={p.label}
      aria-rowcount={p.role === "grid" ? p.count + (p.header ? 1 : 0) : undefined} aria-colcount={p.columns}
      aria-activedescendant={p.active !== undefined && p.active >= 0 && p.active < p.count ? p.activeId : undefined}
      onKeyDown={keys} onKeyUp={p.onKeyUp}
      onScroll={(e) => {
        measure();
        const b = e.currentTarget, end = b.scrollHeight - b.scrollTop - b.clientHeight < p.rowHeight;
        if (p.onFollow && end !== p.follow) p.onFollow(end);
      }}>
      {p.header}
      <div role={p.role === "grid" ? "rowgroup" : "presentation"} className="virtual-rows" style={{ height: p.count * p.rowHeight }}>{items}</div>
    </div>
  );
}
