// JSON Schemas, read for forms. Schemas come from files and servers: they may be of
// any size, lead back to themselves, or be wrong.

import { equal, isFields, type Fields, type Value } from "../value/json";

/** Schema is a JSON Schema. true allows everything, false nothing. */
export type Schema = boolean | Fields;

export const anything: Schema = {};
const maxLeaps = 16; // references that follow one another

function part(root: Value, pointer: string): Value | undefined {
  let v: Value | undefined = root;
  for (const step of pointer.split("/").slice(1)) {
    let name = step;
    try {
      name = decodeURIComponent(step);
    } catch {
      // It is not encoded, then.
    }
    name = name.replaceAll("~1", "/").replaceAll("~0", "~");
    if (Array.isArray(v)) v = v[Number(name)];
    else if (isFields(v)) v = Object.hasOwn(v, name) ? v[name] : undefined;
    else return undefined;
  }
  return v;
}

function anchored(v: Value, name: string, depth: number): Fields | undefined {
  if (depth > 12) return undefined;
  if (isFields(v) && v.$anchor === name) return v;
  const inner = Array.isArray(v) ? v : isFields(v) ? Object.values(v) : [];
  for (const e of inner) {
    const found = anchored(e, name, depth + 1);
    if (found) return found;
  }
  return undefined;
}

/** schemaOf returns a value as a schema, and one that allows everything for what is none. */
export function schemaOf(v: Value | undefined): Schema {
  return typeof v === "boolean" || isFields(v) ? v : anything;
}

/** resolve follows references inside of the document. What stands beside a reference wins over what it leads to. */
export function resolve(root: Schema, schema: Schema): Schema {
  let s = schema;
  for (let i = 0; i < maxLeaps && isFields(s) && typeof s.$ref === "string"; i++) {
    const ref: string = s.$ref;
    const target: Value | undefined = ref === "#" ? root : ref.startsWith("#/") ? part(root, ref) : ref.startsWith("#") ? anchored(root, ref.slice(1), 0) : undefined;
    if (target === undefined) return anything;
    const { $ref: _, ...beside } = s;
    if (!isFields(target)) return Object.keys(beside).length > 0 ? beside : schemaOf(target);
    s = { ...target, ...beside };
  }
  return s;
}

/** merged returns a schema with its references followed and its allOf put into one, as far as forms need it. */
export function merged(root: Schema, schema: Schema, depth = 0): Schema {
  const s = resolve(root, schema);
  if (!isFields(s) || !Array.isArray(s.allOf) || depth > 8) return s;
  let all: Fields = { ...s };
  delete all.allOf;
  for (const e of s.allOf) {
    const p = merged(root, schemaOf(e), depth + 1);
    if (!isFields(p)) continue;
    all = {
      ...p,
      ...all,
      ...(isFields(p.properties) || isFields(all.properties)
        ? { properties: { ...(isFields(p.properties) ? p.properties : {}), ...(isFields(all.properties) ? all.properties : {}) } }
        : {}),
      ...(Array.isArray(p.required) || Array.isArray(all.required)
        ? { required: [...new Set([...(Array.isArray(all.required) ? all.required : []), ...(Array.isArray(p.required) ? p.required : [])])] }
        : {}),
    };
  }
  return all;
}

/** Option is a value that can be chosen. */
export interface Option {
  value: Value;
  label: string;
  description?: string;
}

/** Widget says how a value of a schema is edited. */
export type Widget = "text" | "lines" | "secret" | "number" | "integer" | "boolean" | "choice" | "choices" | "object" | "array" | "json" | "nothing";

/** Field is what a form needs to know of a schema. */
export interface Field {
  widget: Widget;
  schema: Schema; // merged, without null
  nullable: boolean;
  title: string | undefined;
  description: string | undefined;
  default: Value | undefined;
  format: string | undefined;
  options: Option[];
  /** Alternatives of a oneOf or anyOf, for those edited as JSON. */
  variants: { schema: Schema; title: string }[];
  deprecated: boolean;
  readOnly: boolean;
  examples: Value[];
}

