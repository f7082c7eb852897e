import { useState, type FormEvent } from "react";
import { Button, Icon } from "../kit";
import { reconnect, renew, useRun, useStore } from "../store";

/** Says above the panes what is wrong with the connection, with durable runs or with the chosen one. It goes away by itself. */
export function Trouble() {
  const run = useRun();
  const place = useStore((s) => s.durable.problem);
  const lost = useStore((s) => s.lost);
  const denied = useStore((s) => s.connection === "denied");
  const text = place ?? run?.durable?.problem;
  return (
    <>
      <div role="status" aria-label="State of the connection">
        {lost && (
          <p className="trouble">
            <span className="sign s-paused"><Icon name="warn" /></span>
            <span className="grow">mcpgraph does not answer. Is it still running? The page tries again every few seconds; nothing that you typed is lost.</span>
            <Button small onClick={reconnect}>Try now</Button>
          </p>
        )}
      </div>
      {denied && <Renew />}
      <div role="status" aria-label="State of durable runs">
        {text && !lost && !denied && (
          <p className="trouble">
            <span className="sign s-paused"><Icon name="warn" /></span>
            <span>{text.charAt(0).toUpperCase() + text.slice(1)}.</span>
          </p>
        )}
      </div>
    </>
  );
}

/** Asks for the address of the process that answers now. */
function Renew() {
  const [text, setText] = useState("");
  const [error, setError] = useState("");
  const submit = (e: FormEvent) => {
    e.preventDefault();
    setError("");
    renew(text).catch((e: unknown) => setError(e instanceof Error ? e.message : String(e)));
  };
  return (
    <form className="trouble renew" aria-label="New address" onSubmit={submit}>
      <span className="sign s-paused"><Icon name="lock" /></span>
      <label className="grow">
        <span>mcpgraph was started again and has a new token. Paste the address that it printed; nothing that you typed here is lost.</span>
        <input className="input mono" value={text} placeholder="http://127.0.0.1:…/#token=…" autoComplete="off" spellCheck={false}
          aria-invalid={error !== ""} onChange={(e) => setText(e.target.value)} />
      </label>
      <Button type="submit" disabled={text.trim() === ""}>Connect</Button>
      {error && <span className="error-text" role="alert">{error}</span>}
    </form>
  );
}
