package runner

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
)

const header = `version: "1.0"
server: {name: x, version: "1"}
mcpServers:
  files: {command: nope, args: ["${NOT_SET}"]}
  web: {url: "http://127.0.0.1:1/mcp", retry: {maxAttempts: 3}, retryUnsafe: true}
  cached: {command: nope, cache: {tools: [get], ttlMs: 1000}}
  limited: {command: nope, rateLimit: {limit: 1, periodMs: 1000}}
tools:
`

const tools = header + `
  - name: list
    description: d
    inputSchema: {type: object, properties: {path: {type: string}}, required: [path]}
    nodes:
      - {id: entry, type: entry, next: get}
      - {id: get, type: mcp, server: files, tool: list, args: {path: {expr: $.entry.path}}, next: exit, catch: [{errors: [toolError], next: none}]}
      - {id: none, type: transform, transform: {expr: '"nothing"'}, next: exit}
      - {id: exit, type: exit}
  - name: fetch
    description: d
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: get}
      - {id: get, type: mcp, server: web, tool: get, next: exit}
      - {id: exit, type: exit}
  - name: each
    description: d
    inputSchema: {type: object, properties: {n: {type: integer}}}
    nodes:
      - {id: entry, type: entry, next: all}
      - id: all
        type: map
        items: {expr: '[1..$.entry.n]'}
        nodes:
          - {id: one, type: mcp, server: files, tool: one, args: {i: {expr: $item}}, next: two}
          - {id: two, type: mcp, server: files, tool: two, args: {i: {expr: $item}}}
        next: exit
      - {id: exit, type: exit}
  - name: both
    description: d
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: p}
      - id: p
        type: parallel
        branches:
          left: [{id: l, type: mcp, server: files, tool: l}]
          right: [{id: r, type: mcp, server: files, tool: r}]
        next: exit
      - {id: exit, type: exit}
  - name: twice
    description: d
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: a}
      - {id: a, type: mcp, server: cached, tool: get, next: b}
      - {id: b, type: mcp, server: cached, tool: get, next: wait}
      - {id: wait, type: wait, ms: 2000, next: c}
      - {id: c, type: mcp, server: cached, tool: get, next: l1}
      - {id: l1, type: mcp, server: limited, tool: get, next: l2}
      - {id: l2, type: mcp, server: limited, tool: get, next: exit}
      - {id: exit, type: exit}
  - name: outer
    description: d
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: inner}
      - {id: inner, type: call, tool: list, args: {path: /x}, next: exit}
      - {id: exit, type: exit}
  - name: form
    description: d
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: q}
      - {id: q, type: ask, message: Sure?, schema: {type: object, properties: {ok: {type: boolean}}}, next: exit, declined: no}
      - {id: no, type: transform, transform: {expr: '"no"'}, next: exit}
      - {id: exit, type: exit}
  - name: each_form
    description: d
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: all}
      - id: all
        type: map
        items: [1, 2, 3, 4]
        maxConcurrency: 1
        nodes:
          - {id: q, type: ask, message: Sure?, schema: {type: object, properties: {ok: {type: boolean}}}, declined: "no"}
          - {id: "no", type: transform, transform: {expr: '"no"'}}
        next: exit
      - {id: exit, type: exit}
  - name: model
    description: d
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: m}
      - {id: m, type: sample, prompt: A number, schema: {type: integer}, next: r, catch: {next: no}}
      - {id: r, type: roots, next: exit, catch: {next: no}}
      - {id: no, type: transform, transform: {expr: $previousNode().error.name}, next: exit}
      - {id: exit, type: exit}
  - name: chance
    description: d
    requiredScopes: [dice]
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: t}
      - {id: t, type: transform, transform: {expr: '{"r": $random(), "now": $now()}'}, next: exit}
      - {id: exit, type: exit}
  - name: endless
    description: d
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: t}
      - {id: t, type: transform, transform: {expr: '($f := function($n){$n < 0 ? 0 : $f($n+1)}; $f(1))'}, next: exit}
      - {id: exit, type: exit}
`

