// The text of the file: editor, and what to do where saving is not possible.
import "./yaml.css";
import { useEffect, useRef, useState } from "react";
import { createRoot } from "react-dom/client";
import { flushSync } from "react-dom";
import { api } from "../api";
import type { Breakpoint } from "../api/types";
import { Button, Empty, Markdown } from "../kit";
import { nonce } from "../layout/nonce";
import { announce, loadGraph, select, state, toggleBreakpoint, toolOf, useSelection, useStore } from "../store";
import { Compare } from "./sides";
import type { Editor, Mark, NodeRange } from "./editor";
import { Bars } from "./bars";
import { loadEditor } from "./load";
import { file, provideShow, useFile } from "./model";

/** The panel "YAML". */
export default function YAML() {
  const name = useStore((s) => s.server?.file.name ?? "");
  const readOnly = useStore((s) => !!s.server && (!s.server.file.editable || s.server.readOnly));
  const f = useFile();
  const { key } = useSelection();
  const graphs = useStore((s) => s.graphs), generation = useStore((s) => s.server?.generation), loadedGraphs = useStore((s) => s.graphs.size);
  const breakpoints = useStore((s) => s.breakpoints);
  const box = useRef<HTMLDivElement>(null);
  const [editor, setEditor] = useState<Editor>();
  const [failed, setFailed] = useState<string>();
  const [comparing, setComparing] = useState(false);
  const own = useRef<string>(undefined); // the node that the cursor selected

  useEffect(() => {
    let made: Editor | undefined, gone = false;
    void file.load();
    Promise.all([loadEditor(), file.load()]).then(([b]) => {
      if (gone || !file.get().loaded) return;
      made = b.createEditor({
        text: file.get().text, readOnly, nonce: nonce(),
        label: `${name}, YAML. Press Escape, then Tab, to leave the editor.`,
        complete: async (text, offset, signal) => (await api.complete(text, offset, signal)).items,
        hover: async (text, offset, signal) => {
          const h = await api.hover(text, offset, signal);
          return h.markdown === undefined ? undefined : { markdown: h.markdown, from: h.from ?? offset, to: h.to ?? offset };
        },
        render, changed: (text) => file.edit(text), save: () => void save(), format: () => void file.format(),
        moved: (at) => {
          if (!at || at === state.selection.key) return;
          own.current = at;
          const tool = toolOf(at);
          select(tool === state.selection.tool ? { key: at } : { tool, key: at });
        },
        breakpoint: toggleBreakpoint,
      });
      box.current!.append(made.dom);
      made.setProblems(file.get().problems);
      setEditor(made);
    }, (e: unknown) => setFailed(e instanceof Error ? e.message : String(e)));
    return () => {
      gone = true;
      made?.destroy();
      setEditor(undefined);
    };
  }, []);

  // The text that was not typed: external changes, format, fixes.
  useEffect(() => editor?.setText(f.text), [editor, f.replaced]);
  useEffect(() => { if (f.checked === f.text) editor?.setProblems(f.problems); }, [editor, f.problems, f.checked, f.text]);
  useEffect(() => editor?.setReadOnly(readOnly), [editor, readOnly]);
  useEffect(() => { if (!f.conflict) setComparing(false); }, [f.conflict]);

  // Nodes of all tools, as far as their places are those of this text.
  useEffect(() => {
    if (editor) for (const t of state.server?.tools.slice(0, 100) ?? []) void loadGraph(t.name);
  }, [editor, generation]);
  useEffect(() => {
    if (!editor || f.dirty) return;
    const nodes: NodeRange[] = [];
    for (const g of graphs.values()) {
      if (g.revision === f.revision) for (const n of g.nodes) nodes.push({ key: n.key, id: n.id, span: n.span });
    }
    if (nodes.length > 0) editor.setNodes(nodes);
    editor.setSelected(state.selection.key, false);
  }, [editor, graphs, loadedGraphs, generation, f.revision, f.dirty]);
  useEffect(() => editor?.setMarks(breakpoints.map(markOf)), [editor, breakpoints]);
  useEffect(() => {
    editor?.setSelected(key, key !== own.current);
    own.current = undefined;
  }, [editor, key]);

  // While the tab is hidden, the editor cannot scroll.
  useEffect(() => {
    if (!editor) return;
    let shown = box.current!.clientHeight > 0;
    const observer = new ResizeObserver(() => {
      const now = box.current!.clientHeight > 0;
      if (now && !shown) {
        editor.attached();
        editor.setSelected(state.selection.key, true);
      }
      shown = now;
    });
    observer.observe(box.current!);
    const forget = provideShow((place) => requestAnimationFrame(() => {
      if (place.key !== undefined) editor.setSelected(place.key, true);
      else editor.goTo(place.from ?? place.pos ?? 0, place.to);
      editor.focus();
    }));
    return () => {
      observer.disconnect();
      forget();
    };
  }, [editor]);

  const save = async (force = false) => {
    if (await file.save(force)) announce("Saved");
    else if (file.get().refused) announce("Not saved: the file has errors");
    else if (file.get().conflict) announce("Not saved: the file has changed on disk");
  };

  if (failed) return <Empty title="The editor could not be loaded"><p>{failed}</p><p><Button icon="refresh" onClick={() => location.reload()}>Load the page again</Button></p></Empty>;
  return (
    <div className="yaml-panel">
      <div className="panel-bar yaml-bar">
        <Button small icon="check" look={f.dirty ? "primary" : undefined} disabled={readOnly || !f.dirty || f.saving || !!f.conflict} title="Save the file (Ctrl+S)" onClick={() => void save()}>Save</Button>
        <Button small disabled={readOnly || !f.loaded || comparing} title="Format the text as mcpgraph fmt does (Shift+Alt+F)" onClick={() => void file.format()}>Format</Button>
        <Button small icon="undo" disabled={!f.dirty || comparing} title="Drop the changes that are not saved; Ctrl+Z in the editor brings them back" onClick={() => file.revert()}>Revert</Button>
        <span className="muted ellipsis" role="status">
          {readOnly ? "read-only" : f.saving ? "saving …" : f.dirty ? <span className="yaml-unsaved">● not saved; runs use the saved file</span> : f.loaded ? "saved" : "loading …"}
        </span>
        <span className="yaml-hint muted"><kbd>Esc</kbd> <kbd>Tab</kbd> leaves the editor</span>
      </div>
      <Bars f={f} comparing={comparing} onCompare={() => setComparing(!comparing)} onForce={() => void save(true)} />
      {comparing && f.conflict && <Compare theirs={f.conflict.text} />}
      <div ref={box} className="yaml-editor" hidden={comparing && !!f.conflict} />
    </div>
  );
}

function markOf(b: Breakpoint): Mark {
  const parts = [b.log !== undefined ? `Log point: ${b.log}` : b.when ? `Breakpoint if ${b.when}` : "Breakpoint"];
  if (b.hits) parts.push(`at the ${b.hits}. time`);
  if (b.disabled) parts.push("disabled");
  return { key: b.node, kind: b.log !== undefined ? "log" : b.when || b.hits ? "condition" : "plain", disabled: !!b.disabled, text: parts.join(", ") };
}

/** Draws Markdown for the editor, which has no React. */
function render(text: string): { dom: HTMLElement; destroy(): void } {
  const dom = document.createElement("div");
  const root = createRoot(dom);
  flushSync(() => root.render(<Markdown text={text} />));
  return { dom, destroy: () => queueMicrotask(() => root.unmount()) };
}
