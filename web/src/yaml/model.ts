// The file of the page: one FileModel, used by the editor and by the list of problems.
import { useSyncExternalStore } from "react";
import { api, RequestError } from "../api";
import type { Pos, Problem } from "../api/types";
import { listen, onReturn, showPanel, state, useStore } from "../store";
import { FileModel, type FileState, type SaveResult } from "./file";

export const file = new FileModel({
  read: api.file,
  async save(text, revision, force): Promise<SaveResult> {
    try {
      return { saved: true, ...(await api.save(text, revision, force)) };
    } catch (e) {
      if (!(e instanceof RequestError)) throw e;
      const body = e.body as { current?: string; revision?: string } | undefined;
      if (e.status === 412 && body?.current !== undefined) return { saved: false, conflict: { text: body.current, revision: body.revision ?? "" } };
      if (e.status === 422) return { saved: false, refused: { message: e.message, problems: e.problems } };
      throw e;
    }
  },
  check: async (text, signal) => (await api.check(text, signal)).problems,
  format: async (text) => (await api.format(text)).text,
});

listen((events) => {
  for (const event of events) {
    if (event.type === "file") void file.changedOnDisk(event.revision);
    else if (event.type === "gap" && state.server) file.reached();
  }
});
onReturn(() => file.reached());

addEventListener("beforeunload", (e) => { if (file.get().dirty) e.preventDefault(); });

export const useFile = (): FileState => useSyncExternalStore(file.subscribe, file.get);

/** Whether the text has changes that are not saved. */
export const useDirty = (): boolean => useSyncExternalStore(file.subscribe, () => file.get().dirty);

/** The problems of the text as it is edited; those of the file on disk until it was loaded. */
export function useProblems(): Problem[] {
  const edited = useFile();
  const onDisk = useStore((s) => s.server?.problems);
  return edited.checked !== undefined ? edited.problems : onDisk ?? [];
}

/** Applies a proposed change to the text. Returns false if the text is not the one that was checked. */
export function applyFix(edits: { from: number; to: number; text: string }[]): boolean {
  const { text, checked } = file.get();
  if (checked !== text) return false;
  let result = text;
  for (const e of [...edits].sort((a, b) => b.from - a.from)) result = result.slice(0, e.from) + e.text + result.slice(e.to);
  file.replace(result);
  return true;
}

export interface Place { pos?: Pos; from?: number; to?: number; key?: string }

let wanted: Place | undefined;
let shower: ((place: Place) => void) | undefined;

/** Opens the editor at a place. */
export function goTo(place: Place) {
  showPanel("yaml");
  if (shower) shower(place);
  else wanted = place;
}

/** Names what shows places: the editor. It gets the one that waits. Returns what takes the name back. */
export function provideShow(show: (place: Place) => void): () => void {
  shower = show;
  if (wanted) show(wanted);
  wanted = undefined;
  return () => { if (shower === show) shower = undefined; };
}
