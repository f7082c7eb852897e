import { useState, type Dispatch, type SetStateAction } from "react";

const kept = new Map<string, unknown>();

/** Is useState whose value outlives the component, until the page is left. */
export function useKept<T>(name: string, initial: T): [T, Dispatch<SetStateAction<T>>] {
  const [value, set] = useState<T>(() => (kept.has(name) ? (kept.get(name) as T) : initial));
  kept.set(name, value);
  return [value, set];
}
