import "./value.css";
import { useId, useState } from "react";
import { encode, equal, JSONError, parse, type Value } from "./json";

export interface JSONTextProps {
  /** What is edited, for screen readers. */
  label: string;
  value: Value | undefined;
  /** Called with the value of the text, or with the error while the text is not JSON. An empty text is undefined. */
  onChange: (value: Value | undefined, error?: string, text?: string) => void;
  rows?: number;
  disabled?: boolean;
  /** Text that was typed and is not JSON; it is shown in place of the value. */
  draft?: string;
  invalid?: boolean;
  describedBy?: string;
  id?: string;
  autoFocus?: boolean;
}

/** JSONText edits a value as JSON. What a person typed stays as it is while it means the same value. */
export function JSONText({ label, value, onChange, rows, disabled, draft, invalid, describedBy, id, autoFocus }: JSONTextProps) {
  const own = useId();
  const [typed, setTyped] = useState<{ text: string; value: Value | undefined; error?: string }>(() => ({
    text: draft ?? (value === undefined ? "" : encode(value, 2)),
    value,
  }));
  let { text } = typed;
  if (draft !== undefined) {
    if (draft !== text) {
      text = draft;
      setTyped({ text, value });
    }
  } else if (typed.error === undefined && !equal(value, typed.value)) {
    text = value === undefined ? "" : encode(value, 2);
    setTyped({ text, value });
  }
  const [first] = useState(rows ?? Math.min(14, Math.max(3, text.split("\n").length)));
  return (
    <>
      <textarea
        id={id ?? own}
        className="v-json"
        aria-label={id === undefined ? label : undefined}
        aria-invalid={invalid || typed.error !== undefined}
        aria-describedby={describedBy}
        spellCheck={false}
        autoFocus={autoFocus}
        disabled={disabled}
        rows={first}
        value={text}
        onChange={(e) => {
          const text = e.target.value;
          if (text.trim() === "") {
            setTyped({ text, value: undefined });
            onChange(undefined, undefined, text);
            return;
          }
          try {
            const v = parse(text);
            setTyped({ text, value: v });
            onChange(v, undefined, text);
          } catch (err) {
            const message = err instanceof JSONError ? err.message : String(err);
            setTyped({ text, value: undefined, error: message });
            onChange(undefined, message, text);
          }
        }}
      />
    </>
  );
}
