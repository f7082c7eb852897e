// What a right click on a node, an edge or the ground offers.
import { api } from "../api";
import { copy, Menu, type MenuItem } from "../kit";
import { breakpointAt, command, liveSession, pin, report, select, selectPresent, setBreakpoints, showPanel, state, toggleBreakpoint, unpin, useStore } from "../store";
import { canUndo, undoEdit } from "./edit";
import type { Model } from "./model";
import { closeMenu, foldAll, openDialog, surface, toggleFold } from "./surface";

/** Lets the chosen run go on to a node. */
export async function runTo(key: string) {
  const session = liveSession();
  if (!session) return;
  selectPresent();
  try {
    await api.runTo(session.id, key);
  } catch (e) {
    report(e);
  }
}

function nodeItems(model: Model, key: string): MenuItem[] {
  const drawn = model.nodes.get(key);
  if (!drawn) return [];
  const { node } = drawn;
  const { server, pins, selection } = state;
  const session = liveSession();
  const may = !server?.readOnly;
  const editable = may && !!server?.file.editable;
  const breakpoint = breakpointAt(key);
  const records = selection.run ? state.attached.get(selection.run)?.byKey.get(key) : undefined;
  const chosen = records?.find((r) => r.index === selection.record) ?? (records?.length === 1 ? records[0] : undefined);
  const pinned = key in pins || !!session?.pins?.includes(key);
  const pinnable = node.type !== "entry" && node.type !== "fail";
  const items: MenuItem[] = [];
  if (may) {
    items.push(
      { label: "Run to here", icon: "resume", disabled: !session?.can.includes("runTo"), onChoose: () => void runTo(key) },
      { label: breakpoint ? "Remove breakpoint" : "Add breakpoint", icon: "dot", keys: "F9", onChoose: () => toggleBreakpoint(key) },
      { label: breakpoint ? "Edit breakpoint…" : "Add breakpoint with condition…", icon: "edit", onChoose: () => openDialog({ kind: "breakpoint", key }) },
    );
    if (breakpoint) {
      items.push({
        label: breakpoint.disabled ? "Enable breakpoint" : "Disable breakpoint", icon: breakpoint.disabled ? "check" : "minus",
        onChoose: () => void setBreakpoints(state.breakpoints.map((b) => b.node === key ? { ...b, disabled: !b.disabled } : b)),
      });
    }
    if (pinnable) items.push("-");
    if (pinned) items.push({ label: "Unpin the output", icon: "pin", onChoose: () => void unpin(key) });
    else if (pinnable && chosen?.output !== undefined && !isCut(chosen.output)) items.push({ label: "Pin this output", icon: "pin", onChoose: () => void pin(key, chosen.output!) });
    if (pinnable) items.push({ label: pinned ? "Change the pinned output…" : "Pin an output…", icon: "pin", onChoose: () => openDialog({ kind: "pin", key }) });
    items.push("-");
  }
  if (drawn.bodies.length) items.push({ label: drawn.folded ? "Unfold" : "Fold", keys: "F", icon: drawn.folded ? "right" : "down", onChoose: () => toggleFold(key) });
  if (node.calls) items.push({ label: `Open ${node.calls}`, icon: "call", onChoose: () => select({ tool: node.calls, run: selection.run, key: undefined }) });
  items.push(
    { label: "Show in the file", icon: "file", onChoose: () => { select({ key }); showPanel("yaml"); } },
    { label: "Copy the YAML", icon: "copy", onChoose: () => void copy(node.yaml, "YAML") },
  );
  if (editable) {
    items.push("-",
      { label: "Add a node after…", icon: "plus", onChoose: () => openDialog({ kind: "add", after: key }) },
      { label: "Connect to…", icon: "link", onChoose: () => openDialog({ kind: "connect", from: key }) },
      { label: "Rename…", icon: "edit", keys: "F2", onChoose: () => openDialog({ kind: "rename", key }) },
      { label: "Remove…", icon: "trash", keys: "Del", danger: true, disabled: node.type === "entry", onChoose: () => openDialog({ kind: "remove", key }) });
  }
  return items;
}

const isCut = (v: unknown) => typeof v === "object" && v !== null && "$cut" in v;

export function GraphMenu({ model, onFit }: { model: Model; onFit: () => void }) {
  const menu = useStore(() => surface.menu);
  if (!menu) return null;
  const { target, at } = menu;
  const editable = !!state.server?.file.editable && !state.server.readOnly;
  let items: MenuItem[];
  let label = "Graph";
  if (target.kind === "node") {
    items = nodeItems(model, target.key);
    label = model.nodes.get(target.key)?.node.id ?? label;
  } else if (target.kind === "edge") {
    label = "Edge";
    items = [
      { label: "Add a node here…", icon: "plus", disabled: !editable || !model.nodes.has(target.from), onChoose: () => openDialog({ kind: "add", after: target.from, via: target.via }) },
      { label: "Lead it to another node…", icon: "link", disabled: !editable, onChoose: () => openDialog({ kind: "connect", from: target.from, via: target.via, to: target.to }) },
      { label: "Remove the edge…", icon: "trash", danger: true, disabled: !editable, onChoose: () => openDialog({ kind: "disconnect", from: target.from, via: target.via }) },
    ];
  } else {
    const owners = model.graph.bodies.map((b) => b.owner);
    items = [
      { label: "Fit the graph", icon: "fit", onChoose: onFit },
      { label: "Fold all", icon: "right", disabled: owners.length === 0, onChoose: () => foldAll(owners) },
      { label: "Unfold all", icon: "down", disabled: surface.folded.size === 0, onChoose: () => foldAll([]) },
      "-",
      { label: "Add a node…", icon: "plus", disabled: !editable, onChoose: () => openDialog({ kind: "add" }) },
      { label: "Undo the last edit", icon: "undo", keys: "Ctrl+Z", disabled: !canUndo(), onChoose: () => void undoEdit() },
      "-",
      { label: "Resume", icon: "resume", keys: "F8", disabled: !liveSession()?.can.includes("resume"), onChoose: () => void command("resume") },
    ];
  }
  return <Menu at={at} label={label} items={items} onClose={closeMenu} />;
}
