// Inputs that were used before: those of this browser, and the arguments of runs.

import { api } from "../api";
import type { RunState } from "../api/types";
import { when, type MenuItem } from "../kit";
import { report, select, showPanel, state } from "../store";
import { encode, type Value } from "../value/json";
import { loader } from "../value/load";
import { whole } from "../value/rows";
import { forget, remembered } from "./history";
import { setArguments } from "./state";

/** earlier returns the menu of earlier inputs: those of this browser, and those of kept runs. */
export function earlier(tool: string): MenuItem[] {
  const file = state.server?.file.path ?? "";
  const list: MenuItem[] = remembered(file, tool).map((e) => ({
    label: `${when(e.at)}  ${encode(e.args).slice(0, 60)}`,
    onChoose: () => setArguments(tool, e.args),
  }));
  const forgets: MenuItem[] = list.length > 0 ? ["-", { label: "Forget earlier inputs", icon: "trash", onChoose: () => forget(file, tool) }] : [];
  const runs = [...state.runs.values()].filter((r) => r.tool === tool).sort((a, b) => b.began.localeCompare(a.began)).slice(0, 10);
  if (runs.length > 0) {
    if (list.length > 0) list.push("-");
    for (const r of runs) list.push({ label: `Arguments of the run of ${when(r.began)} (${r.state})`, icon: "play", onChoose: () => void fillFrom(r) });
  }
  if (list.length === 0) list.push({ label: "No earlier inputs of this tool", disabled: true, onChoose: () => {} });
  return [...list, ...forgets];
}

/** fillFrom fills the input with the arguments of a run. */
export async function fillFrom(run: RunState) {
  try {
    const { value } = await api.value(run.id, { part: "args" });
    if (state.selection.tool !== run.tool) select({ tool: run.tool });
    setArguments(run.tool, await whole(value as Value, [], loader(run.id, undefined, "args")));
    showPanel("input");
  } catch (e) {
    report(e, "Arguments");
  }
}
