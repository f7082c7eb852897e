// The JSON of /api, shared by pkg/ui (Go) and the page (TypeScript). Whoever changes it
// changes both sides in one commit.
//
// Every request carries Authorization: Bearer TOKEN. Commands are POST with a JSON body
// and Content-Type: application/json; those without a body send {}. Every path below
// /api answers JSON unless it says otherwise.
// Errors: status 4xx or 5xx and an ErrorBody.
//
// A value in lists and events is cut at 8 KiB of JSON: a Cut stands in its place. The
// whole, or a part by JSON pointer, comes from /api/runs/{id}/value. A value that is
// undefined has no key.

export type Json = null | boolean | number | string | Json[] | { [k: string]: Json };
export interface Pos { line: number; col: number }            // 1-based, col in characters
export interface Span { from: Pos; to: Pos }                  // to: behind the last character
export interface Cut { $cut: { bytes: number; preview: string } }
export interface ErrorBody { error: ApiError }
export interface ApiError {
  message: string;
  code?: string;                                              // stable, such as "unauthorized", "wrong_state", "not_found"
  problems?: Problem[];                                       // of a file
  at?: { from: number; to: number };                          // UTF-16 offsets in the expression of eval
  fields?: { path: string; message: string }[];               // of arguments that do not fit: "options.items[2].name"
}

// GET /api/state
export interface State {
  version: string; mode: "ui" | "serve";
  readOnly: boolean;                                          // no command but eval
  file: { path: string; name: string; revision: string; editable: boolean };
  durable?: { place: string; problem?: string };              // where durable runs are kept; problem: it cannot be reached
  generation: number;                                         // raised by each reload; 0: the file was never good
  revision: string;                                           // of the text that is loaded; file.revision is of the text on disk
  tools: ToolInfo[]; servers: string[]; problems: Problem[];  // problems of the file on disk
  openings: Opening[];
  last: number;                                               // number of the newest event
}
/** A time in which calls waited for a server to start or to be connected: the latest 32 of each server. */
export interface Opening { server: string; from: string; to: string }
export interface ToolInfo { name: string; title?: string; description?: string; private?: boolean;
  inputSchema: Json; outputSchema?: Json; requiredScopes?: string[]; nodes: number }
export interface Problem { file: string; severity: "error" | "warning" | "info"; code: string; message: string; hint?: string;
  span: Span;
  from?: number; to?: number;                                 // UTF-16 offsets; only of the page's own file
  tool?: string; node?: string /* key */;
  fixes?: { title: string; edits: { from: number; to: number; text: string }[] }[] } // UTF-16 offsets of the text

// GET /api/tools/{name}/graph
export interface Graph { tool: string; revision: string /* spans are in this text */; nodes: GNode[]; edges: GEdge[]; bodies: GBody[] }
// key: TOOL#PATH, the same in records and events. PATH is static: "info", "sizes[].info" (body of a map),
// "both.news.fetch" (branch news of parallel both). A node inside a called tool has the key of that tool.
export interface GNode { key: string; id: string; type: string; body?: string /* GBody.key it stands in */;
  server?: string; tool?: string; calls?: string /* tool of this file */; label?: string;
  span: Span; pointer: string /* JSON pointer in the file */; yaml: string; policies?: string[] /* "retry 3", "timeout 5 s", "catch" */ }
// from is "TOOL#" or a GBody.key where any node of the tool or body may fail (kind "catch").
export interface GEdge { from: string; to: string; via: string /* "next", "conditions[0]", "catch[0]" */;
  label?: string /* short */; rule?: string /* whole */; kind: "next" | "case" | "default" | "catch" }
export interface GBody { key: string; owner: string /* node key */; name: string; entry: string /* node key */ }

// ---- sessions (runs under control) --------------------------------------------------------
// POST /api/sessions  → {id}     id is the id of the run, too
export interface Start { tool: string; args: Json; startPaused?: boolean; breakpoints?: Breakpoint[]; breakOn?: BreakOn;
  pins?: { [key: string]: Json };
  from?: { run: string; step: number /* record index: records before it are kept */; set?: { node: string; value: Json } } }
