package debug_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/internal/testscale"
	"github.com/mcpgraph/mcpgraph/pkg/debug"
	"github.com/mcpgraph/mcpgraph/pkg/expr"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func TestEval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := load(t, tools(map[string]string{"t": mapped}), &upstream{})
		s := start(t, e, "t", map[string]any{"list": []int{1, 2, 3}}, debug.Options{Breakpoints: []debug.Breakpoint{{Node: "more", Hits: 2}}})
		pausedAt(t, s, "breakpoint each[1].more")
		here := s.Here()
		for expression, want := range map[string]string{
			"$item":                          "2",
			"$.twice.n":                      "4",
			"$.entry.list":                   "[1,2,3]",
			"$previousNode().n":              "4",
			`$executionCount("twice")`:       "1",
			"$":                              `{"twice":{"n":4},"entry":{"list":[1,2,3]}}`,
			"$.nobody":                       "",
			"function($x){$x}":               "null",
			`$map([1..3], function($v){$v})`: "[1,2,3]",
		} {
			v, err := s.Eval(t.Context(), here, expression)
			if err != nil || v.JSON() != want && !(want == "" && v.IsUndefined()) {
				t.Errorf("%s: %s, %v, want %s", expression, v.JSON(), err, want)
			}
		}
		vars := s.Variables(here)
		if i := slices.IndexFunc(vars, func(e value.Entry) bool { return e.Key == "item" }); i < 0 || vars[i].Value.JSON() != "2" {
			t.Errorf("variables %v", vars)
		}
		var failed *expr.Error
		if _, err := s.Eval(t.Context(), here, "1 + )"); !errors.As(err, &failed) || failed.Offset != 4 {
			t.Errorf("a mistake: %v", err)
		}
		if _, err := s.Eval(t.Context(), here, "$string([1..300000])"); err == nil || !strings.Contains(err.Error(), "more than 1024 KiB") {
			t.Errorf("a large value: %v", err)
		}

		// Executions of before, by their records, and walks that are under way.
		for index, want := range map[int]string{0: `{}`, 1: `{"entry":{"list":[1,2,3]}}`, 3: `{"twice":{"n":2},"entry":{"list":[1,2,3]}}`} {
			at, err := s.At(index)
			must(t, err)
			if got := s.Document(at).JSON(); got != want {
				t.Errorf("record %d sees %s", index, got)
			}
		}
		if _, err := s.At(99); err == nil || !strings.Contains(err.Error(), "no record 99") {
			t.Errorf("record 99: %v", err)
		}
		root, err := s.Frame("")
		must(t, err)
		if v, err := s.Eval(t.Context(), root, "$.twice"); err != nil || !v.IsUndefined() {
			t.Errorf("the walk of the tool sees %s of a body, %v", v.JSON(), err)
		}
		if _, err := s.Frame("1.0"); err == nil || !strings.Contains(err.Error(), "not under way") {
			t.Errorf("a walk that is over: %v", err)
		}
		must(t, s.Resume())
		result(t, s)
		if v, err := s.Eval(t.Context(), s.Here(), "$.each"); err != nil || v.JSON() != "[3,5,7]" {
			t.Errorf("at the end: %s, %v", v.JSON(), err)
		}
	})
}

// TestEvalEnds evaluates what would never end.
func TestEvalEnds(t *testing.T) {
	debug.SetEvalTimeout(t, testscale.Of(50*time.Millisecond, debug.EvalTimeout))
	e := load(t, tools(map[string]string{"t": straight}), &upstream{})
	s := start(t, e, "t", map[string]any{"n": 1}, debug.Options{StartPaused: true})
	_, err := s.Eval(t.Context(), s.Here(), "($f := function($n){$f($n + 1)}; $f(1))")
	if err == nil || !strings.Contains(err.Error(), "longer than 2s") {
		t.Errorf("the error is %v", err)
	}
	must(t, s.Resume())
	result(t, s)
}

// TestSecretsAreNotShown looks at everything of a session.
func TestSecretsAreNotShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const secret = "hunter2hunter2"
		text := strings.Replace(tools(map[string]string{"t": `
- {id: entry, type: entry, next: one}
- {id: one, type: mcp, server: up, tool: echo, args: {n: {expr: $.entry.n}}, next: two}
- {id: two, type: fail, error: broken, message: {expr: "'it is ' & $.entry.n"}}
- {id: exit, type: exit}
`}), "{command: none}", "{command: none, env: {SECRET: \"${SECRET}\"}}", 1)
		text = strings.Replace(text, "next: two}", "catch: {next: exit}, next: two}", 1)
		e := load(t, text, &upstream{}, mcpgraph.WithGetenv(func(name string) (string, bool) { return secret, name == "SECRET" }))
		s := start(t, e, "t", map[string]any{"n": secret}, debug.Options{
			Breakpoints: []debug.Breakpoint{{Node: "one", Log: "n is {$.entry.n}"}}, BreakOn: debug.BreakOn{Failure: debug.BreakOnAny},
			Pins: map[string]value.Value{"exit": value.FromString(secret)},
		})
		p := pausedAt(t, s, "failure two")
		var shown []string
		show := func(name, text string) {
			if strings.Contains(text, secret) {
				t.Errorf("%s has the secret: %s", name, text)
			}
			shown = append(shown, text)
		}
		st := s.State()
		show("the pause", p.Text)
		show("the arguments", st.Args.JSON())
		show("the document", s.Document(s.Here()).JSON())
		show("a pin", s.Pins()["t#exit"].JSON())
		v, err := s.Eval(t.Context(), s.Here(), "$.entry")
		must(t, err)
		show("a value", v.JSON())
		for rec := range s.Records(0) {
			show("a record", rec.Arguments.JSON()+rec.Output.JSON())
			if rec.Err != nil {
				show("a failure", rec.Err.Error())
			}
		}
		must(t, s.Resume())
		<-s.Done()
		for e := range s.Events(t.Context(), 0) {
			show("event "+string(e.Type), e.Text)
			if e.Pause != nil {
				show("a pause", e.Pause.Text)
			}
		}
		show("the error", s.State().Err.Error())
		if strings.Count(strings.Join(shown, " "), "[redacted]")+strings.Count(strings.Join(shown, " "), "***") == 0 {
			t.Errorf("nothing was redacted in %q", shown)
		}
	})
}
