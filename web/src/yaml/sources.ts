// What the language server knows, as CodeMirror wants it: problems, completion, hover.
import { insertCompletionText, pickedCompletion, type CompletionContext, type CompletionResult, type CompletionSource } from "@codemirror/autocomplete";
import type { Diagnostic } from "@codemirror/lint";
import type { EditorState, Extension } from "@codemirror/state";
import { hoverTooltip, type EditorView } from "@codemirror/view";
import type { Problem } from "../api/types";
import { offsetOf } from "./position";

export interface Completion {
  label: string; insert: string; from: number; to: number; detail?: string; doc?: string; kind: string; first?: boolean;
}
export interface Hover { markdown: string; from: number; to: number }

/** Returns the problems of the text as CodeMirror draws them. Those of other files are left out. */
export function diagnostics(state: EditorState, problems: Problem[]): Diagnostic[] {
  const list: Diagnostic[] = [];
  const checked = state.doc;
  for (const p of problems) {
    if (p.from === undefined) continue;
    const from = Math.min(p.from, state.doc.length);
    let to = Math.min(Math.max(p.to ?? offsetOf(state.doc, p.span.to), from), state.doc.length);
    // A problem of a whole block is underlined in its first line only.
    to = Math.min(to, Math.max(state.doc.lineAt(from).to, from));
    list.push({
      from, to, severity: p.severity, source: p.code, message: p.message,
      renderMessage: () => {
        const box = document.createElement("div");
        box.append(p.message);
        if (p.hint) {
          const hint = document.createElement("div");
          hint.className = "cm-hint";
          hint.textContent = p.hint;
          box.append(hint);
        }
        return box;
      },
      actions: (p.fixes ?? []).map((fix) => ({
        name: fix.title,
        apply(view: EditorView) {
          if (view.state.readOnly || !view.state.doc.eq(checked)) return; // the places are those of another text
          const changes = fix.edits.map((e) => ({ from: e.from, to: e.to, insert: e.text }));
          view.dispatch({ changes, userEvent: "input.fix" });
        },
      })),
    });
  }
  return list.sort((a, b) => a.from - b.from);
}

const types: Record<string, string> = {
  key: "property", property: "property", value: "constant", node: "variable", server: "namespace", tool: "function",
  function: "function", variable: "variable",
};

/** Makes an element of Markdown, and says how to let it go. */
export type Render = (markdown: string) => { dom: HTMLElement; destroy(): void };

/** Asks the server what can be written at the cursor. */
export function completions(ask: (text: string, offset: number, signal: AbortSignal) => Promise<Completion[]>, render: Render): CompletionSource {
  return async (context: CompletionContext): Promise<CompletionResult | null> => {
    const word = context.matchBefore(/[\w$.`/#@-]+$|:\s+$|[{[,(]\s*$|["']$/);
    if (!context.explicit && !word) return null;
    const cancel = new AbortController();
    context.addEventListener("abort", () => cancel.abort(), { onDocChange: true });
    let items: Completion[];
    try {
      items = await ask(context.state.doc.toString(), context.pos, cancel.signal);
    } catch {
      return null;
    }
    if (context.aborted || items.length === 0) return null;
    const from = items.reduce((least, i) => Math.min(least, i.from), context.pos);
    return {
      from,
      validFor: /^[\w$-]*$/,
      options: items.map((i, n) => ({
        label: i.label, detail: i.detail, type: types[i.kind] ?? "text", boost: (i.first ? 50 : 0) - Math.min(n, 49) / 50,
        info: i.doc ? () => render(i.doc!) : undefined,
        apply: (view: EditorView, completion, start: number, end: number) => {
          // Where one item replaces more than another, what is before its place stays.
          const at = Math.max(start, Math.min(i.from, end));
          view.dispatch({
            ...insertCompletionText(view.state, i.insert, at, Math.max(end, Math.min(i.to + end - context.pos, view.state.doc.length))),
            annotations: pickedCompletion.of(completion),
          });
        },
      })),
    };
  };
}

/** Asks the server what is known about the word under the mouse. */
export function hovers(ask: (text: string, offset: number, signal: AbortSignal) => Promise<Hover | undefined>, render: Render): Extension {
  let running: AbortController | undefined;
  return hoverTooltip(async (view, pos) => {
    running?.abort();
    running = new AbortController();
    const hover = await ask(view.state.doc.toString(), pos, running.signal).catch(() => undefined);
    if (!hover || hover.from > view.state.doc.length) return null;
    return {
      pos: hover.from, end: Math.min(hover.to, view.state.doc.length), above: true,
      create: () => {
        const made = render(hover.markdown);
        made.dom.classList.add("cm-hover");
        return made;
      },
    };
  }, { hoverTime: 400 });
}
