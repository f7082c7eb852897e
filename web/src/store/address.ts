// The address of the page names what is chosen: #tool=T&run=ID&node=PATH&exec=N, only what is chosen. A tool, run
// or node that somebody chooses is an entry of the browser's history. The token is never in it (see api/client.ts).
import { tokenIn } from "../api";
import { loadGraph, loadRun, notify, select, setRunOf } from "./actions";
import { state, type Selection } from "./state";
import { subscribe } from "./store";

/** What an address names. */
interface Place { tool?: string; run?: string; node?: string; exec?: number }

/** Reads what stands behind the # of an address. */
export function placeIn(hash: string): Place {
  const p = new URLSearchParams(hash.replace(/^#/, "").replaceAll("+", "%2B"));
  const text = (name: string) => p.get(name) || undefined;
  const exec = /^\d{1,9}$/.test(p.get("exec") ?? "") ? Number(p.get("exec")) : undefined;
  return { tool: text("tool"), run: text("run"), node: text("node"), exec };
}

/** Writes the address of a selection. */
export function addressOf({ tool, run, key, record }: Selection): string {
  const node = key?.slice(key.indexOf("#") + 1);
  const parts = Object.entries({ tool, run, node, exec: run === undefined ? undefined : record });
  return `#${parts.filter(([, v]) => v !== undefined && v !== "").map(([name, v]) => `${name}=${encodeURIComponent(v!)}`).join("&")}`;
}

let goings = 0; // how often somebody went to an address
let going = false, followed = false;
let last: Selection = {}; // that the address names

/** Lets the next choice replace the address, as it is not one of a person: a run that pauses shows where. */
export function chosenByRun() { followed = true; }

/** Shows what the address names, and says what of it is gone. */
export async function goToAddress() {
  const place = placeIn(location.hash), own = ++goings;
  going = true;
  if (location.hash.length > 1) await go(place, () => own === goings);
  if (own !== goings) return;
  going = false;
  last = state.selection;
  history.replaceState(null, "", addressOf(last));
}

async function go(place: Place, current: () => boolean) {
  const gone: string[] = [];
  const tool = state.server?.tools.some((t) => t.name === place.tool) ? place.tool : undefined;
  if (place.tool !== undefined && tool === undefined) gone.push(`the tool ${place.tool}`);
  const run = place.run !== undefined && (await setRunOf(place.run)) ? place.run : undefined;
  if (place.run !== run) gone.push(`the run ${place.run}`);
  if (!current()) return;
  select({ tool: tool ?? state.selection.tool, run, record: undefined, key: undefined, frame: undefined });
  const shown = state.selection.tool;
  if (shown !== undefined && place.node !== undefined && (place.tool === undefined || tool !== undefined)) {
    await loadGraph(shown);
    if (!current()) return;
    const key = `${shown}#${place.node}`;
    if (state.graphs.get(shown)?.nodes.some((n) => n.key === key)) select({ key });
    else gone.push(`the node ${place.node}`);
  }
  if (run !== undefined && place.exec !== undefined) {
    await loadRun(run);
    if (!current()) return;
    if (state.attached.get(run)?.records[place.exec]) select({ record: place.exec });
    else gone.push(`the execution ${place.exec} of its run`);
  }
  if (gone.length > 0) notify("error", `What this address names is not there any more: ${gone.join(", ")}.`);
}

/** Shows what the address names now, and keeps it that of the selection from then on. */
export async function followAddress() {
  await goToAddress();
  subscribe(() => {
    const now = state.selection;
    if (now === last || going) return;
    const replaces = followed || (now.tool === last.tool && now.run === last.run && now.key === last.key);
    followed = false;
    last = now;
    const address = addressOf(now);
    if (address === location.hash) return;
    if (replaces) history.replaceState(null, "", address);
    else history.pushState(null, "", address);
  });
  addEventListener("popstate", () => {
    if (tokenIn(location.hash) === undefined) void goToAddress(); // else see onToken
  });
}
