// The dialogs of the graph: breakpoints, pins, and edits with their diff.
import { useEffect, useId, useState, type ReactNode } from "react";
import { api, type Edited, type Json, type Operation } from "../api";
import { Button, Dialog, Icon } from "../kit";
import { breakpointAt, findNode, pin, setBreakpoints, state, useStore } from "../store";
import { applyEdit, previewEdit, type Renaming } from "./edit";
import type { Model } from "./model";
import { encode, parse as parseJSON, type Value } from "../value/json";
import { loader } from "../value/load";
import { isPartial, whole } from "../value/rows";
import { useDirty } from "../yaml/model";
import { openDialog, surface, type GraphDialog } from "./surface";

const close = () => openDialog(undefined);

export function Dialogs({ model }: { model: Model }) {
  const dialog = useStore(() => surface.dialog);
  if (!dialog) return null;
  switch (dialog.kind) {
    case "breakpoint": return <BreakpointDialog key={dialog.key} node={dialog.key} />;
    case "pin": return <PinDialog node={dialog.key} />;
    case "add": return <AddDialog model={model} at={dialog} />;
    case "connect": return <ConnectDialog model={model} at={dialog} />;
    case "rename": return <RenameDialog model={model} node={dialog.key} />;
    case "remove": return <RemoveDialog model={model} node={dialog.key} />;
    case "disconnect": return (
      <EditDialog model={model} title="Remove the edge" apply="Remove" what={`Removed ${dialog.via} of ${model.nodes.get(dialog.from)?.node.id}`}
        operations={[{ op: "disconnect", from: dialog.from, via: dialog.via }]} />
    );
  }
}

function Field({ label, hint, children }: { label: string; hint?: string; children: (id: string, hintId?: string) => ReactNode }) {
  const id = useId();
  return (
    <div className="field"><label htmlFor={id}>{label}</label>{children(id, hint && `${id}-hint`)}{hint && <span className="hint" id={`${id}-hint`}>{hint}</span>}</div>
  );
}

function Text({ label, hint, value, onChange, mono, focus, placeholder }: {
  label: string; hint?: string; value: string; onChange: (text: string) => void; mono?: boolean; focus?: boolean; placeholder?: string;
}) {
  return (
    <Field label={label} hint={hint}>{(id, hintId) => (
      <input id={id} aria-describedby={hintId} className={`input${mono ? " mono" : ""}`} value={value} autoFocus={focus} placeholder={placeholder} spellCheck={false} autoComplete="off" onChange={(e) => onChange(e.target.value)} />
    )}</Field>
  );
}

function Choice({ label, value, options, onChange }: { label: string; value: string; options: [string, string][]; onChange: (v: string) => void }) {
  return (
    <Field label={label}>{(id) => (
      <select id={id} className="select" value={value} onChange={(e) => onChange(e.target.value)}>
        {options.map(([v, text]) => <option key={v} value={v}>{text}</option>)}
      </select>
    )}</Field>
  );
}

function BreakpointDialog({ node }: { node: string }) {
  const now = breakpointAt(node);
  const [when, setWhen] = useState(now?.when ?? "");
  const [hits, setHits] = useState(now?.hits ? String(now.hits) : "");
  const [log, setLog] = useState(now?.log ?? "");
  const [enabled, setEnabled] = useState(!now?.disabled);
  const bad = hits !== "" && !/^[1-9]\d{0,8}$/.test(hits);
  const rest = state.breakpoints.filter((b) => b.node !== node);
  const save = () => {
    if (bad) return;
    void setBreakpoints([...rest, {
      node, ...(when.trim() && { when: when.trim() }), ...(hits && { hits: Number(hits) }), ...(log.trim() && { log: log.trim() }), ...(!enabled && { disabled: true }),
    }]);
    close();
  };
  return (
    <Dialog title={`Breakpoint at ${findNode(node)?.id ?? node}`} onClose={close} onSubmit={save} footer={<>
      {now && <Button look="danger" onClick={() => { void setBreakpoints(rest); close(); }}>Remove</Button>}
      <span className="grow" /><Button onClick={close}>Cancel</Button><Button look="primary" type="submit" disabled={bad}>Save</Button>
    </>}>
      <Text label="Condition" hint="JSONata over the document; the run pauses where it is true." value={when} onChange={setWhen} mono focus placeholder="$.entry.count > 3" />
      <Text label="Hits" hint={bad ? "A whole number from 1." : "Pause at this execution only, counted from 1."} value={hits} onChange={setHits} placeholder="every" />
      <Text label="Log message" hint="Write a message instead of pausing. {…} holds an expression, such as: found {$count($.list)}." value={log} onChange={setLog} />
      <label className="check"><input type="checkbox" checked={enabled} onChange={(e) => setEnabled(e.target.checked)} />Enabled</label>
    </Dialog>
  );
}

