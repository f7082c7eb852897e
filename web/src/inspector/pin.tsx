import { useEffect, useState } from "react";
import { api } from "../api";
import type { Json } from "../api/types";
import { Badge, Button, Empty } from "../kit";
import { announce, notify, pin, report, start, unpin, useStore } from "../store";
import { encode, type Value } from "../value/json";
import { JSONText } from "../value/jsontext";
import { loader } from "../value/load";
import { isPartial, whole } from "../value/rows";
import { firstRecord, type Current } from "./current";

/** PinTab pins a node to a value, sets the output of a past execution, and runs again from here. */
export function PinTab({ current }: { current: Current }) {
  const { key, rec, run, data, executions } = current;
  const pinned = useStore((s) => (key === undefined ? undefined : (s.pins[key] as Value | undefined)));
  const readOnly = useStore((s) => s.server?.readOnly ?? true);
  const [value, setValue] = useState<Value | undefined>(pinned);
  const [draft, setDraft] = useState<{ text: string; message: string }>();
  const output = rec?.output as Value | undefined;
  const partial = output !== undefined && isPartial(output);
  const [source, setSource] = useState("");

  // Another execution brings its own output, unless the node is pinned.
  const from = `${key} ${run?.id} ${rec?.index} ${pinned === undefined}`;
  useEffect(() => {
    if (from === source) return;
    setSource(from);
    setDraft(undefined);
    setValue(pinned ?? (partial ? undefined : output));
  }, [from]);

  if (key === undefined) return <Empty title="No node chosen" />;
  if (readOnly) return <Empty title="Read-only"><p>This page only watches: nodes cannot be pinned.</p></Empty>;
  const loadOutput = async () => {
    if (!run || !rec || output === undefined) return;
    try {
      setValue(await whole(output, [], loader(run.id, rec.index, "output")));
      setDraft(undefined);
    } catch (e) {
      report(e, "Output");
    }
  };
  const ok = draft === undefined && value !== undefined;
  const can = run?.can ?? [];
  const canSet = ok && run !== undefined && rec !== undefined && can.includes("setOutput") && rec === executions.at(-1);
  const again = async (changed: boolean) => {
    if (!run || !rec) return;
    try {
      const { value: args } = await api.value(run.id, { part: "args" });
      const whole_ = (await whole(args as Value, [], loader(run.id, undefined, "args"))) as Json;
      const step = changed ? rec.index + 1 : firstRecord(data, rec);
      await start(run.tool, whole_, { from: { run: run.id, step, ...(changed ? { set: { node: key, value: value as Json } } : {}) } });
    } catch (e) {
      report(e, "Run again");
    }
  };
  const setOutput = async () => {
    if (!run) return;
    try {
      await api.setOutput(run.id, key, value as Json);
      notify("info", "The output was set for what follows");
    } catch (e) {
      report(e, "Set output");
    }
  };
  return (
    <div className="i-scroll i-pad">
      <div className="i-actions">
        <label className="i-label grow" htmlFor="pin-value">
          Output {pinned !== undefined && <Badge>pinned</Badge>}
        </label>
        {output !== undefined && (
          <Button small look="quiet" icon="undo" onClick={() => void loadOutput()} title="Take the output of this execution">
            Take output
          </Button>
        )}
      </div>
      <JSONText
        id="pin-value"
        label="Output"
        value={value}
        draft={draft?.text}
        rows={5}
        invalid={draft !== undefined}
        describedBy="pin-help"
        onChange={(v, error, text) => {
          setDraft(error ? { text: text ?? "", message: error } : undefined);
          if (!error) setValue(v);
        }}
      />
      <p id="pin-help" className={draft ? "error-text small" : "muted small"}>
        {draft?.message ?? (partial && value === undefined ? "The output is long: press Take output to load it." : value === undefined ? "Write the output as JSON." : "")}
      </p>
      <ul className="i-choices">
        <li>
          <span className="row">
            <Button icon="pin" disabled={!ok} onClick={() => { void pin(key, value as Json); announce("Pinned"); }}>
              {pinned === undefined ? "Pin" : "Change pin"}
            </Button>
            {pinned !== undefined && (
              <Button onClick={() => { void unpin(key); announce("Unpinned"); }}>Unpin</Button>
            )}
          </span>
          <span className="muted small">The node yields this value and is not executed, in this run and the next ones.</span>
        </li>
        <li>
          <Button icon="edit" disabled={!canSet} onClick={() => void setOutput()}>
            Set output
          </Button>
          <span className="muted small">{canSet || !rec ? "What follows in this run sees this value." : "Possible while the run is paused, for the last execution of a node."}</span>
        </li>
        <li>
          <Button icon="refresh" disabled={!rec || !run} onClick={() => void again(false)}>
            Run again from this node
          </Button>
          <span className="muted small">{rec ? "A new run keeps what happened before this execution." : "Possible once the node was executed."}</span>
        </li>
        <li>
          <Button icon="resume" disabled={!rec || !run || !ok} onClick={() => void again(true)}>
            Go on with this output
          </Button>
          <span className="muted small">A new run keeps what happened up to here, with the value above as the output.</span>
        </li>
      </ul>
      {value !== undefined && encode(value).length > 200_000 && <p className="muted small">Values above 1 MB may be refused.</p>}
    </div>
  );
}
