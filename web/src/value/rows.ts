// The rows of a value tree: what is visible, as a flat list.

import { bytes, count } from "../kit/format";
import { isFields, typeOf, type Fields, type Type, type Value } from "./json";
import { pointer, type Path } from "./path";

/** Cut stands in place of a value that was too long to send. */
export interface Cut {
  bytes: number;
  preview: string;
}

/** Slice stands in place of an array, of which only a part was sent. */
export interface Slice {
  from: number;
  total: number;
  items: Value[];
}

function only(v: Value, key: string): Fields | undefined {
  if (!isFields(v)) return undefined;
  const inner = v[key];
  return inner !== undefined && isFields(inner) && Object.keys(v).length === 1 ? inner : undefined;
}

/** cutOf returns what is known of a value that was cut, and undefined for any other value. */
export function cutOf(v: Value): Cut | undefined {
  const c = only(v, "$cut");
  if (!c || typeof c.bytes !== "number") return undefined;
  return { bytes: c.bytes, preview: typeof c.preview === "string" ? c.preview : "" };
}

/** sliceOf returns the part of an array that was sent, and undefined for any other value. */
export function sliceOf(v: Value): Slice | undefined {
  const s = only(v, "$slice");
  if (!s || typeof s.total !== "number" || !Array.isArray(s.items)) return undefined;
  return { from: typeof s.from === "number" ? s.from : 0, total: s.total, items: s.items };
}

/** Row is one line of the tree. */
export interface Row {
  id: string; // unique in the tree
  path: Path; // of the value that the row belongs to
  level: number; // 1 for the root
  position: number; // among its siblings, from 1
  siblings: number;
  kind: "value" | "line" | "more";
  name: string | number | undefined;
  value: Value;
  type: Type | "cut";
  open?: boolean; // undefined: it has no children
  more?: { from: number; before: boolean; count: number }; // where to load from, and how many there are
}

/** Expansion remembers which rows a person opened or closed, and what was loaded since. */
export interface Expansion {
  open: ReadonlyMap<string, boolean>; // by pointer
  loaded: ReadonlyMap<string, Value>; // by pointer
  depth: number; // levels that are open from the start
  width: number; // characters of a line of text
}

const shown = 300; // characters of a text in its row

/** textLines breaks a text into lines of at most width characters. */
export function textLines(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const line of text.split("\n")) {
    let rest = line;
    while (rest.length > width) {
      let end = rest.lastIndexOf(" ", width) + 1;
      if (end < width / 2) end = width;
      if (/[\uD800-\uDBFF]$/.test(rest.slice(0, end))) end--;
      lines.push(rest.slice(0, end));
      rest = rest.slice(end);
    }
    lines.push(rest);
  }
  return lines;
}

/** size returns a short description of what a value holds: "3 items", "12 characters". */
function size(v: Value): string {
  if (typeof v === "string") return count([...v].length, "character");
  if (Array.isArray(v)) return count(v.length, "item");
  if (isFields(v)) return count(Object.keys(v).length, "key");
  return "";
}

const previewed = 90; // characters of the preview of an object or array
const maxWords = 6; // values in it

function brief(v: Value): string {
  if (Array.isArray(v)) return v.length === 0 ? "[]" : `[${list(v.slice(0, maxWords + 1).map(word))}]`;
  if (isFields(v)) {
    const keys = Object.keys(v);
    return keys.length === 0 ? "{}" : `{${list(keys.slice(0, maxWords + 1).map((k) => `${k}: ${word(v[k] as Value)}`))}}`;
  }
  if (typeof v === "string") {
    const text = JSON.stringify(v.length > shown ? v.slice(0, shown) : v);
    return v.length > shown ? text.slice(0, -1) + "…" : text;
  }
  return String(v);
}

/** list joins as many words as fit into a preview. */
function list(words: string[]): string {
  let text = "";
  for (const [i, w] of words.entries()) {
    const next = text === "" ? w : `${text}, ${w}`;
    if (next.length > previewed || i === maxWords) return text === "" ? "…" : `${text}, …`;
    text = next;
  }
  return text;
}

