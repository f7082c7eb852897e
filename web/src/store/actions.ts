// What people and components do to the state.
import { api, RequestError } from "../api";
import { keep, keepJSON, kept, keptJSON } from "../api/storage";
import type { Breakpoint, BreakOn, Graph, Json, RunState, Start } from "../api/types";
import { addRecord, emptyRun, addActive, oldestRuns, setActive } from "./records";
import { liveSession, saveSettings, state, type Notice, type Selection, type Settings } from "./state";
import { changed } from "./store";
import { watch } from "./streaming";

/** How many runs stay attached: the chosen one and those chosen before it. */
const keepAttached = 6;

/** How many runs the page knows, beside those that go on. The server forgets runs without saying so. */
const keepRuns = 2000;

// ---- messages ------------------------------------------------------------------------------

/** Lets screen readers say a text. */
export function announce(text: string) {
  state.announcement = text;
  changed();
}

let notices = 0;

/** Shows a message at the corner of the page until it is closed; information closes itself. Returns its id. */
export function notify(kind: Notice["kind"], text: string, action?: Notice["action"]): number {
  const id = ++notices;
  state.notices = [...state.notices.slice(-4), { id, kind, text, action }];
  if (kind === "info") setTimeout(() => dismiss(id), action ? 15000 : 5000);
  changed();
  return id;
}

export function dismiss(id: number) {
  state.notices = state.notices.filter((n) => n.id !== id);
  changed();
}

/** Shows what went wrong. Requests that were given up are not shown. */
export function report(error: unknown, what?: string) {
  if (error instanceof DOMException && error.name === "AbortError") return;
  const text = error instanceof Error ? error.message : String(error);
  notify("error", what ? `${what}: ${text}` : text);
}

// ---- the file ---------------------------------------------------------------------------------

/** Fetches the state; with it graphs are loaded again where the file was. */
export async function loadState() {
  try {
    const before = state.server;
    const server = await api.state();
    state.server = server;
    state.durable = { ...state.durable, problem: server.durable?.problem };
    state.fatal = undefined;
    document.title = `${server.file.name} – mcpgraph`;
    // Another process begins with the same generation.
    if (before?.generation !== server.generation || before.revision !== server.revision) state.graphs.clear();
    if (before?.file.path !== server.file.path) loadBreakpoints();
    const names = server.tools.map((t) => t.name);
    const chosen = state.selection.tool;
    if (!chosen || !names.includes(chosen)) {
      const last = kept(`mcpgraph.tool:${server.file.path}`);
      state.selection = { tool: last && names.includes(last) ? last : names[0] };
    }
    changed();
    if (state.selection.tool) await loadGraph(state.selection.tool);
  } catch (e) {
    if (!state.server) {
      state.fatal = e instanceof RequestError && e.status === 401
        ? "This address has no valid token. Open the one that mcpgraph printed when it started."
        : e instanceof Error ? e.message : String(e);
      changed();
    } else report(e);
  }
}

/** Called when the file on disk has changed: its problems may be of another state than the loaded one. */
export async function loadFile() {
  try {
    state.server = await api.state();
    changed();
  } catch (e) {
    report(e);
  }
}

const loadingGraphs = new Map<string, Promise<void>>();

/** Fetches the graph of a tool unless it is there. */
export function loadGraph(tool: string): Promise<void> {
  if (state.graphs.has(tool)) return Promise.resolve();
  const loading = loadingGraphs.get(tool) ?? fetchGraph(tool).finally(() => loadingGraphs.delete(tool));
  loadingGraphs.set(tool, loading);
  return loading;
}

async function fetchGraph(tool: string): Promise<void> {
  try {
    let graph: Graph, of: string | undefined;
    do { // the file may be reloaded meanwhile
      of = loadedText();
      graph = await api.graph(tool);
    } while (of !== loadedText());
    state.graphs.set(tool, graph);
    const keys = new Set(graph.nodes.map((n) => n.key));
    dropMarks((key) => key.startsWith(`${tool}#`) && !keys.has(key));
    if (state.selection.key?.startsWith(`${tool}#`) && !keys.has(state.selection.key)) state.selection = { ...state.selection, key: undefined };
    changed();
  } catch (e) {
    if (state.server?.tools.some((t) => t.name === tool)) report(e, `Graph of ${tool}`);
  }
}

