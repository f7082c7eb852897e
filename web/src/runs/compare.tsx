import { useEffect, useState } from "react";
import { api } from "../api";
import type { RunState } from "../api/types";
import { Button, Dialog, Icon, when } from "../kit";
import { CompareValues } from "../inspector/compare";
import { select } from "../store";

type Pair = Awaited<ReturnType<typeof api.compare>>["pairs"][number];
const maxShown = 1000;

/** CompareRuns shows the executions of two runs side by side. */
export function CompareRuns({ a, b, onClose }: { a: RunState; b: RunState; onClose: () => void }) {
  // The older one stands left.
  const [left, right] = a.began <= b.began ? [a, b] : [b, a];
  const [pairs, setPairs] = useState<Pair[]>();
  const [error, setError] = useState("");
  const [all, setAll] = useState(false);
  const [chosen, setChosen] = useState<number>();
  useEffect(() => {
    api.compare(left.id, right.id).then(
      (r) => setPairs(r.pairs),
      (e: unknown) => setError(e instanceof Error ? e.message : String(e)),
    );
  }, [left.id, right.id]);
  const different = pairs?.filter((p) => !p.same) ?? [];
  const list = all ? (pairs ?? []) : different;
  const pair = chosen === undefined ? undefined : list[chosen];
  const names: [string, string] = [`${when(left.began)} (${left.state})`, `${when(right.began)} (${right.state})`];
  const show = (run: RunState, record: number) => {
    select({ tool: run.tool, run: run.id });
    select({ record });
    onClose();
  };
  return (
    <Dialog title={left.tool === right.tool ? `Compare two runs of ${left.tool}` : `Compare ${left.tool} with ${right.tool}`} wide onClose={onClose} footer={<Button onClick={onClose}>Close</Button>}>
      {error !== "" ? <p className="error-text">{error}</p> : !pairs ? <p className="muted">Loading …</p> : (
        <>
          <div className="row">
            <span className="grow">
              {different.length === 0 ? "All executions are the same." : `${different.length} of ${pairs.length} executions differ.`}
            </span>
            <label className="check">
              <input type="checkbox" checked={all} onChange={(e) => { setAll(e.target.checked); setChosen(undefined); }} />
              Show equal ones, too
            </label>
          </div>
          <div className="compare-list" tabIndex={0} role="region" aria-label="Executions">
            <table className="i-table">
              <thead>
                <tr>
                  <th scope="col">Execution</th>
                  <th scope="col">{names[0]}</th>
                  <th scope="col">{names[1]}</th>
                </tr>
              </thead>
              <tbody>
                {list.slice(0, maxShown).map((p, i) => (
                  <tr key={i} className={i === chosen ? "chosen" : undefined}>
                    <td>
                      <button type="button" className="link" aria-pressed={i === chosen} onClick={() => setChosen(i)}>
                        <span className={p.same ? "sign s-done" : "sign s-failed"}>
                          <Icon name={p.same ? "check" : "cross"} title={p.same ? "same" : "different"} />
                        </span>
                        <code>{p.path}</code>
                      </button>
                    </td>
                    {([[left, p.a], [right, p.b]] as const).map(([run, record]) => (
                      <td key={run.id}>
                        {record === undefined ? <span className="v-missing">not executed</span> : <Button small look="quiet" onClick={() => show(run, record)}>Show</Button>}
                      </td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
            {list.length > maxShown && <p className="muted">The first {maxShown} are shown.</p>}
          </div>
          {pair && pair.a !== undefined && pair.b !== undefined && (
            <CompareValues a={{ run: left.id, record: pair.a, name: names[0] }} b={{ run: right.id, record: pair.b, name: names[1] }} />
          )}
          {pair && (pair.a === undefined || pair.b === undefined) && <p className="muted i-pad">Only one of the runs executed {pair.path}.</p>}
        </>
      )}
    </Dialog>
  );
}