/** word returns a value in a preview. */
function word(v: Value): string {
  if (Array.isArray(v)) return v.length === 0 ? "[]" : "[…]";
  if (isFields(v)) return Object.keys(v).length === 0 ? "{}" : "{…}";
  if (typeof v === "string") return v.length > 24 ? JSON.stringify(v.slice(0, 24)).slice(0, -1) + '…"' : JSON.stringify(v);
  return String(v);
}

/** textOf returns what stands for the value of a row. It is made when the row is drawn. */
export function textOf(row: Row): string {
  if (row.kind === "line") return row.value as string;
  if (row.more) return `${row.more.count.toLocaleString("en")} more`;
  const cut = cutOf(row.value);
  return cut ? cut.preview : brief(sliceOf(row.value)?.items ?? row.value);
}

/** noteOf returns the size of the value of a row. */
export function noteOf(row: Row): string {
  const v = row.value;
  if (row.kind !== "value") return "";
  if (row.type === "cut") return bytes(cutOf(v)?.bytes ?? 0);
  if (typeof v === "string") {
    if (row.open === undefined) return "";
    return v.includes("\n") ? count(v.split("\n").length, "line") : size(v);
  }
  const slice = sliceOf(v);
  return slice ? count(slice.total, "item") : size(v);
}

// Objects and lists with more values inside are closed at first, unless they are the root.
const maxOpen = 100;

/** rows returns the visible rows of a value. */
export function rows(root: Value, x: Expansion): Row[] {
  const list: Row[] = [];
  const add = (given: Value, id: string, path: Path, level: number, name: string | number | undefined, position: number, siblings: number) => {
    const v = x.loaded.get(id) ?? given;
    const row: Row = { id, path, level, position, siblings, kind: "value", name, value: v, type: typeOf(v) };
    list.push(row);
    if (cutOf(v)) {
      row.type = "cut";
      return;
    }
    if (typeof v === "string") {
      if (!v.includes("\n") && v.length <= x.width) return;
      row.open = x.open.get(id) ?? false;
      if (!row.open) return;
      const lines = textLines(v, x.width);
      lines.forEach((text, i) =>
        list.push({ id: `${id} ${i}`, path, level: level + 1, position: i + 1, siblings: lines.length, kind: "line", name: undefined, value: text, type: "string" }),
      );
      return;
    }
    const isOpen = (inside: number) => x.open.get(id) ?? (level <= x.depth && siblings <= maxOpen && (level === 1 || inside <= maxOpen));
    const slice = sliceOf(v);
    const items = slice?.items ?? (Array.isArray(v) ? v : undefined);
    if (items) {
      row.type = "array";
      const from = slice?.from ?? 0;
      const total = slice?.total ?? items.length;
      if (total === 0) return;
      row.open = isOpen(items.length);
      if (!row.open) return;
      const more = (before: boolean, at: number, count: number) =>
        list.push({
          id: `${id} ${before ? "before" : "after"}`, path, level: level + 1, position: before ? 1 : total, siblings: total, kind: "more", name: undefined,
          value: null, type: "null", more: { from: at, before, count },
        });
      if (from > 0) more(true, Math.max(0, from - pageSize), from);
      for (let i = 0; i < items.length; i++) add(items[i] as Value, `${id}/${from + i}`, [...path, from + i], level + 1, from + i, from + i + 1, total);
      const end = from + items.length;
      if (end < total) more(false, end, total - end);
      return;
    }
    if (isFields(v)) {
      const keys = Object.keys(v);
      if (keys.length === 0) return;
      row.open = isOpen(keys.length);
      if (!row.open) return;
      keys.forEach((k, i) => add(v[k] as Value, id + pointer([k]), [...path, k], level + 1, k, i + 1, keys.length));
    }
  };
  add(root, "", [], 1, undefined, 1, 1);
  return list;
}

