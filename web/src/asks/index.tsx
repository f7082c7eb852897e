import "./asks.css";
import { useEffect, useId, useMemo, useState } from "react";
import { api } from "../api";
import type { Json, Question, RunState } from "../api/types";
import { Badge, Button, IconButton } from "../kit";
import { focusField, type FormState } from "../input/context";
import { Form, issuesOf } from "../input/form";
import { initial, schemaOf } from "../input/schema";
import { announce, report, select, shallow, useStore } from "../store";
import type { Value } from "../value/json";
import { WebLink } from "../value/safe";

/** Shows what runs ask their client: a person, a model, or for roots; stands over the page. Of durable runs, the chosen one. */
export default function Asks() {
  const waiting = useStore((s) => [...s.runs.values()].filter((r) => (r.session || (r.durable && r.id === s.selection.run)) && !r.ended && r.questions.length > 0), shallow);
  const readOnly = useStore((s) => s.server?.readOnly ?? true);
  const [folded, setFolded] = useState(false);
  const [at, setAt] = useState("");
  const all = waiting.flatMap((run) => run.questions.map((question) => ({ run, question, id: `${run.id} ${question.id}` })));
  const newest = all.at(-1)?.id;
  useEffect(() => {
    if (newest === undefined) return;
    setFolded(false);
    announce("A run waits for an answer");
  }, [newest]);
  if (all.length === 0 || readOnly) return null;
  const index = Math.max(0, all.findIndex((a) => a.id === at));
  const { run, question, id } = all[index]!;
  return (
    <aside className="asks" aria-label="Questions">
      <div className="asks-head">
        <strong className="grow ellipsis">Question of {run.tool}</strong>
        {all.length > 1 && (
          <>
            <IconButton icon="before" small label="Previous question" disabled={index === 0} onClick={() => setAt(all[index - 1]!.id)} />
            <Badge>{index + 1} of {all.length}</Badge>
            <IconButton icon="after" small label="Next question" disabled={index === all.length - 1} onClick={() => setAt(all[index + 1]!.id)} />
          </>
        )}
        <IconButton icon={folded ? "up" : "down"} small label={folded ? "Show the question" : "Fold the question"} aria-expanded={!folded} onClick={() => setFolded(!folded)} />
      </div>
      {!folded && <Ask key={`${id} ${question.messages?.length}`} run={run} question={question} />}
    </aside>
  );
}

function Ask({ run, question }: { run: RunState; question: Question }) {
  const id = useId();
  const schema = useMemo(() => schemaOf(question.schema as Value | undefined), [question.schema]);
  const person = question.method === "elicitation/create";
  const hasForm = person && question.schema !== undefined && question.url === undefined;
  const [text, setText] = useState("");
  const [state, setState] = useState<FormState>(() => ({ value: hasForm ? (initial(schema, schema) ?? {}) : undefined, drafts: new Map() }));
  const [tried, setTried] = useState(false);
  const [busy, setBusy] = useState(false);
  const left = useTimeLeft(question.until);

  const answer = async (action: "accept" | "decline" | "cancel") => {
    if (action === "accept" && hasForm) {
      setTried(true);
      const issues = issuesOf(schema, state);
      if (issues[0]) {
        const first = issues[0].pointer;
        setTimeout(() => focusField(id, first));
        return;
      }
    }
    setBusy(true);
    try {
      const content = hasForm ? (state.value as Json) : question.method === "roots/list" ? lines(text) : text;
      await (run.session ? api.answer : api.answerDurable)(run.id, question.id, action, action === "accept" && (hasForm || !person) ? content : undefined);
      announce("Answered");
    } catch (e) {
      report(e, "Answer");
    } finally {
      setBusy(false);
    }
  };
  return (
    <form
      className="asks-body"
      onSubmit={(e) => {
        e.preventDefault();
        void answer("accept");
      }}
      onKeyDown={(e) => { if (e.key === "Enter" && (e.ctrlKey || e.metaKey) && !e.repeat && !busy) { e.preventDefault(); void answer("accept"); } }}
    >
      <div className="asks-scroll">
        {question.messages === undefined && <p className="asks-message">{question.message}</p>}
        {question.messages !== undefined && <Conversation question={question} />}
        <p className="muted small">
          <button type="button" className="link" onClick={() => { select({ tool: run.tool, run: run.id }); select({ key: question.key }); }}>
            <code>{question.path}</code>
          </button>
          {left !== undefined && <span> · {left}</span>}
        </p>
        {question.url !== undefined && (
          <p className="asks-url">
            <span className="muted">Open this address, then accept:</span> <WebLink address={question.url} />
          </p>
        )}
        {hasForm && <Form id={id} schema={schema} state={state} tried={tried} disabled={busy} onState={setState} />}
        {!person && (
          <label className="asks-text">
            {question.method === "roots/list" ? "URIs of folders, one per line" : "Answer of the model"}
            <textarea className="textarea mono" rows={question.method === "roots/list" ? 3 : 6} value={text} disabled={busy} spellCheck={false} placeholder={question.method === "roots/list" ? "file:///home/me/project" : ""} onChange={(e) => setText(e.target.value)} />
          </label>
        )}
      </div>
      <div className="asks-foot">
        <Button type="submit" look="primary" disabled={busy}>{person ? "Accept" : "Answer"}</Button>
        <Button disabled={busy} onClick={() => void answer("decline")}>Decline</Button>
        <Button look="quiet" disabled={busy} onClick={() => void answer("cancel")}>Cancel</Button>
      </div>
    </form>
  );
}

/** The conversation that a model is to go on with. */
function Conversation({ question }: { question: Question }) {
  return (
    <dl className="asks-talk" aria-label="Prompt">
      {question.system !== undefined && <Said role="system" text={question.system} />}
      {question.messages?.map((m, i) => <Said key={i} role={m.role} text={m.text} />)}
    </dl>
  );
}

function Said({ role, text }: { role: string; text: string }) {
  return (
    <div>
      <dt className="muted small">{role}</dt>
      <dd>{text}</dd>
    </div>
  );
}

const lines = (text: string) => text.split("\n").map((line) => line.trim()).filter((line) => line !== "");

/** useTimeLeft returns how long a question can still be answered. */
function useTimeLeft(until: string | undefined): string | undefined {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (until === undefined) return;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [until]);
  if (until === undefined) return undefined;
  const s = Math.round((Date.parse(until) - now) / 1000);
  if (Number.isNaN(s)) return undefined;
  if (s <= 0) return "time is up";
  return s >= 120 ? `${Math.floor(s / 60)} min left` : `${s} s left`;
}
