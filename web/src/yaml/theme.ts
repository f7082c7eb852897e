// How the editor looks: the colours are the page's, so light and dark follow it.
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { tags as t } from "@lezer/highlight";

const look = EditorView.theme({
  "&": { height: "100%", color: "var(--text)", backgroundColor: "var(--bg)", fontSize: "12.5px" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55" },
  ".cm-content": { caretColor: "var(--text)" },
  ".cm-cursor, .cm-dropCursor": { borderLeftColor: "var(--text)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "color-mix(in srgb, var(--accent) 25%, transparent)",
  },
  ".cm-gutters": { backgroundColor: "var(--bg)", color: "var(--text-3)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in srgb, var(--text) 5%, transparent)" },
  ".cm-activeLineGutter": { color: "var(--text)" },
  ".cm-node-selected": { backgroundColor: "var(--accent-soft)", boxShadow: "inset 2px 0 var(--accent)" },
  ".cm-matchingBracket, &.cm-focused .cm-matchingBracket": { backgroundColor: "color-mix(in srgb, var(--accent) 18%, transparent)", outline: "none" },
  ".cm-selectionMatch": { backgroundColor: "color-mix(in srgb, var(--accent) 18%, transparent)" },
  ".cm-searchMatch": { backgroundColor: "color-mix(in srgb, var(--s-paused) 32%, transparent)" },
  ".cm-searchMatch-selected": { outline: "1px solid var(--accent)" },
  ".cm-foldPlaceholder": { backgroundColor: "var(--bg-2)", border: "1px solid var(--line)", color: "var(--text-3)", padding: "0 4px" },
  ".cm-breakpoints": { width: "16px", cursor: "pointer" },
  ".cm-breakpoints .cm-gutterElement": { display: "flex", alignItems: "center", justifyContent: "center" },
  ".cm-breakpoint": { width: "10px", height: "10px", borderRadius: "50%", boxSizing: "border-box", border: "2px solid var(--breakpoint)", backgroundColor: "var(--breakpoint)" },
  ".cm-breakpoint.is-condition": { borderRadius: "2px" },
  ".cm-breakpoint.is-log": { borderRadius: "0", transform: "rotate(45deg)", width: "8px", height: "8px" },
  ".cm-breakpoint.is-disabled": { backgroundColor: "transparent" },
  ".cm-breakpoint.is-none": { opacity: "0", borderStyle: "dotted", backgroundColor: "transparent" },
  ".cm-breakpoints .cm-gutterElement:hover .is-none": { opacity: "1" },
  ".cm-panels": { backgroundColor: "var(--bg-raised)", color: "var(--text)" },
  ".cm-panels.cm-panels-top": { borderBottom: "1px solid var(--line)" },
  ".cm-panel.cm-search": { padding: "6px 28px 6px 8px", display: "flex", flexWrap: "wrap", alignItems: "center", gap: "4px" },
  ".cm-panel.cm-search br": { flexBasis: "100%" },
  ".cm-panel.cm-search label": { display: "inline-flex", alignItems: "center", gap: "3px", fontSize: "12px" },
  ".cm-textfield": { backgroundColor: "var(--bg)", color: "var(--text)", border: "1px solid var(--line)", borderRadius: "4px", padding: "2px 6px", margin: "0" },
  ".cm-button": { backgroundImage: "none", backgroundColor: "var(--bg)", color: "var(--text)", border: "1px solid var(--line)", borderRadius: "4px", padding: "2px 8px", margin: "0", cursor: "pointer" },
  ".cm-tooltip": { backgroundColor: "var(--bg-raised)", color: "var(--text)", border: "1px solid var(--line)", borderRadius: "6px", boxShadow: "var(--shadow)" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", maxHeight: "16em" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "2px 8px" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--text-inverse)" },
  ".cm-tooltip-autocomplete ul li[aria-selected] .cm-completionDetail": { color: "inherit" },
  ".cm-completionDetail": { color: "var(--text-3)", fontStyle: "normal" },
  ".cm-completionInfo": { maxWidth: "32em" },
  ".cm-hover, .cm-completionInfo": { padding: "6px 10px", maxWidth: "40em", maxHeight: "22em", overflow: "auto", fontSize: "12.5px" },
  ".cm-diagnostic": { padding: "5px 10px", maxWidth: "44em", borderLeftWidth: "3px" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--s-failed)" },
  ".cm-diagnostic-warning": { borderLeftColor: "var(--s-paused)" },
  ".cm-diagnostic-info": { borderLeftColor: "var(--accent)" },
  ".cm-diagnosticAction": { backgroundColor: "var(--accent)", color: "var(--text-inverse)", padding: "2px 8px", marginLeft: "8px", borderRadius: "4px" },
  ".cm-diagnosticSource": { fontSize: "11px", opacity: "1", color: "var(--text-3)" },
  ".cm-hint": { color: "var(--text-3)", marginTop: "2px" },
  ".cm-lintRange-error": { backgroundImage: "none", textDecoration: "underline wavy var(--s-failed) 1px", textUnderlineOffset: "3px" },
  ".cm-lintRange-warning": { backgroundImage: "none", textDecoration: "underline wavy var(--s-paused) 1px", textUnderlineOffset: "3px" },
  ".cm-lintRange-info": { backgroundImage: "none", textDecoration: "underline dotted var(--accent) 1px", textUnderlineOffset: "3px" },
  ".cm-changedText": { background: "color-mix(in srgb, var(--s-paused) 32%, transparent)" },
  "&.cm-merge-a .cm-changedLine, .cm-deletedChunk": { backgroundColor: "var(--s-failed-soft)" },
  "&.cm-merge-b .cm-changedLine, .cm-inlineChangedLine": { backgroundColor: "var(--s-done-soft)" },
  "&.cm-merge-a .cm-changedText, &.cm-merge-b .cm-changedText": { background: "color-mix(in srgb, var(--s-paused) 32%, transparent)" },
  ".cm-collapsedLines": { color: "var(--text-3)", background: "var(--bg-2)", padding: "3px 8px" },
});

const colours = HighlightStyle.define([
  { tag: [t.propertyName, t.definition(t.propertyName)], color: "var(--code-key)" },
  { tag: [t.string, t.special(t.string)], color: "var(--code-string)" },
  { tag: [t.number, t.bool, t.null, t.atom], color: "var(--code-number)" },
  { tag: [t.keyword, t.typeName, t.labelName, t.meta], color: "var(--code-keyword)" },
  { tag: [t.comment, t.lineComment], color: "var(--code-comment)", fontStyle: "italic" },
  { tag: t.invalid, color: "var(--s-failed)" },
]);

export const theme: Extension = [look, syntaxHighlighting(colours)];
