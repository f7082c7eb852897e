// The stream of events that is open, for all who say what it should tell.
import type { EventStream } from "../api/stream";
import { state } from "./state";

let stream: EventStream | undefined;

export function use(opened: EventStream) { stream = opened; }

export const isOpen = (): boolean => stream !== undefined;

/** Asks for the events of the runs that are attached. */
export function watch() { stream?.watch([...state.attached.keys()]); }

/** Connects at once after a loss. */
export function reconnect() { stream?.retry(); }

/** Goes on behind an event of another process. */
export function restart(last: number) { stream?.restart(last); }
