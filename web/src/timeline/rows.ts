// Rows of the timeline: executions by node or by walk, with lanes for those that overlap.
import type { Execution } from "./executions";

export type Grouping = "node" | "body";

export interface Row {
  id: string;
  label: string;
  depth: number;
  /** Executions by start, and the lane of each. */
  items: Execution[];
  lanes: number[];
  laneCount: number;
  top: number;
  height: number;
}

/** More executions at a time than this share lanes. */
const mostLanes = 40;
const padding = 4;

export function laneHeight(lanes: number): number {
  return lanes <= 1 ? 16 : lanes <= 4 ? 11 : lanes <= 12 ? 7 : 4;
}

/** Returns the rows of all executions, from top to bottom, and the height of all. */
export function layoutRows(list: readonly Execution[], grouping: Grouping, tool: string): { rows: Row[]; height: number } {
  const groups = new Map<string, Execution[]>();
  for (const e of list) {
    const id = grouping === "node" ? e.key : e.walk;
    const group = groups.get(id);
    if (group) group.push(e);
    else groups.set(id, [e]);
  }
  const ids = [...groups.keys()];
  if (grouping === "body") {
    const parts = new Map(ids.map((id) => [id, tokens(id)]));
    ids.sort((a, b) => compareTokens(parts.get(a)!, parts.get(b)!));
  }
  for (const items of groups.values()) {
    if (items.some((e, i) => i > 0 && e.start < items[i - 1]!.start)) items.sort((a, b) => a.start - b.start || a.order - b.order);
  }
  if (grouping === "node") {
    const first = (id: string) => groups.get(id)![0]!;
    // What began at the same time: owners stand above their bodies, all else is in the order of the run.
    const inside = (a: string, b: string) => a.startsWith(`${b}[`) || a.startsWith(`${b}.`);
    ids.sort((a, b) => first(a).start - first(b).start || (inside(a, b) ? 1 : inside(b, a) ? -1 : first(a).order - first(b).order));
  }
  const rows: Row[] = [];
  let top = 0;
  for (const id of ids) {
    const items = groups.get(id)!;
    const { lanes, count } = assign(items);
    const height = count * laneHeight(count) + 2 * padding;
    rows.push({ id, ...name(id, grouping, tool), items, lanes, laneCount: count, top, height });
    top += height;
  }
  return { rows, height: top };
}

/** Returns the top and height of the bar of the i-th execution of a row. */
export function barIn(row: Row, i: number): { top: number; height: number } {
  const h = laneHeight(row.laneCount);
  return { top: row.top + padding + row.lanes[i]! * h, height: h > 5 ? h - 2 : h - 1 };
}

/** Returns the index of the row at a height, or -1. */
export function rowAt(rows: readonly Row[], y: number): number {
  let from = 0, to = rows.length - 1;
  while (from <= to) {
    const middle = (from + to) >> 1, row = rows[middle]!;
    if (y < row.top) to = middle - 1;
    else if (y >= row.top + row.height) from = middle + 1;
    else return middle;
  }
  return -1;
}

/** Gives each execution the first lane that is free when it starts. */
function assign(items: readonly Execution[]): { lanes: number[]; count: number } {
  const free: number[] = [];
  const lanes = items.map((e) => {
    let lane = free.findIndex((at) => at <= e.start);
    if (lane < 0) lane = free.length < mostLanes ? free.length : e.order % mostLanes;
    free[lane] = Math.max(free[lane] ?? 0, e.end ?? Infinity);
    return lane;
  });
  return { lanes, count: Math.max(free.length, 1) };
}

function name(id: string, grouping: Grouping, tool: string): { label: string; depth: number } {
  if (grouping === "body") {
    if (id === "") return { label: tool, depth: 0 };
    return { label: id.slice(id.lastIndexOf(".") + 1) || id, depth: id.split(".").length };
  }
  const at = id.indexOf("#");
  const of = id.slice(0, at), path = id.slice(at + 1);
  return { label: of === tool ? path : `${of} › ${path}`, depth: 0 };
}

/** Splits a path so that items sort by number: "sizes[17].news" is sizes, 17, news. */
function tokens(path: string): (string | number)[] {
  return path.split(/[.[\]]+/).filter((t) => t !== "").map((t) => (/^\d+$/.test(t) ? Number(t) : t));
}

function compareTokens(a: (string | number)[], b: (string | number)[]): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const x = a[i]!, y = b[i]!;
    if (x === y) continue;
    if (typeof x === "number" && typeof y === "number") return x - y;
    return String(x) < String(y) ? -1 : 1;
  }
  return a.length - b.length;
}
