// Descriptions as React elements: paragraphs, lists, code, bold, and links to http and https. Anything
// else stays text; nothing is ever parsed as HTML.
import { Fragment, type ReactNode } from "react";

/** How much of a text is shown, in characters: servers write them, and may mean harm. */
const longest = 20_000;

/** What stands within a line. The bounds keep the time in proportion to the length of any text. */
export const inline = /(`{1,4})(.{1,1000}?)\1|\*\*(.{1,1000}?)\*\*|\[([^[\]]+)\]\((https?:\/\/[^\s)]+)\)|(https?:\/\/[^\s<>)]+[^\s<>).,;:!?])/g;

function spans(text: string): ReactNode {
  const parts: ReactNode[] = [];
  let at = 0;
  for (const m of text.matchAll(inline)) {
    parts.push(text.slice(at, m.index));
    at = m.index + m[0].length;
    const url = m[5] ?? m[6];
    if (m[2] !== undefined) parts.push(<code key={at}>{m[2]}</code>);
    else if (m[3] !== undefined) parts.push(<strong key={at}>{m[3]}</strong>);
    else parts.push(<a key={at} href={url} target="_blank" rel="noopener noreferrer">{m[4] ?? url}</a>);
  }
  parts.push(text.slice(at));
  return parts.map((p, i) => <Fragment key={i}>{p}</Fragment>);
}

export function Markdown({ text }: { text: string }) {
  const blocks: ReactNode[] = [];
  const shown = text.length > longest ? `${text.slice(0, longest)}…` : text;
  const parts = shown.replaceAll("\r\n", "\n").split(/(^```[^\n]*\n[\s\S]*?(?:^```[ \t]*$|(?![\s\S])))/m);
  for (const part of parts) {
    if (part.startsWith("```")) {
      blocks.push(<pre key={blocks.length}><code>{part.replace(/^```[^\n]*\n/, "").replace(/\n?```[ \t]*$/, "")}</code></pre>);
      continue;
    }
    for (const block of part.split(/\n\s*\n/)) {
      const lines = block.split("\n").filter((l) => l.trim() !== "");
      if (lines.length === 0) continue;
      const item = /^\s*(?:[-*+]|\d+[.)])\s+/;
      if (lines.every((l) => item.test(l))) {
        blocks.push(<ul key={blocks.length}>{lines.map((l, i) => <li key={i}>{spans(l.replace(item, ""))}</li>)}</ul>);
      } else {
        blocks.push(<p key={blocks.length}>{spans(lines.map((l) => l.replace(/^#+\s+/, "").trim()).join(" "))}</p>);
      }
    }
  }
  return <div className="markdown">{blocks}</div>;
}