// suiteOf writes a configuration and a test file, and returns the latter's path.
func suiteOf(t testing.TB, config, tests string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"a.yaml": config, "a.test.yaml": tests} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "a.test.yaml")
}

func runFile(t testing.TB, path string, o Options) *Report {
	t.Helper()
	o.Getenv = func(string) (string, bool) { return "", false }
	return Load(context.Background(), []string{path}, o).Run(context.Background(), o)
}

// told returns what a report says, a line for each test and problem.
func told(r *Report) string {
	var lines []string
	for _, d := range r.Diagnostics() {
		lines = append(lines, fmt.Sprintf("%s %s: %s", d.Severity, d.Pos, d.Message))
	}
	for _, one := range r.Results {
		lines = append(lines, fmt.Sprintf("%s %s", one.Test.Name, one.Status))
		for _, p := range one.Problems {
			line := fmt.Sprintf("  %s: %s", p.Pos, p.Message)
			if p.Hint != "" {
				line += " (" + p.Hint + ")"
			}
			lines = append(lines, line)
			if p.Expected+p.Found != "" {
				lines = append(lines, "    "+strings.ReplaceAll(strings.TrimSpace(p.Expected), "\n", " ")+" | "+strings.ReplaceAll(strings.TrimSpace(p.Found), "\n", " "))
			}
		}
		for _, w := range one.Warnings {
			lines = append(lines, fmt.Sprintf("  warning %s: %s", w.Pos, w.Message))
		}
	}
	return strings.Join(lines, "\n")
}

