// Two texts side by side: the one on disk, and the one with unsaved changes, which can be edited.
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { indentUnit } from "@codemirror/language";
import { MergeView, goToNextChunk, goToPreviousChunk } from "@codemirror/merge";
import { EditorState } from "@codemirror/state";
import { EditorView, highlightSpecialChars, keymap, lineNumbers } from "@codemirror/view";
import { theme } from "./theme";

export interface Comparison {
  readonly dom: HTMLElement;
  /** Returns the edited text. */
  text(): string;
  focus(): void;
  destroy(): void;
}

export function compare(o: { theirs: string; mine: string; nonce: string; theirsLabel: string; mineLabel: string }): Comparison {
  const common = [
    EditorView.cspNonce.of(o.nonce), theme, yaml(), lineNumbers(), highlightSpecialChars(), indentUnit.of("  "),
    EditorView.lineWrapping,
    keymap.of([
      { key: "Alt-F5", run: goToNextChunk, shift: goToPreviousChunk }, ...historyKeymap, ...defaultKeymap,
    ]),
  ];
  const label = (text: string) => EditorView.contentAttributes.of({ "aria-label": text, spellcheck: "false", tabindex: "0" });
  const view = new MergeView({
    a: { doc: o.theirs, extensions: [common, EditorState.readOnly.of(true), label(o.theirsLabel)] },
    b: { doc: o.mine, extensions: [common, history(), label(o.mineLabel)] },
    revertControls: "a-to-b",
    renderRevertControl: () => {
      const button = document.createElement("button");
      button.type = "button";
      button.title = button.ariaLabel = "Take this part of the file";
      button.textContent = "→";
      return button;
    },
    collapseUnchanged: { margin: 3, minSize: 6 },
    gutter: true,
  });
  return {
    dom: view.dom, text: () => view.b.state.doc.toString(), focus: () => view.b.focus(), destroy: () => view.destroy(),
  };
}
