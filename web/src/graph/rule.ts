// JSON Logic as people write conditions.
import type { Json } from "../api/types";

const infix = new Set(["==", "===", "!=", "!==", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "in", "and", "or"]);

/** A rule in short: {">": [{"var": "$.n"}, 0]} is "$.n > 0". Text that is no JSON Logic stays as it is. */
export function shortRule(text: string): string {
  if (!text.startsWith("{")) return text;
  try {
    return write(JSON.parse(text) as Json, true);
  } catch {
    return text;
  }
}

function write(rule: Json, outer = false): string {
  if (typeof rule !== "object" || rule === null) return JSON.stringify(rule);
  if (Array.isArray(rule)) return `[${rule.map((r) => write(r)).join(", ")}]`;
  const [op, ...rest] = Object.keys(rule);
  if (op === undefined || rest.length > 0) return JSON.stringify(rule);
  const value = rule[op]!;
  const args = Array.isArray(value) ? value : [value];
  if (op === "var") return typeof args[0] === "string" && args.length === 1 ? args[0] : `var ${args.map((a) => write(a)).join(", ")}`;
  if (op === "!" && args.length === 1) return `not ${write(args[0]!)}`;
  if (op === "!!" && args.length === 1) return write(args[0]!, outer);
  if (infix.has(op) && args.length > 1) {
    const text = args.map((a) => write(a)).join(` ${(op === "===" ? "==" : op === "!==" ? "!=" : op)} `);
    return outer ? text : `(${text})`;
  }
  return `${op}(${args.map((a) => write(a, true)).join(", ")})`;
}
