// What nodes, edges and the bar of the graph share beside the store: folds and menus.
import { changed, state } from "../store";

export type Target = { kind: "node"; key: string } | { kind: "edge"; from: string; via: string; to: string } | { kind: "pane" };

export interface Surface {
  folded: ReadonlySet<string>;
  menu?: { target: Target; at: { x: number; y: number } };
  dialog?: GraphDialog;
}

export type GraphDialog =
  | { kind: "breakpoint"; key: string }
  | { kind: "pin"; key: string }
  | { kind: "add"; after?: string; via?: string }
  | { kind: "connect"; from: string; via?: string; to?: string }
  | { kind: "rename"; key: string }
  | { kind: "remove"; key: string }
  | { kind: "disconnect"; from: string; via: string };

export const surface: Surface = { folded: new Set() };

export function openMenu(target: Target, at: { x: number; y: number }) {
  surface.menu = { target, at };
  changed();
}

export function closeMenu() {
  surface.menu = undefined;
  changed();
}

export function openDialog(dialog?: GraphDialog) {
  surface.dialog = dialog;
  changed();
}

export function toggleFold(key: string) {
  const folded = new Set(surface.folded);
  if (!folded.delete(key)) folded.add(key);
  surface.folded = folded;
  changed();
}

export function foldAll(keys: string[]) {
  surface.folded = new Set(keys);
  changed();
}

export function search(text: string) {
  state.search = text;
  changed();
}
