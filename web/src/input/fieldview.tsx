import { useMemo, type ReactNode } from "react";
import type { Value } from "../value/json";
import { pointer, type Path } from "../value/path";
import { hint } from "./check";
import { fieldId, useForm } from "./context";
import { ArrayField } from "./array";
import { ChoiceField, ChoicesField, BooleanField } from "./choice";
import { JSONField } from "./jsonfield";
import { ObjectField } from "./object";
import { NumberField, TextField } from "./text";
import { blank, describe, field, fits, start, type Field, type Schema } from "./schema";

export interface FieldViewProps {
  schema: Schema;
  path: Path;
  name: ReactNode;
  /** Name as text, for screen readers. */
  label: string;
  required: boolean;
  value: Value | undefined;
  onChange: (value: Value | undefined) => void;
  /** Buttons of the container: remove, move. */
  actions?: ReactNode;
  /** Takes the field away as a whole. Without it, "leave out" makes the value absent. */
  onRemove?: () => void;
  /** Whether there is a button to leave the value out; items of arrays have their own. */
  removable?: boolean;
}

/** typeName returns the type of a field in words. */
function typeName(f: Field): string {
  const format = f.format ? ` (${f.format})` : "";
  const name = f.widget === "choice" || f.widget === "choices" ? (f.widget === "choices" ? "some of" : "one of") : f.variants.length > 0 ? "one of several" : describe(f.schema) || "any JSON";
  return name.replace(/ with .*/, "") + format + (f.nullable && !/null/.test(name) ? " or null" : "");
}

/** issuesAt returns the messages for the value at a path; with those inside of it, if it is edited as a whole. */
function useMessages(path: Path, inside: boolean): string[] {
  const form = useForm();
  const at = pointer(path);
  const list: string[] = [];
  for (const i of form.issues) {
    if (i.message === "is required" && !form.tried) continue;
    if (i.pointer === at) list.push(i.message);
    else if (inside && i.pointer.startsWith(at + "/")) list.push(`${i.pointer.slice(at.length)} ${i.message}`);
  }
  return [...new Set(list)].slice(0, 6);
}

/** FieldView shows one field: its name, what is known of it, the widget, and what is wrong. */
export function FieldView({ schema, path, name, label, required, value, onChange, onRemove, actions, removable = true }: FieldViewProps) {
  const form = useForm();
  const f = useMemo(() => field(form.root, schema), [form.root, schema]);
  const asJSON = value !== undefined && value !== null && !fits(f, value);
  const isNull = value === null && f.nullable && f.widget !== "json" && !form.drafts.has(pointer(path));
  const group = (f.widget === "object" || f.widget === "array" || f.widget === "choices" || f.widget === "boolean") && !asJSON;
  const draft = form.drafts.has(pointer(path));
  const messages = useMessages(path, asJSON || f.widget === "json" || f.widget === "choice");
  const id = fieldId(form.id, path);
  const note = typeof value === "string" ? hint(f.format, value) : undefined;
  const absent = value === undefined && !draft;
  const addable = (absent || (value === null && !isNull)) && (f.widget === "object" || f.widget === "array");
  const helpId = `${id}?help`;
  const errorId = `${id}?error`;
  const described = [f.description || note ? helpId : "", messages.length > 0 ? errorId : ""].filter(Boolean).join(" ") || undefined;
  const remove = () => {
    form.dropDrafts(pointer(path));
    if (onRemove) onRemove();
    else onChange(undefined);
  };

  const head = (
    <>
      <span className="f-name">{name}</span>
      {f.title && f.title !== label && <span className="f-title">{f.title}</span>}
    </>
  );
  return (
    <div className={`f-field${messages.length > 0 ? " f-wrong" : ""}${group ? " f-group" : ""}`} role={group ? "group" : undefined} aria-labelledby={group ? `${id}?name` : undefined} aria-describedby={group ? described : undefined}>
      <div className="f-head">
        <span className="f-about">
        {group || isNull ? (
          <span id={`${id}?name`} className="f-label">
            {head}
          </span>
        ) : (
          <label className="f-label" htmlFor={id}>
            {head}
          </label>
        )}
        <span className="f-type">{typeName(f)}</span>
        {required && <span className="f-required">required</span>}
        {f.deprecated && <span className="f-type">deprecated</span>}
        </span>
        <span className="f-actions">
        {f.nullable && value !== null && (
          <button type="button" className="f-action" disabled={form.disabled} aria-label={`Set ${label} to null`} onClick={() => { form.dropDrafts(pointer(path)); onChange(null); }}>
            null
          </button>
        )}
        {(removable || onRemove) && !absent && !(!onRemove && required && value !== null && f.widget === "object") && (
          <button type="button" className="f-action" disabled={form.disabled} aria-label={`Leave out ${label}`} title="Leave out" onClick={remove}>
            ×
          </button>
        )}
        {actions}
        </span>
      </div>
      {isNull ? (
        <span className="f-row">
          <span className="f-null">null</span>
          <button type="button" id={id} className="f-action" disabled={form.disabled} aria-label={`Set a value of ${label}`} onClick={() => { onChange(blank(form.root, schema) ?? start(f)); focusInside(id); }}>
            Set a value
          </button>
        </span>
      ) : addable ? (
        <button type="button" id={id} className="f-add" disabled={form.disabled} aria-label={`Add ${label}`} onClick={() => { onChange(blank(form.root, schema)); focusInside(id); }}>
          + Add {f.widget === "array" ? "list" : ""}
        </button>
      ) : (
        <Widget f={asJSON ? { ...f, widget: "json" } : f} schema={schema} path={path} label={label} required={required} value={value === null && !asJSON && f.widget !== "json" && f.widget !== "choice" ? undefined : value} onChange={onChange} id={id} described={described} invalid={messages.length > 0} Item={FieldView} />
      )}
      {(f.description || note) && (
        <p className="f-help" id={helpId}>
          {f.description}
          {note && <span className="f-hint">{note}</span>}
        </p>
      )}
      {messages.length > 0 && (
        <p className="f-error" id={errorId}>
          {messages.join("; ")}
        </p>
      )}
    </div>
  );
}