/** Names the text that the server has loaded, as far as the page knows. */
const loadedText = () => `${state.server?.generation} ${state.server?.revision}`;

// ---- the selection ----------------------------------------------------------------------------

/**
 * Changes the selection. Another tool clears run and node, another run clears the record; a record
 * selects its node and frame, and its run is attached. A node without a record keeps the record only
 * where that is one of the node.
 */
export function select(change: Partial<Selection>) {
  const before = state.selection;
  let next: Selection = { ...before, ...change };
  if (change.run !== undefined && change.run !== before.run) {
    const tool = state.runs.get(change.run)?.tool;
    next = { tool: change.tool ?? tool ?? before.tool, run: change.run, record: change.record, key: change.key ?? next.key, frame: change.frame };
    if (tool !== before.tool && change.key === undefined) next.key = undefined;
  } else if (change.tool !== undefined && change.tool !== before.tool && !("run" in change)) {
    next = { tool: change.tool, key: change.key };
    const latest = [...state.runs.values()].filter((r) => r.tool === change.tool).sort((a, b) => b.began.localeCompare(a.began))[0];
    if (latest && state.attached.has(latest.id)) next.run = latest.id;
  }
  if (change.record !== undefined && next.run) {
    const record = state.attached.get(next.run)?.records[change.record];
    if (record) {
      next.key = change.key ?? record.key;
      next.frame = change.frame ?? record.frame;
    }
  } else if (change.key !== undefined && change.record === undefined && next.record !== undefined && next.run) {
    if (state.attached.get(next.run)?.records[next.record]?.key !== change.key) next.record = undefined;
  }
  // A node of another tool, such as one that the run has called, shows that tool.
  const owner = next.key?.includes("#") ? next.key.slice(0, next.key.indexOf("#")) : undefined;
  if (owner && owner !== next.tool && change.tool === undefined && state.server?.tools.some((t) => t.name === owner)) next.tool = owner;
  else if (owner && owner !== next.tool) next.key = undefined;
  if (state.server && !state.server.tools.some((t) => t.name === next.tool)) next.tool = before.tool; // a run of another file
  state.selection = next;
  changed();
  if (next.tool && next.tool !== before.tool) {
    if (state.server) keep(`mcpgraph.tool:${state.server.file.path}`, next.tool);
    void loadGraph(next.tool);
  }
  if (next.run && next.run !== before.run) void attach(next.run);
}

/** Returns from a past moment to the present: clears the record, and keeps the node. */
export function selectPresent() {
  select({ record: undefined, frame: undefined });
}

// ---- runs --------------------------------------------------------------------------------------

/** How many events have told the state of each run. */
const told = new Map<string, number>();

/** Takes what an event says of a run. */
export function tellRun(run: RunState) {
  told.set(run.id, (told.get(run.id) ?? 0) + 1);
  merge({ ...state.runs.get(run.id), ...run });
}

/** Returns a function that says whether no event has told of a run since now. */
export function standsStill(id: string): () => boolean {
  const before = told.get(id);
  return () => told.get(id) === before;
}

/** Takes an answer about a run. Events that came since it was asked for, `before`, are newer. */
function setRun(run: RunState, before: number | undefined) {
  const known = state.runs.get(run.id);
  merge(known && told.get(run.id) !== before ? { ...run, ...known } : { ...known, ...run });
}

function merge(run: RunState) {
  if (run.state !== "paused") delete run.paused;
  state.runs.set(run.id, run);
  if (state.runs.size < keepRuns + 200) return;
  const shown = (id: string) => id === state.selection.run || state.attached.has(id);
  for (const id of oldestRuns(state.runs.values(), state.runs.size - keepRuns, shown)) forgetRun(id);
}