func TestWhatHolds(t *testing.T) {
	for name, test := range map[string]string{
		"result and path": `{tool: list, arguments: {path: /a}, mocks: [{server: files, tool: list, arguments: {path: /a}, reply: {text: hi}}],
			expect: {result: hi, path: [entry, get, exit], calls: [{server: files, tool: list, arguments: {path: {match: "^/"}}}], outputs: {get: hi}, durationMs: 0, attempts: {get: 1}}}`,
		"catch":        `{tool: list, arguments: {path: /a}, mocks: [{server: '*', tool: 'l*', reply: {error: no}}], expect: {result: nothing, path: [entry, get, none, exit]}}`,
		"retries":      `{tool: fetch, mocks: [{server: web, tool: get, replies: [{failure: timeout}, {failure: 503}, {text: ok}], delayMs: 5}], expect: {result: ok, attempts: {get: 3}, expr: '$count(calls) = 3'}}`,
		"gives up":     `{tool: fetch, mocks: [{server: web, tool: get, reply: {failure: 503}}], expect: {error: {name: protocol, code: 503, node: get}, attempts: {get: 3}}}`,
		"never called": `{tool: fetch, mocks: [{server: web, tool: other, times: 0}, {server: web, tool: get, reply: {structured: {a: 1}}}], expect: {matches: {a: {expr: "$ > 0"}}}}`,
		"next mock":    `{tool: fetch, mocks: [{server: web, tool: get, times: 1, reply: {failure: 503}}, {server: web, tool: get, reply: {text: b}}], expect: {result: b}}`,
		"items in order": `{tool: each, arguments: {n: 3}, mocks: [{server: files, tool: '*', reply: {expr: '{"text": $string($arguments.i)}'}, delayMs: 10}],
			expect: {result: [1, 2, 3], path: [entry, {all: [[one, two], [one, two], [one, two]]}, exit], durationMs: 20,
				expr: '$map(calls, function($c){ $c.tool & $c.arguments.i }) = ["one1", "one2", "one3", "two1", "two2", "two3"]'}}`,
		"bodies by id":   `{tool: each, arguments: {n: 2}, mocks: [{server: files, tool: '*', reply: {text: x}}], expect: {path: [entry, all, exit]}}`,
		"branches":       `{tool: both, mocks: [{server: files, tool: l, reply: {text: x}}, {server: files, tool: r, reply: {text: y}}], expect: {result: {left: x, right: y}, path: [entry, {p: {left: [l], right: [r]}}, exit]}}`,
		"policies":       `{tool: twice, mocks: [{server: cached, tool: get, times: 2, reply: {text: x}}, {server: limited, tool: get, reply: {text: y}}], expect: {durationMs: 3000, path: [entry, a, b, wait, c, l1, l2, exit]}}`,
		"called tool":    `{tool: outer, mocks: [{server: files, tool: list, reply: {text: x}}], expect: {path: [entry, {inner: {list: [entry, get, exit]}}, exit], result: x}}`,
		"answers":        `{tool: form, answers: {q: {ok: true}}, expect: {result: {ok: true}}}`,
		"declined":       `{tool: form, answers: {q: decline}, expect: {result: "no"}}`,
		"one by one":     `{tool: each_form, answers: {q: [{ok: true}, decline, {ok: false}]}, expect: {result: [{ok: true}, "no", {ok: false}, {ok: false}]}}`,
		"a model":        `{tool: model, answers: {m: 7, r: ["file:///a"]}, expect: {result: {roots: [{uri: "file:///a"}]}, attempts: {m: 1}}}`,
		"a second time":  `{tool: model, answers: {m: [seven, {text: "7", model: x}], r: {roots: []}}, expect: {result: {roots: []}, attempts: {m: 2}}}`,
		"wrong twice":    `{tool: model, answers: {m: [seven, 7.5, 7]}, expect: {result: answer, attempts: {m: 2}}}`,
		"whole results":  `{tool: model, answers: {m: {content: {type: text, text: "7"}}, r: decline}, expect: {result: declined}}`,
		"no model":       `{tool: model, answers: {m: cannotAsk}, expect: {result: cannotAsk, path: [entry, m, "no", exit]}}`,
		"clock":          `{tool: chance, now: "2031-05-06T07:08:09Z", expect: {matches: {now: "2031-05-06T07:08:09.000Z"}}}`,
		"first clock":    `{tool: chance, now: "2000-01-01T00:00:00Z", expect: {matches: {now: {match: "^2000-01-01T00:00:00"}}}}`,
		"last clock":     `{tool: chance, now: "2199-12-31T00:00:00Z", expect: {matches: {now: {match: "^2199-12-31"}}}}`,
		"scope":          `{tool: chance, caller: {name: ann, scopes: [dice]}}`,
		"no scope":       `{tool: chance, caller: {name: ann, scopes: []}, expect: {error: {name: insufficient_scope}}}`,
		"literal":        `{tool: fetch, mocks: [{server: web, tool: get, reply: {structured: {match: x}}}], expect: {result: {is: {match: x}}}}`,
		"bad arguments":  `{tool: list, expect: {error: {name: arguments, message: {match: path}}}}`,
		"computed fault": `{tool: fetch, mocks: [{server: web, tool: get, reply: {expr: '{"failure": "connect"}'}}], expect: {error: {name: connect}, attempts: {get: 3}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			path := suiteOf(t, tools, "tests: [{name: t, "+strings.TrimPrefix(strings.Join(strings.Fields(test), " "), "{")+"]")
			if got := told(runFile(t, path, Options{Strict: true})); got != "t passed" {
				t.Error(got)
			}
		})
	}
}

func TestWhatFails(t *testing.T) {
	for _, c := range []struct{ test, want string }{
		{`{tool: list, arguments: {path: /a}, mocks: [{server: files, tool: list, reply: {text: hi}}], expect: {result: ho, path: [entry, exit]}}`,
			`  1:128: "result" is not as expected` + "\n" + `    ho | hi` + "\n" + `  1:146: "path" is not as expected` + "\n" + `    - entry - exit | - entry - get - exit`},
		{`{tool: list, arguments: {path: /a}, mocks: [{server: files, tool: list, arguments: {path: /b}, reply: {text: hi}}]}`,
			`  1:61: no mock answers the call of tool "list" of server "files" with {"path":"/a"} (the nearest mock, at line 1, does not fit: path is "/a", expected "/b")`},
		{`{tool: fetch, mocks: [{server: web, tool: get, reply: {failure: 503}, times: 2}]}`,
			`  1:39: no mock answers the call of tool "get" of server "web" with {} (the mock of web.get at line 1 has been called 2 times, as its times says)`},
		{`{tool: fetch, mocks: [{server: web, tool: get, times: 0}]}`,
			`  1:39: no mock answers the call of tool "get" of server "web" with {} (the mock of web.get at line 1 says that it is never called (times: 0))`},
		{`{tool: fetch, mocks: [{server: web, tool: get, reply: {text: a}, times: 2}]}`, `  1:40: the mock of web.get was called 1 times, expected 2`},
		{`{tool: fetch, mocks: [{server: web, tool: get, reply: {expr: "5"}}]}`,
			`  1:72: the expression of the reply yields 5; expected an object with one of text, json, structured, content, result, error or failure`},
		{`{tool: fetch, mocks: [{server: web, tool: get, reply: {text: a}}], expect: {error: {name: timeout}}}`,
			`  1:101: the run ended well, but an error is expected` + "\n" + `    error: {name: timeout} | result: a`},
		{`{tool: fetch, mocks: [{server: web, tool: get, reply: {text: a}}], expect: {expr: "result = 'b'"}}`, `  1:100: the expression does not hold: it yields false`},
		{`{tool: form}`, `  1:16: node "q" asks "Sure?", and no answer is given`},
		{`{tool: endless, timeoutMs: 50}`, `  1:16: the test took longer than 50ms of real time (timeoutMs)`},
		{`{tool: fetch, mocks: [{server: web, tool: get, reply: {text: a}}], timeoutMs: 50, expect: {expr: '($f := function($n){$n < 0 ? 0 : $f($n+1)}; $f(1))'}}`,
			`  1:115: the expression does not hold: `},
	} {
		path := suiteOf(t, tools, "tests: [{name: t, "+strings.TrimPrefix(c.test, "{")+"]")
		if got := told(runFile(t, path, Options{})); !strings.HasPrefix(got, "t failed\n"+c.want) {
			t.Errorf("%s\ngot  %s\nwant %s", c.test, got, c.want)
		}
	}
}

func TestUnusedMocksAreReported(t *testing.T) {
	path := suiteOf(t, tools, `
mocks:
  - {server: web, tool: get, reply: {text: a}}
  - {server: web, tool: shared, reply: {text: a}}
tests:
  - {name: t, tool: fetch, mocks: [{server: web, tool: own, reply: {text: b}}]}
`)
	if got := told(runFile(t, path, Options{})); got != "warning 4:5: no test calls the mock of web.shared\nt passed\n  warning 6:36: the mock of web.own was never called" {
		t.Error(got)
	}
	r := runFile(t, path, Options{Strict: true})
	if got := told(r); got != "error 4:5: no test calls the mock of web.shared\nt failed\n  6:36: the mock of web.own was never called" || r.OK() {
		t.Error(got)
	}
}

func TestBrokenFiles(t *testing.T) {
	for _, c := range []struct{ config, tests, want string }{
		{tools, "tests: [{name: t, tool: lst}]", `error 1:25: the configuration has no tool "lst"`},
		{tools, "tests: [{name: t, tool: list, mocks: [{server: file, tool: x, times: 0}]}]", `error 1:48: the configuration has no server "file"`},
		{tools, "tests: [{name: t, tool: list, answers: {gt: decline}, expect: {path: [entry, gte], outputs: {x: 1}}}]",
			`error 1:45: tool "list" has no node "gt"` + "\n" + `error 1:78: tool "list" has no node "gte"` + "\n" + `error 1:97: tool "list" has no node "x"`},
		{tools, "tests: [{name: t, tool: form, answers: {q: maybe}}]", `error 1:44: the answer of "q" must be a map, "accept", "decline", "cancel" or "cannotAsk", found the string "maybe"`},
		{tools, "tests: [{name: t, tool: form, answers: {q: [decline, 7]}}]", `error 1:44: the answer of "q" must be a map,`},
		{tools, "tests: [{name: t, tool: model, answers: {r: []}}, {name: u, tool: model, answers: {r: 7}}]", `error 1:87: the answer of "r" must be a list of URIs, a map with roots, "decline", "cancel" or "cannotAsk", found the number 7`},
		{header, "tests: [{name: t, tool: list}]", "error 8:7: "},
		{tools, "config: other.yaml\ntests: []", "error 1:9: cannot read the configuration "},
		{tools, "tests: [", "error 2:1: "},
	} {
		r := runFile(t, suiteOf(t, c.config, c.tests), Options{})
		if got := told(r); !strings.HasPrefix(got, c.want) || r.OK() {
			t.Errorf("%s\ngot  %s\nwant %s", c.tests, got, c.want)
		}
	}
}

func TestTheSeedMakesRunsTheSame(t *testing.T) {
	path := suiteOf(t, tools, "tests:\n  - {name: a, tool: chance, expect: {snapshot: true}}\n  - {name: b, tool: chance, seed: 2, expect: {snapshot: true}}\n")
	if r := runFile(t, path, Options{Update: true}); !r.OK() {
		t.Fatal(told(r))
	}
	before, err := os.ReadFile(snapshotPath(path))
	if err != nil {
		t.Fatal(err)
	}
	if a, b, _ := strings.Cut(string(before), `"b"`); a[strings.Index(a, `"r"`):][:20] == b[strings.Index(b, `"r"`):][:20] {
		t.Error("two seeds, one number")
	}
	for range 3 {
		if r := runFile(t, path, Options{}); !r.OK() {
			t.Fatal(told(r))
		}
	}
}

func TestSnapshots(t *testing.T) {
	const one = "tests:\n  - {name: a, tool: list, arguments: {path: /}, mocks: [{server: files, tool: list, reply: {text: x}}], expect: {snapshot: true}}\n"
	path := suiteOf(t, tools, one)
	check := func(o Options, want string) {
		t.Helper()
		if got := told(runFile(t, path, o)); !strings.Contains(got, want) {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	rewrite := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	check(Options{}, "there is no snapshot yet (if it is right, run again with --update)")
	check(Options{Update: true}, "a passed")
	check(Options{}, "a passed")
	rewrite(strings.Replace(one, "text: x", "text: y", 1))
	check(Options{}, "the snapshot is not what came")
	rewrite(strings.Replace(one, "name: a", "name: b", 1))
	check(Options{}, `warning ?: no test has the snapshot "a"`)
	check(Options{Update: true}, "b passed")
	if text, _ := os.ReadFile(snapshotPath(path)); strings.Contains(string(text), `"a"`) || !strings.Contains(string(text), `"b"`) {
		t.Errorf("%s", text)
	}
	if err := os.WriteFile(snapshotPath(path), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	check(Options{Update: true}, "cannot read the snapshots")
	if err := os.RemoveAll(filepath.Dir(snapshotPath(path))); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Dir(snapshotPath(path)), nil, 0o600); err != nil { // a file in the place of the folder
		t.Fatal(err)
	}
	r := runFile(t, path, Options{Update: true})
	if got := told(r); !strings.Contains(got, "the snapshots") || r.OK() {
		t.Error(got)
	}
}

func TestCoverage(t *testing.T) {
	path := suiteOf(t, header+`
  - name: list
    description: d
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: get}
      - {id: get, type: mcp, server: files, tool: list, next: exit, catch: [{errors: [toolError], next: none}]}
      - {id: none, type: transform, transform: {expr: '1'}, next: exit}
      - {id: exit, type: exit}
`, "tests: [{name: a, tool: list, mocks: [{server: files, tool: list, reply: {text: x}}]}]")
	c := runFile(t, path, Options{}).Coverage()
	if c.Nodes != 4 || c.NodesCovered != 3 || c.Edges != 4 || c.EdgesCovered != 2 || len(c.Tools) != 1 || c.Percent() != 62.5 {
		t.Errorf("%+v", c)
	}
	if got := fmt.Sprint(c.Tools[0].Missed); got != `[{15:105 edge get → none (catch[0].next)} {16:9 node "none"} {16:67 edge none → exit (next)}]` {
		t.Error(got)
	}
}

func TestSelection(t *testing.T) {
	const tests = `
mocks: [{server: web, tool: get, reply: {text: a}}]
tests:
  - {name: a, tool: fetch, skip: "later"}
  - {name: b, tool: fetch, expect: {result: x}}
  - {name: c, tool: fetch}
`
	path := suiteOf(t, tools, tests)
	if r := runFile(t, path, Options{}); r.Passed != 1 || r.Failed != 1 || r.Skipped != 1 {
		t.Error(told(r))
	}
	if r := runFile(t, path, Options{Match: func(name string) bool { return name == "c" }}); r.Passed != 1 || len(r.Results) != 1 || !r.OK() {
		t.Error(told(r))
	}
	if r := runFile(t, path, Options{FailFast: true, Parallel: 1}); r.Failed != 1 || len(r.Results) != 2 {
		t.Error(told(r))
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	o := Options{Getenv: func(string) (string, bool) { return "", false }}
	if r := Load(context.Background(), []string{path}, o).Run(ctx, o); len(r.Results) != 0 {
		t.Error(told(r))
	}
}

func TestInterruptedTestsEndSoon(t *testing.T) {
	path := suiteOf(t, tools, "tests: [{name: a, tool: endless, timeoutMs: 60000}]")
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(20*time.Millisecond, cancel)
	o := Options{Getenv: func(string) (string, bool) { return "", false }}
	if r := Load(context.Background(), []string{path}, o).Run(ctx, o); r.Passed != 0 {
		t.Error(told(r))
	}
}

// Tests that run side by side, in whatever order, end alike.
func TestManySideBySide(t *testing.T) {
	var b strings.Builder
	b.WriteString("tests:\n")
	for i := range 60 {
		fmt.Fprintf(&b, "  - {name: t%d, tool: each, arguments: {n: 5}, mocks: [{server: files, tool: one, reply: {text: x}, delayMs: 3}, {server: files, tool: two, reply: {expr: '{\"text\": $string($arguments.i)}'}}], expect: {snapshot: true, durationMs: 3}}\n", i)
	}
	path := suiteOf(t, tools, b.String())
	if r := runFile(t, path, Options{Update: true, Parallel: 64}); !r.OK() {
		t.Fatal(told(r))
	}
	if r := runFile(t, path, Options{Parallel: 1}); !r.OK() {
		t.Fatal(told(r))
	}
	if ds := runFile(t, path, Options{Parallel: 7}).Diagnostics(); diag.HasErrors(ds) {
		t.Fatal(ds)
	}
}

// BenchmarkTwoHundred runs 200 tests, each with a map of ten bodies of two calls.
func BenchmarkTwoHundred(b *testing.B) {
	var text strings.Builder
	text.WriteString("tests:\n")
	for i := range 200 {
		fmt.Fprintf(&text, "  - {name: t%d, tool: each, arguments: {n: 10}, mocks: [{server: files, tool: '*', reply: {text: x}, delayMs: 3}], expect: {durationMs: 6}}\n", i)
	}
	path := suiteOf(b, tools, text.String())
	for b.Loop() {
		if r := runFile(b, path, Options{}); !r.OK() {
			b.Fatal(told(r))
		}
	}
}