export interface Breakpoint { node: string /* key, or id */; when?: string; hits?: number; log?: string; disabled?: boolean }
export interface BreakOn { failure?: "none" | "any" | "uncaught"; enterTool?: boolean }
// All commands answer {}; what they did comes as an event.
// POST /api/sessions/{id}/pause|resume|step|stepInto|stepOut|stop      {}
// POST /api/sessions/{id}/runTo        {node}
// POST /api/sessions/{id}/breakpoints  {breakpoints, breakOn}    replaces all
// POST /api/sessions/{id}/pin          {node, value}      /unpin {node}
// POST /api/sessions/{id}/setOutput    {node, value}
// POST /api/sessions/{id}/answer       {question, action: "accept"|"decline"|"cancel", content?}: the form as it is filled in, the text of a model, or a list of URIs
// A command in the wrong state: 409, code "wrong_state".
export interface RunState { id: string; tool: string; caller?: string; session: boolean /* can be controlled */;
  imported?: boolean; durable?: DurableInfo;
  state: "running" | "paused" | "done" | "failed" | "stopped" | "cancelled" | "waiting" /* for a person */;
  began: string; ended?: string; pausing?: boolean /* pauses as soon as calls under way are over */; paused?: Paused; active: Active[]; questions: Question[];
  breakpoints?: Breakpoint[]; breakOn?: BreakOn; pins?: string[]; executions: number;
  args?: Json; result?: Json; error?: Failure; can: string[] /* the commands that do something now */ }
export interface Paused { why: "breakpoint" | "step" | "pause" | "failure" | "start" | "enter"; key: string; path: string;
  at: number /* index of the record before; -1: none */; frame: string; text?: string }
export interface Active { key: string; path: string; execution: number; attempt: number; state: string; start?: string; server?: string; tool?: string;
  worker?: string; progress?: number; total?: number; message?: string /* of calls of durable runs */ }
/** A run that is kept outside of the process. known: the graph of the file is the one that it runs on; without it its records
 *  are all that can be shown, and their keys are those of no graph. code: "no_worker", "unreachable", "unreadable",
 *  "too_long", "stuck" or "not_followed". */
export interface DurableInfo { version: string; known: boolean; parent?: string /* id of the run that waits for this one */; code?: string; problem?: string }
export interface Question { id: string; key: string; path: string; method: "elicitation/create" | "sampling/createMessage" | "roots/list"; message: string; system?: string; messages?: { role: string; text: string }[]; schema?: Json; url?: string; until?: string }
export interface Failure { name: string; message: string; file?: string; span?: Span; key?: string; path?: string; detail?: Json }

// ---- durable runs --------------------------------------------------------------------------
// All paths of runs below serve them, too. What needs their graph answers 409 "no_graph" where that is not known.
// GET  /api/durable?cursor=              → {runs: RunState[], next?: cursor, problem?}   first the newest 50 and those under way
// POST /api/durable              {tool, args} → {id}
// POST /api/durable/{id}/cancel  {}
// POST /api/durable/{id}/answer  {question, action, content?} as for sessions

// ---- runs ------------------------------------------------------------------------------------
// GET  /api/runs?tool=&state=&caller=       → {runs: RunState[] without args and result}, newest first
// GET  /api/runs/{id}                       → {run: RunState, records: Rec[], dropped: number}   the first 1,000 records; then:
// GET  /api/runs/{id}/records?from=N        → {records: Rec[]}   1,000 at a time
// GET  /api/runs/{id}/value?record=N&part=output|arguments|reply|error|document|variables&pointer=/a/b  → {value, bytes}
//      without record: part=args|result
//      values above 256 KiB come cut level by level: members and items above 8 KiB are Cuts, and long arrays
//      are {"$slice": {from, total, items}}, and objects of more than 1,000 members {"$slice": {from, total,
//      items: [key, value][], object: true}}; &from=&count= choose the items (at most 1,000)
// GET  /api/runs/{id}/document?record=N     → {document, variables}   what that execution's expressions saw; each member cut
// POST /api/runs/{id}/eval     {expression, record?: number /* none: where it is paused, else the end */, frame?}
//                              → {value?} or 422 with error.at
// GET  /api/runs/{id}/export?as=json|test   → json: attachment; test: {test: text, cassette: text, names: {test, cassette}}
// POST /api/runs/import        (text of an exported run as {text}) → {id}
// GET  /api/runs/compare?a=&b=              → {pairs: [{key, path, a?: number, b?: number, same: boolean}]}   numbers: record indexes
export interface Rec { index: number; key: string; path: string; id: string; type: string; event: string;
  frame: string; execution: number; item?: number; branch?: string; start: string; end: string; ms: number;
  state: "done" | "failed" | "caught" | "cancelled" | "pinned" | "waiting"; output?: Json; error?: Failure;
  via?: string; next?: string /* key */; server?: string; tool?: string; arguments?: Json; unsent?: string[]; reply?: Json; fromCache?: boolean;
  attempts?: { start: string; end: string; error?: string }[]; tries?: number }

