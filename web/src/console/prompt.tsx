// The input line of the console: history with up and down, completion with Tab or Ctrl+Space.
import { useId, useLayoutEffect, useRef, useState, type KeyboardEvent } from "react";
import { Button } from "../kit";
import { complete, type Choices } from "./complete";
import { loadHistory, saveHistory, type Scope } from "./lines";

let history: string[] | undefined;
let draft = ""; // what was typed when the panel was closed

export function Prompt({ scope, moment, why, onEnter, onClear }: {
  scope: Scope | undefined; moment: string; why: string; onEnter: (expression: string) => void; onClear: () => void;
}) {
  const [text, setText] = useState(draft);
  const [choices, setChoices] = useState<Choices & { chosen: number }>();
  const past = useRef<{ at: number; draft: string }>(undefined);
  const box = useRef<HTMLTextAreaElement>(null);
  const asked = useRef(0);
  const list = useId();
  history ??= loadHistory();
  draft = text;

  useLayoutEffect(() => {
    const b = box.current!;
    b.style.height = "0";
    b.style.height = `${Math.min(Math.max(b.scrollHeight, 22), 160)}px`;
  }, [text]);

  const set = (value: string, cursor = value.length) => {
    setText(value);
    requestAnimationFrame(() => box.current?.setSelectionRange(cursor, cursor));
  };
  const close = () => {
    asked.current++;
    setChoices(undefined);
  };
  const suggest = async (value: string, cursor: number, explicit: boolean) => {
    const mine = ++asked.current;
    const found = scope && (await complete(value.slice(0, cursor), scope, moment, explicit));
    if (mine === asked.current) setChoices(found && { ...found, chosen: 0 });
  };
  const accept = (i: number) => {
    const item = choices?.items[i];
    if (!item || !choices) return;
    const cursor = box.current!.selectionStart;
    set(text.slice(0, choices.from) + item.insert + text.slice(cursor), choices.from + item.insert.length);
    close();
    box.current!.focus();
  };
  const recall = (by: number) => {
    const h = history!;
    const at = (past.current?.at ?? h.length) + by;
    if (at < 0 || at > h.length) return;
    past.current = { at, draft: past.current?.draft ?? text };
    set(at === h.length ? past.current.draft : h[at]!);
    close();
  };
  const enter = () => {
    const expression = text.trim();
    if (expression === "" || !scope) return;
    history = [...history!.filter((h) => h !== expression), expression].slice(-100);
    saveHistory(history);
    past.current = undefined;
    onEnter(expression);
    set("");
    close();
  };
  const keys = (e: KeyboardEvent<HTMLTextAreaElement>) => {
    const { selectionStart: from, selectionEnd: to } = e.currentTarget;
    if (e.nativeEvent.isComposing) return;
    if (choices) {
      const count = choices.items.length;
      const next = { ArrowDown: (choices.chosen + 1) % count, ArrowUp: (choices.chosen + count - 1) % count }[e.key];
      if (next !== undefined) setChoices({ ...choices, chosen: next });
      else if (e.key === "Tab" && !e.shiftKey) accept(choices.chosen);
      else if (e.key === "Escape") close();
      else if (e.key === "Enter" && !e.shiftKey) {
        close();
        enter();
      } else return;
      e.preventDefault();
      e.stopPropagation();
      return;
    }
    if (e.key === "Enter" && !e.shiftKey) enter();
    else if (e.key === "ArrowUp" && from === to && !text.slice(0, from).includes("\n")) recall(-1);
    else if (e.key === "ArrowDown" && from === to && !text.slice(to).includes("\n")) recall(1);
    else if (e.key === " " && e.ctrlKey) void suggest(text, from, true);
    else if (e.key.toLowerCase() === "l" && e.ctrlKey) onClear();
    else return;
    e.preventDefault();
  };
  return (
    <div className="console-prompt">
      <span className="console-mark" aria-hidden="true">❯</span>
      <div className="grow console-field">
        <textarea ref={box} rows={1} className="mono" value={text} disabled={!scope} spellCheck={false} autoComplete="off" autoCapitalize="off" maxLength={10_000}
          aria-label={`JSONata expression, ${why}`} aria-autocomplete="list" aria-haspopup="listbox" aria-controls={choices ? list : undefined}
          aria-activedescendant={choices ? `${list}-${choices.chosen}` : undefined} placeholder={scope ? "JSONata, such as $.entry. Tab completes, Shift+Enter begins a line" : why}
          onKeyDown={keys} onBlur={close}
          onChange={(e) => {
            past.current = undefined;
            setText(e.target.value);
            void suggest(e.target.value, e.target.selectionStart, false);
          }} />
        {choices && (
          <ul className="console-choices" role="listbox" id={list} aria-label="Completions">
            {choices.items.map((c, i) => (
              <li key={c.label} id={`${list}-${i}`} role="option" aria-selected={i === choices.chosen} ref={i === choices.chosen ? reveal : undefined}
                onMouseDown={(e) => { e.preventDefault(); accept(i); }}>
                <span className="mono">{c.label}</span>{c.detail && <span className="muted ellipsis">{c.detail}</span>}
              </li>
            ))}
          </ul>
        )}
      </div>
      <Button small disabled={!scope || text.trim() === ""} onClick={enter}>Evaluate</Button>
    </div>
  );
}

function reveal(e: HTMLElement | null) { e?.scrollIntoView({ block: "nearest" }); }
