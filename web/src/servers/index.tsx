import "./servers.css";
import { useEffect, useState } from "react";
import { api } from "../api";
import type { ServerInfo } from "../api/types";
import { Badge, Button, Empty, IconButton, Markdown } from "../kit";
import { announce, report, useStore } from "../store";
import type { Value } from "../value/json";
import { Tree } from "../value/tree";
import { TryTool } from "./try";

/** The servers of the file: how they are, and their tools. */
export default function Servers() {
  const changes = useStore((s) => s.servers);
  const generation = useStore((s) => s.server?.generation);
  const [servers, setServers] = useState<ServerInfo[]>();
  const [error, setError] = useState("");
  const load = () =>
    api.servers().then(
      (r) => {
        // Tools that a check has listed stay until the file is loaded again.
        setServers((before) => r.servers.map((s) => (s.tools ? s : { ...s, ...(toolsOf(before, s.name) ? { tools: toolsOf(before, s.name) } : {}) })));
        setError("");
      },
      (e: unknown) => setError(e instanceof Error ? e.message : String(e)),
    );
  useEffect(() => void load(), [changes, generation]);
  if (error !== "") return <Empty title="The servers cannot be shown"><p>{error}</p></Empty>;
  if (!servers) return <p className="muted i-pad">Loading …</p>;
  if (servers.length === 0) return <Empty title="No servers"><p>The file has no <code>mcpServers</code>.</p></Empty>;
  return (
    <div className="servers">
      {servers.map((s) => (
        <Server key={s.name} server={s} open={servers.length === 1} onChecked={(n) => setServers((list) => list?.map((x) => (x.name === n.name ? n : x)))} />
      ))}
    </div>
  );
}

function toolsOf(list: ServerInfo[] | undefined, name: string): ServerInfo["tools"] {
  return list?.find((s) => s.name === name)?.tools;
}

// What stands above the figures already.
const known = new Set(["server", "transport", "state", "protocol", "name", "version"]);
const bad = /fail|error|open|unreachable|refus|closed|down/i;

function Server({ server: s, open: first, onChecked }: { server: ServerInfo; open: boolean; onChecked: (s: ServerInfo) => void }) {
  const readOnly = useStore((s) => s.server?.readOnly ?? true);
  const [open, setOpen] = useState(first);
  const [busy, setBusy] = useState(false);
  const check = async () => {
    setBusy(true);
    setOpen(true);
    try {
      const checked = await api.checkServer(s.name);
      onChecked(checked);
      announce(`${s.name}: ${checked.error ?? checked.state}`);
    } catch (e) {
      report(e, s.name);
    } finally {
      setBusy(false);
    }
  };
  const { tools } = s;
  return (
    <section className="server" aria-label={`Server ${s.name}`}>
      <div className="server-head">
        <IconButton icon={open ? "down" : "right"} small label={`${open ? "Close" : "Open"} ${s.name}`} aria-expanded={open} onClick={() => setOpen(!open)} />
        <strong className="ellipsis grow">{s.name}</strong>
        <Badge {...(s.error || bad.test(s.state) ? { look: "error" as const } : {})}>{s.state}</Badge>
        {!readOnly && (
          <Button small disabled={busy} title="Connect, and list the tools" aria-label={`Check ${s.name}`} onClick={() => void check()}>
            {busy ? "Checking …" : "Check"}
          </Button>
        )}
      </div>
      {s.error && <p className="error-text small server-error">{s.error}</p>}
      {open && (
        <div className="server-body">
          <dl className="i-facts">
            <dt>Transport</dt>
            <dd>{s.transport}</dd>
            <dt>Target</dt>
            <dd><code>{s.target}</code></dd>
            {s.protocol && <><dt>Protocol</dt><dd>{s.protocol}</dd></>}
            {s.info && <><dt>Software</dt><dd>{s.info.title ?? s.info.name} {s.info.version}</dd></>}
          </dl>
          {s.instructions && (
            <details className="server-part">
              <summary>Instructions</summary>
              <Markdown text={s.instructions} />
            </details>
          )}
          <h2 className="server-title">Tools{tools ? ` (${tools.length})` : ""}</h2>
          {!tools ? (
            <p className="muted small">{readOnly ? "They are not known yet." : "Press Check to list them."}</p>
          ) : (
            <ul className="server-tools">
              {tools.map((t) => (
                <Tool key={t.name} server={s.name} tool={t} readOnly={readOnly} />
              ))}
            </ul>
          )}
          {s.stats !== undefined && s.stats !== null && <Figures stats={s.stats as Value} name={s.name} />}
        </div>
      )}
    </section>
  );
}

