import { useEffect, useState } from "react";
import { api, RequestError } from "../api";
import { keepJSON, keptJSON } from "../api/storage";
import { Button, Empty, IconButton } from "../kit";
import { useStore } from "../store";
import type { Value } from "../value/json";
import { Tree } from "../value/tree";
import type { Current } from "./current";

const maxWatches = 30;
const maxExpression = 4000;

function stored(file: string): string[] {
  const v = keptJSON(`mcpgraph.watches:${file}`);
  return Array.isArray(v) ? v.filter((e): e is string => typeof e === "string").slice(0, maxWatches) : [];
}

type Result = { value?: Value; error?: string } | undefined;

/** WatchTab evaluates expressions where the run is paused, or at the chosen execution, at each stop again. */
export function WatchTab({ current }: { current: Current }) {
  const file = useStore((s) => s.server?.file.path ?? "");
  const [watches, setWatches] = useState(() => stored(file));
  const [typed, setTyped] = useState("");
  const [results, setResults] = useState<ReadonlyMap<string, Result>>(new Map());
  const keep = (list: string[]) => {
    setWatches(list);
    keepJSON(`mcpgraph.watches:${file}`, list);
  };

  const { run, rec, past } = current;
  const id = run?.id;
  const running = run?.state === "running" && !past;
  const record = past ? rec?.index : undefined;
  const moment = `${id} ${record} ${run?.state} ${run?.paused?.at} ${run?.paused?.path} ${run?.executions}`;
  const list = watches.join("\n\0");
  useEffect(() => {
    if (id === undefined || running) return;
    let given = true;
    for (const expression of watches) {
      api.evaluate(id, expression, record === undefined ? {} : { record }).then(
        (r) => given && setResults((m) => new Map(m).set(expression, { ...(r.value === undefined ? {} : { value: r.value as Value }) })),
        (e: unknown) => given && setResults((m) => new Map(m).set(expression, { error: e instanceof RequestError || e instanceof Error ? e.message : String(e) })),
      );
    }
    return () => {
      given = false;
    };
  }, [moment, list]);

  const add = () => {
    const expression = typed.trim();
    if (expression === "" || watches.includes(expression) || watches.length >= maxWatches) return;
    keep([...watches, expression]);
    setTyped("");
  };
  return (
    <div className="i-scroll">
      <form
        className="i-watch-add"
        onSubmit={(e) => {
          e.preventDefault();
          add();
        }}
      >
        <input className="input mono" aria-label="Expression to watch" placeholder="JSONata, such as $.entry" value={typed} maxLength={maxExpression} onChange={(e) => setTyped(e.target.value)} spellCheck={false} autoComplete="off" />
        <Button type="submit" icon="plus" disabled={typed.trim() === ""}>
          Watch
        </Button>
      </form>
      {watches.length === 0 && (
        <Empty title="Nothing is watched">
          <p>Expressions are evaluated whenever the run stops, and at each execution that you choose.</p>
        </Empty>
      )}
      {running && watches.length > 0 && <p className="muted i-pad">The run is under way; the values are those of the last stop.</p>}
      {id === undefined && watches.length > 0 && <p className="muted i-pad">There is no run yet.</p>}
      <ul className="i-watches">
        {watches.map((w) => {
          const r = results.get(w);
          return (
            <li key={w}>
              <div className="i-watch">
                <code className="grow">{w}</code>
                <IconButton icon="cross" small label={`Stop watching ${w}`} onClick={() => keep(watches.filter((x) => x !== w))} />
              </div>
              {r && "error" in r ? (
                <p className="error-text">{r.error}</p>
              ) : r && r.value === undefined ? (
                <p className="muted">nothing (undefined)</p>
              ) : r ? (
                <Tree value={r.value as Value} label={`Value of ${w}`} root={/^[$\w.`[\]]+$/.test(w) ? w : `(${w})`} depth={1} maxRows={12} plain />
              ) : null}
            </li>
          );
        })}
      </ul>
    </div>
  );
}
