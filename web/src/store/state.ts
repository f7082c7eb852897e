// What the page knows. One value, changed in place by actions and events; see store.ts for who is told.
import { keepJSON, keptJSON } from "../api/storage";
import type { Connection } from "../api/stream";
import type { Active, Breakpoint, BreakOn, Graph, Json, Rec, RunState, State } from "../api/types";

/** What graph, timeline, table, events, YAML and inspector show together. */
export interface Selection {
  tool?: string;
  run?: string;
  /** Index of the chosen record of `run`: the page shows that moment. Without it, the present. */
  record?: number;
  /** Key of the chosen node. */
  key?: string;
  /** Frame whose executions are shown, such as "4.0/2.17". */
  frame?: string;
}

/** What came of the executions of one node. */
export interface NodeStats {
  count: number;
  done: number; failed: number; caught: number; cancelled: number; pinned: number;
  /** Their time together, that of the last one and of the longest, in milliseconds. */
  ms: number; last: number; max: number;
}

/** Counts of executions by node, and of ways taken by edge (see edgeKey). */
export interface Counts {
  nodes: Map<string, NodeStats>;
  edges: Map<string, number>;
}

/**
 * A run that is attached: its records come live. The object is a new one after each change;
 * arrays and maps in it are the same ones, changed in place.
 */
export interface RunData {
  id: string;
  /** Records by index; sparse where records were dropped. */
  records: Rec[];
  /** The records of executions that are over (not "opened" or "retried"), in order. */
  over: Rec[];
  /** `over` by key of the node. */
  byKey: Map<string, Rec[]>;
  /** Counts over all records. */
  counts: Counts;
  /** Executions under way, by path and execution. */
  active: Map<string, Active>;
  dropped: number;
  loading: boolean;
  progress?: { progress: number; total?: number; message?: string };
}

export interface Notice { id: number; kind: "info" | "error"; text: string; action?: { label: string; run: () => void } }

export interface Settings {
  theme: "system" | "light" | "dark";
  /** Sizes of panes in pixels, by name. */
  sizes: Record<string, number>;
  /** Panes that are closed, by name. */
  closed: Record<string, boolean>;
  /** The chosen tab of each area. */
  tabs: Record<string, string>;
  /** Whether Run starts runs in this process also where the file has durable ones. */
  here?: boolean;
}

export interface AppState {
  connection: Connection;
  /** Whether the connection is lost, also while the page tries again. */
  lost: boolean;
  /** Why nothing can be shown, such as a token that is missing. */
  fatal?: string;
  server?: State;
  /** Graphs of the loaded generation, by tool; absent while loading. */
  graphs: Map<string, Graph>;
  /** All runs that the page has heard of, by id. Objects are replaced, never changed. */
  runs: Map<string, RunState>;
  attached: Map<string, RunData>;
  /** What is known of the list of durable runs: why there is none, and where older ones begin. */
  durable: { problem?: string; next?: string; loading?: boolean };
  selection: Selection;
  /** Breakpoints and pins of the file: kept for the next run and sent to the running one. */
  breakpoints: Breakpoint[];
  breakOn: BreakOn;
  /** What is searched for in the graph. */
  search: string;
  pins: Record<string, Json>;
  /** Whether the next run begins paused. */
  startPaused: boolean;
  notices: Notice[];
  settings: Settings;
  /** What screen readers announce. */
  announcement: string;
  /** Raised when figures of servers have changed. */
  servers: number;
  /** Raised when the file on disk has changed. */
  fileChanges: number;
}

const settingsKey = "mcpgraph.settings";

function loadSettings(): Settings {
  const defaults: Settings = { theme: "system", sizes: {}, closed: {}, tabs: {} };
  const stored = keptJSON(settingsKey);
  if (!isObject(stored)) return defaults;
  const { theme, sizes, closed, tabs, here } = stored;
  return {
    theme: theme === "light" || theme === "dark" ? theme : "system",
    sizes: members(sizes, (v) => Number.isFinite(v)), closed: members(closed, (v) => typeof v === "boolean"),
    tabs: members(tabs, (v) => typeof v === "string"), here: here === true,
  };
}

const isObject = (v: unknown): v is Record<string, unknown> => typeof v === "object" && v !== null && !Array.isArray(v);

/** The members of an object that are as they have to be. */
function members<T>(v: unknown, good: (v: unknown) => boolean): Record<string, T> {
  return isObject(v) ? (Object.fromEntries(Object.entries(v).filter(([, m]) => good(m))) as Record<string, T>) : {};
}

export function saveSettings(settings: Settings) {
  keepJSON(settingsKey, settings);
}

export const state: AppState = {
  connection: "connecting",
  lost: false,
  graphs: new Map(),
  runs: new Map(),
  attached: new Map(),
  durable: {},
  selection: {},
  breakpoints: [],
  breakOn: { failure: "none" },
  search: "",
  pins: {},
  startPaused: false,
  notices: [],
  settings: loadSettings(),
  announcement: "",
  servers: 0,
  fileChanges: 0,
};

/** The chosen run, if it can be controlled and is not over. */
export function liveSession(): RunState | undefined {
  const run = state.selection.run ? state.runs.get(state.selection.run) : undefined;
  return run?.session && !run.ended ? run : undefined;
}
