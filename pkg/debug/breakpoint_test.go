package debug_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/debug"
)

// mapped maps a list, one item after the other.
const mapped = `
- {id: entry, type: entry, next: each}
- id: each
  type: map
  items: {expr: $.entry.list}
  maxConcurrency: 1
  nodes: [{id: twice, type: transform, transform: {expr: '{"n": $item * 2}'}, next: more}, {id: more, type: transform, transform: {expr: $.twice.n + 1}}]
  next: exit
- {id: exit, type: exit}
`

func TestBreakpoints(t *testing.T) {
	for name, test := range map[string]struct {
		list []debug.Breakpoint
		on   debug.BreakOn
		want []string
	}{
		"by id":      {list: []debug.Breakpoint{{Node: "more"}}, want: []string{"breakpoint each[0].more", "breakpoint each[1].more", "breakpoint each[2].more"}},
		"by path":    {list: []debug.Breakpoint{{Node: "each[].twice", Hits: 2}}, want: []string{"breakpoint each[1].twice"}},
		"by key":     {list: []debug.Breakpoint{{Node: "t#each"}}, want: []string{"breakpoint each"}},
		"disabled":   {list: []debug.Breakpoint{{Node: "each", Disabled: true}}},
		"when":       {list: []debug.Breakpoint{{Node: "more", When: "$.twice.n > 4 and $item = 3"}}, want: []string{"breakpoint each[2].more"}},
		"hits":       {list: []debug.Breakpoint{{Node: "more", When: "$item != 2", Hits: 2}}, want: []string{"breakpoint each[2].more"}},
		"two of one": {list: []debug.Breakpoint{{Node: "more", Hits: 1}, {Node: "each[].more", Hits: 3}}, want: []string{"breakpoint each[0].more", "breakpoint each[2].more"}},
		"message":    {list: []debug.Breakpoint{{Node: "more", Log: "n is {$.twice.n}"}}},
		"of a tool that is not called": {
			list: []debug.Breakpoint{{Node: "other#exit"}}, on: debug.BreakOn{EnterTool: true}, want: []string{"enter entry"},
		},
		"a condition that fails": {list: []debug.Breakpoint{{Node: "exit", When: "$number('x') > 1"}}, want: []string{"breakpoint exit"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := load(t, tools(map[string]string{"t": mapped, "other": straight}), &upstream{})
				s := start(t, e, "t", map[string]any{"list": []int{1, 2, 3}}, debug.Options{Breakpoints: test.list, BreakOn: test.on})
				for _, want := range test.want {
					p := pausedAt(t, s, want)
					if name == "a condition that fails" != strings.Contains(p.Text, "the condition $number('x') > 1 failed: ") {
						t.Errorf("text %q", p.Text)
					}
					must(t, s.Resume())
				}
				if got := result(t, s); got != "[3,5,7]" {
					t.Errorf("the result is %s", got)
				}
			})
		})
	}
}

func TestMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := load(t, tools(map[string]string{"t": mapped}), &upstream{})
		s := start(t, e, "t", map[string]any{"list": []int{1, 2}}, debug.Options{Breakpoints: []debug.Breakpoint{
			{Node: "more", Log: `{{n}} {$.twice.n}, { {"a": "}"}.a & $string($item) }, {$.twice}, {$.twice.none}{$number("x")}`},
		}})
		result(t, s)
		var got []string
		for e := range s.Events(t.Context(), 0) {
			if e.Type == debug.Log {
				got = append(got, e.Path+": "+e.Text)
			}
		}
		if len(got) != 2 || !strings.HasPrefix(got[1], `each[1].more: {n} 4, }2, {"n":4}, undefined(`) || !strings.Contains(got[1], "number") {
			t.Errorf("messages %q", got)
		}
	})
}

func TestBreakpointsThatCannotBe(t *testing.T) {
	e := load(t, tools(map[string]string{"t": mapped, "other": straight}), &upstream{})
	s := start(t, e, "t", map[string]any{"list": []int{}}, debug.Options{StartPaused: true})
	for want, b := range map[string]debug.Breakpoint{
		`breakpoint at "eech": node: unknown node "eech" in tool "t"; did you mean "each"?`:                            {Node: "eech"},
		`breakpoint at "t#each[].mroe": node: unknown node "t#each[].mroe" in tool "t"; did you mean "t#each[].more"?`: {Node: "t#each[].mroe"},
		`breakpoint at "each": hits: expected a number from 1 on, or 0 for each, found -1`:                             {Node: "each", Hits: -1},
		`breakpoint at "more": when, character 3: unknown node "twise" in tool "t"; did you mean "twice"?`:             {Node: "more", When: "$.twise.n"},
		`breakpoint at "more": when, character 9`:                                                                      {Node: "more", When: "$item > )"},
		`breakpoint at "more": when, character 1: `:                                                                    {Node: "more", When: "$cuont($item)"},
		`breakpoint at "each": when, character 1: `:                                                                    {Node: "each", When: "$item = 1"},
		`breakpoint at "more": log, character 11: unknown node "twise"`:                                                {Node: "more", Log: "value: {$.twise}"},
		`breakpoint at "more": log, character 3: a { without its }`:                                                    {Node: "more", Log: "a {$item"},
		`breakpoint at "more": log, character 3: a } without a {`:                                                      {Node: "more", Log: "a }"},
	} {
		err := s.SetBreakpoints(debug.BreakOn{}, debug.Breakpoint{Node: "exit"}, b)
		var at *debug.BreakpointError
		if !errors.As(err, &at) || at.Index != 1 || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%+v:\n%v\nwant\n%s", b, err, want)
		}
	}
	if _, list := s.Breakpoints(); len(list) != 0 {
		t.Errorf("breakpoints that cannot be changed %v", list)
	}
	if err := s.SetBreakpoints(debug.BreakOn{Failure: "all"}); err == nil || !strings.Contains(err.Error(), `"none", "any" or "uncaught"`) {
		t.Errorf("the error is %v", err)
	}
	if err := s.SetBreakpoints(debug.BreakOn{}, make([]debug.Breakpoint, 1001)...); err == nil {
		t.Error("1,001 breakpoints")
	}
}

func TestBreakpointsChangeMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := load(t, tools(map[string]string{"t": mapped}), &upstream{})
		third := debug.Breakpoint{Node: "more", Hits: 3}
		s := start(t, e, "t", map[string]any{"list": []int{1, 2, 3, 4, 5}}, debug.Options{Breakpoints: []debug.Breakpoint{third, {Node: "each"}}})
		pausedAt(t, s, "breakpoint each")
		must(t, s.SetBreakpoints(debug.BreakOn{}, third, debug.Breakpoint{Node: "each[].more", When: "$item = 2"}))
		must(t, s.Resume())
		pausedAt(t, s, "breakpoint each[1].more")
		must(t, s.SetBreakpoints(debug.BreakOn{}, third)) // which has counted two
		must(t, s.Resume())
		pausedAt(t, s, "breakpoint each[2].more")
		must(t, s.SetBreakpoints(debug.BreakOn{}))
		must(t, s.Resume())
		result(t, s)
	})
}

func TestBreakOnFailure(t *testing.T) {
	const nodes = `
- {id: entry, type: entry, next: flaky}
- {id: flaky, type: mcp, server: up, tool: flaky, retry: {maxAttempts: 3, initialDelayMs: 100}, next: safe}
- {id: safe, type: mcp, server: up, tool: fail, catch: {next: each}, next: each}
- id: each
  type: map
  items: [1]
  catch: {errors: [toolError], next: last}
  nodes: [{id: in, type: mcp, server: up, tool: fail}]
  next: last
- {id: last, type: transform, transform: {expr: "1"}, next: exit}
- {id: exit, type: exit}
`
	for name, test := range map[string]struct {
		change func(string) string
		mode   debug.FailureMode
		want   []string
		ends   bool // well
	}{
		"any": {
			mode: debug.BreakOnAny,
			want: []string{"failure flaky", "failure flaky", "failure safe", "failure each[0].in"},
		},
		"uncaught": {mode: debug.BreakOnUncaught, want: []string{"failure each[0].in"}},
		"caught around": {
			change: func(text string) string { return strings.Replace(text, "errors: [toolError], ", "", 1) },
			mode:   debug.BreakOnUncaught, ends: true,
		},
		"tolerated": {
			change: func(text string) string {
				return strings.Replace(text, "items: [1]", "items: [1]\n  tolerateFailures: 1", 1)
			},
			mode: debug.BreakOnUncaught, ends: true,
		},
		"not tolerated": {
			change: func(text string) string {
				return strings.Replace(text, "items: [1]", "items: [1, 2]\n  maxConcurrency: 1\n  tolerateFailures: 1", 1)
			},
			mode: debug.BreakOnUncaught, want: []string{"failure each[1].in"},
		},
		"none": {mode: debug.BreakOnNone},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				text := nodes
				if test.change != nil {
					text = test.change(text)
				}
				e := load(t, tools(map[string]string{"t": text}), &upstream{})
				s := start(t, e, "t", nil, debug.Options{BreakOn: debug.BreakOn{Failure: test.mode}})
				for _, want := range test.want {
					time.Sleep(time.Second)
					p := pausedAt(t, s, want)
					if !strings.Contains(p.Text, "the server is broken") {
						t.Errorf("text %q", p.Text)
					}
					if rec, ok := s.Record(p.Record); !ok || rec.Err == nil || rec.NodePath() != p.Path {
						t.Errorf("the record %d is %+v", p.Record, rec)
					}
					must(t, s.Resume())
				}
				_, err := s.Wait(t.Context())
				if (err == nil) != test.ends {
					t.Errorf("the run ends with %v", err)
				}
				if st := s.State(); st.Status != map[bool]debug.Status{true: debug.StatusDone, false: debug.StatusFailed}[test.ends] {
					t.Errorf("it is %s", st.Status)
				}
				list := events(t, s)
				if slices.Contains(list, "retried flaky") != (strings.Contains(text, "flaky")) || !slices.Contains(list, "caught safe") || !slices.Contains(list, "failed each[0].in") {
					t.Errorf("events %q", list)
				}
			})
		})
	}
}

// TestStepsFromAFailure goes on behind executions that failed.
func TestStepsFromAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := load(t, tools(map[string]string{"t": `
- {id: entry, type: entry, next: each}
- {id: each, type: map, items: [1, 2], maxConcurrency: 1, tolerateFailures: 1, nodes: [{id: in, type: mcp, server: up, tool: flaky}], next: exit}
- {id: exit, type: exit}
`}), &upstream{tries: 1})
		s := start(t, e, "t", nil, debug.Options{BreakOn: debug.BreakOn{Failure: debug.BreakOnAny}})
		pausedAt(t, s, "failure each[0].in")
		if got := s.Here().Document().JSON(); got != `{"entry":{}}` {
			t.Errorf("the document there is %s", got)
		}
		must(t, s.StepInto()) // its walk is over, so that is the next body
		pausedAt(t, s, "step each[1].in")
		must(t, s.Step())
		pausedAt(t, s, "step exit")
		must(t, s.Step())
		result(t, s)
	})
}
