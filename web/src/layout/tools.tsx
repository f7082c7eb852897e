import { useState } from "react";
import { Badge, Empty, Icon } from "../kit";
import { select, useSelection, useStore } from "../store";

/** The headings of the list, and what stands before the names of what is under them. */
const groups = [["Tools", ""], ["Prompts", "prompts/"], ["Resources", "resources/"]] as const;

function groupOf(name: string): string {
  return groups.find(([, prefix]) => prefix !== "" && name.startsWith(prefix))?.[1] ?? "";
}

/** The tools, prompts and resources of the file. */
export default function Tools() {
  const tools = useStore((s) => s.server?.tools);
  const { tool } = useSelection();
  const [text, setText] = useState("");
  if (!tools) return null;
  const wanted = text.trim().toLowerCase();
  const found = tools.filter((t) => `${t.name} ${t.title ?? ""} ${t.description ?? ""}`.toLowerCase().includes(wanted));
  return (
    <div className="tools">
      <label className="searchbox">
        <Icon name="search" /><span className="sr-only">Search tools</span>
        <input type="search" className="input" placeholder="Search tools" value={text} onChange={(e) => setText(e.target.value)} />
      </label>
      {groups.map(([title, prefix]) => {
        const own = found.filter((t) => groupOf(t.name) === prefix);
        return own.length > 0 && (
          <section key={title} aria-label={title}>
            {found.length > own.length || prefix !== "" ? <h2 className="group-title muted small">{title}</h2> : null}
            <ul className="list" aria-label={title}>
              {own.map((t) => (
                <li key={t.name}>
                  <button type="button" className="list-item" aria-current={t.name === tool || undefined} onClick={() => select({ tool: t.name })}>
                    <span className="row">
                      <strong className="ellipsis grow">{t.name.slice(prefix.length)}</strong>
                      {t.private && <Badge title="other tools of the file call it; clients do not see it">private</Badge>}
                      <span className="muted small" title={`${t.nodes} nodes`}>{t.nodes}</span>
                    </span>
                    {(t.title ?? t.description) && <span className="muted small clamp">{t.title ?? t.description}</span>}
                  </button>
                </li>
              ))}
            </ul>
          </section>
        );
      })}
      {found.length === 0 && <Empty title={tools.length === 0 ? "The file has no tools" : "No tool matches"} />}
    </div>
  );
}
