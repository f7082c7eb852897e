// Made from the types of pkg/ui by UPDATE=1 go test ./pkg/ui -run TypesOfThePage; do not edit.
import type { Json } from "./types";

// ApiError is the answer to a request that failed.
export interface ApiError {
  message: string;
  code?: string; // stable, such as "unauthorized", "wrong_state", "not_found"
  problems?: Problem[]; // of a file
  at?: Range; // in the expression of eval
  fields?: { path: string; message: string }[]; // Fields are what is wrong with the arguments of a call.
}

export interface Pos {
  line: number; // from 1
  col: number; // from 1, in characters
}

// Span is a range of a file.
export interface Span {
  from: Pos;
  to: Pos; // behind the last character
}

// Range is a range of UTF-16 code units.
export interface Range {
  from: number;
  to: number;
}

// Cut stands in the place of a value that is too long.
export interface Cut {
  $cut: CutInfo;
}

export interface CutInfo {
  bytes: number;
  preview: string;
}

export interface State {
  version: string;
  mode: 'ui' | 'serve';
  readOnly: boolean; // no command but eval
  file: FileInfo;
  generation: number; // raised by each reload; 0: the file was never good
  revision: string; // of the text that is loaded; file.revision is of the text on disk
  tools: ToolInfo[];
  servers: string[];
  durable?: DurableState; // Durable is absent where no runs are kept outside of this process.
  problems: Problem[]; // of the file on disk
  openings: Opening[];
  last: number; // the number of the newest event
}

export interface FileInfo {
  path: string;
  name: string;
  revision: string;
  editable: boolean;
}

// DurableState is what a page knows of the place of durable runs.
export interface DurableState {
  place: string;
  problem?: string;
}

// Opening is a time in which calls waited for a server to start.
export interface Opening {
  server: string;
  from: string;
  to: string;
}

export interface ToolInfo {
  name: string;
  title?: string;
  description?: string;
  private?: boolean;
  inputSchema: Json;
  outputSchema?: Json;
  requiredScopes?: string[];
  nodes: number;
}

export interface Problem {
  file: string;
  severity: 'error' | 'warning' | 'info';
  code: string;
  message: string;
  hint?: string;
  span: Span;
  from?: number; // UTF-16 offset, as to; only of the page's own file
  to?: number;
  tool?: string;
  node?: string; // its key
  fixes?: Fix[];
}

export interface Fix {
  title: string;
  edits: TextEdit[];
}

export interface TextEdit {
  from: number; // UTF-16 offset in the text, as to
  to: number;
  text: string;
}

export interface Saved {
  revision: string;
  text?: string;
  diff?: string;
  problems: Problem[];
  refused?: Problem[]; // Refused are the errors for which an edit that is tried would not be saved.
}

export interface Completion {
  label: string;
  insert: string;
  from: number;
  to: number;
  detail?: string;
  doc?: string;
  kind: string;
  first?: boolean;
}

export interface Graph {
  tool: string;
  revision: string; // of the text that spans are in
  nodes: GNode[];
  edges: GEdge[];
  bodies: GBody[];
}

export interface GNode {
  key: string; // TOOL#PATH, the same in records and events; a path is static: "info", "sizes[].info", "both.news.fetch"
  id: string;
  type: string;
  body?: string; // the key of the body that it stands in
  server?: string;
  tool?: string;
  calls?: string; // a tool of this file
  label?: string;
  span: Span;
  pointer: string; // a JSON pointer in the file
  yaml: string;
  policies?: string[]; // such as "retry 3", "timeout 5 s", "catch"
}

export interface GEdge {
  from: string; // a node, or "TOOL#" or a body in which any node may fail (catch)
  to: string;
  via: string; // such as "next", "conditions[0]", "catch[0]"
  label?: string; // short
  rule?: string; // whole
  kind: 'next' | 'case' | 'default' | 'catch';
}

export interface GBody {
  key: string;
  owner: string; // the key of a node, as entry
  name: string;
  entry: string;
}

export interface Start {
  tool: string;
  args: Json;
  startPaused?: boolean;
  breakpoints?: Breakpoint[];
  breakOn?: BreakOn;
  pins?: { [key: string]: Json };
  from?: StartFrom;
}

