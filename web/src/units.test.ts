// Tests of what needs no browser. Build bundles them, and web_test.go runs them with
// Node.js: the first failure is thrown.

import { tokenIn } from "./api/client";
import { keep, kept, keptJSON } from "./api/storage";
import { check, hint } from "./input/check";
import type { Rec, RunState } from "./api/types";
import { dropDrafts, moveDrafts } from "./input/context";
import { withoutSecrets } from "./input/history";
import { describe, field, fits, initial, isMap, type Schema } from "./input/schema";
import { headOf, preview } from "./kit/format";
import { inline } from "./kit/markdown";
import { addActive, addRecord, emptyRun, oldestRuns } from "./store/records";
import { Executions } from "./timeline/executions";
import { layoutRows } from "./timeline/rows";
import { Axis, breaksFor, ticks } from "./timeline/scale";
import { idleStarts, startOf } from "./timeline/starts";
import { differences, lines } from "./value/diff";
import { decode, encode, equal, JSONError, parse, type Value } from "./value/json";
import { jsonata, pointer } from "./value/path";
import { find, isPartial, joined, rows, sliceOf, textLines, textOf, whole, type Load } from "./value/rows";
import { pictures, webAddress } from "./value/safe";
import { FileModel, type FileAPI } from "./yaml/file";

let name = "";
function same(got: unknown, want: unknown) {
  const [g, w] = [encode(got), encode(want)];
  if (g !== w) throw new Error(`${name}: got ${g}, want ${w}`);
}
function error(f: () => unknown): string {
  try {
    f();
  } catch (e) {
    return e instanceof Error ? e.message : String(e);
  }
  throw new Error(`${name}: no error`);
}