function text(v: Value | undefined): string | undefined {
  return typeof v === "string" && v !== "" ? v : undefined;
}

function isNull(s: Schema): boolean {
  return isFields(s) && (s.type === "null" || ("const" in s && s.const === null) || (Array.isArray(s.enum) && s.enum.length === 1 && s.enum[0] === null));
}

/** optionsOf returns the values of enum, const, or a oneOf of const with titles. */
function optionsOf(s: Fields): Option[] | undefined {
  if (Array.isArray(s.enum)) {
    const names = Array.isArray(s.enumNames) ? s.enumNames : [];
    const mixed = s.enum.some((v) => typeof v !== "string");
    return s.enum.map((value, i) => ({ value, label: text(names[i]) ?? (typeof value === "string" && !mixed && value.trim() !== "" ? value : JSON.stringify(value, (_, v) => (typeof v === "bigint" ? v.toString() : v))) }));
  }
  if (Object.hasOwn(s, "const")) return [{ value: s.const as Value, label: typeof s.const === "string" ? s.const : JSON.stringify(s.const) }];
  for (const key of ["oneOf", "anyOf"]) {
    const list = s[key];
    if (!Array.isArray(list) || list.length === 0 || !list.every((e) => isFields(e) && Object.hasOwn(e, "const"))) continue;
    return (list as Fields[]).map((e) => {
      const option: Option = { value: e.const as Value, label: text(e.title) ?? (typeof e.const === "string" ? e.const : JSON.stringify(e.const)) };
      const description = text(e.description);
      if (description) option.description = description;
      return option;
    });
  }
  return undefined;
}

/** field returns how a schema is edited. */
export function field(root: Schema, schema: Schema): Field {
  let s = merged(root, schema);
  const f: Field = {
    widget: "json", schema: s, nullable: false, title: undefined, description: undefined, default: undefined,
    format: undefined, options: [], variants: [], deprecated: false, readOnly: false, examples: [],
  };
  if (!isFields(s)) {
    if (s === false) f.widget = "nothing";
    return f;
  }
  f.title = text(s.title);
  f.description = text(s.description);
  f.default = Object.hasOwn(s, "default") ? s.default : undefined;
  f.deprecated = s.deprecated === true;
  f.readOnly = s.readOnly === true;
  f.examples = Array.isArray(s.examples) ? s.examples.slice(0, 5) : [];

  // null beside one other alternative is a field that can be null.
  for (const key of ["oneOf", "anyOf"]) {
    const list = s[key];
    if (!Array.isArray(list)) continue;
    const rest = list.map(schemaOf).filter((e) => !isNull(resolve(root, e)));
    if (rest.length === 1 && (rest.length < list.length || list.length === 1)) {
      f.nullable ||= rest.length < list.length;
      const { [key]: _, ...beside } = s;
      const inner = merged(root, rest[0] as Schema);
      if (isFields(inner)) {
        s = { ...inner, ...beside };
        f.title ??= text(inner.title);
        f.description ??= text(inner.description);
        f.default ??= Object.hasOwn(inner, "default") ? inner.default : undefined;
      }
    } else if (rest.length < list.length && rest.length > 1) {
      f.nullable = true;
    }
  }
  if (!isFields(s)) return f;

  let types = Array.isArray(s.type) ? s.type.filter((t): t is string => typeof t === "string") : typeof s.type === "string" ? [s.type] : [];
  if (types.includes("null") && types.length > 1) {
    f.nullable = true;
    types = types.filter((t) => t !== "null");
  }
  const options = optionsOf(s);
  if (options) {
    if (options.length > 1 && options.some((o) => o.value === null)) f.nullable = true;
    f.options = options.filter((o) => o.value !== null || options.length === 1);
    f.widget = "choice";
    f.schema = s;
    return f;
  }
  if (types.length === 0 && isFields(s.properties)) types = ["object"];
  f.schema = types.length === 1 ? { ...s, type: types[0] as string } : s;
  f.format = text(s.format);

  for (const key of ["oneOf", "anyOf"]) {
    const list = s[key];
    if (!Array.isArray(list) || list.length < 2) continue;
    // An object whose alternatives only say what is required stays a form.
    if (types[0] === "object" && list.every((e) => isFields(e) && !isFields(e.properties) && e.$ref === undefined && e.type === undefined)) continue;
    f.variants = list.map((e, i) => {
      const v = merged(root, schemaOf(e));
      return { schema: v, title: (isFields(v) && (text(v.title) ?? describe(v))) || `alternative ${i + 1}` };
    });
    return f;
  }
  if (types.length !== 1) return f;
  switch (types[0]) {
    case "string":
      f.widget = f.format === "password" || s.writeOnly === true ? "secret" : isLong(s) ? "lines" : "text";
      break;
    case "number":
    case "integer":
    case "boolean":
    case "object":
      f.widget = types[0];
      break;
    case "array": {
      f.widget = "array";
      const items = isFields(s.items) ? field(root, s.items) : undefined;
      if (s.uniqueItems === true && items?.widget === "choice" && items.options.length <= 30) {
        f.widget = "choices";
        f.options = items.options;
      }
      break;
    }
    case "null":
      f.widget = "choice";
      f.options = [{ value: null, label: "null" }];
      break;
  }
  return f;
}