export interface StartFrom {
  run: string;
  step: number; // the index of a record: those before it are kept
  set?: NodeValue;
}

export interface NodeValue {
  node: string;
  value: Json;
}

export interface Breakpoint {
  node: string; // a key, or an id
  when?: string;
  hits?: number;
  log?: string;
  disabled?: boolean;
}

export interface BreakOn {
  failure?: 'none' | 'any' | 'uncaught';
  enterTool?: boolean;
}

export interface RunState {
  id: string;
  tool: string;
  caller?: string;
  durable?: DurableInfo;
  session: boolean; // it can be controlled
  imported?: boolean;
  state: 'running' | 'paused' | 'done' | 'failed' | 'stopped' | 'cancelled' | 'waiting'; // waiting: for a person
  began: string;
  ended?: string;
  pausing?: boolean; // it pauses as soon as calls under way are over
  paused?: Paused;
  active: Active[];
  questions: Question[];
  breakpoints?: Breakpoint[];
  breakOn?: BreakOn;
  pins?: string[];
  executions: number;
  args?: Json;
  result?: Json;
  error?: Failure;
  can: string[]; // the commands that do something now
}

export interface Paused {
  why: 'breakpoint' | 'step' | 'pause' | 'failure' | 'start' | 'enter';
  key: string;
  path: string;
  at: number; // the index of the record before; -1: none
  frame: string;
  text?: string;
}

export interface Active {
  key: string;
  path: string;
  execution: number;
  attempt: number;
  state: string;
  start?: string;
  server?: string;
  tool?: string;
  worker?: string; // What is known of the calls of durable runs.
  progress?: number;
  total?: number;
  message?: string;
}

// DurableInfo is what a run has that is kept outside of this process.
export interface DurableInfo {
  version: string; // Version is the beginning of the digest of its file; Known is true if that is the file of the page as it is now.
  known: boolean;
  parent?: string; // Parent is the run that waits for this one.
  code?: string; // Code and Problem are why the run cannot be shown as it is.
  problem?: string;
}

export interface Question {
  id: string;
  key: string;
  path: string;
  method: 'elicitation/create' | 'sampling/createMessage' | 'roots/list';
  message: string;
  schema?: Json;
  url?: string;
  system?: string;
  messages?: Said[];
  until?: string;
}

// Said is a message of a conversation with a model.
export interface Said {
  role: string;
  text: string;
}

export interface Failure {
  name: string;
  message: string;
  file?: string;
  span?: Span;
  key?: string;
  path?: string;
  detail?: Json;
}

export interface Rec {
  index: number;
  key: string;
  path: string;
  id: string;
  type: string;
  event: string;
  frame: string;
  execution: number;
  item?: number;
  branch?: string;
  start: string;
  end: string;
  ms: number;
  state: 'done' | 'failed' | 'caught' | 'cancelled' | 'pinned' | 'waiting';
  output?: Json;
  error?: Failure;
  via?: string;
  next?: string; // a key
  server?: string;
  tool?: string;
  arguments?: Json;
  unsent?: string[];
  reply?: Json;
  attempts?: Attempt[];
  fromCache?: boolean;
  tries?: number;
}

export interface Attempt {
  start: string;
  end: string;
  error?: string;
}

export interface ServerInfo {
  name: string;
  transport: string;
  target: string; // without secrets
  state: string;
  protocol?: string;
  info?: Peer;
  error?: string;
  instructions?: string; // Instructions, as the title, are known once the server has been asked.
  tools?: ServerTool[];
  stats?: Json;
}

export interface Peer {
  name: string;
  version: string;
  title?: string;
}

export interface ServerTool {
  name: string;
  title?: string;
  description?: string;
  inputSchema: Json;
  outputSchema?: Json;
  annotations?: Json;
  hidden?: boolean;
}

// EventFields is something that has happened. Type says which fields count.
export interface EventFields {
  n: number;
  time: string;
  type: string;
  generation?: number;
  revision?: string;
  problems?: Problem[];
  run?: RunState | string; // a *runState, or the id of one
  record?: Rec;
  active?: Active;
  key?: string;
  level?: string;
  text?: string;
  progress?: number;
  total?: number;
  message?: string;
  openings?: Opening[];
}
