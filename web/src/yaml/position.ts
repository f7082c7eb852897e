// Places of diagnostics: lines and columns count from 1, columns count characters, a tab being one.
import type { Text } from "@codemirror/state";
import type { Pos } from "../api/types";

/** Returns the UTF-16 offset of a place; places beyond the text are moved into it. */
export function offsetOf(doc: Text, pos: Pos): number {
  if (pos.line < 1) return 0;
  if (pos.line > doc.lines) return doc.length;
  const line = doc.line(pos.line);
  let at = 0;
  for (let col = 1; col < pos.col && at < line.length; col++) at += (line.text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  return line.from + at;
}