function isLong(s: Fields): boolean {
  const media = typeof s.contentMediaType === "string";
  const format = typeof s.format === "string" && /^(textarea|markdown|multiline|text|code|sql|html)$/i.test(s.format);
  const long = (n: Value | undefined, than: number) => typeof n === "number" && n > than;
  const inDefault = typeof s.default === "string" && s.default.includes("\n");
  const named = typeof s.description === "string" && /\bmulti-?line\b|\bmarkdown\b/i.test(s.description);
  return media || format || inDefault || named || long(s.maxLength, 200) || long(s.minLength, 80);
}

/** describe returns a short description of what a schema allows: "integer", "string or null". */
export function describe(s: Schema): string {
  if (!isFields(s)) return s ? "anything" : "nothing";
  if (Array.isArray(s.enum)) return s.enum.length <= 4 ? s.enum.map((v) => JSON.stringify(v)).join(" or ") : "one of " + s.enum.length + " values";
  if (Object.hasOwn(s, "const")) return JSON.stringify(s.const);
  const types = Array.isArray(s.type) ? s.type : typeof s.type === "string" ? [s.type] : [];
  if (types.length > 0) {
    const names = Array.isArray(s.required) ? s.required.filter((n) => typeof n === "string") : [];
    return types.join(" or ") + (types[0] === "object" && names.length > 0 ? ` with ${names.slice(0, 3).join(", ")}` : "");
  }
  if (isFields(s.properties)) return "object";
  return "";
}

/** fits reports whether the widget of a field can show a value without changing it. */
export function fits(f: Field, v: Value): boolean {
  switch (f.widget) {
    case "text":
    case "secret":
      return typeof v === "string" && !v.includes("\n");
    case "lines":
      return typeof v === "string" && !v.includes("\r");
    case "number":
    case "integer":
      return typeof v === "number" || typeof v === "bigint";
    case "boolean":
      return typeof v === "boolean";
    case "object":
      return isFields(v);
    case "array":
      return Array.isArray(v);
    case "choices":
      return Array.isArray(v) && v.every((e, i) => f.options.some((o) => equal(o.value, e)) && !v.slice(0, i).some((x) => equal(x, e)));
    default:
      return true;
  }
}

/** properties returns the properties of an object schema, and which of them are required. */
export function properties(s: Schema): { list: [string, Schema][]; required: Set<string> } {
  const list: [string, Schema][] = [];
  const required = new Set<string>();
  if (isFields(s)) {
    if (isFields(s.properties)) for (const [k, v] of Object.entries(s.properties)) list.push([k, schemaOf(v)]);
    if (Array.isArray(s.required)) {
      for (const name of s.required) {
        if (typeof name !== "string") continue;
        required.add(name);
        if (!list.some(([k]) => k === name)) list.push([name, extra(s, name) ?? anything]);
      }
    }
  }
  return { list, required };
}

