// The stream of events: one request that never ends, resumed where it broke.
import { query, RequestError, send } from "./client";
import { decode } from "../value/json";
import type { Event } from "./types";

export type Connection = "connecting" | "open" | "lost" | "denied";

const firstDelay = 250;
const longestDelay = 5000;

/** Reads events until close() is called. watch() changes the runs whose events are wanted. */
export class EventStream {
  private runs: string[] = [];
  private last: number;
  private request?: AbortController;
  private closed = false;
  private wake?: () => void;

  constructor(last: number, private readonly onEvent: (event: Event) => void,
    private readonly onState: (state: Connection) => void) {
    this.last = last;
    void this.loop();
  }

  watch(runs: string[]) {
    if (runs.length === this.runs.length && runs.every((r) => this.runs.includes(r))) return;
    this.runs = [...runs];
    this.request?.abort();
  }

  /** Connects at once instead of after the delay, or again after access was denied. */
  retry() { this.wake?.(); }

  /** Goes on behind another event: that of another process of mcpgraph. */
  restart(last: number) {
    this.last = last;
    this.request?.abort();
    this.wake?.();
  }

  close() {
    this.closed = true;
    this.request?.abort();
    this.wake?.();
  }

  private async loop() {
    let delay = firstDelay;
    while (!this.closed) {
      const request = new AbortController();
      this.request = request;
      try {
        const response = await send("GET", query("api/events", { after: this.last, runs: this.runs.join(",") }), undefined,
          { signal: request.signal, headers: { Accept: "text/event-stream" } });
        this.onState("open");
        delay = firstDelay;
        await this.read(response);
      } catch (e) {
        if (request.signal.aborted) continue;
        if (e instanceof RequestError && (e.status === 401 || e.status === 403)) {
          this.onState("denied");
          await new Promise<void>((resolve) => { this.wake = resolve; });
          continue;
        }
      }
      if (this.closed || request.signal.aborted) continue;
      this.onState("lost");
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, delay);
        this.wake = () => { clearTimeout(timer); resolve(); };
      });
      delay = Math.min(delay * 2, longestDelay);
      this.onState("connecting");
    }
  }

  private async read(response: Response) {
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const parts = (rest + value).split("\n\n");
      rest = parts.pop()!;
      for (const part of parts) this.message(part);
    }
  }

  private message(text: string) {
    let data = "";
    for (const line of text.split("\n")) {
      if (line.startsWith("data:")) data += line.slice(5).trimStart();
    }
    if (data === "") return;
    const event = decode(data) as Event;
    if (event.n > this.last || event.type === "gap") this.last = event.n; // another process counts from 0
    this.onEvent(event);
  }
}
