import { Button, clock, duration, Empty } from "../kit";
import { select, showPanel } from "../store";
import type { Rec } from "../api/types";
import type { Value } from "../value/json";
import { Tree } from "../value/tree";

/** ErrorTab shows why an execution failed, and its attempts. */
export function ErrorTab({ rec }: { rec: Rec }) {
  const { error, attempts = [] } = rec;
  if (!error && attempts.length === 0) return <Empty title="No error" />;
  return (
    <div className="i-scroll">
      {error && (
        <section className="i-failure" aria-label="Failure">
          <h2>{error.name}</h2>
          <p className="i-message">{error.message}</p>
          <dl className="i-facts">
            {error.path && (
              <>
                <dt>At</dt>
                <dd>
                  <code>{error.path}</code>
                </dd>
              </>
            )}
            {error.span && (
              <>
                <dt>In</dt>
                <dd>
                  <code>
                    {error.file ?? ""}:{error.span.from.line}:{error.span.from.col}
                  </code>{" "}
                  <Button small look="quiet" onClick={() => { select({ key: error.key ?? rec.key }); showPanel("yaml"); }}>
                    Show in YAML
                  </Button>
                </dd>
              </>
            )}
            {rec.state === "caught" && (
              <>
                <dt>Caught</dt>
                <dd>
                  {rec.next ? (
                    <>
                      goes on at <code>{rec.next.split("#")[1] ?? rec.next}</code>
                    </>
                  ) : (
                    "yes"
                  )}
                </dd>
              </>
            )}
          </dl>
          {error.detail !== undefined && (
            <>
              <h3>Detail</h3>
              <Tree value={error.detail as Value} label="Detail of the failure" maxRows={14} plain />
            </>
          )}
        </section>
      )}
      {attempts.length > 0 && (
        <section aria-label="Attempts">
          <h2 className="i-heading">
            {attempts.length} {attempts.length === 1 ? "attempt" : "attempts"}
            {rec.tries !== undefined && rec.tries > attempts.length ? ` of ${rec.tries}` : ""}
          </h2>
          <table className="i-table">
            <thead>
              <tr>
                <th scope="col">#</th>
                <th scope="col">Begin</th>
                <th scope="col">Time</th>
                <th scope="col">Outcome</th>
              </tr>
            </thead>
            <tbody>
              {attempts.map((a, i) => (
                <tr key={i}>
                  <td>{i + 1}</td>
                  <td>{clock(a.start, true)}</td>
                  <td>{duration(Date.parse(a.end) - Date.parse(a.start))}</td>
                  <td className={a.error ? "error-text" : undefined}>{a.error ?? "answered"}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </div>
  );
}
