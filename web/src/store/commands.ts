// Commands to runs under control. A person may be faster than the answers of the server: what is
// pressed while a step is under way is done after it, in order, and nothing is dropped in silence.
import { api, RequestError } from "../api";
import { notify, report, selectPresent, standsStill, tellRun } from "./actions";
import { state } from "./state";
import { changed, subscribe } from "./store";

export type Command = "pause" | "resume" | "step" | "stepInto" | "stepOut" | "stop";

/** How many commands wait at most for those before them. */
const longest = 20;

/** How long a command waits for a step before it to end, in milliseconds: a node may take hours. */
const patience = 1000;

/** The commands of each run that have not had their effect yet. */
const queues = new Map<string, Command[]>();

const goesOn = (name: Command) => name !== "pause" && name !== "stop";

/** Whether a command of the chosen run is under way, behind which others wait. */
export const isCommanding = (): boolean => queues.has(state.selection.run ?? "");

/**
 * Sends a command to the chosen run. Going on returns from the past to the present. With `held`, which a key
 * that is held sends again and again, it does not wait for others.
 */
export async function command(name: Command, held = false) {
  const { run } = state.selection;
  if (!run) return;
  if (name !== "pause" && state.selection.record !== undefined) selectPresent();
  const queue = queues.get(run);
  if (name === "stop") { // now, and instead of all that waits
    queue?.splice(1);
    await send(run, name);
  } else if (!queue) {
    const own = [name];
    queues.set(run, own);
    while (own[0]) {
      const done = await send(run, own[0]);
      if (done && goesOn(own[0]) && own[0] !== "resume") await stands(run);
      own.shift();
      if (own[0] && !state.runs.get(run)?.can.includes(own[0])) own.length = leaveOut(run);
    }
    queues.delete(run);
  } else if (!held && queue.length < longest) queue.push(name);
}

/** Says that what waits is not done: the run is over, or a node takes its time. */
function leaveOut(id: string): 0 {
  if (!state.runs.get(id)?.ended) notify("info", "The run has not stopped yet; what was pressed meanwhile is left out");
  return 0;
}

/** Sends one command, and returns whether it was done. */
async function send(id: string, name: Command): Promise<boolean> {
  const before = standsStill(id);
  try {
    await api.command(id, name);
  } catch (e) {
    // What it was meant for ended in the meantime, as the page has just been told or soon will be.
    if (!(e instanceof RequestError && e.code === "wrong_state" && !before())) report(e);
    return false;
  }
  // Until an event says more, it goes on: what is still shown is of before the command.
  const run = state.runs.get(id);
  if (goesOn(name) && run && before()) {
    tellRun({ ...run, state: "running", paused: undefined, can: run.can.filter((c) => c === "stop") });
    changed();
  }
  return true;
}

/** Waits until a run stands still or is over, or until patience ends. */
function stands(id: string): Promise<void> {
  return new Promise((resolve) => {
    const end = () => { clearTimeout(timer); leave(); resolve(); };
    const look = () => {
      const run = state.runs.get(id);
      if (!run || run.ended || run.state === "paused") end();
    };
    const timer = setTimeout(end, patience);
    const leave = subscribe(look);
    look();
  });
}
