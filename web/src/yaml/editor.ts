// The editor is a bundle of its own: dist/editor.js, loaded when it is needed. It must not import React
// or the store, which would then be in the page twice. Import its types alone elsewhere, and load it with:
//
//   const editor: typeof import("./editor") = await import(new URL("editor.js", import.meta.url).href);
import { EditorView } from "@codemirror/view";

/** Makes an editor in an element. The nonce lets CodeMirror add its styles under the content security policy. */
export function create(parent: HTMLElement, doc: string, nonce: string): EditorView {
  return new EditorView({ parent, doc, extensions: [EditorView.cspNonce.of(nonce)] });
}
