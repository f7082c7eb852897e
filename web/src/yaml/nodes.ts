// Nodes in the text: where each stands, which is selected, which has a breakpoint.
import { RangeSet, RangeSetBuilder, RangeValue, StateEffect, StateField, type EditorState, type Extension } from "@codemirror/state";
import { Decoration, EditorView, gutter, GutterMarker, type DecorationSet } from "@codemirror/view";
import type { Span } from "../api/types";
import { offsetOf } from "./position";

/** Where a node stands in the text. */
export interface NodeRange { key: string; id: string; span: Span }

/** A breakpoint in the margin. */
export interface Mark { key: string; kind: "plain" | "condition" | "log"; disabled: boolean; text: string }

class NodeValue extends RangeValue {
  override mapMode = 0;
  constructor(readonly key: string, readonly id: string) { super(); }
  override eq(other: RangeValue): boolean { return other instanceof NodeValue && other.key === this.key; }
}

interface Nodes {
  ranges: RangeSet<NodeValue>;
  marks: Map<string, Mark>;
  selected?: string;
  decorations: DecorationSet;
}

export const setNodes = StateEffect.define<NodeRange[]>();
export const setMarks = StateEffect.define<Mark[]>();
export const setSelected = StateEffect.define<string | undefined>();

const selectedLine = Decoration.line({ class: "cm-node-selected" });

/** Holds the nodes; edits move them. */
export const nodeLayer = StateField.define<Nodes>({
  create: () => ({ ranges: RangeSet.empty, marks: new Map(), decorations: Decoration.none }),
  update(now, tr) {
    let next = now;
    if (tr.docChanged) next = { ...next, ranges: next.ranges.map(tr.changes) };
    for (const e of tr.effects) {
      if (e.is(setNodes)) next = { ...next, ranges: rangesOf(tr.state, e.value) };
      else if (e.is(setMarks)) next = { ...next, marks: new Map(e.value.map((m) => [m.key, m])) };
      else if (e.is(setSelected)) next = { ...next, selected: e.value };
    }
    return next === now ? now : { ...next, decorations: decorate(tr.state, next) };
  },
  provide: (field) => EditorView.decorations.from(field, (n) => n.decorations),
});

function rangesOf(state: EditorState, nodes: NodeRange[]): RangeSet<NodeValue> {
  const ranges = nodes.map((n) => {
    const from = offsetOf(state.doc, n.span.from);
    return new NodeValue(n.key, n.id).range(from, Math.max(from, offsetOf(state.doc, n.span.to)));
  });
  return RangeSet.of(ranges, true);
}

function decorate(state: EditorState, n: Nodes): DecorationSet {
  if (n.selected === undefined) return Decoration.none;
  const builder = new RangeSetBuilder<Decoration>();
  for (const iter = n.ranges.iter(); iter.value; iter.next()) {
    if (iter.value.key !== n.selected) continue;
    const last = state.doc.lineAt(Math.min(iter.to, state.doc.length)).number;
    for (let line = state.doc.lineAt(iter.from).number; line <= last; line++) {
      const at = state.doc.line(line).from;
      builder.add(at, at, selectedLine);
    }
    break;
  }
  return builder.finish();
}

/** Returns the innermost node around an offset. */
export function nodeAt(state: EditorState, offset: number): { key: string; id: string; from: number } | undefined {
  let found: { key: string; id: string; from: number; size: number } | undefined;
  const line = state.doc.lineAt(offset);
  // The dash and the indentation before a node belong to it, too.
  state.field(nodeLayer).ranges.between(offset, Math.max(offset, line.to), (from, to, value) => {
    if (from > offset && state.doc.lineAt(from).number !== line.number) return;
    if (to < offset || from > offset && !/^[\s-]*$/.test(state.doc.sliceString(line.from, from))) return;
    if (!found || to - from < found.size) found = { key: value.key, id: value.id, from, size: to - from };
  });
  return found;
}

class BreakpointMarker extends GutterMarker {
  constructor(readonly mark: Mark | undefined, readonly key: string, readonly id: string) { super(); }
  override eq(other: GutterMarker): boolean {
    return other instanceof BreakpointMarker && other.key === this.key && other.mark?.kind === this.mark?.kind &&
      other.mark?.disabled === this.mark?.disabled && other.mark?.text === this.mark?.text;
  }
  override toDOM(): Node {
    const dot = document.createElement("span");
    dot.className = "cm-breakpoint" + (this.mark ? ` is-${this.mark.kind}` : " is-none") + (this.mark?.disabled ? " is-disabled" : "");
    dot.title = this.mark ? `${this.mark.text} (click removes it)` : `Click: breakpoint at ${this.id} (F9)`;
    return dot;
  }
}

/** The margin in which a click sets or removes the breakpoint of the node that begins in that line. */
export function breakpointGutter(toggle: (key: string) => void): Extension {
  const nodeOfLine = (state: EditorState, from: number, to: number) => {
    let first: NodeValue | undefined;
    state.field(nodeLayer).ranges.between(from, to, (start, _, value) => {
      if (start < from || start > to) return;
      first = value;
      return false;
    });
    return first;
  };
  return gutter({
    class: "cm-breakpoints",
    lineMarker(view, line) {
      const node = nodeOfLine(view.state, line.from, line.to);
      return node ? new BreakpointMarker(view.state.field(nodeLayer).marks.get(node.key), node.key, node.id) : null;
    },
    lineMarkerChange: (u) => u.startState.field(nodeLayer) !== u.state.field(nodeLayer),
    domEventHandlers: {
      mousedown(view, line) {
        const node = nodeOfLine(view.state, line.from, line.to) ?? nodeAt(view.state, line.from);
        if (node) toggle(node.key);
        return !!node;
      },
    },
  });
}
