import "./value.css";
import { useCallback, useEffect, useId, useLayoutEffect, useMemo, useRef, useState, type KeyboardEvent } from "react";
import { Button, copy } from "../kit";
import { encode, type Value } from "./json";
import { jsonata, pointer, type Path } from "./path";
import { cutOf, find, joined, noteOf, pageSize, rows, sliceOf, textOf, whole, type Load, type Row } from "./rows";
import { webAddress, WebLink } from "./safe";

export interface TreeProps {
  value: Value;
  /** What the tree is, for screen readers: "Output of sizes". */
  label: string;
  /** The JSONata expression of the root, or what makes one of a path. Without it, paths cannot be copied. */
  root?: string | ((path: Path) => string);
  /** Name of the root row. */
  name?: string;
  /** Fetches what was cut. */
  load?: Load;
  /** Levels that are open from the start. */
  depth?: number;
  /** Height in rows; without it, the tree takes the height of its container. */
  maxRows?: number;
  /** Without search and copy, for small values. */
  plain?: boolean;
}

const rowHeight = 20;

/** Tree shows a value: foldable, searchable, and of any size, as only the visible rows are drawn. */
export function Tree({ value, label, root, name, load, depth = 2, maxRows, plain }: TreeProps) {
  const id = useId();
  const scroller = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 400, width: 80 });
  const [open, setOpen] = useState<ReadonlyMap<string, boolean>>(new Map());
  const [loaded, setLoaded] = useState<ReadonlyMap<string, Value>>(new Map());
  const [busy, setBusy] = useState<ReadonlySet<string>>(new Set());
  const [active, setActive] = useState("");
  const [message, setMessage] = useState("");
  const [query, setQuery] = useState("");
  const [match, setMatch] = useState(0);

  // What was loaded belongs to one value; what is open may stay for the next one.
  const [seen, setSeen] = useState(value);
  if (seen !== value) {
    setSeen(value);
    setLoaded(new Map());
    setMessage("");
  }

  const list = useMemo(() => rows(value, { open, loaded, depth, width: view.width }), [value, open, loaded, depth, view.width]);
  const matches = useMemo(() => find(value, loaded, query), [value, loaded, query]);
  const matched = useMemo(() => new Set(matches.map((m) => pointer(m.path))), [matches]);
  const index = Math.max(0, list.findIndex((r) => r.id === active));
  const row = list[index] as Row;

  useLayoutEffect(() => {
    const el = scroller.current;
    if (!el) return;
    const measure = () => setView((v) => ({ ...v, height: el.clientHeight, width: Math.max(40, Math.min(200, Math.floor((el.clientWidth - 60) / 7.3))) }));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(el);
    return () => observer.disconnect();
  }, []);

  const show = useCallback((i: number) => {
    const el = scroller.current;
    if (!el) return;
    const top = i * rowHeight;
    if (top < el.scrollTop) el.scrollTop = top;
    else if (top + rowHeight > el.scrollTop + el.clientHeight) el.scrollTop = top + rowHeight - el.clientHeight;
  }, []);

  const select = (i: number) => {
    const target = list[Math.max(0, Math.min(list.length - 1, i))];
    if (!target) return;
    setActive(target.id);
    show(list.indexOf(target));
  };

  const loadMore = async (row: Row) => {
    if (!load || busy.has(row.id)) return;
    setBusy((b) => new Set(b).add(row.id));
    const at = pointer(row.path);
    try {
      let got: Value;
      if (row.kind === "more" && row.more) {
        const known = sliceOf(loaded.get(at) ?? valueAt(value, loaded, row.path));
        if (!known) return;
        const { from, before } = row.more;
        got = joined(known, await load(row.path, from, before ? known.from - from : pageSize), from);
      } else {
        got = await load(row.path);
      }
      setLoaded((l) => new Map(l).set(at, got));
      if (row.kind === "value") setOpen((o) => new Map(o).set(at, true));
      setMessage("");
    } catch (err) {
      setMessage(`Could not load this value: ${err instanceof Error ? err.message : String(err)}`);
    } finally {
      setBusy((b) => new Set([...b].filter((x) => x !== row.id)));
    }
  };

  // A value that was cut as a whole is loaded at once.
  const rootCut = cutOf(value) !== undefined && load !== undefined;
  useEffect(() => {
    if (rootCut && list[0]?.type === "cut") void loadMore(list[0]);
  }, [rootCut, value]);

  const activate = (row: Row) => {
    if (row.type === "cut" || row.kind === "more") void loadMore(row);
    else if (row.open !== undefined) setOpen((o) => new Map(o).set(row.id, !row.open));
  };

  const copyValue = async (row: Row) => {
    try {
      const v = await whole(row.kind === "value" ? row.value : valueAt(value, loaded, row.path), row.path, load);
      await copy(typeof v === "string" ? v : encode(v, 2), "Value");
      setMessage("");
    } catch (err) {
      setMessage(`Not copied: ${err instanceof Error ? err.message : String(err)}`);
    }
  };
  const pathOf = (path: Path) => (typeof root === "function" ? root(path) : jsonata(root ?? "$", path));
  const copyPath = (row: Row) => {
    if (root !== undefined) void copy(pathOf(row.path), "Path");
  };

  const onKeyDown = (e: KeyboardEvent) => {
    if (e.altKey) return;
    const page = Math.max(1, Math.floor(view.height / rowHeight) - 1);
    if (e.ctrlKey || e.metaKey) {
      if (e.key !== "c" || String(getSelection() ?? "") !== "") return;
      void copyValue(row);
      e.preventDefault();
      return;
    }
    switch (e.key) {
      case "ArrowDown": select(index + 1); break;
      case "ArrowUp": select(index - 1); break;
      case "PageDown": select(index + page); break;
      case "PageUp": select(index - page); break;
      case "Home": select(0); break;
      case "End": select(list.length - 1); break;
      case "ArrowRight":
        if (row.open === false || row.type === "cut") activate(row);
        else if (row.open) select(index + 1);
        break;
      case "ArrowLeft":
        if (row.open) activate(row);
        else for (let i = index - 1; i >= 0; i--) if ((list[i] as Row).level < row.level) { select(i); break; }
        break;
      case "Enter":
      case " ": activate(row); break;
      case "*": {
        const next = new Map(open);
        for (const r of list) if (r.level === row.level && r.open === false && r.type !== "string") next.set(r.id, true);
        setOpen(next);
        break;
      }
      case "c": void copyValue(row); break;
      case "p": copyPath(row); break;
      default: return;
    }
    e.preventDefault();
    e.stopPropagation();
  };

  const goTo = (n: number) => {
    const m = matches[n];
    if (!m) return;
    setMatch(n);
    const next = new Map(open);
    for (let i = 0; i < m.path.length; i++) next.set(pointer(m.path.slice(0, i)), true);
    setOpen(next);
    setActive(pointer(m.path));
  };
  const wanted = matches[match] ? pointer(matches[match].path) : undefined;
  useEffect(() => {
    if (query === "" || wanted === undefined || wanted !== active) return;
    const i = list.findIndex((r) => r.id === wanted);
    if (i >= 0) show(i);
  }, [query, wanted, active, list, show]);

  const first = Math.max(0, Math.floor(view.top / rowHeight) - 10);
  const last = Math.min(list.length, Math.ceil((view.top + view.height) / rowHeight) + 10);
  const rowId = (i: number) => `${id}-${i}`;
  const height = maxRows !== undefined ? Math.min(maxRows, list.length) * rowHeight + 2 : undefined;
  const path = root !== undefined ? pathOf(row.path) : undefined;
  const note = noteOf(row);
  const link = typeof row.value === "string" ? webAddress(row.value) : undefined;

  return (
    <div className={"v-tree" + (maxRows === undefined ? " v-fill" : "")}>
      {!plain && (
        <div className="v-bar">
          <input
            type="search"
            className="v-search"
            placeholder="Search"
            aria-label={`Search in ${label}`}
            value={query}
            onChange={(e) => {
              setQuery(e.target.value);
              setMatch(-1);
            }}
            onKeyDown={(e) => {
              if (e.key !== "Enter" || matches.length === 0) return;
              e.preventDefault();
              goTo((match + (e.shiftKey ? -1 : 1) + matches.length) % matches.length);
            }}
          />
          {query !== "" && (
            <span className="v-count" role="status">
              {matches.length === 0 ? "not found" : `${match < 0 ? "" : `${match + 1} of `}${matches.length}${matches.length >= 1000 ? "+" : ""} found`}
            </span>
          )}
          <span className="v-space" />
          <Button small look="quiet" icon="copy" onClick={() => void copyValue(row)} title="Copy the value of the selected row (C)">
            Value
          </Button>
          {root !== undefined && (
            <Button small look="quiet" icon="copy" onClick={() => copyPath(row)} title="Copy the JSONata path of the selected row (P)">
              Path
            </Button>
          )}
        </div>
      )}
      <div
        ref={scroller}
        className="v-rows"
        style={{ height }}
        role="tree"
        aria-label={label}
        tabIndex={0}
        aria-activedescendant={index >= first && index < last ? rowId(index) : undefined}
        onKeyDown={onKeyDown}
        onFocus={() => active === "" && setActive(list[0]?.id ?? "")}
        onScroll={(e) => {
          const top = e.currentTarget.scrollTop;
          setView((v) => (v.top === top ? v : { ...v, top }));
        }}
      >
        <div role="presentation" style={{ height: first * rowHeight }} />
        {list.slice(first, last).map((r, i) => (
          <RowView
            key={r.id}
            id={rowId(first + i)}
            row={r}
            name={r.level === 1 ? name : undefined}
            selected={active !== "" && first + i === index}
            matched={query !== "" && r.kind === "value" && matched.has(r.id)}
            busy={busy.has(r.id)}
            canLoad={load !== undefined}
            onSelect={() => setActive(r.id)}
            onActivate={() => activate(r)}
          />
        ))}
        <div role="presentation" style={{ height: (list.length - last) * rowHeight }} />
      </div>
      {!plain && (
        <div className="v-foot" role="status">
          {message !== "" ? (
            <span>{message}</span>
          ) : (
            <>
              {path !== undefined && <code className="v-path">{path}</code>}
              <span className="v-type">{row.type === "cut" ? "not loaded" : row.type}</span>
              {note !== "" && <span className="v-note">{note}</span>}
              {link !== undefined && <WebLink address={link} label="Open link" />}
            </>
          )}
        </div>
      )}
    </div>
  );
}

