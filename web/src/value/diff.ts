// What differs between two values.

import { equal, isFields, type Value } from "./json";
import type { Path } from "./path";

/** Difference is a place where two values differ. Without a or b, the place is missing there. */
export interface Difference {
  path: Path;
  a?: Value;
  b?: Value;
}

/** maxDifferences bounds what differences returns. */
export const maxDifferences = 500;

/** differences returns where two values differ, the deepest places, in the order of the first value. */
export function differences(a: Value | undefined, b: Value | undefined): Difference[] {
  const list: Difference[] = [];
  const put = (path: Path, a: Value | undefined, b: Value | undefined) => {
    if (list.length >= maxDifferences) return;
    const d: Difference = { path };
    if (a !== undefined) d.a = a;
    if (b !== undefined) d.b = b;
    list.push(d);
  };
  const visit = (path: Path, a: Value | undefined, b: Value | undefined) => {
    if (list.length >= maxDifferences || equal(a, b)) return;
    if (a === undefined || b === undefined) return put(path, a, b);
    if (Array.isArray(a) && Array.isArray(b)) return arrays(path, a, b);
    if (isFields(a) && isFields(b)) {
      for (const k of Object.keys(a)) visit([...path, k], a[k], Object.hasOwn(b, k) ? b[k] : undefined);
      for (const k of Object.keys(b)) if (!Object.hasOwn(a, k)) put([...path, k], undefined, b[k]);
      return;
    }
    put(path, a, b);
  };
  // Of arrays with different lengths, the items at both ends that are the same are
  // left out first: an item that was added in front does not change all others.
  const arrays = (path: Path, a: Value[], b: Value[]) => {
    let start = 0;
    let endA = a.length;
    let endB = b.length;
    if (a.length !== b.length) {
      while (start < endA && start < endB && equal(a[start], b[start])) start++;
      while (endA > start && endB > start && equal(a[endA - 1], b[endB - 1])) {
        endA--;
        endB--;
      }
    }
    const common = Math.min(endA, endB);
    for (let i = start; i < common; i++) visit([...path, i], a[i], b[i]);
    for (let i = common; i < endA; i++) put([...path, i], a[i], undefined);
    for (let i = common; i < endB; i++) put([...path, i], undefined, b[i]);
  };
  visit([], a, b);
  return list;
}

/** Lines is a part of a text that differs, with what was left out around it. */
export interface Lines {
  before: number; // equal lines before it
  lines: string[];
  after: number;
}

/** lines returns what differs between two texts of several lines, without the lines at both ends that are the same. */
export function lines(a: string, b: string): [Lines, Lines] {
  const x = a.split("\n");
  const y = b.split("\n");
  let start = 0;
  while (start < x.length && start < y.length && x[start] === y[start]) start++;
  let end = 0;
  while (end < x.length - start && end < y.length - start && x[x.length - 1 - end] === y[y.length - 1 - end]) end++;
  return [
    { before: start, lines: x.slice(start, x.length - end), after: end },
    { before: start, lines: y.slice(start, y.length - end), after: end },
  ];
}