/** Figures shows counts and limits of a server: simple ones in a list, the others as a tree. */
function Figures({ stats, name }: { stats: Value; name: string }) {
  if (typeof stats !== "object" || stats === null || Array.isArray(stats)) return null;
  const simple: [string, string][] = [];
  const words = (key: string) => key.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
  const collect = (v: Value, prefix: string) => {
    if (simple.length > 60 || typeof v !== "object" || v === null || Array.isArray(v)) return;
    for (const [k, e] of Object.entries(v)) {
      if (e === null || (prefix === "" && known.has(k)) || (typeof e === "object" && Object.keys(e).length === 0)) continue;
      if (typeof e === "object") collect(e, `${prefix}${words(k)} `);
      else simple.push([prefix + words(k), typeof e === "number" || typeof e === "bigint" ? e.toLocaleString("en") : String(e)]);
    }
  };
  collect(stats, "");
  if (simple.length === 0) return null;
  return (
    <details className="server-part" open>
      <summary>Figures</summary>
      <dl className="i-facts server-figures" aria-label={`Figures of ${name}`}>
        {simple.map(([k, v]) => (
          <div key={k}>
            <dt>{k}</dt>
            <dd>{v}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

function Tool({ server, tool, readOnly }: { server: string; tool: NonNullable<ServerInfo["tools"]>[number]; readOnly: boolean }) {
  const [open, setOpen] = useState(false);
  const [trying, setTrying] = useState(false);
  const hints = hintsOf(tool.annotations as Value | undefined);
  return (
    <li className="server-tool">
      <div className="server-head">
        <IconButton icon={open ? "down" : "right"} small label={`${open ? "Close" : "Open"} ${tool.name}`} aria-expanded={open} onClick={() => setOpen(!open)} />
        <code className="ellipsis grow" title={tool.name}>{tool.name}</code>
        {tool.hidden && <Badge title="The file does not allow graphs to call it">hidden</Badge>}
        {!readOnly && (
          <Button small look="quiet" icon="play" aria-label={`Try ${tool.name} of ${server}`} onClick={() => setTrying(true)}>
            Try
          </Button>
        )}
      </div>
      {tool.description && !open && <p className="muted small clamp server-indent">{tool.description}</p>}
      {open && (
        <div className="server-indent">
          {tool.title && <p><strong>{tool.title}</strong></p>}
          {tool.description && <Markdown text={tool.description} />}
          {hints.length > 0 && <p className="i-badges">{hints.map((h) => <Badge key={h}>{h}</Badge>)}</p>}
          <h3>Arguments</h3>
          <Tree value={tool.inputSchema as Value} label={`Input schema of ${tool.name}`} depth={2} maxRows={14} plain />
          {tool.outputSchema !== undefined && (
            <>
              <h3>Output</h3>
              <Tree value={tool.outputSchema as Value} label={`Output schema of ${tool.name}`} depth={2} maxRows={14} plain />
            </>
          )}
        </div>
      )}
      {trying && <TryTool server={server} tool={tool} onClose={() => setTrying(false)} />}
    </li>
  );
}

function hintsOf(v: Value | undefined): string[] {
  if (typeof v !== "object" || v === null || Array.isArray(v)) return [];
  const names: { [key: string]: string } = { readOnlyHint: "read-only", destructiveHint: "destructive", idempotentHint: "idempotent", openWorldHint: "open world" };
  return Object.entries(names).filter(([k]) => v[k] === true).map(([, name]) => name);
}
