// What the browser keeps for the page. Browsers refuse it in private windows, under some policies and where
// it is full: then the page keeps it itself, until it is closed.

type Kind = "localStorage" | "sessionStorage";

const own = { localStorage: new Map<string, string>(), sessionStorage: new Map<string, string>() };

/** Returns what is kept under a name; undefined: nothing. */
export function kept(name: string, kind: Kind = "localStorage"): string | undefined {
  const mine = own[kind].get(name);
  if (mine !== undefined) return mine;
  try {
    return globalThis[kind].getItem(name) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Returns the JSON that is kept under a name; undefined where there is none, or what is none. */
export function keptJSON(name: string): unknown {
  try {
    return JSON.parse(kept(name) ?? "");
  } catch {
    return undefined;
  }
}

/** Keeps a text under a name. */
export function keep(name: string, text: string, kind: Kind = "localStorage") {
  try {
    globalThis[kind].setItem(name, text);
    own[kind].delete(name);
  } catch {
    own[kind].set(name, text);
  }
}

/** Keeps a value as JSON. */
export function keepJSON(name: string, value: unknown) {
  keep(name, JSON.stringify(value));
}
