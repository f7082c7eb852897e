// The store, for components.
import type { Breakpoint, Graph, GNode, Rec, RunState } from "../api/types";
import { state, type RunData, type Selection } from "./state";
import { useStore } from "./store";

export * from "./actions";
export { command, isCommanding, type Command } from "./commands";
export { begin, listen, onReturn, renew } from "./events";
export { countRecord, edgeKey, emptyCounts, isOver } from "./records";
export { liveSession, state } from "./state";
export type { AppState, Counts, NodeStats, Notice, RunData, Selection, Settings } from "./state";
export { changed, shallow, subscribe, useStore } from "./store";
export { reconnect } from "./streaming";

export const useSelection = (): Selection => useStore((s) => s.selection);

/** The graph of a tool, or of the chosen one; undefined while it is loading. */
export const useGraph = (tool?: string): Graph | undefined =>
  useStore((s) => s.graphs.get(tool ?? s.selection.tool ?? ""));

/** The state of a run, or of the chosen one. */
export const useRun = (id?: string): RunState | undefined => useStore((s) => s.runs.get(id ?? s.selection.run ?? ""));

/** The records of an attached run, or of the chosen one. Another object after each change. */
export const useRecords = (id?: string): RunData | undefined =>
  useStore((s) => s.attached.get(id ?? s.selection.run ?? ""));

/** The chosen record. */
export const useRecord = (): Rec | undefined =>
  useStore((s) => s.selection.record === undefined ? undefined : s.attached.get(s.selection.run ?? "")?.records[s.selection.record]);

/** The chosen node. */
export const useNode = (): GNode | undefined => useStore((s) => findNode(s.selection.key));

export const useBreakpoint = (key: string): Breakpoint | undefined => useStore((s) => s.breakpoints.find((b) => b.node === key));

/** The node with a key, in the graph of its own tool. */
export function findNode(key?: string): GNode | undefined {
  if (!key) return undefined;
  return state.graphs.get(toolOf(key))?.nodes.find((n) => n.key === key);
}

/** The tool that a key belongs to. */
export function toolOf(key: string): string {
  const at = key.indexOf("#");
  return at < 0 ? key : key.slice(0, at);
}
