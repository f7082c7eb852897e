// Paths of values: JSON pointers for the API, JSONata for people.

export type Path = (string | number)[];

/** pointer returns a path as a JSON pointer (RFC 6901). */
export function pointer(path: Path): string {
  return path.map((p) => "/" + String(p).replaceAll("~", "~0").replaceAll("/", "~1")).join("");
}

const plainName = /^[A-Za-z_][A-Za-z0-9_]*$/;
const reserved = new Set(["and", "or", "in", "function", "true", "false", "null"]);

/**
 * jsonata returns a path as a JSONata expression. root is what it begins with, such
 * as "$.entry". Keys that are not plain names get back-quotes. JSONata has no
 * escape in back-quotes, so a key that holds one is looked up by $lookup.
 */
export function jsonata(root: string, path: Path): string {
  let text = root;
  for (const p of path) {
    if (typeof p === "number") text += `[${p}]`;
    else if (plainName.test(p) && !reserved.has(p)) text += "." + p;
    else if (!p.includes("`") && p !== "") text += ".`" + p + "`";
    else text = `$lookup(${text}, ${JSON.stringify(p)})`;
  }
  return text;
}
