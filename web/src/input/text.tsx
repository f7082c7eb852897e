import { useState } from "react";
import { number, type Value } from "../value/json";
import { pointer } from "../value/path";
import { useForm } from "./context";
import type { WidgetProps } from "./fieldview";

/** example returns what stands in an empty field. */
function placeholder(props: WidgetProps): string {
  if (props.value === "") return "empty text";
  const example = props.f.examples.find((e) => typeof e === "string" || typeof e === "number");
  return example === undefined ? "not set" : `for example ${String(example)}`;
}

/** TextField edits a string. An emptied field is absent; a button sets the empty text. */
export function TextField(props: WidgetProps) {
  const { f, value, onChange, id, described, invalid, required, label } = props;
  const { disabled } = useForm();
  const text = typeof value === "string" ? value : "";
  const common = {
    id,
    className: "f-input",
    value: text,
    placeholder: placeholder(props),
    disabled,
    "aria-invalid": invalid,
    "aria-describedby": described,
    "aria-required": required,
    spellCheck: false,
    autoComplete: f.widget === "secret" ? "new-password" : "off",
  };
  const change = (text: string) => onChange(text === "" ? undefined : text);
  return (
    <div className="f-row">
      {f.widget === "lines" || text.includes("\n") ? (
        <textarea {...common} rows={Math.min(12, Math.max(3, text.split("\n").length))} onChange={(e) => change(e.target.value)} />
      ) : (
        <input
          {...common}
          type={f.widget === "secret" ? "password" : "text"}
          inputMode={f.format === "email" ? "email" : f.format === "uri" || f.format === "url" ? "url" : undefined}
          onChange={(e) => change(e.target.value)}
          onPaste={(e) => {
            // A field of one line drops line breaks; with them, it becomes one of several lines.
            const pasted = e.clipboardData.getData("text").replace(/\r\n?/g, "\n");
            if (!pasted.includes("\n") || f.widget === "secret") return;
            e.preventDefault();
            const { selectionStart, selectionEnd } = e.currentTarget;
            change(text.slice(0, selectionStart ?? text.length) + pasted + text.slice(selectionEnd ?? text.length));
          }}
        />
      )}
      {value === undefined && (
        <button type="button" className="f-action" disabled={disabled} title="Set to the empty text" aria-label={`Set ${label} to the empty text`} onClick={() => onChange("")}>
          ""
        </button>
      )}
    </div>
  );
}

/** NumberField edits a number. What was typed stays while it means the same number. */
export function NumberField(props: WidgetProps) {
  const { f, path, value, onChange, id, described, invalid, required } = props;
  const form = useForm();
  const at = pointer(path);
  const draft = form.drafts.get(at);
  const [typed, setTyped] = useState("");
  const shown = draft ? draft.text : value === undefined ? "" : same(typed, value) ? typed : String(value);
  return (
    <input
      id={id}
      className="f-input f-number"
      type="text"
      inputMode={f.widget === "integer" ? "numeric" : "decimal"}
      value={shown}
      placeholder={placeholder(props)}
      disabled={form.disabled}
      aria-invalid={invalid}
      aria-describedby={described}
      aria-required={required}
      autoComplete="off"
      spellCheck={false}
      onChange={(e) => {
        const text = e.target.value;
        const trimmed = text.trim();
        setTyped(text);
        if (trimmed === "") {
          form.setDraft(at, undefined);
          onChange(undefined);
          return;
        }
        const n = number(trimmed);
        if (n === undefined) {
          form.setDraft(at, { text, message: /^-?\d+(\.\d+)?(e\d+)?$/i.test(trimmed) ? "is too large, or begins with 0" : "is not a number" });
          return;
        }
        form.setDraft(at, undefined);
        onChange(n);
      }}
    />
  );
}

function same(text: string, value: Value): boolean {
  const n = number(text.trim());
  return n !== undefined && n === value;
}