/** Parses JSON, with all digits of its numbers; an error is a text for people. */
function parse(text: string): { value?: Json; error?: string } {
  try {
    return { value: parseJSON(text) as Json };
  } catch (e) {
    return { error: (e as Error).message };
  }
}

function PinDialog({ node }: { node: string }) {
  const { run } = state.selection;
  const record = run ? state.attached.get(run)?.byKey.get(node)?.at(-1) : undefined;
  const [shown] = useState(() => (state.pins[node] ?? record?.output) as Value | undefined);
  const partial = shown !== undefined && isPartial(shown);
  const [text, setText] = useState(shown === undefined ? "{}" : partial ? "" : encode(shown, 2));
  const [missing, setMissing] = useState("");
  useEffect(() => {
    if (!partial || !run || !record) return;
    let current = true;
    whole(shown, [], loader(run, record.index, "output")).then(
      (v) => { if (current) setText((now) => now || encode(v, 2)); },
      (e: Error) => { if (current) setMissing(e.message); });
    return () => { current = false; };
  }, []);
  const { value, error } = parse(text);
  return (
    <Dialog title={`Pin the output of ${findNode(node)?.id ?? node}`} onClose={close} onSubmit={() => { if (!error) { void pin(node, value!); close(); } }}
      footer={<><Button onClick={close}>Cancel</Button><Button look="primary" type="submit" disabled={!!error}>Pin</Button></>}>
      <Field label="Output as JSON" hint="The node yields this value without being executed, until you unpin it.">{(id, hint) => (
        <textarea id={id} aria-describedby={hint} className="textarea mono" rows={10} autoFocus spellCheck={false} value={text} aria-invalid={!!error} onChange={(e) => setText(e.target.value)} />
      )}</Field>
      {partial && text === "" && <p className="muted">{missing ? `The last output cannot be loaded: ${missing}` : "Loading the last output …"}</p>}
      {error && text !== "" && <p className="error-text" role="alert">{error}</p>}
    </Dialog>
  );
}

/** A dialog for an edit: shows the diff of what it is about to do. */
function EditDialog({ model, title, apply, what, operations, children, renaming, missing }: {
  model: Model; title: string; apply: string; what: string; operations?: Operation[]; children?: ReactNode; renaming?: Renaming;
  /** What is missing while there are no operations. */
  missing?: string;
}) {
  const tool = model.graph.tool;
  const [preview, setPreview] = useState<{ edited?: Edited; error?: string }>({});
  const [busy, setBusy] = useState(false);
  const unsaved = useDirty();
  const revision = useStore((s) => s.server?.file.revision);
  const text = JSON.stringify(operations);
  useEffect(() => {
    if (!operations) {
      setPreview({});
      return;
    }
    let current = true;
    const timer = setTimeout(() => previewEdit(tool, operations).then(
      (edited) => { if (current) setPreview({ edited }); },
      (e: Error) => { if (current) setPreview({ error: e.message }); }), 200);
    return () => { current = false; clearTimeout(timer); };
  }, [tool, text, revision]); // the text stands for the operations
  const errors = preview.error ? [preview.error] : preview.edited?.refused?.map((p) => `The file would have an error in line ${p.span.from.line}: ${p.message}`) ?? [];
  const ready = operations !== undefined && errors.length === 0;
  const submit = async () => {
    if (!ready || busy) return;
    setBusy(true);
    if (await applyEdit(tool, operations, what, renaming)) close();
    setBusy(false);
  };
  const why = useId();
  return (
    <Dialog title={title} wide onClose={close} onSubmit={() => void submit()}
      footer={<><Button onClick={close}>Cancel</Button><Button look="primary" type="submit" aria-disabled={!ready || busy || undefined} aria-describedby={ready ? undefined : why}>{apply}</Button></>}>
      {children}
      {unsaved && <p className="sign s-paused"><Icon name="warn" /><span className="wrap">The YAML tab has changes that are not saved. This edits the file without them; you can merge both there.</span></p>}
      <div id={why} role="status">
        {!operations && <p className="muted">{missing}</p>}
        {errors.map((text, i) => <p key={i} className="error-text">{text}</p>)}
      </div>
      {preview.edited && <Diff text={preview.edited.diff} />}
    </Dialog>
  );
}

/** A diff, line by line. */
function Diff({ text }: { text: string }) {
  if (text.trim() === "") return <p className="muted">The file stays as it is.</p>;
  const look = (line: string) => line.startsWith("+") && !line.startsWith("+++") ? "add" : line.startsWith("-") && !line.startsWith("---") ? "del" : line.startsWith("@@") ? "at" : undefined;
  return (
    <figure className="diff" aria-label="Change of the file">
      <pre tabIndex={0}>{text.replace(/\n$/, "").split("\n").map((line, i) => <span key={i} className={look(line)}>{`${line}\n`}</span>)}</pre>
    </figure>
  );
}

