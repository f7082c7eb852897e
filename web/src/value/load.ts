import { api, type Part } from "../api";
import type { Value } from "./json";
import { pointer } from "./path";
import type { Load } from "./rows";

/** loader returns what fetches parts of a value of a run; under is the JSON pointer of the value in its part. */
export function loader(run: string, record: number | undefined, part: Part, under = ""): Load {
  return async (path, from, count) => {
    const at: { record?: number; part: Part; pointer?: string; from?: number; count?: number } = { part, pointer: under + pointer(path) };
    if (record !== undefined) at.record = record;
    if (from !== undefined) at.from = from;
    if (count !== undefined) at.count = count;
    return (await api.value(run, at)).value as Value;
  };
}
