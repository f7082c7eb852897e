import { useState } from "react";
import { isFields, type Fields, type Value } from "../value/json";
import { pointer } from "../value/path";
import { useForm } from "./context";
import type { WidgetProps } from "./fieldview";
import { blank, extra, field, isMap, properties, start } from "./schema";

/** with returns an object with a key set. A new key goes where the schema has it. */
function withKey(v: Fields, key: string, value: Value, order: string[]): Fields {
  const entries = Object.entries(v);
  const at = entries.findIndex(([k]) => k === key);
  if (at >= 0) {
    entries[at] = [key, value];
    return Object.fromEntries(entries);
  }
  const place = order.indexOf(key);
  let before = place < 0 ? entries.length : 0;
  if (place >= 0) entries.forEach(([k], i) => { if (order.indexOf(k) >= 0 && order.indexOf(k) < place) before = i + 1; });
  entries.splice(before, 0, [key, value]);
  return Object.fromEntries(entries);
}

function withoutKey(v: Fields, key: string): Fields {
  return Object.fromEntries(Object.entries(v).filter(([k]) => k !== key));
}

const maxShown = 300;

/** ObjectField edits an object: its named properties, and further ones where the schema allows them. */
export function ObjectField({ f, path, value, onChange, label, Item }: WidgetProps) {
  const form = useForm();
  const v = isFields(value) ? value : {};
  const { list, required } = properties(f.schema);
  const order = list.map(([k]) => k);
  const others = Object.keys(v).filter((k) => !order.includes(k));
  const set = (key: string, e: Value | undefined) => onChange(e === undefined ? withoutKey(v, key) : withKey(v, key, e, order));
  // Required properties come first, each group in the order of the schema.
  const sorted = [...list.filter(([k]) => required.has(k)), ...list.filter(([k]) => !required.has(k))].slice(0, maxShown);

  const add = () => {
    let name = "key";
    for (let i = 2; Object.hasOwn(v, name) || order.includes(name); i++) name = `key${i}`;
    const schema = extra(f.schema, name) ?? true;
    onChange(withKey(v, name, blank(form.root, schema) ?? start(field(form.root, schema)) ?? null, order));
  };

  return (
    <div className="f-fields">
      {sorted.map(([k, s]) => (
        <Item key={k} schema={s} path={[...path, k]} name={k} label={k} required={required.has(k)} value={Object.hasOwn(v, k) ? v[k] : undefined} onChange={(e) => set(k, e)} />
      ))}
      {others.slice(0, maxShown).map((k, i) => (
        <Item
          key={`other ${i}`}
          schema={extra(f.schema, k) ?? true}
          path={[...path, k]}
          name={
            <KeyName
              name={k}
              taken={(name) => name !== k && (Object.hasOwn(v, name) || order.includes(name))}
              onRename={(name) => {
                form.dropDrafts(pointer([...path, k]));
                onChange(Object.fromEntries(Object.entries(v).map(([key, e]) => [key === k ? name : key, e])));
              }}
            />
          }
          label={k}
          required={false}
          value={v[k]}
          onChange={(e) => set(k, e ?? (typeof v[k] === "string" ? "" : null))}
          onRemove={() => {
            form.dropDrafts(pointer([...path, k]));
            set(k, undefined);
          }}
        />
      ))}
      {order.length === 0 && others.length === 0 && !isMap(f.schema) && <p className="f-help">Nothing to fill in.</p>}
      {isMap(f.schema) && (order.length === 0 || (isFields(f.schema) && isFields(f.schema.additionalProperties)) || others.length > 0) && (
        <button type="button" className="f-add" disabled={form.disabled} aria-label={`Add a key to ${label}`} onClick={add}>
          + Add key
        </button>
      )}
    </div>
  );
}

/** KeyName edits a key; the object changes once the new name is free. */
function KeyName({ name, taken, onRename }: { name: string; taken: (name: string) => boolean; onRename: (name: string) => void }) {
  const form = useForm();
  const [typed, setTyped] = useState<string>();
  const wrong = typed !== undefined && taken(typed);
  const done = () => {
    if (typed !== undefined && typed !== name && !wrong) onRename(typed);
    setTyped(undefined);
  };
  return (
    <input
      className="f-input f-keyname"
      aria-label={`Name of the key ${name}`}
      aria-invalid={wrong}
      title={wrong ? "This key is there already" : undefined}
      disabled={form.disabled}
      value={typed ?? name}
      spellCheck={false}
      autoComplete="off"
      onChange={(e) => setTyped(e.target.value)}
      onBlur={done}
      onKeyDown={(e) => {
        if (e.key === "Enter") {
          e.preventDefault();
          done();
        }
      }}
    />
  );
}