/** Notes that the server does not know a run any more. One that was under way went down with its process. */
function goneRun(id: string) {
  const run = state.runs.get(id);
  if (!run || run.ended) return;
  const { paused: _, ...rest } = run;
  merge({ ...rest, state: "stopped", ended: new Date().toISOString(), session: false, active: [], questions: [], can: [],
    error: { name: "lost", message: "The process of mcpgraph that ran this has ended" } });
}

function forgetRun(id: string) {
  state.runs.delete(id);
  told.delete(id);
}


export async function loadRuns() {
  try {
    const before = new Map(told);
    const { runs } = await api.runs();
    for (const run of runs) setRun(run, before.get(run.id));
    const known = new Set(runs.map((r) => r.id));
    for (const [id, run] of [...state.runs]) {
      if (known.has(id) || run.durable || told.get(id) !== before.get(id)) continue;
      if (id === state.selection.run) goneRun(id);
      else forgetRun(id);
    }
    for (const [id, data] of state.attached) {
      if (!state.runs.get(id)?.ended || data.active.size === 0) continue;
      setActive(data, []);
      state.attached.set(id, { ...data });
    }
    changed();
  } catch (e) {
    report(e, "Runs");
  }
  if (state.server?.durable) await loadDurable();
}

/** Fetches the newest durable runs, or those that are older than the ones that were fetched. */
export async function loadDurable(older = false) {
  if (older && (state.durable.loading || !state.durable.next)) return;
  const cursor = older ? state.durable.next : undefined;
  state.durable = { ...state.durable, loading: true };
  changed();
  try {
    const before = new Map(told);
    const { runs, next, problem } = await api.durable(cursor);
    for (const run of runs) setRun(run, before.get(run.id));
    // The list of the newest ones does not move the place that the older ones have reached.
    const keeps = !older && [...state.runs.values()].some((r) => r.durable && !runs.some((n) => n.id === r.id));
    state.durable = { problem, next: problem || (keeps && state.durable.next !== undefined) ? state.durable.next : next };
  } catch (e) {
    state.durable = { ...state.durable, loading: false };
    report(e, "Durable runs");
  }
  changed();
}

/** Notes whether durable runs can be reached. Once they can be again, what is missing is fetched. */
export function reachDurable(problem: string | undefined) {
  state.durable = { ...state.durable, problem };
  if (problem !== undefined) return;
  void loadDurable();
  for (const [id, data] of state.attached) if (data.loading) void loadRun(id);
}

/** Fetches the state of a run unless it is known; returns whether there is such a run. */
export async function setRunOf(id: string): Promise<boolean> {
  const before = told.get(id);
  if (state.runs.has(id)) return true;
  try {
    setRun((await api.run(id)).run, before);
  } catch (e) {
    if (!(e instanceof RequestError && e.status === 404)) report(e, "Run");
    return false;
  }
  return true;
}

/** Selects a run, also one that no list has. */
export async function showRun(id: string) {
  if (await setRunOf(id)) select({ tool: state.runs.get(id)?.tool, run: id });
  else notify("error", "mcpgraph does not keep this run any more");
}

/** Cancels a durable run. */
export async function cancelDurable(run: RunState) {
  try {
    await api.cancelDurable(run.id);
    notify("info", `The run of ${run.tool} is being cancelled`);
  } catch (e) {
    report(e, "Cancel");
  }
}

/** Why nothing that needs the graph of a run can be shown; undefined where it can. */
export function foreign(run: RunState | undefined): boolean {
  return run?.durable !== undefined && !run.durable.known;
}

/** Lets the records of a run come live. The run that was used the longest ago is let go. */
export async function attach(id: string) {
  const data = state.attached.get(id) ?? emptyRun(id);
  const isNew = !state.attached.has(id);
  state.attached.delete(id);
  state.attached.set(id, data);
  for (const old of state.attached.keys()) {
    if (state.attached.size <= keepAttached) break;
    if (old !== state.selection.run) state.attached.delete(old);
  }
  watch();
  changed();
  if (isNew) await loadRun(id);
}