/** pageSize is how many items of a long array are loaded at a time. */
export const pageSize = 500;

/** joined returns the parts of an array that are known now as one slice. */
export function joined(known: Slice, got: Value, from: number): Value {
  const part = sliceOf(got) ?? { from, total: known.total, items: Array.isArray(got) ? got : [] };
  if (part.items.length === 0) throw new Error("the server sent no further items");
  const [a, b] = part.from < known.from ? [part, known] : [known, part];
  const items = [...a.items.slice(0, b.from - a.from), ...b.items];
  if (a.from === 0 && items.length >= known.total) return items;
  return { $slice: { from: a.from, total: known.total, items } };
}

/** Load fetches the value at a path; of an array, count items from from. */
export type Load = (path: Path, from?: number, count?: number) => Promise<Value>;

const maxWhole = 200; // requests

/** whole returns a value with everything that was cut from it loaded. */
export async function whole(v: Value, path: Path, load: Load | undefined): Promise<Value> {
  let left = maxWhole;
  const fetch = (path: Path, from?: number, count?: number) => {
    if (!load) throw new Error("only a part of this value was kept");
    if (left-- === 0) throw new Error("this value is too large; export the run instead");
    return load(path, from, count);
  };
  const visit = async (v: Value, path: Path): Promise<Value> => {
    if (cutOf(v)) {
      const got = await fetch(path);
      if (cutOf(got)) throw new Error("only a part of this value was kept");
      return visit(got, path);
    }
    let slice = sliceOf(v);
    while (slice) {
      const from = slice.from > 0 ? Math.max(0, slice.from - pageSize) : slice.items.length;
      const next = joined(slice, await fetch(path, from, slice.from > 0 ? slice.from - from : pageSize), from);
      slice = sliceOf(next);
      if (!slice) v = next;
    }
    if (Array.isArray(v)) {
      const list: Value[] = [];
      for (let i = 0; i < v.length; i++) list.push(await visit(v[i] as Value, [...path, i]));
      return list;
    }
    if (isFields(v)) {
      const fields: [string, Value][] = [];
      for (const [k, e] of Object.entries(v)) fields.push([k, await visit(e, [...path, k])]);
      return Object.fromEntries(fields);
    }
    return v;
  };
  return visit(v, path);
}

/** isPartial reports whether something was cut from a value. */
export function isPartial(v: Value): boolean {
  if (cutOf(v) || sliceOf(v)) return true;
  if (Array.isArray(v)) return v.some(isPartial);
  return isFields(v) && Object.values(v).some(isPartial);
}

/** Match is a place where a search found its text. */
export interface Match {
  path: Path;
}

const maxMatches = 1000;
const maxVisited = 300_000;

/** find returns where a text occurs in the keys and values that are loaded, case ignored. */
export function find(root: Value, loaded: ReadonlyMap<string, Value>, text: string): Match[] {
  const wanted = text.toLowerCase();
  const found: Match[] = [];
  let left = maxVisited;
  const visit = (given: Value, path: Path, name: string | undefined) => {
    if (found.length >= maxMatches || left-- <= 0) return;
    const v = loaded.size > 0 ? (loaded.get(pointer(path)) ?? given) : given;
    let hit = name !== undefined && name.toLowerCase().includes(wanted);
    const slice = sliceOf(v);
    const cut = cutOf(v);
    if (cut) hit ||= cut.preview.toLowerCase().includes(wanted);
    else if (typeof v !== "object" || v === null) hit ||= String(v).toLowerCase().includes(wanted);
    if (hit) found.push({ path });
    if (cut) return;
    if (slice) slice.items.forEach((e, i) => visit(e, [...path, slice.from + i], undefined));
    else if (Array.isArray(v)) v.forEach((e, i) => visit(e, [...path, i], undefined));
    else if (isFields(v)) for (const [k, e] of Object.entries(v)) visit(e, [...path, k], k);
  };
  if (wanted !== "") visit(root, [], undefined);
  return found;
}
