// What can be written at the cursor of the console: members of the document, variables, functions.
import { api, type Completion } from "../api";
import type { Scope } from "./lines";

export interface Choice { label: string; insert: string; detail?: string }
export interface Choices { from: number; items: Choice[] }

const most = 50;

type Fields = Record<string, unknown>;
const isFields = (v: unknown): v is Fields => typeof v === "object" && v !== null && !Array.isArray(v);

let known: { scope: string; document: unknown; variables: Fields } | undefined;

/** Returns document and variables of a scope; the same ones for the same moment. */
async function dataOf(scope: Scope, moment: string) {
  const name = `${scope.run} ${scope.record} ${moment}`;
  if (known?.scope !== name) known = { scope: name, ...(await api.document(scope.run, scope.record)) };
  return known;
}

let functions: Promise<Completion[]> | undefined;

/** Returns the functions of expressions, as the language server knows them. */
function functionsOf(): Promise<Completion[]> {
  const text = 'version: "1.0"\ntools:\n  - name: t\n    nodes:\n      - {id: a, type: entry, next: b}\n      - id: b\n        type: transform\n        transform:\n          expr: $';
  functions ??= api.complete(text, text.length).then(
    (r) => r.items.filter((i) => i.label.startsWith("$")),
    () => {
      functions = undefined;
      return [];
    });
  return functions;
}

/** The path before the cursor: `$.list.content`, `$item.na`, or a single name. */
const pathBefore = /(?:\$\$?|\$[A-Za-z_]\w*|[A-Za-z_]\w*|`[^`]*`)(?:\[[^\][]*\])?(?:\s*\.\s*(?:[A-Za-z_]\w*|`[^`]*`)(?:\[[^\][]*\])?)*\s*\.\s*(`[^`]*|\w*)$|(\$?\w*)$/;

/** Returns what can be written at the end of a text. With `asked`, also where nothing is written yet. */
export async function complete(before: string, scope: Scope, moment: string, asked: boolean): Promise<Choices | undefined> {
  if (inText(before)) return undefined;
  const m = pathBefore.exec(before);
  if (!m) return undefined;
  const typed = m[1] ?? m[2] ?? "";
  const from = before.length - typed.length;
  const { document, variables } = await dataOf(scope, moment).catch(() => ({ document: undefined, variables: {} as Fields }));
  let items: Choice[];
  if (m[1] !== undefined) {
    const steps = m[0].slice(0, m[0].length - typed.length).split(".").map((s) => s.trim().replace(/\[[^\][]*\]$/, "").replace(/^`|`$/g, ""));
    steps.pop();
    items = await members(steps, scope, document, variables);
  } else if (typed.startsWith("$")) {
    items = [
      { label: "$", insert: "$", detail: "the document" },
      ...Object.keys(variables).map((v) => ({ label: `$${v}`, insert: `$${v}`, detail: "variable" })),
      ...(await functionsOf()).map((f) => ({ label: f.label, insert: f.insert, detail: f.detail ?? "function" })),
    ];
    if (typed === "$") items.shift();
  } else {
    if (typed === "" && !asked) return undefined;
    items = names(document);
  }
  const wanted = typed.replace(/^`/, "").toLowerCase();
  const begins = items.filter((i) => i.label.toLowerCase().startsWith(wanted) && i.label !== typed);
  const within = wanted.replace("$", "") === "" ? [] : items.filter((i) => !begins.includes(i) && i.label !== typed && i.label.toLowerCase().includes(wanted.replace("$", "")));
  const seen = new Set<string>();
  const list = [...begins, ...within].filter((i) => !seen.has(i.label) && seen.add(i.label)).slice(0, most);
  return list.length > 0 ? { from, items: list } : undefined;
}

/** Returns the members of what a path leads to. Paths go through arrays, as in JSONata. */
async function members(steps: string[], scope: Scope, document: unknown, variables: Fields): Promise<Choice[]> {
  const [first, ...rest] = steps;
  let at: unknown, path: string[];
  if (first === "$" || first === "$$") [at, path] = [document, rest];
  else if (first?.startsWith("$")) [at, path] = [variables[first.slice(1)], rest];
  else [at, path] = [document, steps];
  const part = first?.startsWith("$") && first.length > 1 && first !== "$$" ? "variables" : "document";
  let pointer = part === "variables" ? `/${first!.slice(1)}` : "";
  for (let i = 0; ; i++) {
    if (isFields(at) && "$cut" in at) {
      at = await api.value(scope.run, { record: scope.record, part, pointer }).then((r) => r.value, () => undefined);
    }
    if (isFields(at) && isFields(at["$slice"])) at = at["$slice"]["items"];
    if (Array.isArray(at) && at.length > 0) {
      at = at[0];
      pointer += "/0";
      if (isFields(at) && "$cut" in at) {
        at = await api.value(scope.run, { record: scope.record, part, pointer }).then((r) => r.value, () => undefined);
      }
    }
    if (i === path.length) return names(at);
    if (!isFields(at)) return [];
    const step = path[i]!;
    at = at[step];
    pointer += `/${step.replaceAll("~", "~0").replaceAll("/", "~1")}`;
  }
}

function names(v: unknown): Choice[] {
  if (!isFields(v)) return [];
  return Object.entries(v).map(([name, value]) => ({ label: name, insert: /^[A-Za-z_]\w*$/.test(name) ? name : `\`${name}\``, detail: typeName(value) }));
}

function typeName(v: unknown): string {
  if (v === null) return "null";
  if (Array.isArray(v)) return `array of ${v.length}`;
  return isFields(v) ? ("$cut" in v ? "large value" : "object") : typeof v;
}

/** Whether the end of an expression is inside of a string or comment. */
function inText(s: string): boolean {
  let quote = "";
  for (let i = 0; i < s.length; i++) {
    const c = s[i]!;
    if (quote === "/*") {
      if (c === "*" && s[i + 1] === "/") [quote, i] = ["", i + 1];
    } else if (quote) {
      if (c === "\\") i++;
      else if (c === quote) quote = "";
    } else if (c === '"' || c === "'") quote = c;
    else if (c === "/" && s[i + 1] === "*") quote = "/*";
  }
  return quote !== "";
}
