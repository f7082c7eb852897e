// Edits of the graph: operations that the server applies to the text of the file, and their undo.
import { api, RequestError, type Edited, type Operation } from "../api";
import { announce, dismiss, notify, renameMarks, report, state } from "../store";

/** A node that gets another key; breakpoints, pins and the selection follow it. */
export interface Renaming { from: string; to: string }

interface Step { before: string; revision: string; what: string; renaming?: Renaming }

const steps: Step[] = [];
const keptSteps = 50;

export const canUndo = () => steps.length > 0;

/** Returns what the operations would make of the file, without changing it. */
export function previewEdit(tool: string, operations: Operation[]): Promise<Edited> {
  return api.edit({ revision: state.server!.file.revision, tool, operations, dryRun: true });
}

/** One change of the file at a time: each begins with what the one before has left. */
let last: Promise<unknown> = Promise.resolve();

function inTurn<T>(change: () => Promise<T>): Promise<T> {
  const next = last.then(change);
  last = next.catch(() => {});
  return next;
}

/** Applies operations to the file. Returns whether it did; shows why not. */
export function applyEdit(tool: string, operations: Operation[], what: string, renaming?: Renaming): Promise<boolean> {
  return inTurn(() => apply(tool, operations, what, renaming));
}

/** The message that offers to take the last edit back: only that one can be. */
let offer: number | undefined;

async function apply(tool: string, operations: Operation[], what: string, renaming?: Renaming): Promise<boolean> {
  if (renaming) renameMarks(renaming.from, renaming.to);
  try {
    const { text: before, revision } = await api.file();
    const edited = await api.edit({ revision, tool, operations });
    steps.push({ before, revision: edited.revision, what, renaming });
    if (steps.length > keptSteps) steps.shift();
    if (offer !== undefined) dismiss(offer);
    offer = notify("info", what, { label: "Undo", run: () => void undoEdit() });
    return true;
  } catch (e) {
    if (renaming) renameMarks(renaming.to, renaming.from);
    if (e instanceof RequestError && e.status === 412) notify("error", "The file has changed on disk meanwhile. Look at it and try again.");
    else report(e, "Not saved");
    return false;
  }
}

/** Takes back the last edit, unless the file has changed since. */
export function undoEdit(): Promise<void> {
  return inTurn(undo);
}

async function undo() {
  const step = steps.at(-1);
  if (!step) return;
  if (offer !== undefined) dismiss(offer);
  offer = undefined;
  const { renaming } = step;
  if (renaming) renameMarks(renaming.to, renaming.from);
  try {
    await api.save(step.before, step.revision, true);
    steps.pop();
    announce(`Undone: ${step.what}`);
    notify("info", `Undone: ${step.what}`);
  } catch (e) {
    if (renaming) renameMarks(renaming.from, renaming.to);
    if (e instanceof RequestError && e.status === 412) {
      steps.length = 0;
      notify("error", "The file has changed since; the edit cannot be undone.");
    } else report(e, "Undo"); // it can be tried again
  }
}
