import { useState } from "react";
import { Button, IconButton } from "../kit";
import type { Rec } from "../api/types";
import { select } from "../store";
import type { Current } from "./current";

/** Picker chooses among the executions of a node: by number, one after the other, or only those that failed. */
export function Picker({ current }: { current: Current }) {
  const { executions, rec, run } = current;
  const [failedOnly, setFailedOnly] = useState(false);
  const [typed, setTyped] = useState<string>();
  if (executions.length < 2 || !rec || !run) return null;
  const failed = executions.filter((r) => r.state === "failed" || r.state === "caught");
  const list = failedOnly && failed.length > 0 ? failed : executions;
  const at = list.indexOf(rec);
  const go = (r: Rec | undefined) => r && select({ run: run.id, record: r.index });
  // Outside of the list, the neighbours are those before and after it.
  const before = at >= 0 ? list[at - 1] : list.findLast((r) => r.index < rec.index);
  const after = at >= 0 ? list[at + 1] : list.find((r) => r.index > rec.index);
  const done = () => {
    const n = Number(typed);
    setTyped(undefined);
    if (Number.isInteger(n) && n >= 1 && n <= list.length) go(list[n - 1]);
  };
  return (
    <div className="i-picker" role="group" aria-label="Executions of this node">
      <IconButton icon="before" small label="Previous execution" disabled={!before} onClick={() => go(before)} />
      <input
        className="input"
        aria-label={`Execution, of ${list.length}`}
        inputMode="numeric"
        value={typed ?? (at >= 0 ? String(at + 1) : "–")}
        onFocus={(e) => e.currentTarget.select()}
        onChange={(e) => setTyped(e.target.value)}
        onBlur={done}
        onKeyDown={(e) => {
          if (e.key === "Enter") done();
        }}
      />
      <span className="muted">of {list.length}</span>
      <IconButton icon="after" small label="Next execution" disabled={!after} onClick={() => go(after)} />
      {failed.length > 0 && (
        <Button small look="quiet" icon="filter" aria-pressed={failedOnly} onClick={() => setFailedOnly(!failedOnly)}>
          Failed ({failed.length})
        </Button>
      )}
    </div>
  );
}
