// The text editor: CodeMirror with what mcpgraph adds. It is a bundle of its own, which file.ts loads when
// the editor is first shown; so it takes nothing from the page but types, and the page tells it what to do.
import { acceptCompletion, autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, foldGutter, foldKeymap, indentOnInput, indentUnit } from "@codemirror/language";
import { lintGutter, nextDiagnostic, previousDiagnostic, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, type Extension } from "@codemirror/state";
import {
  drawSelection, dropCursor, EditorView, highlightActiveLine, highlightActiveLineGutter, highlightSpecialChars, keymap, lineNumbers,
} from "@codemirror/view";
import type { Pos, Problem } from "../api/types";
import { breakpointGutter, nodeLayer, nodeAt, setMarks, setNodes, setSelected, type Mark, type NodeRange } from "./nodes";
import { offsetOf } from "./position";
import { completions, diagnostics, hovers, type Completion, type Hover, type Render } from "./sources";
import { theme } from "./theme";

export { compare, type Comparison } from "./compare";
export type { Completion, Hover, Mark, NodeRange };

/** What the editor asks the page for, and tells it. */
export interface Host {
  text: string;
  readOnly: boolean;
  nonce: string;
  label: string;
  complete(text: string, offset: number, signal: AbortSignal): Promise<Completion[]>;
  hover(text: string, offset: number, signal: AbortSignal): Promise<Hover | undefined>;
  render: Render;
  changed(text: string): void;
  save(): void;
  format(): void;
  /** The cursor was moved by the user; key is that of the node around it. */
  moved(key: string | undefined, line: number): void;
  /** The user wants a breakpoint at a node, or none. */
  breakpoint(key: string): void;
}

export interface Editor {
  readonly dom: HTMLElement;
  text(): string;
  /** Replaces the text where it differs, and keeps cursor and scroll position. */
  setText(text: string): void;
  setReadOnly(on: boolean): void;
  setProblems(problems: Problem[]): void;
  /** Says where nodes stand in the present text; undefined: as before. */
  setNodes(nodes: NodeRange[]): void;
  setMarks(marks: Mark[]): void;
  /** Highlights a node. With scroll, also shows it if it is out of sight. */
  setSelected(key: string | undefined, scroll: boolean): void;
  goTo(place: Pos | number, to?: number): void;
  focus(): void;
  /** Says that the element was put into the page, with the scroll position that it had. */
  attached(): void;
  destroy(): void;
}

