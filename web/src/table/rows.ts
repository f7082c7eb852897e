// The rows of the table: filtered and sorted executions.
import type { Execution } from "../timeline/executions";
import { lengthOf } from "../timeline/text";

export type Column = "order" | "node" | "path" | "iteration" | "start" | "duration" | "state" | "attempts";

export interface Filter {
  text: string;
  state: string; // "" for all
  failed: boolean;
  /** Number of an item of a map, or of the execution in a loop; "" for all. */
  iteration: string;
  /** Only executions of the chosen node. */
  node: boolean;
}

export const noFilter: Filter = { text: "", state: "", failed: false, iteration: "", node: false };

/** How an execution is told apart from others of its node: "[17]" for items, "#2" in loops. */
export function iterationOf(e: Execution): string {
  const items = e.walk.match(/\[\d+\]/g)?.join("") ?? "";
  return items + (e.visit > 1 ? `${items ? " " : ""}#${e.visit}` : "");
}

export function filterRows(list: readonly Execution[], f: Filter, key: string | undefined): Execution[] {
  const words = f.text.toLowerCase().split(/\s+/).filter(Boolean);
  const iteration = f.iteration.trim();
  return list.filter((e) => {
    if (f.failed && e.state !== "failed" && e.state !== "caught") return false;
    if (f.state && e.state !== f.state) return false;
    if (f.node && key !== undefined && e.key !== key) return false;
    if (iteration !== "" && !e.walk.includes(`[${iteration}]`) && !(e.item === undefined && `${e.visit}` === iteration)) return false;
    if (words.length === 0) return true;
    const text = `${e.path} ${e.type} ${e.server ?? ""} ${e.tool ?? ""} ${e.state} ${e.error ?? ""}`.toLowerCase();
    return words.every((w) => text.includes(w));
  });
}

const natural = new Intl.Collator("en", { numeric: true });

export function sortRows(list: Execution[], by: Column, descending: boolean, now: number): Execution[] {
  if (by !== "order") {
    const compare: Record<Exclude<Column, "order">, (a: Execution, b: Execution) => number> = {
      node: (a, b) => natural.compare(a.node, b.node),
      path: (a, b) => natural.compare(a.path, b.path),
      iteration: (a, b) => natural.compare(a.walk, b.walk) || a.visit - b.visit,
      start: (a, b) => a.start - b.start,
      duration: (a, b) => lengthOf(a, now) - lengthOf(b, now),
      state: (a, b) => a.state.localeCompare(b.state),
      attempts: (a, b) => a.tries - b.tries,
    };
    list.sort((a, b) => compare[by](a, b) || a.order - b.order);
  }
  return descending ? list.reverse() : list;
}
