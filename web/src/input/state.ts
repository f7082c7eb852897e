// The input of each tool: what a person has filled in and has not sent yet.

import { useSyncExternalStore } from "react";
import { RequestError } from "../api";
import type { Json, ToolInfo } from "../api/types";
import { state as app } from "../store/state";
import { changed as appChanged } from "../store/store";
import { encode, type Value } from "../value/json";
import { pointer } from "../value/path";
import type { Issue } from "./check";
import { focusField, type Draft, type FormState } from "./context";
import { issuesOf } from "./form";
import { remember, remembered } from "./history";
import { initial, schemaOf, type Schema } from "./schema";

/** Input is what a person has filled in for one tool. */
export interface Input extends FormState {
  mode: "form" | "json";
  /** Whether they have tried to run it: missing fields are errors from then on. */
  tried: boolean;
  /** What the server said of these arguments. */
  refused: Issue[];
  /** Whether they have changed something. */
  touched: boolean;
  /** The schema as it was then. */
  schema: string;
}

const inputs = new Map<string, Input>();
const listeners = new Set<() => void>();

function put(tool: string, input: Input) {
  inputs.set(tool, input);
  for (const l of [...listeners]) l();
  appChanged();
}

/** formId begins the ids of the fields of the input. */
export const formId = "input";

function toolOf(name: string): ToolInfo | undefined {
  return app.server?.tools.find((t) => t.name === name);
}

/** inputSchema returns the input schema of a tool. */
export function inputSchema(name: string): Schema {
  return schemaOf(toolOf(name)?.inputSchema as Value | undefined);
}

/** inputOf returns the input of a tool; at first, the last one that was run, or what its schema has as defaults. */
export function inputOf(name: string): Input {
  const schema = inputSchema(name);
  const text = encode(schema);
  const known = inputs.get(name);
  if (known && (known.schema === text || known.touched)) return known;
  const last = known ? undefined : remembered(app.server?.file.path ?? "", name)[0]?.args;
  const input: Input = { value: last ?? initial(schema, schema) ?? {}, drafts: new Map(), mode: known?.mode ?? "form", tried: false, refused: [], touched: false, schema: text };
  inputs.set(name, input);
  return input;
}

/** useInput returns the input of a tool. The component renders again when it changes. */
export function useInput(name: string): Input {
  return useSyncExternalStore(
    (l) => {
      listeners.add(l);
      return () => listeners.delete(l);
    },
    () => inputOf(name),
  );
}

/** changeInput changes what was filled in. */
export function changeInput(name: string, change: (s: FormState) => FormState) {
  const input = inputOf(name);
  const { value, drafts } = change(input);
  if (value === input.value && drafts === input.drafts) return;
  put(name, { ...input, value, drafts, refused: [], touched: true });
}

/** setArguments replaces the input of a tool, as with the arguments of an earlier run. */
export function setArguments(name: string, args: Value) {
  put(name, { ...inputOf(name), value: args, drafts: new Map(), touched: true, tried: false, refused: [] });
}

/** resetInput takes back what was filled in. */
export function resetInput(name: string) {
  const schema = inputSchema(name);
  put(name, { ...inputOf(name), value: initial(schema, schema) ?? {}, drafts: new Map(), refused: [], tried: false, touched: false });
}

/** setMode changes between form and JSON. A text that is not JSON has to be corrected or taken back first. */
export function setMode(name: string, mode: "form" | "json") {
  const input = inputOf(name);
  const drafts = mode === "json" ? new Map<string, Draft>() : input.drafts;
  put(name, { ...input, mode, drafts });
}

/**
 * currentArguments returns the arguments that are filled in for a tool, or what is
 * wrong with them. In that case the form shows it from then on. Arguments are
 * remembered by rememberArguments, once they were sent.
 */
export function currentArguments(tool: string): { args: Json } | { errors: Issue[] } {
  const input = inputOf(tool);
  const schema = inputSchema(tool);
  const value = input.value ?? {};
  const errors = issuesOf(schema, { value, drafts: input.drafts });
  if (errors.length > 0) {
    if (!input.tried) put(tool, { ...input, tried: true });
    return { errors };
  }
  return { args: value as Json };
}

/** refuse shows at the fields what the server says of arguments that it refused. It returns whether it could. */
export function refuse(tool: string, error: unknown): boolean {
  const fields = error instanceof RequestError ? (error.body?.error.fields ?? []) : [];
  if (fields.length === 0) return false;
  const refused = fields.map(({ path, message }): Issue => {
    const steps = [...path.matchAll(/([^.[\]]+)|\[(\d+)\]/g)].map((m) => m[1] ?? Number(m[2]));
    return { pointer: pointer(steps), message };
  });
  put(tool, { ...inputOf(tool), tried: true, refused });
  focusError(refused);
  return true;
}

/** focusError moves the focus to the first field with an error. */
export function focusError(errors: Issue[]) {
  const first = errors[0];
  if (first) setTimeout(() => focusField(formId, first.pointer), 50);
}

/** rememberArguments keeps arguments that were sent, for the list of last inputs. */
export function rememberArguments(tool: string, args: Json) {
  remember(app.server?.file.path ?? "", tool, inputSchema(tool), args as Value);
}