const tests: { [name: string]: () => void | Promise<void> } = {
  "a long start of a server is drawn short, and all else at its place"() {
    const run = new Executions(), at = (ms: number) => new Date(1000 + ms).toISOString();
    const record = (index: number, id: string, from: number, to: number, server?: string): Rec => ({
      index, key: `t#${id}`, path: id, id, type: server ? "mcp" : "transform", event: "done", frame: "", execution: index, start: at(from), end: at(to), ms: to - from, state: "done", server,
    });
    run.add(record(0, "entry", 0, 5));
    run.add(record(1, "call", 5, 1945, "up"));
    run.add(record(2, "after", 1945, 2000, "up"));
    run.settle();
    const starts = [{ server: "up", from: 1010, to: 2910 }, { server: "other", from: 1000, to: 5000 }];
    same(startOf(run.list[1]!, starts, 0), [{ server: "up", from: 1010, to: 2910 }]);
    same(startOf(run.list[2]!, starts, 0), []);
    const idle = idleStarts(run.list, starts, 3000);
    same(idle, [{ from: 1010, to: 2910 }]);
    const breaks = breaksFor(idle, { from: 1000, to: 3000 });
    same(breaks, [{ from: 1010, to: 2910, width: 12.5 }]);
    const axis = new Axis(breaks);
    same([1000, 1010, 2910, 3000].map((t) => axis.of(t)), [1000, 1010, 1022.5, 1112.5]);
    for (const t of [1000, 1005, 1010, 1500, 2910, 2950, 3000, 4000]) same(Math.round(axis.time(axis.of(t)) * 1e6) / 1e6, t);
    same(ticks({ from: 1000, to: 1112.5 }, 1000, 700, axis).at, [0, 1920, 1940, 1960, 1980, 2000]);
    // Short ones, and those beside which something else is done, stay as they were.
    same(breaksFor([{ from: 1000, to: 1010 }], { from: 1000, to: 3000 }), []);
    run.add(record(3, "beside", 20, 1920));
    run.settle();
    same(idleStarts(run.list, starts, 3000), [{ from: 1010, to: 1020 }]);
    same(new Axis().of(5) + new Axis().time(5), 10);
  },
  "integers keep their digits"() {
    const text = '{"a":12345678901234567890,"b":[-9007199254740993,9007199254740991,1.50,1e3,-0.5],"c":"12345678901234567890"}';
    same(encode(parse(text)), '{"a":12345678901234567890,"b":[-9007199254740993,9007199254740991,1.5,1000,-0.5],"c":"12345678901234567890"}');
    same(encode(decode(text)), encode(parse(text)));
    same(JSON.stringify(parse("[12345678901234567890]")).includes("12345678901234567890"), true);
    same(equal(parse("12345678901234567890"), parse("12345678901234567891")), false);
  },
  "keys keep their order, and __proto__ is a key"() {
    const v = parse('{"b":1,"__proto__":{"x":1},"a":2}') as { [k: string]: Value };
    same(encode(v), '{"b":1,"__proto__":{"x":1},"a":2}');
    same(Object.getPrototypeOf(v) === Object.prototype, true);
  },
  "errors of JSON have a place"() {
    same(error(() => parse('{"a":1,\n "a":2}')), 'the key "a" is there twice (line 2, column 2)');
    same(error(() => parse("abc")), 'unexpected "a"; write texts in double quotes (line 1, column 1)');
    same(error(() => parse("[1,")), "a value is missing (line 1, column 4)");
    same(error(() => parse("01")), "this is not a number (line 1, column 1)");
    same(error(() => parse('"a')), 'this text has no closing " (line 1, column 1)');
    same(error(() => parse("[1] 2")), "unexpected text after the value (line 1, column 5)");
    same(error(() => parse("1e999")), "this number is too large (line 1, column 1)");
    same(error(() => parse("[".repeat(3000))).startsWith("more than 2000 levels"), true);
    for (const text of ["{", "[1 2]", '{"a" 1}', "nul", "truex", "-", '"\\x"', "{1:2}", '"\n"', "", "1.", ".5", "+1", "[1,]", '{"a":1,}']) {
      let failed = false;
      try {
        parse(text);
      } catch (e) {
        failed = e instanceof JSONError;
      }
      same([text, failed], [text, true]);
    }
  },
  "parse agrees with the browser"() {
    for (const text of ['{"a":[1,2,{"b":null}],"c":true,"d":"\\u00e9\\n"}', "[]", "{}", " 1 ", '""', "[[[]]]", "-0", "1E2", '"\\ud83d\\ude00"']) same(parse(text), JSON.parse(text));
  },
  "encode indents and leaves undefined out"() {
    same(encode({ a: [1, {}], b: undefined, c: [] }, 2), '{\n  "a": [\n    1,\n    {}\n  ],\n  "c": []\n}');
  },
  "paths"() {
    same(pointer(["a/b", 0, "~", ""]), "/a~1b/0/~0/");
    same(jsonata("$.list", ["files", 3, "a b", "and", "x1"]), "$.list.files[3].`a b`.`and`.x1");
    same(jsonata("$", ["a`b", "c"]), '$lookup($, "a`b").c');
  },
  "rows fold, and long texts break into lines"() {
    const v = parse('{"a":{"b":[1,2]},"t":"x\\ny","e":[],"s":"z"}');
    const fresh = { open: new Map<string, boolean>(), loaded: new Map<string, Value>(), depth: 1, width: 80 };
    same(rows(v, fresh).map((r) => r.id), ["", "/a", "/t", "/e", "/s"]);
    same(rows(v, fresh).map((r) => r.open ?? null), [true, false, false, null, null]);
    const open = new Map([["/a", true], ["/a/b", true], ["/t", true]]);
    same(rows(v, { ...fresh, open }).map((r) => r.id), ["", "/a", "/a/b", "/a/b/0", "/a/b/1", "/t", "/t 0", "/t 1", "/e", "/s"]);
    const brief = (text: string) => textOf(rows(parse(text), { ...fresh, depth: 0 })[0]!);
    same(brief('{"n":1,"t":"x\\ny","o":{"a":1},"l":[1],"e":{},"z":null}'), '{n: 1, t: "x\\ny", o: {…}, l: […], e: {}, z: null}');
    same(brief("[1,2,3,4,5,6,7,8]"), "[1, 2, 3, 4, 5, 6, …]");
    same(brief(`["${"x".repeat(40)}"]`), `["${"x".repeat(24)}…"]`);
    const many = parse(`[${Array.from({ length: 200 }, () => '{"a":[1]}').join()}]`);
    same(rows(many, { ...fresh, depth: 3 }).length, 201);
    same(textLines("aaaa bbbb cccc", 9), ["aaaa bbbb ", "cccc"]);
    same(textLines("abcdefghij", 4), ["abcd", "efgh", "ij"]);
  },
  async "what was cut is loaded"() {
    const all = Array.from({ length: 1234 }, (_, i) => i);
    const asked: string[] = [];
    const load: Load = async (path, from = 0, count = 100) => {
      asked.push(`${pointer(path)} ${from} ${count}`);
      return path[0] === "big" ? { $slice: { from, total: all.length, items: all.slice(from, from + count) } } : "whole";
    };
    const v = parse('{"big":{"$cut":{"bytes":9000,"preview":"[0,1"}},"text":{"$cut":{"bytes":9000,"preview":"wh"}}}');
    same(isPartial(v), true);
    const got = await whole(v, [], load);
    same(got, { big: all, text: "whole" });
    same(isPartial(got), false);
    same(asked.length, 5);
    const slice = sliceOf({ $slice: { from: 10, total: 30, items: all.slice(10, 20) } })!;
    same(joined(slice, { $slice: { from: 0, total: 30, items: all.slice(0, 10) } }, 0), { $slice: { from: 0, total: 30, items: all.slice(0, 20) } });
    same(joined({ from: 0, total: 3, items: [0, 1] }, [2], 2), [0, 1, 2]);
  },
  "search finds keys and values"() {
    const v = parse('{"Name":"x","list":["a name",{"n":1}],"$cut":1}');
    same(find(v, new Map(), "NAME").map((m) => pointer(m.path)), ["/Name", "/list/0"]);
    same(find(v, new Map(), ""), []);
  },
  "records come in any order, and again"() {
    const data = emptyRun("r");
    const record = (index: number, more: object = {}) => ({ index, event: "done", state: "done", key: index % 2 ? "t#a" : "t#b", path: "p", execution: index, ms: 1, ...more }) as unknown as Rec;
    for (const i of [3, 0, 7, 5, 1, 6, 2, 4]) addRecord(data, record(i));
    addRecord(data, record(4, { ms: 9 })); // fetched again
    addRecord(data, record(8, { event: "opened" }));
    same(data.over.map((r) => r.index), [0, 1, 2, 3, 4, 5, 6, 7]);
    same(data.over[4]!.ms, 9);
    same(data.byKey.get("t#a")!.map((r) => r.index), [1, 3, 5, 7]);
    same(data.counts.nodes.get("t#b")!.count, 4);
    addActive(data, [{ path: "p", execution: 7 }, { path: "p", execution: 8 }] as never);
    same([...data.active.keys()], ["p:8"]);
    addRecord(data, record(8));
    same([...data.active.keys(), data.over.length], [9]);
  },
  "marks within a line are found, and take no long time"() {
    same([..."a `b` **c** [d](https://e.f) https://g.h, ``i`j``".matchAll(inline)].map((m) => m[2] ?? m[3] ?? m[4] ?? m[6]), ["b", "c", "d", "https://g.h", "i`j"]);
    for (const text of ["[", "`a", "**a", "[a](", "https://", "[a](https://"]) {
      const began = Date.now();
      [...text.repeat(60_000).matchAll(inline)];
      same([text, Date.now() - began < 2000], [text, true]);
    }
  },
  "the oldest runs are forgotten first"() {
    const run = (id: string, began: string, ended?: string) => ({ id, began, ended }) as unknown as RunState;
    const runs = [run("new", "3", "4"), run("live", "0"), run("old", "1", "9"), run("shown", "0", "1"), run("middle", "2", "2")];
    same(oldestRuns(runs, 2, (id) => id === "shown"), ["old", "middle"]);
    same(oldestRuns(runs, 9, () => false), ["shown", "old", "middle", "new"]);
  },
  "differences"() {
    const d = (a: string, b: string) => differences(parse(a), parse(b)).map((x) => [pointer(x.path), x.a ?? "-", x.b ?? "-"]);
    same(d('{"a":1,"b":{"c":[1,2,3]},"k":0}', '{"b":{"c":[1,5,3]},"a":1,"n":null}'), [["/b/c/1", 2, 5], ["/k", 0, "-"], ["/n", "-", "-"]]);
    same(d("[1,2,3]", "[0,1,2,3]"), [["/0", "-", 0]]);
    same(d('{"a":"1"}', '{"a":1}'), [["/a", "1", 1]]);
    same(d("[1]", "[1]"), []);
    same(lines("a\nb\nc", "a\nx\ny\nc"), [{ before: 1, lines: ["b"], after: 1 }, { before: 1, lines: ["x", "y"], after: 1 }]);
  },
  "links and pictures"() {
    for (const bad of ["javascript:alert(1)", "data:text/html,x", "//example.com", "http://user:pw@example.com/", "https:// example.com", "file:///etc/passwd", " https://example.com"]) same([bad, webAddress(bad) ?? null], [bad, null]);
    same(webAddress("HTTPS://example.com/a?b#c"), "https://example.com/a?b#c");
    const block = (mimeType: string, data = "AAAA") => ({ type: "image", mimeType, data });
    same(pictures({ content: [block("image/png"), block("image/svg+xml"), block("text/html"), block("image/webp", "x y"), block("image/gif", '"onload=')] }), ["data:image/png;base64,AAAA"]);
  },
  "widgets"() {
    const w = (schema: Schema) => field(schema, schema);
    const widget = (schema: Schema) => [w(schema).widget, w(schema).nullable];
    same(widget({ type: "string" }), ["text", false]);
    same(widget({ type: ["string", "null"] }), ["text", true]);
    same(widget({ anyOf: [{ type: "integer" }, { type: "null" }] }), ["integer", true]);
    same(widget({ oneOf: [{ type: "integer" }, { type: "string" }] }), ["json", false]);
    same(widget({ enum: ["a", null] }), ["choice", true]);
    same(widget({ type: "string", format: "password" }), ["secret", false]);
    same(widget({ type: "array", uniqueItems: true, items: { enum: [1, 2] } }), ["choices", false]);
    same(widget({ type: "array" }), ["array", false]);
    same(widget({ properties: { a: {} } }), ["object", false]);
    same(widget({}), ["json", false]);
    same(widget({ type: ["string", "integer"] }), ["json", false]);
    same(w({ oneOf: [{ const: 1, title: "one" }, { const: "1" }] }).options.map((o) => [o.value, o.label]), [[1, "one"], ["1", "1"]]);
    same(w({ enum: ["1", 1] }).options.map((o) => o.label), ['"1"', "1"]);
    const root: Schema = { $defs: { n: { type: "object", properties: { next: { $ref: "#/$defs/n" } } }, self: { $ref: "#/$defs/self" } } };
    same(field(root, { $ref: "#/$defs/n" }).widget, "object");
    same(field(root, { $ref: "#/$defs/self" }).widget, "json");
    same(isMap({ type: "object", additionalProperties: { type: "string" } }), true);
    same(isMap({ type: "object", properties: {}, additionalProperties: false }), false);
    same(fits(w({ type: "integer" }), "123"), false);
    same(fits(w({ type: "string" }), "123"), true);
    same(fits(w({ type: "string" }), "a\nb"), false);
    same(describe({ type: ["integer", "null"] }), "integer or null");
  },
  "first values"() {
    const schema: Schema = { type: "object", required: ["a", "o"], properties: { a: { type: "string" }, b: { type: "integer", default: 0 }, c: { type: "boolean", default: false }, o: { type: "object", required: ["x"], properties: { x: { type: "string", default: "" } } }, p: { type: "object", properties: {} } } };
    same(initial(schema, schema), { b: 0, c: false, o: { x: "" } });
  },
  "checks"() {
    const issues = (schema: Schema, text: string) => check(schema, schema, parse(text)).map((i) => `${i.pointer} ${i.message}`);
    same(issues({ type: "object", required: ["a"], properties: { a: { type: "string" }, n: { type: "integer", minimum: 1 } }, additionalProperties: false }, '{"n":0,"x":1}'), ["/a is required", "/n must be at least 1", "/x is not a known key"]);
    same(issues({ type: "integer" }, '"123"'), [" must be an integer, not a string"]);
    same(issues({ type: "integer" }, "1.5"), [" must be a whole number"]);
    same(issues({ type: "integer" }, "1.0"), []);
    same(issues({ type: "integer", maximum: 9007199254740991 }, "12345678901234567890"), [" must be at most 9007199254740991"]);
    same(issues({ enum: [0, false] }, "false"), []);
    same(issues({ enum: [0] }, "false"), [" must be one of 0"]);
    same(issues({ type: "string", minLength: 1 }, '""'), [" must not be empty"]);
    same(issues({ maxLength: 1 }, '"😀"'), []);
    same(issues({ multipleOf: 0.1 }, "0.3"), []);
    same(issues({ oneOf: [{ type: "object", required: ["a"], properties: { a: { type: "string" } } }, { type: "string" }] }, '{"a":1}'), ["/a must be a string, not a number"]);
    same(issues({ oneOf: [{ type: "integer" }, { minimum: 0 }] }, "1"), [" fits 2 of the alternatives; exactly one is allowed"]);
    same(issues({ anyOf: [{ type: "integer" }, { type: "string" }] }, "true"), [" fits none of the alternatives: integer; string"]);
    same(issues({ if: { required: ["a"] }, then: { required: ["b"] } }, '{"a":1}'), ["/b is required"]);
    same(issues({ patternProperties: { "^x": { type: "string" } }, additionalProperties: { type: "integer" } }, '{"x1":1,"y":"z"}'), ["/x1 must be a string, not a number", "/y must be an integer, not a string"]);
    same(issues({ type: "array", items: { type: "string" }, uniqueItems: true, minItems: 3 }, '["a","a"]'), [" must have at least 3 items", "/1 item 2 is there twice"]);
    same(issues({ pattern: "^(a+)+$" }, JSON.stringify("a".repeat(40) + "!")), []);
    same(issues({ $ref: "#/$defs/a", $defs: { a: { type: "object", properties: { b: { $ref: "#/$defs/a" } }, required: ["c"] } } }, '{"c":1,"b":{}}'), ["/b/c is required"]);
    same([hint("date", "2026-02-30") ?? null, hint("date", "2026-02-28") ?? null, hint("email", "x") ?? null, hint("uri", "x") ?? null, hint("uri", "urn:x") ?? null].map((h) => h === null), [false, true, false, false, true]);
  },
  "secrets are not remembered"() {
    const schema: Schema = {
      type: "object",
      properties: {
        user: { type: "string" },
        password: { type: "string", format: "password" },
        keys: { type: "array", items: { $ref: "#/$defs/key" } },
        auth: { oneOf: [{ type: "object", properties: { token: { type: "string", writeOnly: true } } }, { type: "null" }] },
      },
      additionalProperties: { type: "string", writeOnly: true },
      $defs: { key: { type: "object", properties: { id: {}, secret: { writeOnly: true } } } },
    };
    const v = parse('{"user":"u","password":"p","keys":[{"id":1,"secret":"s"}],"auth":{"token":"t","x":1},"other":"o"}');
    same(withoutSecrets(schema, schema, v), { user: "u", keys: [{ id: 1 }], auth: { x: 1 } });
  },
  "executions are counted in the order in which they began, and late news begins none"() {
    const at = (ms: number) => new Date(Date.UTC(2026, 0, 1) + ms).toISOString();
    const rec = (index: number, path: string, execution: number, start: number, end: number): Rec => ({
      index, path, execution, key: `t#${path}`, id: path, type: "transform", event: "done", frame: "", start: at(start), end: at(end), ms: end - start, state: "done",
    });
    const e = new Executions();
    // The page hears of the third execution first, then of all records, then of the beginning of the third again.
    const active = (execution: number, start?: number) => ({ key: "t#a", path: "a", execution, attempt: 1, state: "running", ...(start === undefined ? {} : { start: at(start) }) });
    e.begin(active(2, 20));
    for (const [i, start] of [0, 10, 20].entries()) e.add(rec(i, "a", i, start, start + 5));
    e.begin(active(2, 22));
    e.begin(active(1));
    e.settle();
    same(e.list.map((x) => [x.execution, x.order, x.visit, x.end === undefined]), [[0, 0, 1, false], [1, 1, 2, false], [2, 2, 3, false]]);
    // Rows of what began at the same time are in the order of the run, owners above their bodies.
    const rows = new Executions();
    rows.add({ ...rec(0, "entry", 0, 0, 0), key: "t#entry" });
    rows.add({ ...rec(1, "map[0].x", 0, 0, 1), key: "t#map[].x", frame: "1.0" });
    rows.add({ ...rec(2, "map", 1, 0, 2), key: "t#map" });
    rows.begin({ key: "t#a", path: "a", execution: 2, attempt: 1, state: "asking", start: at(0) });
    rows.settle();
    same(layoutRows(rows.list, "node", "t").rows.map((r) => r.label), ["entry", "map", "map[].x", "a"]);
    // The same path in a later call of its tool is another execution.
    e.begin(active(2, 40));
    e.settle();
    same(e.list.length, 4);
  },
  "texts are not cut within a character"() {
    same([headOf("a😀b", 1), headOf("a😀b", 2), headOf("a😀b", 3), headOf("ab", 5)], ["a", "a", "a😀", "ab"]);
    same(preview("😀😀", 4), '"😀…'.slice(0, 3) + "…");
  },
  "a token is found in addresses, fragments and alone"() {
    const token = "A-_0123456789abcdefghij";
    for (const text of [`http://127.0.0.1:7000/#token=${token}`, ` #token=${token}\n`, `#${token}`, token]) same(tokenIn(text) ?? "", token);
    for (const text of ["", "#", "nonsense", "http://127.0.0.1:7000/", "#x=1", `#token=${token} more`]) same(tokenIn(text) === undefined, true);
  },
  "what the browser refuses to keep is kept by the page"() {
    const browser = globalThis as { localStorage?: unknown };
    const before = Object.getOwnPropertyDescriptor(globalThis, "localStorage");
    Object.defineProperty(globalThis, "localStorage", { configurable: true, get() { throw new Error("refused"); } });
    same(kept("a") ?? null, null);
    keep("a", "1");
    same(kept("a") ?? null, "1");
    same(keptJSON("missing") ?? null, null);
    const stored = new Map([["b", "{bad"]]);
    let full = true;
    Object.defineProperty(globalThis, "localStorage", { configurable: true, value: {
      getItem: (name: string) => stored.get(name) ?? null,
      setItem(name: string, text: string) {
        if (full) throw new Error("quota");
        stored.set(name, text);
      },
    } });
    same(keptJSON("b") ?? null, null);
    keep("b", "2");
    same([kept("b") ?? null, stored.get("b") ?? null], ["2", "{bad"]);
    full = false;
    keep("b", "3");
    same([kept("b") ?? null, stored.get("b") ?? null], ["3", "3"]);
    delete browser.localStorage;
    if (before) Object.defineProperty(globalThis, "localStorage", before);
  },
  async "unsaved text survives what happens to the file"() {
    let disk = { text: "one", revision: "1" };
    const saved: { text: string; force: boolean }[] = [];
    let away = false;
    const api: FileAPI = {
      async read() { if (away) throw new Error("away"); return { ...disk }; },
      async save(text, revision, force) {
        if (away) throw new Error("away");
        if (revision !== disk.revision) return { saved: false, conflict: { ...disk } };
        if (text.includes("bad") && !force) return { saved: false, refused: { message: "bad", problems: [] } };
        saved.push({ text, force });
        disk = { text, revision: `${Number(disk.revision) + 1}` };
        return { saved: true, revision: disk.revision };
      },
      async check() { return []; },
      async format(text) { return text; },
    };
    const file = new FileModel(api);
    await file.load();
    file.edit("mine");
    disk = { text: "theirs", revision: "2" };
    await file.changedOnDisk("2");
    same([file.get().text, file.get().conflict?.text ?? null], ["mine", "theirs"]);
    // The change on disk is taken back: there is no conflict any more, and the text is that of before.
    disk = { text: "one", revision: "1" };
    await file.changedOnDisk("1");
    same([file.get().text, file.get().dirty, file.get().conflict ?? null], ["mine", true, null]);
    // A text with errors is not written over that of others unless somebody says so.
    disk = { text: "theirs", revision: "3" };
    await file.changedOnDisk("3");
    file.edit("bad mine");
    same(await file.keepMine(), false);
    same([file.get().refused?.message ?? null, file.get().text, saved.length], ["bad", "bad mine", 0]);
    same(await file.save(true), true);
    same(saved, [{ text: "bad mine", force: true }]);
    // While the server is away, nothing is lost, and its return clears the message.
    away = true;
    file.edit("later");
    same(await file.save(), false);
    same([file.get().text, file.get().dirty, file.get().error ?? null], ["later", true, "away"]);
    away = false;
    file.reached();
    same([file.get().error ?? null, await file.save(), disk.text], [null, true, "later"]);
  },
  "drafts follow the items of their array"() {
    const d = (s: string) => ({ text: s, message: "" });
    const drafts = new Map([["/a/0", d("0")], ["/a/2/x", d("2")], ["/b", d("b")]]);
    same([...moveDrafts(drafts, "/a", (i) => (i === 0 ? undefined : i - 1)).keys()], ["/a/1/x", "/b"]);
    same([...dropDrafts(drafts, "/a").keys()], ["/b"]);
  },
};

for (const [title, test] of Object.entries(tests)) {
  name = title;
  await test();
}
console.log(`${Object.keys(tests).length} tests`);