/** extra returns the schema of a property that is not among the named ones, or undefined if none may be there. */
export function extra(s: Schema, name: string): Schema | undefined {
  if (!isFields(s)) return s ? anything : undefined;
  if (isFields(s.patternProperties)) {
    for (const [pattern, schema] of Object.entries(s.patternProperties)) if (expression(pattern)?.test(name)) return schemaOf(schema);
  }
  if (s.additionalProperties === false || s.unevaluatedProperties === false) return undefined;
  return schemaOf(s.additionalProperties ?? s.unevaluatedProperties);
}

/** isMap reports whether a schema says that properties with other names may be there. */
export function isMap(s: Schema): boolean {
  if (!isFields(s) || s.additionalProperties === false) return false;
  if (isFields(s.patternProperties) || isFields(s.additionalProperties) || s.additionalProperties === true) return true;
  return !isFields(s.properties);
}

/** itemAt returns the schema of an item of an array. */
export function itemAt(s: Schema, i: number): Schema {
  if (!isFields(s)) return anything;
  const tuple = Array.isArray(s.prefixItems) ? s.prefixItems : Array.isArray(s.items) ? s.items : [];
  if (i < tuple.length) return schemaOf(tuple[i]);
  if (Array.isArray(s.items)) return schemaOf(s.additionalItems);
  return schemaOf(s.items);
}

const expressions = new Map<string, RegExp | undefined>();

/** expression returns a pattern of a schema as a regular expression, or undefined if it is none. */
export function expression(pattern: string): RegExp | undefined {
  if (expressions.has(pattern)) return expressions.get(pattern);
  let re: RegExp | undefined;
  try {
    re = new RegExp(pattern, "u");
  } catch {
    try {
      re = new RegExp(pattern);
    } catch {
      re = undefined;
    }
  }
  if (expressions.size > 500) expressions.clear();
  expressions.set(pattern, re);
  return re;
}

/** isSecret reports whether a value of this schema must not be remembered. */
export function isSecret(root: Schema, schema: Schema): boolean {
  const s = merged(root, schema);
  return isFields(s) && (s.writeOnly === true || s.format === "password");
}

/** initial returns the value that a new field begins with: its default, and what is required inside of it. */
export function initial(root: Schema, schema: Schema, depth = 0): Value | undefined {
  const f = field(root, schema);
  if (f.default !== undefined) return f.default;
  if (isFields(f.schema) && Object.hasOwn(f.schema, "const")) return f.schema.const as Value;
  if (f.widget !== "object" || depth > 6) return undefined;
  const { list, required } = properties(f.schema);
  const entries: [string, Value][] = [];
  for (const [name, s] of list) {
    const inner = field(root, s);
    let v = inner.default;
    if (v === undefined && required.has(name)) v = initial(root, s, depth + 1) ?? (inner.widget === "object" && !inner.nullable ? {} : undefined);
    if (v !== undefined) entries.push([name, v]);
  }
  return Object.fromEntries(entries);
}

/** blank returns what a field holds once a person added it. */
export function blank(root: Schema, schema: Schema): Value | undefined {
  const v = initial(root, schema);
  if (v !== undefined) return v;
  const f = field(root, schema);
  return f.widget === "object" ? {} : f.widget === "array" || f.widget === "choices" ? [] : undefined;
}

/** start returns the value of a place that has to have one and was not filled in: an item of an array, a key of a map. */
export function start(f: Field): Value | undefined {
  switch (f.widget) {
    case "text":
    case "lines":
    case "secret":
      return "";
    case "boolean":
      return false;
    case "choice":
      return f.options[0]?.value;
    case "object":
      return {};
    case "array":
    case "choices":
      return [];
    default:
      return undefined;
  }
}