function RenameDialog({ model, node }: { model: Model; node: string }) {
  const old = model.nodes.get(node)?.node.id ?? "";
  const [to, setTo] = useState(old);
  const valid = to !== "" && to !== old;
  return (
    <EditDialog model={model} title={`Rename ${old}`} apply="Rename" what={`Renamed ${old} to ${to}`} renaming={{ from: node, to: node.slice(0, node.length - old.length) + to }}
      operations={valid ? [{ op: "renameNode", node, to }] : undefined} missing="Write another id.">
      <Text label="New id" hint="Edges and expressions that name the node follow." value={to} onChange={setTo} mono focus />
    </EditDialog>
  );
}

function RemoveDialog({ model, node }: { model: Model; node: string }) {
  const id = model.nodes.get(node)?.node.id ?? node;
  const [reconnect, setReconnect] = useState(true);
  return (
    <EditDialog model={model} title={`Remove ${id}`} apply="Remove" what={`Removed ${id}`} operations={[{ op: "removeNode", node, reconnect }]}>
      <label className="check"><input type="checkbox" checked={reconnect} onChange={(e) => setReconnect(e.target.checked)} />Lead the edges to it on to the node that follows</label>
    </EditDialog>
  );
}

function nodeOptions(model: Model, body: string | undefined): [string, string][] {
  return [...model.nodes.values()].filter((n) => n.node.body === body).map((n) => [n.node.key, n.node.id]);
}

/** What a condition that is new begins with: JSON Logic, with JSONata in var. */
const firstRule = '{"==": [{"var": "$.entry.name"}, "value"]}';

