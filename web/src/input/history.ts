// The last inputs of each tool, kept in this browser. Secrets are never among them.

import { keep, keptJSON } from "../api/storage";
import { decode, encode, equal, isFields, type Fields, type Value } from "../value/json";
import { extra, isSecret, itemAt, merged, properties, schemaOf, type Schema } from "./schema";

/** Remembered is one input of a tool. */
export interface Remembered {
  args: Value;
  at: string; // ISO time
}

const key = "mcpgraph.inputs";
const maxTools = 60;
const maxEach = 10;
const maxEntry = 20_000; // characters
const maxAll = 400_000;

/** File names the file that the inputs belong to: tools of other files may have the same names. */
type Stored = { [fileAndTool: string]: { args: string; at: string }[] };

function read(): Stored {
  const v = keptJSON(key);
  if (!isFields(v)) return {};
  const good = Object.entries(v).filter(([, list]) => Array.isArray(list) && list.every((e) => isFields(e) && typeof e.args === "string" && typeof e.at === "string"));
  return Object.fromEntries(good) as unknown as Stored;
}

function write(stored: Stored) {
  const entries = Object.entries(stored);
  for (;;) {
    const text = JSON.stringify(Object.fromEntries(entries));
    if (text.length <= maxAll || entries.length === 0) {
      keep(key, text);
      return;
    }
    entries.shift();
  }
}

/** remembered returns the last inputs of a tool, the newest first. */
export function remembered(file: string, tool: string): Remembered[] {
  const list: Remembered[] = [];
  for (const e of read()[`${file}#${tool}`] ?? []) {
    try {
      list.push({ args: decode(e.args) as Value, at: e.at });
    } catch {
      // Somebody else wrote it.
    }
  }
  return list;
}

/** remember keeps an input of a tool, without the secrets in it. */
export function remember(file: string, tool: string, schema: Schema, args: Value) {
  const kept = withoutSecrets(schema, schema, args);
  if (kept === undefined) return;
  const text = encode(kept);
  if (text.length > maxEntry) return;
  const { [`${file}#${tool}`]: known = [], ...rest } = read();
  const list = [{ args: text, at: new Date().toISOString() }, ...known.filter((e) => e.args !== text)].slice(0, maxEach);
  // The tool that was used last stands last; the first ones are forgotten first.
  write(Object.fromEntries([...Object.entries(rest).slice(-(maxTools - 1)), [`${file}#${tool}`, list]]));
}

/** forget removes the inputs of a tool. */
export function forget(file: string, tool: string) {
  const { [`${file}#${tool}`]: _, ...rest } = read();
  write(rest);
}

/** withoutSecrets returns a value without what its schema says is secret. */
export function withoutSecrets(root: Schema, schema: Schema, value: Value, depth = 0): Value | undefined {
  if (depth > 40 || isSecret(root, schema)) return undefined;
  const s = merged(root, schema);
  let v: Value | undefined = value;
  if (isFields(s)) {
    // What one alternative calls secret is secret: which one the value is meant for is not certain.
    for (const list of [s.oneOf, s.anyOf, [s.if, s.then, s.else]]) {
      if (!Array.isArray(list)) continue;
      for (const e of list) {
        if (v === undefined || e === undefined) continue;
        v = withoutSecrets(root, schemaOf(e), v, depth + 1);
      }
    }
  }
  if (Array.isArray(v)) return v.map((e, i) => withoutSecrets(root, itemAt(s, i), e, depth + 1)).filter((e) => e !== undefined);
  if (!isFields(v)) return v;
  const named = new Map(properties(s).list);
  const entries: [string, Value][] = [];
  for (const [k, e] of Object.entries(v as Fields)) {
    const kept = withoutSecrets(root, named.get(k) ?? extra(s, k) ?? true, e, depth + 1);
    if (kept !== undefined) entries.push([k, kept]);
  }
  return equal(Object.fromEntries(entries), v) ? v : Object.fromEntries(entries);
}
