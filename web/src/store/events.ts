// Events of the server, applied to the state once per frame.
import type { Event } from "../api";
import { EventStream } from "../api/stream";
import { addRecord, activeKey, setActive } from "./records";
import { state, type RunData } from "./state";
import { changed } from "./store";
import { announce, tellRun, loadFile, reachDurable, loadRun, loadRuns, loadState, select } from "./actions";

const keepLog = 2000;

let stream: EventStream | undefined;
let queue: Event[] = [];
let scheduled = false;
const listeners: ((events: Event[]) => void)[] = [];

/** Lets a function see all events, as they come, after the state has changed. */
export function listen(listener: (events: Event[]) => void) { listeners.push(listener); }

/** Opens the stream behind the events that the state already has. */
export function connect(last: number) {
  stream = new EventStream(last, receive, (connection) => {
    const before = state.connection;
    state.connection = connection;
    if (connection === "denied") state.fatal = "The token is not valid any more: open the address that mcpgraph printed.";
    if (connection === "lost" && before === "open") announce("Connection lost");
    if (connection === "open" && before !== "open" && before !== "connecting") announce("Connected");
    changed();
  });
  watch();
}

/** Asks for the events of the runs that are attached. */
export function watch() {
  stream?.watch([...state.attached.keys()]);
}

/** Connects at once after a loss. */
export function reconnect() { stream?.retry(); }

function receive(event: Event) {
  queue.push(event);
  if (scheduled) return;
  scheduled = true;
  // A tab in the background has no frames.
  if (document.visibilityState === "hidden") setTimeout(flush, 250);
  else requestAnimationFrame(flush);
}

function flush() {
  scheduled = false;
  const events = queue;
  queue = [];
  const touched = new Set<string>();
  for (const event of events) apply(event, touched);
  for (const id of touched) {
    const data = state.attached.get(id);
    if (data) state.attached.set(id, { ...data });
  }
  for (const listener of listeners) listener(events);
  changed();
}

let loadingRuns = false, changedMeanwhile = false;

/** Fetches the list of runs, once for all events that come meanwhile. */
async function runsChanged() {
  changedMeanwhile = true;
  if (loadingRuns) return;
  loadingRuns = true;
  while (changedMeanwhile) {
    changedMeanwhile = false;
    await loadRuns();
  }
  loadingRuns = false;
}

/** The data of an attached run, which the end of this frame will announce as changed. */
function touch(id: string, touched: Set<string>): RunData | undefined {
  const data = state.attached.get(id);
  if (data) touched.add(id);
  return data;
}

function apply(event: Event, touched: Set<string>) {
  switch (event.type) {
    case "gap":
      void loadState();
      void loadRuns();
      for (const id of state.attached.keys()) void loadRun(id);
      break;
    case "reloaded":
      void loadState().then(() => { if (state.server?.durable) void loadRuns(); });
      break;
    case "runs":
      void runsChanged();
      break;
    case "file":
      state.fileChanges++;
      if (state.server) {
        state.server = { ...state.server, problems: event.problems, file: { ...state.server.file, revision: event.revision } };
      }
      void loadFile();
      break;
    case "run": {
      const before = state.runs.get(event.run.id);
      tellRun(event.run);
      const data = touch(event.run.id, touched);
      if (data) setActive(data, event.run.active ?? []);
      if (event.run.id === state.selection.run && before?.state !== event.run.state) {
        announce(`Run of ${event.run.tool}: ${event.run.state}`);
      }
      if (event.run.paused && event.run.id === state.selection.run && event.run.paused.at !== before?.paused?.at) {
        select({ record: undefined, key: event.run.paused.key, frame: event.run.paused.frame || undefined });
      }
      break;
    }
    case "record": {
      const data = touch(event.run, touched);
      if (data) addRecord(data, event.record);
      break;
    }
    case "task":
      touch(event.run, touched)?.active.set(activeKey(event.active), event.active);
      break;
    case "progress": {
      const data = touch(event.run, touched);
      if (data) data.progress = { progress: event.progress, total: event.total, message: event.message };
      break;
    }
    case "log":
      state.log = [...state.log.slice(1 - keepLog), event];
      break;
    case "durable":
      reachDurable(event.text);
      break;
    case "servers":
      state.servers++;
      break;
  }
}

/** Fetches the state, and opens the stream. */
export async function begin() {
  await loadState();
  if (!state.server) return;
  connect(state.server.last);
  await loadRuns();
}

