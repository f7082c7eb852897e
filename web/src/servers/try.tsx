import { useId, useMemo, useState } from "react";
import { api } from "../api";
import type { Failure, Json, ServerInfo } from "../api/types";
import { Button, Dialog, duration, Markdown, when } from "../kit";
import { focusField, type FormState } from "../input/context";
import { Form, issuesOf } from "../input/form";
import { remember, remembered } from "../input/history";
import { initial, schemaOf } from "../input/schema";
import { state as app } from "../store";
import { encode, type Value } from "../value/json";
import { Pictures } from "../value/safe";
import { Tree } from "../value/tree";

type Outcome = { result?: Value; ms?: number; error?: Failure };

/** TryTool calls a tool of a server with arguments that a person fills in. */
export function TryTool({ server, tool, onClose }: { server: string; tool: NonNullable<ServerInfo["tools"]>[number]; onClose: () => void }) {
  const schema = useMemo(() => schemaOf(tool.inputSchema as Value), [tool]);
  const id = useId();
  const [state, setState] = useState<FormState>(() => ({ value: initial(schema, schema) ?? {}, drafts: new Map() }));
  const [tried, setTried] = useState(false);
  const [busy, setBusy] = useState(false);
  const [outcome, setOutcome] = useState<Outcome>();
  const file = app.server?.file.path ?? "";
  const name = `${server}/${tool.name}`;
  const earlier = useMemo(() => remembered(file, name), [file, name, outcome]);

  const call = async () => {
    const issues = issuesOf(schema, state);
    setTried(true);
    if (issues[0]) {
      const first = issues[0].pointer;
      setTimeout(() => focusField(id, first));
      return;
    }
    const args = state.value ?? {};
    remember(file, name, schema, args);
    setBusy(true);
    try {
      setOutcome((await api.callTool(server, tool.name, args as Json)) as Outcome);
    } catch (e) {
      setOutcome({ error: { name: "request", message: e instanceof Error ? e.message : String(e) } });
    } finally {
      setBusy(false);
    }
  };
  const isError = typeof outcome?.result === "object" && outcome.result !== null && !Array.isArray(outcome.result) && outcome.result.isError === true;
  return (
    <Dialog
      title={`Try ${tool.name}`}
      wide
      onClose={onClose}
      onSubmit={() => void call()}
      footer={
        <>
          <Button onClick={onClose}>Close</Button>
          <Button look="primary" icon="play" type="submit" disabled={busy}>
            {busy ? "Calling …" : "Call"}
          </Button>
        </>
      }
    >
      <div className="try">
        <div>
          {tool.description && <div className="muted try-about"><Markdown text={tool.description} /></div>}
          {earlier.length > 0 && (
            <label className="i-actions">
              <span className="i-label">Earlier</span>
              <select
                className="select"
                value=""
                onChange={(e) => {
                  const args = earlier[Number(e.target.value)]?.args;
                  if (args !== undefined) setState({ value: args, drafts: new Map() });
                }}
              >
                <option value="" disabled>Choose earlier arguments</option>
                {earlier.map((r, i) => <option key={i} value={i}>{when(r.at)} {encode(r.args).slice(0, 80)}</option>)}
              </select>
            </label>
          )}
          <Form id={id} schema={schema} state={state} tried={tried} disabled={busy} onState={setState} />
        </div>
        <div className="try-outcome" role="status">
          {!outcome ? (
            <p className="muted">The reply of {server} stands here. The call goes to the server itself: what it changes stays changed.</p>
          ) : outcome.error ? (
            <div className="i-failure">
              <h3>{outcome.error.name}</h3>
              <p className="i-message">{outcome.error.message}</p>
              {outcome.error.detail !== undefined && <Tree value={outcome.error.detail as Value} label="Detail" maxRows={14} plain />}
            </div>
          ) : (
            <>
              <p className={isError ? "error-text" : "muted"}>
                {isError ? "The tool reports an error" : "Answered"}{outcome.ms !== undefined ? ` after ${duration(outcome.ms)}` : ""}
              </p>
              {outcome.result !== undefined && <Tree value={outcome.result} label={`Reply of ${tool.name}`} depth={4} maxRows={20} />}
              <Pictures value={outcome.result} />
            </>
          )}
        </div>
      </div>
    </Dialog>
  );
}