/** Fetches all records of an attached run. */
export async function loadRun(id: string) {
  try {
    const before = told.get(id);
    const first = await api.run(id);
    setRun(first.run, before);
    let { records } = first, active = first.run.active ?? [];
    for (;;) {
      const data = state.attached.get(id);
      if (!data) return;
      for (const record of records) addRecord(data, record);
      addActive(data, state.runs.get(id)?.ended ? [] : active);
      active = [];
      const more = records.length >= 1000;
      state.attached.set(id, { ...data, dropped: first.dropped, loading: more });
      changed();
      if (!more) return;
      records = (await api.records(id, records[records.length - 1]!.index + 1)).records;
      const now = state.attached.get(id);
      if (!now) return; // it was let go meanwhile
      if (records.length === 0) {
        state.attached.set(id, { ...now, loading: false });
        changed();
        return;
      }
    }
  } catch (e) {
    const data = state.attached.get(id);
    if (!(e instanceof RequestError && e.status === 404)) {
      report(e, "Run");
      return;
    }
    goneRun(id);
    if (data) {
      if (data.records.length === 0) notify("info", "mcpgraph does not keep this run any more");
      setActive(data, []);
      state.attached.set(id, { ...data, loading: false });
    }
    changed();
  }
}

/** Where the arguments of the next run come from: the input form. */
export interface InputProvider {
  /** Returns the arguments for the chosen tool; undefined where they are not valid, after showing that. */
  take(): Json | undefined;
  /** Shows at their fields why arguments were refused; returns whether it could. */
  refused(tool: string, error: unknown): boolean;
}
let inputProvider: InputProvider | undefined;

/** Names where arguments come from. */
export function provideInput(provider: InputProvider) { inputProvider = provider; }

/** Starts a run with breakpoints and pins as they are set, and selects it. */
export async function start(tool: string, args: Json, more: Partial<Start> = {}, refused?: (error: unknown) => boolean): Promise<string | undefined> {
  try {
    await knownMarks();
    const { id } = await api.start({ tool, args, breakpoints: state.breakpoints, breakOn: state.breakOn, pins: state.pins, ...more });
    select({ tool, run: id, record: undefined, key: undefined, frame: undefined });
    return id;
  } catch (e) {
    if (!refused?.(e)) report(e, `Run of ${tool}`);
  }
}

/** Starts a durable run, and selects it. */
export async function startDurable(tool: string, args: Json, refused?: (error: unknown) => boolean) {
  try {
    const { id } = await api.startDurable(tool, args);
    select({ tool, run: id, record: undefined, key: undefined, frame: undefined });
  } catch (e) {
    if (!refused?.(e)) report(e, `Durable run of ${tool}`);
  }
}

let starting = false;

/** Runs the chosen tool with the arguments of the input form, once for a double click. */
export async function runChosen(startPaused = state.startPaused) {
  if (starting) return;
  starting = true;
  try {
    await startChosen(startPaused);
  } finally {
    starting = false;
  }
}

async function startChosen(startPaused: boolean) {
  const { tool } = state.selection;
  if (!tool || state.server?.readOnly) return;
  showPanel("input");
  const args = inputProvider ? inputProvider.take() : {};
  if (args === undefined) return;
  const refused = (e: unknown) => inputProvider?.refused(tool, e) ?? false;
  if (state.server?.durable && !state.settings.here && !startPaused) await startDurable(tool, args, refused);
  else await start(tool, args, { startPaused }, refused);
}

// ---- breakpoints and pins -----------------------------------------------------------------------

function breakpointsKey(): string { return `mcpgraph.breakpoints:${state.server?.file.path ?? ""}`; }

