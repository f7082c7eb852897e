// JSON as it is: integers keep all their digits, objects reject double keys, and
// errors have a position. Integers that a number cannot hold are bigints.

// JSON.stringify refuses bigints. Browsers that can write them with their digits do so.
const raw = (JSON as { rawJSON?: (text: string) => unknown }).rawJSON;
Object.defineProperty(BigInt.prototype, "toJSON", {
  configurable: true,
  value(this: bigint) {
    return raw ? raw(this.toString()) : this.toString();
  },
});

export type Value = null | boolean | number | bigint | string | Value[] | Fields;
export interface Fields {
  [key: string]: Value;
}

/** JSONError says where a text is not JSON. */
export class JSONError extends Error {
  constructor(
    message: string,
    readonly offset: number,
    readonly line: number,
    readonly col: number,
  ) {
    super(message);
  }
}

const numberToken = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const digits = /^-?\d+$/;
const maxDepth = 2000;

/** number returns the value of a number's text, or undefined if the text is not a number of JSON. */
export function number(text: string): number | bigint | undefined {
  numberToken.lastIndex = 0;
  const m = numberToken.exec(text);
  if (!m || m[0].length !== text.length) return undefined;
  const n = Number(text);
  if (digits.test(text) && !Number.isSafeInteger(n)) return BigInt(text);
  return Number.isFinite(n) ? n : undefined;
}

/** parse returns the value of a JSON text. It throws a JSONError if the text is not JSON. */
export function parse(text: string): Value {
  let at = 0;

  function fail(message: string, offset = at): never {
    const before = text.slice(0, offset);
    const line = before.split("\n").length;
    throw new JSONError(`${message} (line ${line}, column ${offset - before.lastIndexOf("\n")})`, offset, line, offset - before.lastIndexOf("\n"));
  }
  function space() {
    for (;;) {
      const c = text.charCodeAt(at);
      if (c !== 32 && c !== 10 && c !== 13 && c !== 9) return;
      at++;
    }
  }
  function string(): string {
    const start = at++;
    for (;;) {
      const c = text.charCodeAt(at);
      if (Number.isNaN(c)) fail('this text has no closing "', start);
      if (c === 34) break;
      if (c < 32) fail("a line break or control character in a text must be written as \\n or \\u00XX");
      at += c === 92 ? 2 : 1;
    }
    at++;
    try {
      return JSON.parse(text.slice(start, at)) as string;
    } catch {
      return fail("unknown escape in this text", start);
    }
  }
  function word(): Value {
    for (const [name, v] of [["true", true], ["false", false], ["null", null]] as const) {
      if (text.startsWith(name, at) && !/[\w$]/.test(text[at + name.length] ?? "")) {
        at += name.length;
        return v;
      }
    }
    numberToken.lastIndex = at;
    const m = numberToken.exec(text);
    if (!m) return fail(at >= text.length ? "a value is missing" : `unexpected ${JSON.stringify(text[at])}; write texts in double quotes`);
    if (/[\w.]/.test(text[at + m[0].length] ?? "")) fail("this is not a number");
    const n = number(m[0]);
    if (n === undefined) fail("this number is too large");
    at += m[0].length;
    return n as number | bigint;
  }
  function value(depth: number): Value {
    if (depth > maxDepth) fail(`more than ${maxDepth} levels`);
    space();
    const c = text[at];
    if (c === '"') return string();
    if (c === "[") {
      at++;
      const list: Value[] = [];
      space();
      if (text[at] === "]") return at++, list;
      for (;;) {
        list.push(value(depth + 1));
        space();
        if (text[at] === "]") return at++, list;
        if (text[at] !== ",") fail('expected "," or "]"');
        at++;
      }
    }
    if (c === "{") {
      at++;
      const fields: [string, Value][] = [];
      const seen = new Set<string>();
      space();
      if (text[at] === "}") return at++, {};
      for (;;) {
        space();
        if (text[at] !== '"') fail("expected a key in double quotes");
        const start = at;
        const key = string();
        if (seen.has(key)) fail(`the key ${JSON.stringify(key)} is there twice`, start);
        seen.add(key);
        space();
        if (text[at] !== ":") fail('expected ":" after the key');
        at++;
        fields.push([key, value(depth + 1)]);
        space();
        if (text[at] === "}") return at++, Object.fromEntries(fields);
        if (text[at] !== ",") fail('expected "," or "}"');
        at++;
      }
    }
    return word();
  }

  const v = value(0);
  space();
  if (at < text.length) fail("unexpected text after the value");
  return v;
}

/** decode returns the value of a text that a program wrote: fast, and exact where it has long integers. */
export function decode(text: string): unknown {
  return /\d{16}/.test(text) ? parse(text) : JSON.parse(text);
}

/** encode returns a value as JSON, with all digits of bigints. undefined fields are left out. */
export function encode(v: unknown, indent = 0): string {
  const nl = (depth: number) => (indent > 0 ? "\n" + " ".repeat(indent * depth) : "");
  const write = (v: unknown, depth: number): string => {
    if (typeof v === "bigint") return v.toString();
    if (v === undefined) return "null";
    if (v === null || typeof v !== "object") return JSON.stringify(v);
    if (Array.isArray(v)) {
      if (v.length === 0) return "[]";
      return "[" + v.map((e) => nl(depth + 1) + write(e, depth + 1)).join(",") + nl(depth) + "]";
    }
    const fields = Object.entries(v).filter(([, e]) => e !== undefined);
    if (fields.length === 0) return "{}";
    const colon = indent > 0 ? ": " : ":";
    return "{" + fields.map(([k, e]) => nl(depth + 1) + JSON.stringify(k) + colon + write(e, depth + 1)).join(",") + nl(depth) + "}";
  };
  return write(v, 0);
}

export type Type = "null" | "boolean" | "number" | "string" | "array" | "object";

/** typeOf returns the JSON type of a value. */
export function typeOf(v: Value): Type {
  if (v === null) return "null";
  if (Array.isArray(v)) return "array";
  if (typeof v === "bigint") return "number";
  return typeof v as Type;
}

/** isFields reports whether a value is an object. */
export function isFields(v: unknown): v is Fields {
  return typeof v === "object" && v !== null && !Array.isArray(v);
}

/** equal reports whether two values are the same; the order of keys does not count. */
export function equal(a: Value | undefined, b: Value | undefined): boolean {
  if (a === b) return true;
  if (a === undefined || b === undefined) return false;
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((e, i) => equal(e, b[i]));
  if (!isFields(a) || !isFields(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((k) => Object.hasOwn(b, k) && equal(a[k], b[k]));
}