// ---- events: GET /api/events?after=N&runs=ID,ID  ---------------------------------------------
// text/event-stream read with fetch; "id: N" is the number, data one Event; a comment every 15 s.
// after=N resumes; if N is no longer in the ring of 10,000, the first event is {type:"gap"}: fetch again.
// Without after, events from now on. Events "record", "task", "log" and "progress" come for the runs named
// (attach); to attach to another run, open the stream again with after=N, then fetch the run: records have
// an index, so what comes twice is known. All other types come always. Batched every 50 ms.
export type Event = { n: number; time: string } & (
  | { type: "gap" }
  | { type: "reloaded"; generation: number; revision: string }      // the file was reloaded
  | { type: "file"; revision: string; problems: Problem[] }         // the file on disk has changed (valid or not)
  | { type: "run"; run: RunState }                                  // a run began, changed its state, ended: without args/result
  | { type: "record"; run: string; record: Rec }                    // an execution is over, or opened/retried (see record.event)
  | { type: "task"; run: string; active: Active }                   // an execution began
  | { type: "log"; run?: string; key?: string; level: string; text: string }
  | { type: "progress"; run: string; progress: number; total?: number; message?: string }
  | { type: "durable"; text?: string }                              // the place of durable runs cannot be reached, or (no text) can be again
  | { type: "runs" }                                                // more runs changed than can be told: fetch the list
  | { type: "servers"; openings?: Opening[] });                     // figures of servers changed: fetch

// ---- file -------------------------------------------------------------------------------------
// GET  /api/file               → text/plain, ETag: "revision"
// PUT  /api/file?force=1  If-Match: "revision"     text/plain → {revision, problems}
//        412 {error, current: text, revision}; 422 {error with problems} where it has errors (force=1 saves all the same)
// POST /api/file/check         {text} → {problems}
// POST /api/file/format        {text} → {text}
// POST /api/file/complete      {text, offset} → {items: [{label, insert, from, to, detail?, doc?, kind, first?}]}   UTF-16 offsets
// POST /api/file/hover         {text, offset} → {markdown, from, to} or {}
// POST /api/file/edit          {revision, tool, operations: Operation[], dryRun?} → {revision, text, diff, problems, refused?}; 412 as above, 422 for errors that the file has not yet
export type Operation =
  | { op: "addNode"; node: Json; after?: string; via?: string; body?: string /* GBody.key */ }     // inserted into that edge
  | { op: "removeNode"; node: string; reconnect?: boolean }
  | { op: "renameNode"; node: string; to: string }            // expressions follow
  | { op: "connect"; from: string; via: string; to: string; rule?: Json /* of a new condition */ }
  | { op: "disconnect"; from: string; via: string }
  | { op: "set"; path: string; value: Json } | { op: "remove"; path: string } | { op: "move"; path: string; to: number };

// ---- servers ------------------------------------------------------------------------------------
// GET  /api/servers                              → {servers: ServerInfo[]} without asking them
// POST /api/servers/{name}/check                 → ServerInfo, connects and lists
// POST /api/servers/{name}/tools/{tool}/call     {args} → {result, ms} or {error: Failure}
export interface ServerInfo { name: string; transport: string; target: string /* masked */; state: string; protocol?: string;
  info?: { name: string; version: string; title?: string }; instructions?: string; error?: string;
  tools?: { name: string; title?: string; description?: string; inputSchema: Json; outputSchema?: Json; annotations?: Json; hidden?: boolean }[];
  stats?: Json }
