import "./input.css";
import { useId, useMemo } from "react";
import { Body } from "./fieldview";
import { check, type Issue } from "./check";
import { dropDrafts, FormProvider, moveDrafts, type FormState } from "./context";
import type { Schema } from "./schema";

export interface FormProps {
  schema: Schema;
  state: FormState;
  onState: (change: (state: FormState) => FormState) => void;
  /** What is wrong as well, such as what the server said. */
  more?: Issue[];
  /** Whether missing fields are shown as errors. */
  tried?: boolean;
  disabled?: boolean;
  /** Begins the ids of the fields; see focusField. */
  id?: string;
}

/** issuesOf returns what is wrong with what a person has filled in. */
export function issuesOf(schema: Schema, state: FormState): Issue[] {
  const drafts = [...state.drafts].map(([pointer, d]): Issue => ({ pointer, message: d.message }));
  const rest = state.value === undefined ? [] : check(schema, schema, state.value);
  return [...drafts, ...rest.filter((i) => !state.drafts.has(i.pointer))];
}

/** Form edits a value of a JSON Schema. */
export function Form({ schema, state, onState, more, tried = false, disabled = false, id }: FormProps) {
  const own = useId();
  const issues = useMemo(() => [...issuesOf(schema, state), ...(more ?? [])], [schema, state, more]);
  return (
    <FormProvider
      value={{
        id: id ?? own,
        root: schema,
        issues,
        drafts: state.drafts,
        tried,
        disabled,
        setDraft: (at, draft) =>
          onState((s) => {
            if (draft === undefined && !s.drafts.has(at)) return s;
            const drafts = new Map(s.drafts);
            if (draft) drafts.set(at, draft);
            else drafts.delete(at);
            return { ...s, drafts };
          }),
        dropDrafts: (at) => onState((s) => ({ ...s, drafts: dropDrafts(s.drafts, at) })),
        moved: (array, to) => onState((s) => ({ ...s, drafts: moveDrafts(s.drafts, array, to) })),
      }}
    >
      <div className="f-form">
        <Body schema={schema} path={[]} value={state.value} onChange={(value) => onState((s) => ({ value, drafts: value === undefined ? dropDrafts(s.drafts, "") : s.drafts }))} />
      </div>
    </FormProvider>
  );
}