/** focusInside moves the focus to the widget that replaces a button, or to the first field in it. */
function focusInside(id: string) {
  setTimeout(() => {
    const group = document.querySelector(`[aria-labelledby="${CSS.escape(`${id}?name`)}"]`);
    (document.getElementById(id) ?? group?.querySelector<HTMLElement>(".f-fields input, .f-fields select, .f-fields textarea, .f-fields button"))?.focus();
  });
}

export interface WidgetProps {
  f: Field;
  schema: Schema;
  path: Path;
  label: string;
  required: boolean;
  value: Value | undefined;
  onChange: (value: Value | undefined) => void;
  id: string;
  described: string | undefined;
  invalid: boolean;
  /** Shows a field in this one. */
  Item: (props: FieldViewProps) => ReactNode;
}

function Widget(props: WidgetProps) {
  switch (props.f.widget) {
    case "text":
    case "lines":
    case "secret":
      return <TextField {...props} />;
    case "number":
    case "integer":
      return <NumberField {...props} />;
    case "boolean":
      return <BooleanField {...props} />;
    case "choice":
      return <ChoiceField {...props} />;
    case "choices":
      return <ChoicesField {...props} />;
    case "object":
      return <ObjectField {...props} />;
    case "array":
      return <ArrayField {...props} />;
    default:
      return <JSONField {...props} />;
  }
}

/** Body shows the fields of an object without a frame around them, and any other schema as one field. */
export function Body({ schema, path, value, onChange }: { schema: Schema; path: Path; value: Value | undefined; onChange: (v: Value | undefined) => void }) {
  const form = useForm();
  const f = useMemo(() => field(form.root, schema), [form.root, schema]);
  const messages = useMessages(path, false);
  if (f.widget !== "object" || (value !== undefined && !fits(f, value))) {
    return <FieldView schema={schema} path={path} name="value" label="value" required value={value} onChange={onChange} />;
  }
  return (
    <>
      <ObjectField f={f} schema={schema} path={path} label="arguments" required value={value} onChange={onChange} id={fieldId(form.id, path)} described={undefined} invalid={false} Item={FieldView} />
      {messages.length > 0 && <p className="f-error">{messages.join("; ")}</p>}
    </>
  );
}
