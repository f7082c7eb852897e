// Subscriptions. Actions change `state` and call changed(); components are told once per frame.
import { useRef, useSyncExternalStore } from "react";
import { state, type AppState } from "./state";

const listeners = new Set<() => void>();
let version = 0;
let scheduled = false;

/** Says that `state` has changed. Components that use it render before the next frame. */
export function changed() {
  version++;
  if (scheduled) return;
  scheduled = true;
  queueMicrotask(() => {
    scheduled = false;
    for (const listener of [...listeners]) listener();
  });
}

export function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => { listeners.delete(listener); };
}

/**
 * Returns what the selector takes of the state, and renders again when that is another value
 * (by Object.is, or by `equal`). A selector that makes arrays or objects needs `equal`, such as `shallow`.
 */
export function useStore<T>(selector: (s: AppState) => T, equal: (a: T, b: T) => boolean = Object.is): T {
  const cache = useRef<{ version: number; selector: (s: AppState) => T; value: T }>(undefined);
  const snapshot = () => {
    const last = cache.current;
    if (last && last.version === version && last.selector === selector) return last.value;
    const next = selector(state);
    const value = last && equal(last.value, next) ? last.value : next;
    cache.current = { version, selector, value };
    return value;
  };
  return useSyncExternalStore(subscribe, snapshot);
}

/** Compares arrays by their items and objects by their members. */
export function shallow<T>(a: T, b: T): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  const x = a as Record<string, unknown>, y = b as Record<string, unknown>;
  const names = Object.keys(x);
  return names.length === Object.keys(y).length && names.every((n) => n in y && Object.is(x[n], y[n]));
}