function loadBreakpoints() {
  const stored = keptJSON(breakpointsKey()) as { breakpoints?: Breakpoint[]; breakOn?: BreakOn } | null | undefined;
  const list = stored?.breakpoints;
  state.breakpoints = Array.isArray(list) ? list.filter((b) => typeof b?.node === "string") : [];
  state.breakOn = { failure: "none", ...stored?.breakOn };
}

/** Forgets the breakpoints and pins of nodes that are no more. */
function dropMarks(isGone: (key: string) => boolean) {
  const rest = state.breakpoints.filter((b) => !isGone(b.node));
  if (rest.length < state.breakpoints.length) keepBreakpoints(rest, state.breakOn);
  const pins = Object.entries(state.pins).filter(([key]) => !isGone(key));
  if (pins.length < Object.keys(state.pins).length) state.pins = Object.fromEntries(pins);
}

/** Lets breakpoints and pins be of nodes that exist; a run refuses others. */
async function knownMarks() {
  const tools = new Set(state.server?.tools.map((t) => t.name));
  const of = (key: string) => key.slice(0, Math.max(0, key.indexOf("#")));
  dropMarks((key) => !tools.has(of(key)));
  await Promise.all([...state.breakpoints.map((b) => b.node), ...Object.keys(state.pins)].map((key) => loadGraph(of(key))));
}

/** Lets breakpoints, pins and the selection follow a node that was renamed. */
export function renameMarks(from: string, to: string) {
  const renamed = (key: string) => key === from || key.startsWith(`${from}.`) || key.startsWith(`${from}[`) ? to + key.slice(from.length) : key;
  keepBreakpoints(state.breakpoints.map((b) => ({ ...b, node: renamed(b.node) })), state.breakOn);
  state.pins = Object.fromEntries(Object.entries(state.pins).map(([key, value]) => [renamed(key), value]));
  if (state.selection.key) state.selection = { ...state.selection, key: renamed(state.selection.key) };
  changed();
}

function keepBreakpoints(breakpoints: Breakpoint[], breakOn: BreakOn) {
  state.breakpoints = breakpoints;
  state.breakOn = breakOn;
  keepJSON(breakpointsKey(), { breakpoints, breakOn });
}

/** Replaces all breakpoints, of the running session too. */
export async function setBreakpoints(breakpoints: Breakpoint[], breakOn: BreakOn = state.breakOn) {
  keepBreakpoints(breakpoints, breakOn);
  changed();
  const session = liveSession();
  if (!session) return;
  try {
    await api.breakpoints(session.id, breakpoints, breakOn);
  } catch (e) {
    report(e, "Breakpoints");
  }
}

export function breakpointAt(key: string): Breakpoint | undefined {
  return state.breakpoints.find((b) => b.node === key);
}

/** Sets or removes the breakpoint at a node. */
export function toggleBreakpoint(key: string) {
  const rest = state.breakpoints.filter((b) => b.node !== key);
  void setBreakpoints(rest.length < state.breakpoints.length ? rest : [...rest, { node: key }]);
}

/** Lets a node yield a value without being executed, in the running session and in the next ones. */
export async function pin(key: string, value: Json) {
  state.pins = { ...state.pins, [key]: value };
  changed();
  const session = liveSession();
  try {
    if (session) await api.pin(session.id, key, value);
  } catch (e) {
    report(e, "Pin");
  }
}

export async function unpin(key: string) {
  const { [key]: _, ...rest } = state.pins;
  state.pins = rest;
  changed();
  const session = liveSession();
  try {
    if (session?.pins?.includes(key)) await api.unpin(session.id, key);
  } catch (e) {
    report(e, "Pin");
  }
}

// ---- settings -------------------------------------------------------------------------------------

export function change(settings: Partial<Settings>) {
  state.settings = { ...state.settings, ...settings };
  saveSettings(state.settings);
  changed();
}

/** Opens the pane and the tab of a panel (see layout/panels.ts). */
export let showPanel: (id: string) => void = () => {};
export function onShowPanel(show: (id: string) => void) { showPanel = show; }