/** Makes an editor. The caller puts its dom into the page. */
export function createEditor(host: Host): Editor {
  const editable = new Compartment();
  let quiet = false; // the page changes the text or the cursor, not the user
  let top = 0;

  const breakpointAtCursor = (view: EditorView) => {
    const node = nodeAt(view.state, view.state.selection.main.head);
    if (node) host.breakpoint(node.key);
    return !!node;
  };

  const extensions: Extension[] = [
    EditorView.cspNonce.of(host.nonce),
    theme,
    editable.of(writable(!host.readOnly)),
    lineNumbers(), breakpointGutter(host.breakpoint), foldGutter(), lintGutter(),
    highlightSpecialChars(), history(), drawSelection(), dropCursor(), indentOnInput(), bracketMatching(), closeBrackets(),
    highlightActiveLine(), highlightActiveLineGutter(), highlightSelectionMatches(), search({ top: true }),
    EditorState.allowMultipleSelections.of(true), indentUnit.of("  "), EditorState.tabSize.of(2),
    yaml(), nodeLayer,
    autocompletion({ override: [completions(host.complete, host.render)], icons: false, maxRenderedOptions: 100 }),
    hovers(host.hover, host.render),
    EditorView.contentAttributes.of({ "aria-label": host.label, spellcheck: "false", tabindex: "0" }),
    keymap.of([
      { key: "Mod-s", preventDefault: true, run: () => (host.save(), true) },
      { key: "Shift-Alt-f", run: () => (host.format(), true) },
      { key: "F9", run: breakpointAtCursor },
      { key: "Alt-F8", run: nextDiagnostic, shift: previousDiagnostic },
      { key: "Tab", run: acceptCompletion },
      ...closeBracketsKeymap, ...searchKeymap, ...historyKeymap, ...foldKeymap, ...completionKeymap,
      // Alt-l of the default keys writes a letter on some keyboards.
      ...defaultKeymap.filter((k) => k.key !== "Alt-l"), indentWithTab,
    ]),
    EditorView.updateListener.of((u) => {
      if (u.docChanged && !quiet) host.changed(u.state.doc.toString());
      if ((u.selectionSet || u.docChanged) && !quiet && u.view.hasFocus) {
        const head = u.state.selection.main.head;
        host.moved(nodeAt(u.state, head)?.key, u.state.doc.lineAt(head).number);
      }
    }),
    EditorView.domEventHandlers({ scroll: (_, view) => { if (view.dom.isConnected) top = view.scrollDOM.scrollTop; } }),
  ];
  const view = new EditorView({ state: EditorState.create({ doc: host.text, extensions }) });

  const silently = (f: () => void) => {
    quiet = true;
    try { f(); } finally { quiet = false; }
  };

  return {
    dom: view.dom,
    text: () => view.state.doc.toString(),
    setText(text) {
      const change = difference(view.state.doc.toString(), text);
      if (!change) return;
      // The place of the cursor stays the same line and column, also where the change is around it.
      const head = view.state.selection.main.head;
      const line = view.state.doc.lineAt(head);
      const inside = head >= change.from && head <= change.to;
      silently(() => {
        view.dispatch({ changes: change });
        if (inside) {
          const now = view.state.doc.line(Math.min(line.number, view.state.doc.lines));
          view.dispatch({ selection: { anchor: Math.min(now.from + head - line.from, now.to) } });
        }
      });
    },
    setReadOnly(on) { view.dispatch({ effects: editable.reconfigure(writable(!on)) }); },
    setProblems(problems) { view.dispatch(setDiagnostics(view.state, diagnostics(view.state, problems))); },
    setNodes(nodes) { view.dispatch({ effects: setNodes.of(nodes) }); },
    setMarks(marks) { view.dispatch({ effects: setMarks.of(marks) }); },
    setSelected(key, scroll) {
      const effects = [setSelected.of(key)];
      silently(() => view.dispatch({ effects }));
      if (!scroll || !key) return;
      const from = nodeStart(view.state, key);
      if (from === undefined) return;
      silently(() => view.dispatch({ effects: EditorView.scrollIntoView(from, { y: "nearest", yMargin: 60, xMargin: 60 }) }));
    },
    goTo(place, to) {
      const at = Math.min(typeof place === "number" ? place : offsetOf(view.state.doc, place), view.state.doc.length);
      view.dispatch({
        selection: { anchor: at, head: to === undefined ? at : Math.min(to, view.state.doc.length) },
        effects: EditorView.scrollIntoView(at, { y: "center", xMargin: 60 }),
      });
      view.focus();
    },
    focus() { view.focus(); },
    attached() {
      view.requestMeasure();
      view.scrollDOM.scrollTop = top;
    },
    destroy() { view.destroy(); },
  };
}

function nodeStart(state: EditorState, key: string): number | undefined {
  let from: number | undefined;
  const iter = state.field(nodeLayer).ranges.iter();
  for (; iter.value; iter.next()) {
    if (iter.value.key === key) {
      from = iter.from;
      break;
    }
  }
  return from;
}

function writable(on: boolean): Extension {
  return on ? [] : [EditorState.readOnly.of(true)];
}

/** Returns the smallest change that makes one text of the other. */
function difference(a: string, b: string): { from: number; to: number; insert: string } | undefined {
  if (a === b) return undefined;
  let from = 0;
  const shorter = Math.min(a.length, b.length);
  while (from < shorter && a.charCodeAt(from) === b.charCodeAt(from)) from++;
  let endA = a.length, endB = b.length;
  while (endA > from && endB > from && a.charCodeAt(endA - 1) === b.charCodeAt(endB - 1)) endA--, endB--;
  return { from, to: endA, insert: b.slice(from, endB) };
}
