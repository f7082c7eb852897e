import { showPanel } from "../store";

/** Shows the file. */
export function openFile() { showPanel("yaml"); }