function ConnectDialog({ model, at }: { model: Model; at: Extract<GraphDialog, { kind: "connect" }> }) {
  const from = model.nodes.get(at.from)?.node;
  const own = model.edges.filter((e) => e.edge.from === at.from);
  const next = (list: string) => `${list}[${own.filter((e) => e.edge.via.startsWith(`${list}[`)).length}]`;
  const vias: [string, string][] = own.map(({ edge }) => [edge.via, `${edge.via}${edge.label ? ` (${edge.label})` : ""}, now to ${model.nodes.get(edge.to)?.node.id ?? ""}`]);
  if (from && !own.some((e) => e.edge.via === "next")) vias.push(["next", "next (new)"]);
  if (from?.type === "switch") vias.push([next("conditions"), "a new condition"]);
  if (from) vias.push([next("catch"), "a new rule for failures"]);
  const body = from ? from.body : at.from.endsWith("#") ? undefined : at.from;
  const targets = nodeOptions(model, body).filter(([key]) => model.nodes.get(key)!.node.type !== "entry");
  const [via, setVia] = useState(at.via ?? (from?.type === "switch" && at.to ? next("conditions") : vias[0]?.[0] ?? "next"));
  const [to, setTo] = useState(at.to && targets.some(([k]) => k === at.to) ? at.to : targets[0]?.[0] ?? "");
  const [rule, setRule] = useState(firstRule);
  const edge = own.find((e) => e.edge.via === via)?.edge;
  const withRule = from?.type === "switch" && !edge && via.startsWith("conditions");
  const { value, error } = parse(rule);
  const ready = to !== "" && edge?.to !== to && !(withRule && error);
  const name = from?.id ?? "the failures";
  return (
    <EditDialog model={model} title={`Connect ${name}`} apply="Connect" what={`Connected ${name} to ${model.nodes.get(to)?.node.id ?? ""}`}
      operations={ready ? [{ op: "connect", from: at.from, via, to, ...(withRule && { rule: value }) }] : undefined}
      missing={withRule && error ? "Correct the rule." : edge?.to === to ? "The edge leads there already." : "There is no other node."}>
      <div className="columns">
        <Choice label="Edge" value={via} onChange={setVia} options={vias} />
        <Choice label="Leads to" value={to} onChange={setTo} options={targets} />
      </div>
      {withRule && <Text label="Rule" hint={error ?? "JSON Logic; the value of var is JSONata."} value={rule} onChange={setRule} mono />}
    </EditDialog>
  );
}

/** What a new node of each type begins with; a tool has one entry, which it has already. */
const templates: Record<string, Record<string, Json>> = {
  transform: { transform: { expr: "$" } },
  mcp: { server: "", tool: "", args: {} },
  call: { tool: "", args: {} },
  switch: { conditions: [] },
  map: { items: { expr: "[]" }, nodes: [{ id: "step", type: "transform", transform: { expr: "$item" } }] },
  parallel: { branches: { one: [{ id: "first", type: "transform", transform: { expr: "1" } }], two: [{ id: "second", type: "transform", transform: { expr: "2" } }] } },
  wait: { ms: 1000 },
  ask: { message: "May this go on?" },
  sample: { prompt: "Answer in one sentence: what is a graph?" },
  roots: {},
  fail: { message: "Something is wrong" },
  exit: {},
};

/** Stands for the name of an edge where a place is the end of a body. */
const atEnd = "end";

function AddDialog({ model, at: given }: { model: Model; at: Extract<GraphDialog, { kind: "add" }> }) {
  const [type, setType] = useState("transform");
  const taken = new Set(model.graph.nodes.map((n) => n.id));
  const [id, setId] = useState(() => {
    for (let i = 1; ; i++) if (!taken.has(`step${i}`)) return `step${i}`;
  });
  const places = model.edges.filter((e) => model.nodes.has(e.edge.from)).map(({ edge, label }) =>
    [`${edge.from} ${edge.via}`, `${model.nodes.get(edge.from)!.node.id} → ${model.nodes.get(edge.to)!.node.id}${label ? ` (${label})` : ""}`] as [string, string]);
  for (const b of model.graph.bodies) places.push([`${b.key} ${atEnd}`, `the end of ${model.nodes.get(b.owner)?.node.id ?? b.owner}, ${b.name}`]);
  const [edge, setEdge] = useState(() => {
    const wanted = model.edges.find((e) => e.edge.from === given.after && (given.via === undefined || e.edge.via === given.via));
    return wanted ? `${wanted.edge.from} ${wanted.edge.via}` : places[0]?.[0] ?? "";
  });
  const [server, setServer] = useState(state.server?.servers[0] ?? "");
  const [tool, setTool] = useState("");
  const [offered, setOffered] = useState<string[]>([]);
  const [rest, setRest] = useState(() => JSON.stringify(templates["transform"], null, 2));
  useEffect(() => {
    if (type !== "mcp" || !server) return;
    let current = true;
    const list = (s?: { tools?: { name: string }[] }) => { if (current) setOffered(s?.tools?.map((t) => t.name) ?? []); };
    api.servers().then(({ servers }) => list(servers.find((s) => s.name === server)), () => list());
    return () => { current = false; };
  }, [type, server]);
  const change = (t: string) => {
    setType(t);
    const { server: _s, tool: _t, ...others } = templates[t]!;
    setRest(JSON.stringify(t === "mcp" || t === "call" ? others : templates[t], null, 2));
    setTool("");
  };
  const { value, error } = parse(rest);
  const asObject = value !== null && typeof value === "object" && !Array.isArray(value) ? value : undefined;
  const space = edge.lastIndexOf(" ");
  const from = edge.slice(0, space), via = edge.slice(space + 1);
  const at = via === atEnd ? { body: from } : { after: from, via };
  const called: Record<string, Json> = type === "mcp" ? { server, tool } : type === "call" ? { tool } : {};
  const missing = id === "" ? "Write an id." : edge === "" ? "The tool has no edge to put a node into." : error ?? (!asObject ? "Write an object." :
    type === "mcp" && !server ? "The file has no server." : (type === "mcp" || type === "call") && !tool ? "Choose a tool." : undefined);
  const ownTools = (state.server?.tools ?? []).map((t) => t.name).filter((n) => n !== model.graph.tool);
  return (
    <EditDialog model={model} title="Add a node" apply="Add" what={`Added ${id}`}
      operations={missing ? undefined : [{ op: "addNode", node: { id, type, ...called, ...asObject }, ...at }]} missing={missing}>
      <div className="columns">
        <Text label="Id" value={id} onChange={setId} mono focus />
        <Choice label="Type" value={type} onChange={change} options={Object.keys(templates).map((t) => [t, t])} />
        <Choice label="Place" value={edge} onChange={setEdge} options={places} />
        {type === "mcp" && <>
          <Choice label="Server" value={server} onChange={setServer} options={(state.server?.servers ?? []).map((s) => [s, s])} />
          <Field label="Tool">{(i) => <><input id={i} className="input mono" list={`${i}-tools`} value={tool} onChange={(e) => setTool(e.target.value)} /><datalist id={`${i}-tools`}>{offered.map((t) => <option key={t} value={t} />)}</datalist></>}</Field>
        </>}
        {type === "call" && <Choice label="Tool of this file" value={tool} onChange={setTool} options={[["", "choose"], ...ownTools.map((t) => [t, t] as [string, string])]} />}
      </div>
      <Field label="Other keys as JSON" hint="Expressions are objects: {&quot;expr&quot;: &quot;$.entry.name&quot;}.">{(i, hint) => (
        <textarea id={i} aria-describedby={hint} className="textarea mono" rows={6} spellCheck={false} value={rest} aria-invalid={!!error} onChange={(e) => setRest(e.target.value)} />
      )}</Field>
    </EditDialog>
  );
}
