// The HTTP client of /api: token, errors, JSON.
import { decode, encode } from "../value/json";
import { keep, kept } from "./storage";
import type { ErrorBody, Problem } from "./types";

const tokenKey = "mcpgraph.token";

/** Returns the token in an address, in a fragment, or alone; undefined: there is none. */
export function tokenIn(text: string): string | undefined {
  const part = text.trim().replace(/^[^#]*#/, "");
  return /^(?:token=)?([\w-]{20,})(?:&|$)/.exec(part)?.[1];
}

/** Takes the token out of the address, and keeps it for this tab alone. Returns whether there was one. */
function takeToken(): boolean {
  const given = tokenIn(location.hash);
  if (given === undefined) return false;
  useToken(given);
  const rest = location.hash.replace(/^#[^&]*&?/, "");
  history.replaceState(null, "", location.pathname + location.search + (rest && `#${rest}`));
  return true;
}

let token = "";

/** Sends another token from now on. */
export function useToken(given: string) {
  token = given;
  keep(tokenKey, given, "sessionStorage");
}

if (typeof location !== "undefined" && !takeToken()) token = kept(tokenKey, "sessionStorage") ?? "";

/** Calls a function when somebody opens another address of the page in this tab: that loads nothing by itself. */
export function onToken(f: () => void) {
  addEventListener("hashchange", () => { if (takeToken()) f(); });
}

/**
 * What a request that failed says. Status 0: there was no answer. `at` is the place in the expression
 * of an evaluation, `body` the whole answer: that of 412 has the text of the file.
 */
export class RequestError extends Error {
  override name = "RequestError";
  readonly code?: string;
  readonly problems: Problem[];
  readonly at?: { from: number; to: number };
  constructor(readonly status: number, message: string, readonly body?: ErrorBody) {
    super(message);
    this.code = body?.error?.code;
    this.problems = body?.error?.problems ?? [];
    this.at = body?.error?.at;
  }
}

export interface RequestOptions {
  headers?: Record<string, string>;
  signal?: AbortSignal;
  /** Sent as it is, not as JSON. */
  text?: string;
}

/** Sends a request and returns the response; throws RequestError where it failed. */
export async function send(method: string, path: string, body?: unknown, options: RequestOptions = {}): Promise<Response> {
  const headers: Record<string, string> = { Authorization: `Bearer ${token}`, ...options.headers };
  let payload: string | undefined = options.text;
  if (payload === undefined && method !== "GET") payload = encode(body ?? {});
  if (payload !== undefined) headers["Content-Type"] ??= options.text === undefined ? "application/json" : "text/plain; charset=utf-8";
  let response: Response;
  try {
    response = await fetch(path, { method, headers, body: payload, signal: options.signal, cache: "no-store", credentials: "omit" });
  } catch (e) {
    if (options.signal?.aborted) throw e;
    throw new RequestError(0, "mcpgraph does not answer: is it still running?");
  }
  if (!response.ok) throw await failure(response);
  return response;
}

/** Sends a request and returns the JSON of its answer. */
export async function request<T>(method: string, path: string, body?: unknown, options?: RequestOptions): Promise<T> {
  const response = await send(method, path, body, options);
  const text = await response.text();
  return (text === "" ? undefined : decode(text)) as T;
}

async function failure(response: Response): Promise<RequestError> {
  const text = await response.text().catch(() => "");
  try {
    const body = JSON.parse(text) as ErrorBody;
    return new RequestError(response.status, body.error.message, body);
  } catch {
    return new RequestError(response.status, text.trim() || `HTTP ${response.status}`);
  }
}

/** Appends the parameters that are given to a path. */
export function query(path: string, params: Record<string, string | number | undefined>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined && value !== "") search.set(name, String(value));
  }
  const text = search.toString();
  return text ? `${path}?${text}` : path;
}
