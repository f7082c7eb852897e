import { useEffect, useState } from "react";
import { api } from "../api";
import type { Json, Rec } from "../api/types";
import { Empty } from "../kit";
import type { Value } from "../value/json";
import { loader } from "../value/load";
import { jsonata, type Path } from "../value/path";
import { Tree } from "../value/tree";

/** RecordValue shows one value of an execution. */
export function RecordValue({ run, rec, part, label, root, maxRows }: { run: string; rec: Rec; part: "output" | "arguments" | "reply" | "error"; label: string; root?: string; maxRows?: number }) {
  const value = rec[part] as Value | undefined;
  if (value === undefined) return null;
  return (
    <Tree
      value={value}
      label={label}
      {...(root === undefined ? {} : { root })}
      {...(maxRows === undefined ? {} : { maxRows })}
      load={loader(run, rec.index, part)}
    />
  );
}

/** Scope is what expressions of an execution see. */
export interface Scope {
  document: { [name: string]: Value };
  variables: { [name: string]: Value };
}

/** useScope fetches what the expressions of an execution saw; without a record, what they see now. */
export function useScope(run: string | undefined, record: number | undefined, moment: string): { scope?: Scope; error?: string } {
  const [state, setState] = useState<{ scope?: Scope; error?: string }>({});
  useEffect(() => {
    if (run === undefined) {
      setState({});
      return;
    }
    let given = true;
    api.document(run, record).then(
      (d) => given && setState({ scope: { document: members(d.document), variables: members(d.variables) } }),
      (e: unknown) => given && setState({ error: e instanceof Error ? e.message : String(e) }),
    );
    return () => {
      given = false;
    };
  }, [run, record, moment]);
  return state;
}

function members(v: Json | undefined): { [name: string]: Value } {
  return typeof v === "object" && v !== null && !Array.isArray(v) ? (v as { [name: string]: Value }) : {};
}

/** ScopeTree shows variables and members of the document in one tree. */
export function ScopeTree({ run, record, scope, only, label }: { run: string; record: number | undefined; scope: Scope; only?: ReadonlySet<string>; label: string }) {
  const [shown, setShown] = useState<{ scope: Scope; only: string; value: Value }>();
  const names = only ? [...only].join("\n") : "*";
  let value = shown?.value;
  if (!shown || shown.scope !== scope || shown.only !== names || value === undefined) {
    const fields: [string, Value][] = [];
    for (const [k, v] of Object.entries(scope.variables)) fields.push([k.startsWith("$") ? k : "$" + k, v]);
    for (const [k, v] of Object.entries(scope.document)) if (!only || only.has(k)) fields.push([k, v]);
    value = Object.fromEntries(fields);
    setShown({ scope, only: names, value });
  }
  const isVariable = (name: string | number | undefined): name is string => typeof name === "string" && name.startsWith("$") && !Object.hasOwn(scope.document, name);
  if (Object.keys(value as object).length === 0) {
    return <Empty title={only ? "No inputs" : "The document is empty"}>{only ? <p>The definition of this node mentions nothing of the document.</p> : undefined}</Empty>;
  }
  return (
    <Tree
      value={value}
      label={label}
      root={(path: Path) => (isVariable(path[0]) ? jsonata(path[0], path.slice(1)) : jsonata("$", path))}
      load={(path, from, count) => {
        const first = path[0];
        if (!isVariable(first)) return loader(run, record, "document")(path, from, count);
        const name = Object.hasOwn(scope.variables, first) ? first : first.slice(1);
        return loader(run, record, "variables")([name, ...path.slice(1)], from, count);
      }}
    />
  );
}

/** mentioned returns the members of the document that a definition mentions. */
export function mentioned(yaml: string): Set<string> {
  const names = new Set<string>();
  for (const m of yaml.matchAll(/\$\.(?:([A-Za-z_]\w*)|`([^`\n]+)`)/g)) names.add((m[1] ?? m[2]) as string);
  for (const m of yaml.matchAll(/\bvar["']?\s*:\s*\[?\s*["']?(?:\$\.)?([A-Za-z_]\w*)/g)) names.add(m[1] as string);
  return names;
}
