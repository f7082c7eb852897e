// What the fields of one form share.

import { createContext, useContext } from "react";
import type { Value } from "../value/json";
import { pointer, type Path } from "../value/path";
import type { Issue } from "./check";
import type { Schema } from "./schema";

/** Draft is a text that was typed and is not a value yet. */
export interface Draft {
  text: string;
  message: string;
}
export type Drafts = ReadonlyMap<string, Draft>;

/** FormState is what a person has filled in. An absent value is undefined. */
export interface FormState {
  value: Value | undefined;
  drafts: Drafts;
}

export interface FormContext {
  id: string;
  root: Schema;
  issues: Issue[];
  drafts: Drafts;
  /** Whether missing fields are shown as errors: after the first attempt to send. */
  tried: boolean;
  disabled: boolean;
  setDraft: (at: string, draft: Draft | undefined) => void;
  /** Drops the drafts at a place and inside of it. */
  dropDrafts: (at: string) => void;
  /** Says that items of an array moved: from their old positions to new ones, or undefined for removed ones. */
  moved: (array: string, to: (i: number) => number | undefined) => void;
}

const Context = createContext<FormContext | undefined>(undefined);
export const FormProvider = Context.Provider;

export function useForm(): FormContext {
  const context = useContext(Context);
  if (!context) throw new Error("a field stands outside of a form");
  return context;
}

/** FieldProps is what every field gets. */
export interface FieldProps {
  path: Path;
  value: Value | undefined;
  /** undefined takes the value away. */
  onChange: (value: Value | undefined) => void;
}

/** fieldId returns the id of the element that edits the value at a path. */
export function fieldId(form: string, path: Path): string {
  return idOf(form, pointer(path));
}

function idOf(form: string, at: string): string {
  return form + at.replaceAll("%", "%25").replace(/\s/g, "%20");
}

/** move returns drafts after items of an array moved. */
export function moveDrafts(drafts: Drafts, array: string, to: (i: number) => number | undefined): Drafts {
  const next = new Map<string, Draft>();
  for (const [at, draft] of drafts) {
    if (!at.startsWith(array + "/")) {
      next.set(at, draft);
      continue;
    }
    const rest = at.slice(array.length + 1);
    const end = rest.indexOf("/");
    const i = Number(end < 0 ? rest : rest.slice(0, end));
    const target = to(i);
    if (target !== undefined) next.set(`${array}/${target}${end < 0 ? "" : rest.slice(end)}`, draft);
  }
  return next;
}

/** dropDrafts returns drafts without those at a place and inside of it. */
export function dropDrafts(drafts: Drafts, at: string): Drafts {
  if (![...drafts.keys()].some((k) => k === at || k.startsWith(at + "/"))) return drafts;
  return new Map([...drafts].filter(([k]) => k !== at && !k.startsWith(at + "/")));
}

/** focusField moves the focus to the field at a pointer, or to the nearest one around it. */
export function focusField(form: string, at: string) {
  for (let p = at; ; p = p.slice(0, p.lastIndexOf("/"))) {
    const el = document.getElementById(idOf(form, p));
    if (el) {
      el.scrollIntoView({ block: "nearest" });
      el.focus();
      return;
    }
    if (p === "") return;
  }
}
