import { encode, equal } from "../value/json";
import { useForm } from "./context";
import type { WidgetProps } from "./fieldview";

/** BooleanField edits a boolean: true, false, or not set. */
export function BooleanField({ value, onChange, id, required, label, described }: WidgetProps) {
  const { disabled } = useForm();
  const choices: [string, boolean | undefined][] = [["true", true], ["false", false]];
  if (!required) choices.unshift(["not set", undefined]);
  return (
    <div className="f-segments" role="radiogroup" aria-label={label} aria-describedby={described}>
      {choices.map(([text, v], i) => (
        <label key={text} className={value === v ? "f-chosen" : undefined}>
          <input type="radio" id={i === 0 ? id : undefined} name={id} checked={value === v} disabled={disabled} onChange={() => onChange(v)} />
          {text}
        </label>
      ))}
    </div>
  );
}

/** ChoiceField edits a value of an enum. The value keeps its type. */
export function ChoiceField({ f, value, onChange, id, required, described, invalid }: WidgetProps) {
  const { disabled } = useForm();
  const index = value === undefined ? -1 : f.options.findIndex((o) => equal(o.value, value));
  const description = f.options[index]?.description;
  return (
    <>
      <select
        id={id}
        className="f-input"
        value={value === undefined ? "" : index < 0 ? "other" : String(index)}
        disabled={disabled}
        aria-invalid={invalid}
        aria-required={required}
        aria-describedby={described}
        onChange={(e) => {
          if (e.target.value === "") onChange(undefined);
          else if (e.target.value !== "other") onChange(f.options[Number(e.target.value)]?.value);
        }}
      >
        {(!required || value === undefined) && <option value="">not set</option>}
        {value !== undefined && index < 0 && <option value="other">{encode(value).slice(0, 80)} (not allowed)</option>}
        {f.options.map((o, i) => (
          <option key={i} value={String(i)}>
            {o.label}
          </option>
        ))}
      </select>
      {description && <p className="f-help">{description}</p>}
    </>
  );
}

/** ChoicesField edits an array of different values of an enum. */
export function ChoicesField({ f, value, onChange, id, label }: WidgetProps) {
  const { disabled } = useForm();
  const list = Array.isArray(value) ? value : [];
  return (
    <div className="f-checks" role="group" aria-label={label}>
      {f.options.map((o, i) => {
        const on = list.some((e) => equal(e, o.value));
        return (
          <label key={i}>
            <input
              type="checkbox"
              id={i === 0 ? id : undefined}
              checked={on}
              disabled={disabled}
              onChange={() => onChange(on ? list.filter((e) => !equal(e, o.value)) : [...list, o.value])}
            />
            {o.label}
          </label>
        );
      })}
      {value === undefined && (
        <button type="button" className="f-action" disabled={disabled} onClick={() => onChange([])} aria-label={`Set ${label} to an empty list`}>
          []
        </button>
      )}
    </div>
  );
}
