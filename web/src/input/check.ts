// Checks of values against JSON Schemas, before they are sent. The server has the last
// word: what is not known here is left to it.

import { encode, equal, isFields, typeOf, type Fields, type Value } from "../value/json";
import { pointer, type Path } from "../value/path";
import { describe, expression, resolve, schemaOf, type Schema } from "./schema";

/** Issue is what is wrong with a value, and where. */
export interface Issue {
  pointer: string;
  message: string;
}

const maxIssues = 200;
const maxDepth = 60;

/** check returns what is wrong with a value; nothing if the schema allows it. */
export function check(root: Schema, schema: Schema, value: Value): Issue[] {
  const issues: Issue[] = [];
  visit({ root, issues, left: 200_000 }, schema, value, [], 0);
  return issues;
}

interface Run {
  root: Schema;
  issues: Issue[];
  left: number;
}

function allows(run: Run, schema: Schema, value: Value, path: Path, depth: number): Issue[] {
  const inner: Run = { root: run.root, issues: [], left: run.left };
  visit(inner, schema, value, path, depth);
  run.left = inner.left;
  return inner.issues;
}

const article = (type: string) => (/^[aeiou]/.test(type) ? "an " : "a ") + type;

function num(v: Value | undefined): number | bigint | undefined {
  return typeof v === "number" || typeof v === "bigint" ? v : undefined;
}

function hasType(v: Value, type: Value): boolean {
  if (type === "integer") return typeof v === "bigint" || (typeof v === "number" && Number.isInteger(v));
  return typeOf(v) === type;
}

function visit(run: Run, schema: Schema, value: Value, path: Path, depth: number) {
  if (run.left-- <= 0 || run.issues.length >= maxIssues || depth > maxDepth) return;
  const put = (message: string, at = path) => run.issues.push({ pointer: pointer(at), message });
  if (schema === false) return put("nothing is allowed here");
  if (schema === true) return;
  // Only a reference to the document itself may lead back; siblings of $ref count, too.
  const s = resolve(run.root, schema);
  if (!isFields(s)) return s ? undefined : put("nothing is allowed here");

  const types = Array.isArray(s.type) ? s.type : s.type === undefined ? [] : [s.type];
  if (types.length > 0 && !types.some((t) => hasType(value, t))) {
    const whole = typeof value === "number" && types.includes("integer");
    return put(whole ? "must be a whole number" : `must be ${types.map((t) => (t === "null" ? "null" : article(String(t)))).join(" or ")}, not ${value === null ? "null" : article(typeOf(value))}`);
  }
  if (Array.isArray(s.enum) && !s.enum.some((e) => equal(e, value))) {
    put(s.enum.length <= 8 ? `must be one of ${s.enum.map((e) => encode(e)).join(", ")}` : "is not one of the allowed values");
  }
  if (Object.hasOwn(s, "const") && !equal(s.const, value)) put(`must be ${encode(s.const)}`);

  if (typeof value === "number" || typeof value === "bigint") numbers(s, value, put);
  if (typeof value === "string") strings(s, value, put);
  if (Array.isArray(value)) arrays(run, s, value, path, depth, put);
  else if (isFields(value)) objects(run, s, value, path, depth, put);

  if (Array.isArray(s.allOf)) for (const e of s.allOf) visit(run, schemaOf(e), value, path, depth + 1);
  if (Array.isArray(s.anyOf)) alternatives(run, s.anyOf.map(schemaOf), value, path, depth, false, put);
  if (Array.isArray(s.oneOf)) alternatives(run, s.oneOf.map(schemaOf), value, path, depth, true, put);
  if (s.not !== undefined && allows(run, schemaOf(s.not), value, path, depth + 1).length === 0) put("is a value that is not allowed");
  if (s.if !== undefined) {
    const branch = allows(run, schemaOf(s.if), value, path, depth + 1).length === 0 ? s.then : s.else;
    if (branch !== undefined) visit(run, schemaOf(branch), value, path, depth + 1);
  }
}

type Put = (message: string, at?: Path) => void;

