package suite

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
)

func problems(ds []diag.Diagnostic) string {
	var lines []string
	for _, d := range ds {
		line := fmt.Sprintf("%s %s", d.Pos, d.Message)
		if d.Hint != "" {
			line += " (" + d.Hint + ")"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func parse(t *testing.T, source string) *File {
	t.Helper()
	f, ds := Parse("dir/a.test.yaml", []byte(source))
	if len(ds) > 0 {
		t.Fatal(problems(ds))
	}
	return f
}

func TestParseReadsAWholeFile(t *testing.T) {
	f := parse(t, `
tests:
  - name: one
    tool: count
    arguments: {directory: /srv}
    mocks:
      - {server: files, tool: list_*, arguments: {path: /srv}, reply: {text: a}, delayMs: 5, times: 2}
      - {server: files, tool: x, replies: [{failure: 503}, {json: [1], delayMs: 7}]}
    answers: {ask: {ok: true}, other: decline}
    now: 2027-02-03T04:05:06+01:00
    seed: 9
    caller: {name: ann, scopes: [a, b]}
    headers: {x-one: 1}
    meta: {a: 1}
    timeoutMs: 50
    expect:
      result: {count: 2, at: {match: "^20"}}
      expr: [result.count = 2, $count(path) > 1]
      snapshot: true
mocks:
  - {server: '*', tool: '*', times: {max: 3}, reply: {structured: {a: 1}}}
`)
	if f.Config != "dir/a.yaml" || len(f.Tests) != 1 {
		t.Fatalf("config %q, %d tests", f.Config, len(f.Tests))
	}
	one := f.Tests[0]
	if len(one.Mocks) != 3 || one.Mocks[0].Min != 2 || one.Mocks[0].Max != 2 || one.Mocks[2].Max != 3 || one.Mocks[2].Min != 0 {
		t.Errorf("mocks %+v", one.Mocks)
	}
	if r := one.Mocks[1].Replies; r[0].Failure != "503" || r[1].Delay != 7*time.Millisecond || r[1].Result.JSON() != `{"content":[{"type":"text","text":"[1]"}]}` {
		t.Errorf("replies %+v %+v", r[0], r[1])
	}
	if got := one.Mocks[2].Replies[0].Result.JSON(); got != `{"content":[{"type":"text","text":"{\"a\":1}"}],"structuredContent":{"a":1}}` {
		t.Error(got)
	}
	if !one.Now.Equal(time.Date(2027, 2, 3, 3, 5, 6, 0, time.UTC)) || one.Seed != 9 || one.Timeout != 50*time.Millisecond {
		t.Errorf("%v, seed %d, %v", one.Now, one.Seed, one.Timeout)
	}
	if one.Caller.Name != "ann" || len(one.Caller.Scopes) != 2 || one.Headers[0] != (HeaderLine{"X-One", "1"}) || one.Meta.JSON() != `{"a":1}` {
		t.Errorf("%+v %+v %v", one.Caller, one.Headers, one.Meta.JSON())
	}
	if len(one.Answers) != 2 || one.Answers[1].To(graph.AskPerson, 7).Str() != graph.Decline {
		t.Errorf("%+v", one.Answers)
	}
	if len(one.Expect.Exprs) != 2 || !one.Expect.Snapshot || one.Expect.find("result") == nil || one.Expect.ExpectsError() {
		t.Errorf("%+v", one.Expect)
	}
}

func TestCasesReplaceKeysAndSetVariables(t *testing.T) {
	f := parse(t, `
config: other.yaml
tests:
  - name: t
    tool: count
    vars: {who: x, n: 1}
    arguments: {directory: "${vars.who}", text: "n is ${vars.n}, $${vars.n}", list: ["${vars.list}"]}
    cases:
      - {name: a, vars: {list: [1, 2]}}
      - {name: b, vars: {who: {deep: true}, list: null}, seed: 3}
      - {name: c, vars: {list: 1}, arguments: {only: "${vars.list}"}, tool: other}
`)
	want := []string{
		`t/a count {"directory":"x","text":"n is 1, ${vars.n}","list":[[1,2]]} 1`,
		`t/b count {"directory":{"deep":true},"text":"n is 1, ${vars.n}","list":[null]} 3`,
		`t/c other {"only":1} 1`,
	}
	for i, one := range f.Tests {
		if got := fmt.Sprintf("%s %s %s %d", one.Name, one.Tool, one.Arguments.JSON(), one.Seed); got != want[i] {
			t.Errorf("got  %s\nwant %s", got, want[i])
		}
	}
	if f.Config != "dir/other.yaml" || f.ConfigText.Pos().Line != 2 {
		t.Error(f.Config, f.ConfigText.Pos())
	}
}

func TestParseReportsWhatIsWrong(t *testing.T) {
	for _, c := range []struct{ source, want string }{
		{`tests: 5`, `1:8 "tests" must be a list, found the number 5`},
		{`test: []`, `1:1 missing required field "tests" in the test file` + "\n" + `1:1 unknown field "test" in the test file (did you mean "tests"?)`},
		{`tests: [{name: a}]`, `1:9 missing required field "tool" in a test (write tool: NAME, the tool to call)`},
		{`tests: [{name: a, tool: t}, {name: a, tool: t}]`, `1:36 there are two tests with the name "a"`},
		{`tests: [{name: a, tool: t, cases: []}]`, `1:35 "cases" of test "a" is empty, so the test never runs`},
		{`tests: [{name: a, tool: t, cases: [{name: x}, {name: x}]}]`, `1:54 there are two cases with the name "x"`},
		{`tests: [{name: a, tool: t, now: 1999-01-01T00:00:00Z}]`, `1:33 "now" must be between the years 2000 and 2199, found 1999-01-01T00:00:00Z`},
		{`tests: [{name: a, tool: t, now: noon}]`, `1:33 "now" is not a time: "noon" (write it as 2026-01-01T00:00:00Z)`},
		{`tests: [{name: a, tool: t, seed: -1}]`, `1:34 "seed" must be a whole number from 0 to 9007199254740991, found the number -1`},
		{`tests: [{name: a, tool: t, answers: {q: }}]`, `1:41 the answer of "q" must be an answer, found null`},
		{`tests: [{name: a, tool: t, arguments: {x: "${vars.y}"}}]`, `1:51 there is no variable "y" (add it to the test or to each of its cases: vars: {y: …})`},
		{`tests: [{name: a, tool: t, mocks: [{server: s, tool: x}]}]`, `1:36 missing required field "reply" in a mock of test "a" (for a tool that must not be called, write times: 0)`},
		{`tests: [{name: a, tool: t, mocks: [{server: s, tool: x, reply: {text: a, json: 1}}]}]`, `1:64 a reply has one form, found "json" or "text"`},
		{`tests: [{name: a, tool: t, mocks: [{server: s, tool: x, reply: {failure: timout}}]}]`, `1:74 no failure has the name "timout"; did you mean "timeout"?`},
		{`tests: [{name: a, tool: t, mocks: [{server: s, tool: x, times: {min: 3, max: 1}, reply: {text: a}}]}]`, `1:64 "min" is 3 and "max" is 1: no number of calls is both`},
		{`tests: [{name: a, tool: t, expect: {result: {match: "("}}}]`, "1:53 invalid regular expression: error parsing regexp: missing closing ): `(?s)(` (the syntax is that of RE2 (https://github.com/google/re2/wiki/Syntax))"},
		{`tests: [{name: a, tool: t, expect: {expr: "result ="}}]`, `1:52 the expression ends where a value was expected`},
		{`tests: [{name: a, tool: t, expect: {expr: "$cuont(path) = 1"}}]`, `1:44 there is no function $cuont (did you mean "$count"?)`},
		{`tests: [{name: a, tool: t, expect: {error: {name: x}, result: 1}}]`, `1:63 "error" and "result" exclude each other: a run that fails has no result`},
		{`tests: [{name: a, tool: t, expect: {error: timeout}}]`, `1:44 "error" must be a map, found the string "timeout"`},
		{`tests: [{name: a, tool: t, expect: {reslt: 1}}]`, `1:37 unknown field "reslt" in "expect" of test "a" (did you mean "result"?)`},
	} {
		_, ds := Parse("a.test.yaml", []byte(c.source))
		if got := problems(ds); got != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", c.source, got, c.want)
		}
	}
	if _, ds := Parse("tests.yaml", []byte("tests: []")); problems(ds) != `1:1 missing required field "config" in the test file (only files with names such as NAME.test.yaml have a default)` {
		t.Error(problems(ds))
	}
}

func TestGlobs(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{{"a", "a", true}, {"a", "ab", false}, {"a*", "ab/c", true}, {"*", "", true}, {"a*c.d", "abcxd", false}, {"a*c.d", "abbc.d", true}} {
		if got := newGlob(c.pattern).matches(c.name); got != c.want {
			t.Errorf("%q %q: %v", c.pattern, c.name, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("tests: [{name: a, tool: t, vars: {x: 1}, arguments: {y: \"${vars.x}\"}, mocks: [{server: s, tool: x, reply: {text: a}}], expect: {result: {match: a}}}]")
	f.Add("a: &a [*a]\ntests: *a")
	f.Fuzz(func(t *testing.T, source string) {
		file, ds := Parse("a.test.yaml", []byte(source))
		if file == nil && !diag.HasErrors(ds) {
			t.Error("no file and no error")
		}
	})
}
