import { useRef, useState } from "react";
import type { Value } from "../value/json";
import { pointer } from "../value/path";
import { fieldId, useForm } from "./context";
import type { WidgetProps } from "./fieldview";
import { blank, field, itemAt, start } from "./schema";

const maxShown = 200;

/** ArrayField edits an array: items are added, removed and moved. */
export function ArrayField({ f, path, value, onChange, id, label, Item }: WidgetProps) {
  const form = useForm();
  const at = pointer(path);
  const list = Array.isArray(value) ? value : [];
  // Items have keys of their own, so that their fields stay the same ones when they move.
  const next = useRef(0);
  const [keys, setKeys] = useState<number[]>(() => list.map(() => next.current++));
  if (keys.length !== list.length) setKeys(keys.length > list.length ? keys.slice(0, list.length) : [...keys, ...list.slice(keys.length).map(() => next.current++)]);

  // An array has no gaps: an item that is not filled in is an empty text or null.
  const empty = (i: number, added: boolean): Value => {
    const schema = itemAt(f.schema, i);
    const inner = field(form.root, schema);
    if (added) return blank(form.root, schema) ?? start(inner) ?? null;
    return inner.widget === "text" || inner.widget === "lines" || inner.widget === "secret" ? "" : null;
  };
  const put = (items: (Value | undefined)[]) => onChange(items.map((e) => e ?? null));
  const remove = (i: number) => {
    form.moved(at, (j) => (j === i ? undefined : j > i ? j - 1 : j));
    setKeys(keys.filter((_, j) => j !== i));
    put(list.filter((_, j) => j !== i));
    setTimeout(() => document.getElementById(list.length > 1 ? fieldId(form.id, [...path, Math.max(0, i - 1)]) : `${id}?add`)?.focus());
  };
  const swap = (i: number, j: number) => {
    const moved = <T,>(items: readonly T[]) => {
      const copy = [...items];
      [copy[i], copy[j]] = [copy[j] as T, copy[i] as T];
      return copy;
    };
    form.moved(at, (k) => (k === i ? j : k === j ? i : k));
    setKeys(moved(keys));
    put(moved(list));
  };
  const add = () => {
    const v = empty(list.length, true);
    setKeys([...keys, next.current++]);
    put([...list, v]);
    setTimeout(() => document.getElementById(fieldId(form.id, [...path, list.length]))?.focus());
  };

  return (
    <div className="f-items">
      {list.slice(0, maxShown).map((e, i) => (
        <Item
          key={keys[i] ?? i}
          schema={itemAt(f.schema, i)}
          path={[...path, i]}
          name={i + 1}
          label={`${label} ${i + 1}`}
          required
          removable={false}
          value={e}
          onChange={(v) => put(list.map((x, j) => (j === i ? (v ?? empty(i, false)) : x)))}
          actions={
            <>
              <button type="button" className="f-action" disabled={form.disabled || i === 0} title="Move up" aria-label={`Move ${label} ${i + 1} up`} onClick={() => swap(i, i - 1)}>
                ↑
              </button>
              <button type="button" className="f-action" disabled={form.disabled || i === list.length - 1} title="Move down" aria-label={`Move ${label} ${i + 1} down`} onClick={() => swap(i, i + 1)}>
                ↓
              </button>
              <button type="button" className="f-action" disabled={form.disabled} title="Remove" aria-label={`Remove ${label} ${i + 1}`} onClick={() => remove(i)}>
                ×
              </button>
            </>
          }
        />
      ))}
      {list.length > maxShown && <p className="f-help">The first {maxShown} of {list.length} items are shown. Edit the others as JSON.</p>}
      <button type="button" id={list.length === 0 ? id : `${id}?add`} className="f-add" disabled={form.disabled} aria-label={`Add an item to ${label}`} onClick={add}>
        + Add item
      </button>
    </div>
  );
}
