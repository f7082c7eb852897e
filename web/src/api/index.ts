// Every endpoint of /api as a function.
import { query, request, send } from "./client";
import type {
  Breakpoint, BreakOn, Completion, Failure, Graph, Json, Operation, Problem, Rec, RunState, Saved, ServerInfo, Start, State,
} from "./types";

export { onToken, RequestError, tokenIn, useToken } from "./client";
export type * from "./types";

const id = encodeURIComponent;

export type Part = "output" | "arguments" | "reply" | "error" | "document" | "variables" | "args" | "result";

/** What an edit makes of the file. refused: the errors for which one that is only tried would not be saved. */
export type Edited = Saved & { text: string; diff: string };

export const api = {
  state: () => request<State>("GET", "api/state"),
  graph: (tool: string) => request<Graph>("GET", `api/tools/${id(tool)}/graph`),

  // sessions
  start: (start: Start) => request<{ id: string }>("POST", "api/sessions", start),
  command: (run: string, name: "pause" | "resume" | "step" | "stepInto" | "stepOut" | "stop") =>
    request<unknown>("POST", `api/sessions/${id(run)}/${name}`),
  runTo: (run: string, node: string) => request<unknown>("POST", `api/sessions/${id(run)}/runTo`, { node }),
  breakpoints: (run: string, breakpoints: Breakpoint[], breakOn: BreakOn) =>
    request<unknown>("POST", `api/sessions/${id(run)}/breakpoints`, { breakpoints, breakOn }),
  pin: (run: string, node: string, value: Json) => request<unknown>("POST", `api/sessions/${id(run)}/pin`, { node, value }),
  unpin: (run: string, node: string) => request<unknown>("POST", `api/sessions/${id(run)}/unpin`, { node }),
  setOutput: (run: string, node: string, value: Json) =>
    request<unknown>("POST", `api/sessions/${id(run)}/setOutput`, { node, value }),
  answer: (run: string, question: string, action: "accept" | "decline" | "cancel", content?: Json) =>
    request<unknown>("POST", `api/sessions/${id(run)}/answer`, { question, action, content }),

  // durable runs
  durable: (cursor?: string) => request<{ runs: RunState[]; next?: string; problem?: string }>("GET", query("api/durable", { cursor })),
  startDurable: (tool: string, args: Json) => request<{ id: string }>("POST", "api/durable", { tool, args }),
  cancelDurable: (run: string) => request<unknown>("POST", `api/durable/${id(run)}/cancel`),
  answerDurable: (run: string, question: string, action: "accept" | "decline" | "cancel", content?: Json) =>
    request<unknown>("POST", `api/durable/${id(run)}/answer`, { question, action, content }),

  // runs
  runs: (filter: { tool?: string; state?: string; caller?: string } = {}) =>
    request<{ runs: RunState[] }>("GET", query("api/runs", filter)),
  run: (run: string) => request<{ run: RunState; records: Rec[]; dropped: number }>("GET", `api/runs/${id(run)}`),
  records: (run: string, from: number) => request<{ records: Rec[] }>("GET", query(`api/runs/${id(run)}/records`, { from })),
  value: (run: string, at: { record?: number; part: Part; pointer?: string; from?: number; count?: number }) =>
    request<{ value: Json; bytes: number }>("GET", query(`api/runs/${id(run)}/value`, { ...at })),
  document: (run: string, record?: number) =>
    request<{ document: Json; variables: Record<string, Json> }>("GET", query(`api/runs/${id(run)}/document`, { record })),
  evaluate: (run: string, expression: string, at: { record?: number; frame?: string } = {}) =>
    request<{ value?: Json }>("POST", `api/runs/${id(run)}/eval`, { expression, ...at }),
  exportJson: async (run: string) => (await send("GET", `api/runs/${id(run)}/export?as=json`)).text(),
  exportTest: (run: string) =>
    request<{ test: string; cassette: string; names: { test: string; cassette: string } }>("GET", `api/runs/${id(run)}/export?as=test`),
  importRun: (text: string) => request<{ id: string }>("POST", "api/runs/import", { text }),
  compare: (a: string, b: string) =>
    request<{ pairs: { key: string; path: string; a?: number; b?: number; same: boolean }[] }>("GET", query("api/runs/compare", { a, b })),

  // the file
  file: async () => {
    const response = await send("GET", "api/file");
    return { text: await response.text(), revision: response.headers.get("ETag")?.replace(/^"|"$/g, "") ?? "" };
  },
  save: (text: string, revision: string, force = false) =>
    request<{ revision: string; problems: Problem[] }>("PUT", force ? "api/file?force=1" : "api/file", undefined,
      { text, headers: { "If-Match": `"${revision}"` } }),
  check: (text: string, signal?: AbortSignal) => request<{ problems: Problem[] }>("POST", "api/file/check", { text }, { signal }),
  format: (text: string) => request<{ text: string }>("POST", "api/file/format", { text }),
  complete: (text: string, offset: number, signal?: AbortSignal) =>
    request<{ items: Completion[] }>("POST", "api/file/complete", { text, offset }, { signal }),
  hover: (text: string, offset: number, signal?: AbortSignal) =>
    request<{ markdown?: string; from?: number; to?: number }>("POST", "api/file/hover", { text, offset }, { signal }),
  edit: (edit: { revision: string; tool: string; operations: Operation[]; dryRun?: boolean }) =>
    request<Edited>("POST", "api/file/edit", edit),

  // servers
  servers: () => request<{ servers: ServerInfo[] }>("GET", "api/servers"),
  checkServer: (name: string) => request<ServerInfo>("POST", `api/servers/${id(name)}/check`),
  callTool: (server: string, tool: string, args: Json) =>
    request<{ result?: Json; ms?: number; error?: Failure }>("POST", `api/servers/${id(server)}/tools/${id(tool)}/call`, { args }),
};