function numbers(s: Fields, v: number | bigint, put: Put) {
  const min = num(s.minimum);
  const max = num(s.maximum);
  const above = num(s.exclusiveMinimum);
  const below = num(s.exclusiveMaximum);
  const step = num(s.multipleOf);
  if (min !== undefined && v < min) put(`must be at least ${min}`);
  if (max !== undefined && v > max) put(`must be at most ${max}`);
  if (above !== undefined && v <= above) put(`must be more than ${above}`);
  if (below !== undefined && v >= below) put(`must be less than ${below}`);
  if (step !== undefined && step > 0 && !isMultiple(v, step)) put(`must be a multiple of ${step}`);
}

function isMultiple(v: number | bigint, step: number | bigint): boolean {
  if (typeof v === "bigint" || typeof step === "bigint") {
    return typeof v === "number" && !Number.isInteger(v) ? false : Number.isInteger(Number(step)) ? BigInt(v) % BigInt(step) === 0n : true;
  }
  const q = v / step;
  return Math.abs(q - Math.round(q)) < 1e-9 * Math.max(1, Math.abs(q));
}

// Repeated groups with repetition or alternatives inside may take exponential time: such
// patterns are tried with short texts only, and left to the server otherwise.
const slow = /\([^)]*[+*}|][^)]*\)[+*{]/;

function strings(s: Fields, v: string, put: Put) {
  const min = num(s.minLength);
  const max = num(s.maxLength);
  if (min !== undefined || max !== undefined) {
    const n = [...v].length;
    if (min !== undefined && n < min) put(min === 1n || min === 1 ? "must not be empty" : `must have at least ${min} characters; it has ${n}`);
    if (max !== undefined && n > max) put(`must have at most ${max} characters; it has ${n}`);
  }
  if (typeof s.pattern === "string" && v.length <= (slow.test(s.pattern) ? 20 : 10_000) && expression(s.pattern)?.test(v) === false) put(`must match ${s.pattern}`);
}

function arrays(run: Run, s: Fields, v: Value[], path: Path, depth: number, put: Put) {
  const min = num(s.minItems);
  const max = num(s.maxItems);
  const items = (n: number | bigint) => `${n} item${Number(n) === 1 ? "" : "s"}`;
  if (min !== undefined && v.length < min) put(`must have at least ${items(min)}`);
  if (max !== undefined && v.length > max) put(`must have at most ${items(max)}`);
  if (s.uniqueItems === true && v.length <= 1000) {
    const i = v.findIndex((e, i) => v.slice(0, i).some((x) => equal(x, e)));
    if (i >= 0) put(`item ${i + 1} is there twice`, [...path, i]);
  }
  const tuple = Array.isArray(s.prefixItems) ? s.prefixItems : Array.isArray(s.items) ? s.items : [];
  const rest = Array.isArray(s.items) ? s.additionalItems : s.items;
  v.forEach((e, i) => {
    if (i < tuple.length) visit(run, schemaOf(tuple[i]), e, [...path, i], depth + 1);
    else if (rest !== undefined) visit(run, schemaOf(rest), e, [...path, i], depth + 1);
  });
  if (s.contains !== undefined && num(s.minContains) !== 0 && !v.some((e, i) => allows(run, schemaOf(s.contains), e, [...path, i], depth + 1).length === 0)) {
    put("lacks an item of the kind that must be in it");
  }
}

function objects(run: Run, s: Fields, v: Fields, path: Path, depth: number, put: Put) {
  const keys = Object.keys(v);
  const named = isFields(s.properties) ? s.properties : {};
  const patterns = isFields(s.patternProperties) ? Object.entries(s.patternProperties) : [];
  const min = num(s.minProperties);
  const max = num(s.maxProperties);
  const count = (n: number | bigint) => `${n} key${Number(n) === 1 ? "" : "s"}`;
  if (Array.isArray(s.required)) {
    for (const name of s.required) if (typeof name === "string" && !Object.hasOwn(v, name)) put("is required", [...path, name]);
  }
  if (min !== undefined && keys.length < min) put(`must have at least ${count(min)}`);
  if (max !== undefined && keys.length > max) put(`must have at most ${count(max)}`);
  for (const k of keys) {
    const at = [...path, k];
    const e = v[k] as Value;
    let known = false;
    if (Object.hasOwn(named, k)) {
      known = true;
      visit(run, schemaOf(named[k]), e, at, depth + 1);
    }
    for (const [pattern, schema] of patterns) {
      if (expression(pattern)?.test(k) !== true) continue;
      known = true;
      visit(run, schemaOf(schema), e, at, depth + 1);
    }
    if (!known && s.additionalProperties !== undefined) {
      if (s.additionalProperties === false) put("is not a known key", at);
      else visit(run, schemaOf(s.additionalProperties), e, at, depth + 1);
    }
    if (s.propertyNames !== undefined) for (const i of allows(run, schemaOf(s.propertyNames), k, at, depth + 1)) put(`its name ${i.message}`, at);
  }
  if (isFields(s.dependentRequired)) {
    for (const [k, names] of Object.entries(s.dependentRequired)) {
      if (!Object.hasOwn(v, k) || !Array.isArray(names)) continue;
      for (const name of names) if (typeof name === "string" && !Object.hasOwn(v, name)) put(`is required with ${k}`, [...path, name]);
    }
  }
  if (isFields(s.dependentSchemas)) {
    for (const [k, schema] of Object.entries(s.dependentSchemas)) if (Object.hasOwn(v, k)) visit(run, schemaOf(schema), v, path, depth + 1);
  }
}

/** alternatives reports the issues of the alternative that comes nearest to the value. */
function alternatives(run: Run, list: Schema[], value: Value, path: Path, depth: number, one: boolean, put: Put) {
  let fitting = 0;
  let best: Issue[] | undefined;
  let score = -Infinity;
  for (const e of list) {
    const issues = allows(run, e, value, path, depth + 1);
    if (issues.length === 0) {
      fitting++;
      if (!one) return;
      continue;
    }
    // Alternatives whose type or constants differ are further away than those where a field is wrong.
    const here = pointer(path);
    const far = issues.filter((i) => i.pointer === here || /^must be (?:"|one of|\d|true|false)/.test(i.message)).length;
    const s = -10 * far - issues.length;
    if (s > score) {
      score = s;
      best = issues;
    }
  }
  if (fitting === 1) return;
  if (fitting > 1) return put(`fits ${fitting} of the alternatives; exactly one is allowed`);
  const here = pointer(path);
  if (!best || list.length === 0) return;
  if (best.some((i) => i.pointer === here) && list.length > 1) {
    const names = list.map((e) => describe(resolve(run.root, e))).filter((t) => t !== "");
    return put(names.length === list.length ? `fits none of the alternatives: ${[...new Set(names)].join("; ")}` : "fits none of the alternatives");
  }
  run.issues.push(...best);
}

/** hint returns what is unusual about a text for its format, or undefined. Formats are hints: the value is sent all the same. */
export function hint(format: string | undefined, v: string): string | undefined {
  if (v === "") return undefined;
  const date = (text: string) => {
    const m = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text);
    if (!m) return false;
    const d = new Date(`${text}T00:00:00Z`);
    return !Number.isNaN(d.getTime()) && d.toISOString().startsWith(text);
  };
  switch (format) {
    case "date":
      return date(v) ? undefined : "not a date such as 2026-07-25";
    case "time":
      return /^([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?(Z|[+-]\d\d:\d\d)$/i.test(v) ? undefined : "not a time such as 14:30:00Z";
    case "date-time":
      return /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i.test(v) && date(v.slice(0, 10)) ? undefined : "not a date with time such as 2026-07-25T14:30:00Z";
    case "email":
    case "idn-email":
      return /^[^\s@]+@[^\s@]+$/.test(v) ? undefined : "not an email address";
    case "uri":
    case "url":
    case "iri":
      return URL.canParse(v) ? undefined : "not an address such as https://example.com";
    case "uuid":
      return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(v) ? undefined : "not a UUID";
    case "ipv4":
      return /^(25[0-5]|2[0-4]\d|1?\d?\d)(\.(25[0-5]|2[0-4]\d|1?\d?\d)){3}$/.test(v) ? undefined : "not an IPv4 address";
    default:
      return undefined;
  }
}
