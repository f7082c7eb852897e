import { parse } from "../value/json";
import { JSONText } from "../value/jsontext";
import { pointer } from "../value/path";
import { useForm } from "./context";
import type { WidgetProps } from "./fieldview";
import { blank } from "./schema";

/** JSONField edits a value as JSON: where alternatives or any type are allowed. */
export function JSONField({ f, path, value, onChange, id, described, invalid, label }: WidgetProps) {
  const form = useForm();
  const at = pointer(path);
  const draft = form.drafts.get(at);
  if (f.widget === "nothing" && value === undefined) return <span className="f-null">nothing can be set here</span>;
  return (
    <>
      {f.variants.length > 0 && (
        <div className="f-variants" role="group" aria-label={`Alternatives of ${label}`}>
          {f.variants.slice(0, 12).map((v, i) => (
            <button
              key={i}
              type="button"
              className="f-action"
              disabled={form.disabled}
              title="Begin with this alternative"
              onClick={() => {
                form.setDraft(at, undefined);
                onChange(blank(form.root, v.schema) ?? sample(v.schema));
              }}
            >
              {v.title}
            </button>
          ))}
        </div>
      )}
      <JSONText
        id={id}
        label={label}
        value={value}
        draft={draft?.text}
        invalid={invalid}
        describedBy={described}
        disabled={form.disabled}
        onChange={(v, error, text) => {
          form.setDraft(at, error ? { text: text ?? "", message: error } : undefined);
          if (!error) onChange(v);
        }}
      />
      {draft && !/^\s*[[{"]/.test(draft.text) && (
        <button
          type="button"
          className="f-action"
          onClick={() => {
            form.setDraft(at, undefined);
            onChange(draft.text);
          }}
        >
          Use as a text
        </button>
      )}
    </>
  );
}

function sample(schema: WidgetProps["schema"]) {
  const type = typeof schema === "object" && typeof schema.type === "string" ? schema.type : "";
  const text: { [type: string]: string } = { string: '""', integer: "0", number: "0", boolean: "false", null: "null", array: "[]" };
  return parse(text[type] ?? "{}");
}