/** valueAt returns the value at a path, with what was loaded. */
function valueAt(root: Value, loaded: ReadonlyMap<string, Value>, path: Row["path"]): Value {
  let v = loaded.get("") ?? root;
  for (let i = 0; i < path.length; i++) {
    const step = path[i] as string | number;
    const slice = sliceOf(v);
    const inner: Value | undefined = slice
      ? slice.items[(step as number) - slice.from]
      : Array.isArray(v)
        ? v[step as number]
        : ((v as { [key: string]: Value })[step] as Value | undefined);
    v = loaded.get(pointer(path.slice(0, i + 1))) ?? inner ?? null;
  }
  return v;
}

interface RowViewProps {
  id: string;
  row: Row;
  name: string | undefined;
  selected: boolean;
  matched: boolean;
  busy: boolean;
  canLoad: boolean;
  onSelect: () => void;
  onActivate: () => void;
}

function RowView({ id, row, name, selected, matched, busy, canLoad, onSelect, onActivate }: RowViewProps) {
  const label = row.name ?? name;
  const note = noteOf(row);
  const loads = row.type === "cut" || row.kind === "more";
  return (
    <div
      id={id}
      role="treeitem"
      className={`v-row${selected ? " v-selected" : ""}${matched ? " v-matched" : ""}`}
      aria-level={row.level}
      aria-setsize={row.siblings}
      aria-posinset={row.position}
      aria-expanded={row.open}
      aria-selected={selected}
      style={{ paddingLeft: 4 + (row.level - 1) * 14 }}
      onMouseDown={onSelect}
      onDoubleClick={onActivate}
    >
      <span
        className={"v-fold" + (row.open === undefined ? " v-leaf" : row.open ? " v-open" : "")}
        aria-hidden="true"
        onClick={row.open === undefined ? undefined : onActivate}
      />
      {label !== undefined && (
        <>
          <span className={typeof label === "number" ? "v-index" : "v-key"}>{label === "" ? '""' : label}</span>
          <span className="v-colon">: </span>
        </>
      )}
      {row.kind === "line" ? (
        <span className="v-string v-line">{textOf(row)}</span>
      ) : row.kind === "more" ? (
        <span className="v-note">{textOf(row)}</span>
      ) : (
        <span className={`v-${row.type}`}>{row.open && row.type !== "string" ? (row.type === "array" ? "[" : "{") : textOf(row)}</span>
      )}
      {note !== "" && <span className="v-note">{note}</span>}
      {loads && canLoad && (
        <span className="v-load" onClick={onActivate}>
          {busy ? "loading …" : "load (Enter)"}
        </span>
      )}
    </div>
  );
}
