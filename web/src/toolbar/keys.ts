import { useEffect } from "react";
import { undoEdit } from "../graph/edit";
import { command, isCommanding, liveSession, runChosen, state, type Command } from "../store";

/** The keys of the page, as in the developer tools of browsers. */
export function useKeys() {
  useEffect(() => {
    const down = (e: KeyboardEvent) => {
      if (e.altKey || document.querySelector("dialog[open]")) return;
      const mod = e.ctrlKey || e.metaKey;
      if (e.key === "Enter" && mod) {
        if ((e.target as Element).closest?.(".asks")) return; // it sends the answer
        e.preventDefault();
        if (!e.repeat) void runChosen();
        return;
      }
      if (mod && !e.shiftKey && e.key.toLowerCase() === "z") { // wherever the focus is: what had it may be what was undone
        if ((e.target as Element).closest?.("input, textarea, select, [contenteditable]")) return;
        e.preventDefault();
        void undoEdit();
        return;
      }
      const can = liveSession()?.can ?? [], waits = isCommanding();
      let name: Command | undefined;
      if ((e.key === "F8" && !e.shiftKey) || (mod && e.key === "\\")) name = can.includes("resume") || waits ? "resume" : "pause";
      else if (e.key === "F10" && !e.shiftKey) name = "step";
      else if (e.key === "F11") name = e.shiftKey ? "stepOut" : "stepInto";
      else return;
      e.preventDefault(); // F11 would make the window as large as the screen
      if (!state.server?.readOnly && (waits || can.includes(name))) void command(name, e.repeat);
    };
    addEventListener("keydown", down);
    return () => removeEventListener("keydown", down);
  }, []);
}
