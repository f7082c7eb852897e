import { useRef, type KeyboardEvent, type PointerEvent } from "react";
import { change, useStore } from "../store";

interface Props {
  /** Name of the pane whose size it changes. */
  pane: string;
  label: string;
  /** "vertical": a line between left and right. */
  orientation: "vertical" | "horizontal";
  /** 1 where the pane stands before the splitter, -1 where it stands behind it. */
  sign: 1 | -1;
  size: number;
  min: number;
  max: number;
}

/** The border between two panes: drag it, or focus it and use arrow keys; Enter or a double click closes the pane. */
export function Splitter({ pane, label, orientation, sign, size, min, max }: Props) {
  const start = useRef<{ at: number; size: number }>(undefined);
  const settings = useStore((s) => s.settings);
  const set = (n: number) => change({ sizes: { ...settings.sizes, [pane]: Math.round(Math.max(min, Math.min(max, n))) } });
  const close = () => change({ closed: { ...settings.closed, [pane]: true } });
  const point = (e: PointerEvent) => orientation === "vertical" ? e.clientX : e.clientY;
  const keys = (e: KeyboardEvent) => {
    const step = e.shiftKey ? 64 : 16;
    const more = orientation === "vertical" ? "ArrowRight" : "ArrowDown";
    const less = orientation === "vertical" ? "ArrowLeft" : "ArrowUp";
    if (e.key === more) set(size + sign * step);
    else if (e.key === less) set(size - sign * step);
    else if (e.key === "Home") set(min);
    else if (e.key === "End") set(max);
    else if (e.key === "Enter") close();
    else return;
    e.preventDefault();
  };
  return (
    <div className={`splitter ${orientation}`} role="separator" tabIndex={0} aria-label={label} aria-orientation={orientation}
      aria-valuenow={Math.round(size)} aria-valuemin={min} aria-valuemax={Math.round(max)} onKeyDown={keys} onDoubleClick={close}
      onPointerDown={(e) => { e.currentTarget.setPointerCapture(e.pointerId); start.current = { at: point(e), size }; }}
      onPointerMove={(e) => { if (start.current) set(start.current.size + sign * (point(e) - start.current.at)); }}
      onPointerUp={() => { start.current = undefined; }} onPointerCancel={() => { start.current = undefined; }} />
  );
}
