// Events of the server, applied to the state once per frame.
import { api, onToken, tokenIn, useToken, type Event } from "../api";
import { EventStream } from "../api/stream";
import { chosenByRun, followAddress, goToAddress } from "./address";
import { addRecord, activeKey, setActive } from "./records";
import { state, type RunData } from "./state";
import { changed } from "./store";
import * as stream from "./streaming";
import { announce, report, tellRun, loadFile, reachDurable, loadRun, loadRuns, loadState, select } from "./actions";

let queue: Event[] = [];
let scheduled = false;
const listeners: ((events: Event[]) => void)[] = [];

/** Lets a function see all events, as they come, after the state has changed. */
export function listen(listener: (events: Event[]) => void) { listeners.push(listener); }

/** Opens the stream behind the events that the state already has. */
export function connect(last: number) {
  stream.use(new EventStream(last, receive, (connection) => {
    const before = state.connection;
    state.connection = connection;
    if (connection === "lost" && before === "open") announce("Connection lost");
    if (connection === "denied" && before !== "denied") announce("The token of this page is not valid any more");
    if (connection === "open" || connection === "denied") {
      const again = connection === "open" && (state.lost || before === "denied");
      state.lost = false;
      if (again) {
        announce("Connected again");
        for (const f of returns) f();
      }
    } else if (connection === "lost") state.lost = true;
    changed();
  }));
  stream.watch();
}

const returns: (() => void)[] = [];

/** Lets a function be called each time that the server can be reached again. */
export function onReturn(f: () => void) { returns.push(f); }

/**
 * Takes the token of another process of mcpgraph, which has other runs and other numbers of events, out of an
 * address or alone. Throws where it is none, or is not valid.
 */
export async function renew(text: string) {
  const token = tokenIn(text);
  if (token === undefined) throw new Error("There is no token in this. Copy the whole address, with what follows the #.");
  useToken(token);
  await restart();
}

async function restart() {
  await api.state(); // throws where the token is not valid
  if (!stream.isOpen()) {
    state.fatal = undefined;
    await begin();
    return;
  }
  await loadState();
  stream.restart(state.server?.last ?? 0);
  fetchAgain();
}

onToken(() => void restart().then(goToAddress).catch(report));

// A tab that goes to the background gets the frame that it waits for when it comes back; events come meanwhile.
document.addEventListener("visibilitychange", () => { if (scheduled) flush(); });

function receive(event: Event) {
  queue.push(event);
  if (scheduled) return;
  scheduled = true;
  // A tab in the background has no frames.
  if (document.visibilityState === "hidden") setTimeout(flush, 250);
  else requestAnimationFrame(flush);
}

/** Fetches all that events tell of, and lets all others do so. */
function fetchAgain() {
  receive({ type: "gap", n: state.server?.last ?? 0, time: new Date().toISOString() });
}

function flush() {
  if (!scheduled) return; // done already
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
        chosenByRun();
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
    case "durable":
      reachDurable(event.text);
      break;
    case "servers":
      state.servers++;
      if (state.server) state.server = { ...state.server, openings: event.openings ?? [] };
      break;
  }
}

/** Fetches the state, and opens the stream. */
export async function begin() {
  await loadState();
  if (!state.server) return;
  connect(state.server.last);
  await Promise.all([loadRuns(), followAddress()]);
}

