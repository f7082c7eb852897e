// The menu of all breakpoints.
import { MenuButton, type MenuItem } from "../kit";
import { findNode, select, setBreakpoints, state, toolOf, useStore } from "../store";

function items(): MenuItem[] {
  const { breakpoints, breakOn } = state;
  const list: MenuItem[] = [
    { label: "Pause when a tool is entered", checked: !!breakOn.enterTool, onChoose: () => void setBreakpoints(breakpoints, { ...breakOn, enterTool: !breakOn.enterTool }) },
    "-",
  ];
  for (const b of breakpoints) {
    const node = findNode(b.node);
    const more = [b.when && `when ${b.when}`, b.hits && `execution ${b.hits}`, b.log !== undefined && "log"].filter(Boolean).join(", ");
    list.push({
      label: `${node?.id ?? b.node}${more && ` – ${more}`}${b.disabled ? " (disabled)" : ""}`, icon: b.disabled ? "circle" : "dot", danger: !b.disabled, keys: toolOf(b.node),
      onChoose: () => select({ key: b.node }),
    });
  }
  if (breakpoints.length === 0) list.push({ label: "No breakpoints. Click at the left end of a node.", disabled: true, onChoose: () => {} });
  const off = breakpoints.length > 0 && breakpoints.every((b) => b.disabled);
  list.push("-",
    { label: off ? "Enable all" : "Disable all", icon: off ? "check" : "minus", disabled: breakpoints.length === 0, onChoose: () => void setBreakpoints(breakpoints.map((b) => ({ ...b, disabled: !off }))) },
    { label: "Remove all", icon: "trash", disabled: breakpoints.length === 0, onChoose: () => void setBreakpoints([]) });
  return list;
}

export function BreakpointMenu() {
  const n = useStore((s) => s.breakpoints.length);
  const readOnly = useStore((s) => s.server!.readOnly);
  return <MenuButton look="quiet" icon="dot" className="breakpoints" label="Breakpoints" title="Breakpoints" aria-label={`Breakpoints: ${n}`} disabled={readOnly} items={items}>{n > 0 ? n : undefined}</MenuButton>;
}
