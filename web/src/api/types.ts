// The JSON of /api, shared by pkg/ui (Go) and the page (TypeScript). Its types are made from
// those of pkg/ui (generated.ts, see pkg/ui/typescript_test.go); here are the paths, and what
// Go has no types for.
//
// Every request carries Authorization: Bearer TOKEN. Commands are POST with a JSON body
// and Content-Type: application/json; those without a body send {}. Every path below
// /api answers JSON unless it says otherwise.
// Errors: status 4xx or 5xx and an ErrorBody.
//
// A value in lists and events is cut at 8 KiB of JSON: a Cut stands in its place. The
// whole, or a part by JSON pointer, comes from /api/runs/{id}/value. A value that is
// undefined has no key.

import type { Active, ApiError, EventFields, Opening, Problem, Rec, RunState } from "./generated";

export type * from "./generated";

export type Json = null | boolean | number | string | Json[] | { [k: string]: Json };
export interface ErrorBody { error: ApiError }

// GET /api/state                  → State; openings are the latest 32 of each server
// GET /api/tools/{name}/graph     → Graph. The path in a key is static: "sizes[].info" is in the body of a map,
//      "both.news.fetch" in the branch news of parallel both. A node inside a called tool has the key of that tool.

// ---- sessions (runs under control) --------------------------------------------------------
// POST /api/sessions  Start → {id}     id is the id of the run, too
// All commands answer {}; what they did comes as an event.
// POST /api/sessions/{id}/pause|resume|step|stepInto|stepOut|stop      {}
// POST /api/sessions/{id}/runTo        {node}
// POST /api/sessions/{id}/breakpoints  {breakpoints, breakOn}    replaces all
// POST /api/sessions/{id}/pin          {node, value}      /unpin {node}
// POST /api/sessions/{id}/setOutput    {node, value}
// POST /api/sessions/{id}/answer       {question, action: "accept"|"decline"|"cancel", content?}: the form as it is filled in, the text of a model, or a list of URIs
// A command in the wrong state: 409, code "wrong_state".

// ---- durable runs --------------------------------------------------------------------------
// All paths of runs below serve them, too. Without durable.known the records are all that can be shown, and their keys are
// those of no graph. durable.code: "no_worker", "unreachable", "unreadable", "too_long", "stuck" or "not_followed". What needs their graph answers 409 "no_graph" where that is not known.
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

// ---- events: GET /api/events?after=N&runs=ID,ID  ---------------------------------------------
// text/event-stream read with fetch; "id: N" is the number, data one Event; a comment every 15 s.
// after=N resumes; if N is no longer in the ring of 10,000, the first event is {type:"gap"}: fetch again.
// Without after, events from now on. Events "record", "task", "log" and "progress" come for the runs named
// (attach); to attach to another run, open the stream again with after=N, then fetch the run: records have
// an index, so what comes twice is known. All other types come always. Batched every 50 ms.
type Fields<T extends EventFields> = T;
export type Event = Fields<{ n: number; time: string } & (
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
  | { type: "servers"; openings?: Opening[] })>;                     // figures of servers changed: fetch

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
