// The problems of the file, as it is edited.
import "./problems.css";
import type { Problem } from "../api/types";
import { Button, Empty, Icon, type IconName } from "../kit";
import { useStore } from "../store";
import { applyFix, file, goTo, useFile, useProblems } from "../yaml/model";
import { useEffect, useState } from "react";

const looks: Record<Problem["severity"], { icon: IconName; state: string }> = {
  error: { icon: "cross", state: "failed" }, warning: { icon: "warn", state: "paused" }, info: { icon: "dot", state: "running" },
};

/** The panel "Problems". */
export default function Problems() {
  const problems = useProblems(), f = useFile();
  const name = useStore((s) => s.server?.file.name);
  const fixable = useStore((s) => !!s.server?.file.editable && !s.server.readOnly) && f.checked === f.text && f.loaded && !f.conflict;
  const [failed, setFailed] = useState("");
  useEffect(() => void file.load(), []);
  if (problems.length === 0) return <Empty title="No problems"><p>{f.dirty ? "The text in the editor" : name} has no errors and no warnings.</p></Empty>;
  const order = { error: 0, warning: 1, info: 2 };
  const list = [...problems].sort((a, b) => order[a.severity] - order[b.severity] || a.span.from.line - b.span.from.line || a.span.from.col - b.span.from.col);
  return (
    <div className="problems-panel">
      {f.dirty && <p className="problems-note muted">Problems of the text in the editor, which is not saved.</p>}
      {failed && <p className="problems-note error-text" role="alert">{failed}</p>}
      <ul className="problems" aria-label="Problems">
        {list.map((p, i) => {
          const mine = p.from !== undefined;
          return (
            <li key={i} className="problem">
              <span className={`sign s-${looks[p.severity].state}`}><Icon name={looks[p.severity].icon} title={p.severity} /></span>
              <div className="grow">
                {mine ? <button type="button" className="problem-text" title="Show it in the editor" onClick={() => goTo({ pos: p.span.from })}>{p.message}</button> : <span>{p.message}</span>}
                {p.hint && <div className="muted">{p.hint}</div>}
              </div>
              {mine && p.fixes?.map((fix) => (
                <Button key={fix.title} small icon="edit" disabled={!fixable} title="Change the text in the editor; it is not saved yet"
                  onClick={() => { setFailed(applyFix(fix.edits) ? "" : "The text has changed in the meantime. Try again."); goTo({ pos: p.span.from }); }}>{fix.title}</Button>
              ))}
              <span className="muted problem-place">{mine ? "" : `${p.file}:`}{p.span.from.line}:{p.span.from.col}</span>
              <code className="muted problem-code">{p.code}</code>
            </li>
          );
        })}
      </ul>
    </div>
  );
}
