import { useEffect, useLayoutEffect, useRef, useState, type KeyboardEvent, type ReactNode } from "react";
import { createPortal } from "react-dom";
import { Button, type ButtonProps } from "./button";
import { Icon, type IconName } from "./icons";

export type MenuItem = "-" | {
  label: string; icon?: IconName; keys?: string; disabled?: boolean; checked?: boolean; danger?: boolean; onChoose: () => void;
};

/** A menu at a point of the window. Arrow keys and letters move; Escape closes it and gives the focus back. */
export function Menu({ at, items, label, onClose }: { at: { x: number; y: number }; items: MenuItem[]; label: string; onClose: () => void }) {
  const ref = useRef<HTMLDivElement>(null);
  const back = useRef(document.activeElement as HTMLElement | null);
  const [place, setPlace] = useState(at);
  useLayoutEffect(() => {
    const box = ref.current!.getBoundingClientRect();
    setPlace({ x: Math.max(4, Math.min(at.x, innerWidth - box.width - 4)), y: Math.max(4, Math.min(at.y, innerHeight - box.height - 4)) });
    ref.current!.querySelector<HTMLElement>("[role^=menuitem]:not([aria-disabled=true])")?.focus();
  }, [at.x, at.y]);
  const close = (focus: boolean) => {
    onClose();
    if (focus) back.current?.focus();
  };
  useEffect(() => {
    const outside = (e: PointerEvent) => { if (!ref.current?.contains(e.target as Node)) onClose(); };
    document.addEventListener("pointerdown", outside, true);
    addEventListener("blur", onClose);
    return () => { document.removeEventListener("pointerdown", outside, true); removeEventListener("blur", onClose); };
  }, [onClose]);
  const keys = (e: KeyboardEvent) => {
    e.stopPropagation();
    if (e.key === "Escape" || e.key === "Tab") { e.preventDefault(); close(true); return; }
    const all = [...ref.current!.querySelectorAll<HTMLElement>("[role^=menuitem]:not([aria-disabled=true])")];
    const now = all.indexOf(document.activeElement as HTMLElement);
    let to = { ArrowDown: now + 1, ArrowUp: now - 1, Home: 0, End: -1 }[e.key];
    if (to === undefined && e.key.length === 1 && !e.ctrlKey && !e.metaKey) {
      const found = [...all.slice(now + 1), ...all].find((n) => n.textContent!.trim().toLowerCase().startsWith(e.key.toLowerCase()));
      if (found) to = all.indexOf(found);
    }
    if (to === undefined) return;
    e.preventDefault();
    all.at(to % all.length)?.focus();
  };
  return createPortal(
    <div className="menu" role="menu" aria-label={label} ref={ref} style={{ left: place.x, top: place.y }} onKeyDown={keys} onContextMenu={(e) => e.preventDefault()}>
      {items.map((item, i) => item === "-" ? <div key={i} role="separator" /> : (
        <button key={i} type="button" role={item.checked === undefined ? "menuitem" : "menuitemcheckbox"} aria-checked={item.checked} tabIndex={-1}
          aria-disabled={item.disabled} onClick={() => { if (!item.disabled) { close(true); item.onChoose(); } }}>
          <span className={`sign${item.danger ? " s-failed" : ""}`}>
            {item.checked ? <Icon name="check" /> : item.icon ? <Icon name={item.icon} /> : <span className="icon" />}
          </span>
          <span>{item.label}</span>
          {item.keys && <span className="keys">{item.keys}</span>}
        </button>
      ))}
    </div>, document.querySelector("main") ?? document.body);
}

/** A button that opens a menu beneath it. */
export function MenuButton({ items, label, children, ...rest }: Omit<ButtonProps, "onClick"> & { items: () => MenuItem[]; label: string; children?: ReactNode }) {
  const [at, setAt] = useState<{ x: number; y: number }>();
  return (
    <>
      <Button aria-haspopup="menu" aria-expanded={!!at} aria-label={children ? undefined : label} title={children ? undefined : label} {...rest}
        onClick={(e) => { const box = e.currentTarget.getBoundingClientRect(); e.currentTarget.focus(); setAt({ x: box.left, y: box.bottom + 2 }); }}>
        {children}
      </Button>
      {at && <Menu at={at} items={items()} label={label} onClose={() => setAt(undefined)} />}
    </>
  );
}
