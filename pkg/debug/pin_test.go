package debug_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/debug"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func parse(t *testing.T, text string) value.Value {
	t.Helper()
	v, err := value.Parse(text)
	must(t, err)
	return v
}

// everyKind has nodes of all kinds whose pins differ.
const everyKind = `
- {id: entry, type: entry, next: way}
- {id: way, type: switch, conditions: [{rule: {"==": [{var: $.entry.n}, 1]}, next: call}], next: broken}
- {id: broken, type: fail, error: broken, message: Broken}
- {id: call, type: mcp, server: up, tool: fail, next: each}
- {id: each, type: map, items: [1, 2], maxConcurrency: 1, nodes: [{id: in, type: mcp, server: up, tool: fail}], next: sure}
- {id: sure, type: ask, message: Sure?, declined: broken, next: exit}
- {id: exit, type: exit}
`

func TestPinnedNodesAreNotExecuted(t *testing.T) {
	for name, test := range map[string]struct {
		pins map[string]string
		want string
	}{
		"nodes":     {map[string]string{"way": `"call"`, "call": `{"a": 1}`, "in": `"x"`, "sure": `{"ok": true}`}, `{"ok":true}`},
		"all of it": {map[string]string{"way": `"call"`, "t#call": `null`, "each": `[1]`, "sure": `7`, "exit": `"pinned"`}, `"pinned"`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u := &upstream{}
				e := load(t, tools(map[string]string{"t": everyKind}), u)
				pins := map[string]value.Value{}
				for node, text := range test.pins {
					pins[node] = parse(t, text)
				}
				s := start(t, e, "t", map[string]any{"n": 2}, debug.Options{Pins: pins})
				if got := result(t, s); got != test.want {
					t.Errorf("the result is %s", got)
				}
				if calls := u.called(); len(calls) != 0 {
					t.Errorf("called %v", calls)
				}
				if list := events(t, s); !slices.Contains(list, "pinned call") || slices.Contains(list, "ask sure") {
					t.Errorf("events %v", list)
				}
				replayed(t, e, s)
			})
		})
	}
}

// replayed checks that the kept run of a session is that run.
func replayed(t *testing.T, e *mcpgraph.Engine, s *debug.Session) {
	t.Helper()
	kept, ok := e.Runs().Get("", s.ID())
	if !ok {
		t.Fatal("the run is not kept")
	}
	again, err := kept.Replay()
	must(t, err)
	if got, want := again.Result().JSON(), s.Run().Result().JSON(); got != want {
		t.Errorf("replayed, the result is %s", got)
	}
	want := slices.Collect(s.Records(0))
	for rec := range again.Records(0) {
		w := want[0]
		want = want[1:]
		if rec.Pinned != w.Pinned || rec.Event != w.Event || rec.NodePath() != w.NodePath() || rec.Key != w.Key || rec.Output.JSON() != w.Output.JSON() {
			t.Errorf("replayed, record %d is %+v, want %+v", rec.Index, rec, w)
		}
	}
	if len(want) > 0 {
		t.Errorf("replayed, %d records are missing", len(want))
	}
}

const same = `
- {id: entry, type: entry, next: same}
- {id: same, type: transform, transform: {expr: "1"}, next: exit}
- {id: exit, type: exit}
`

func TestPinsThatCannotBe(t *testing.T) {
	u := &upstream{}
	e := load(t, tools(map[string]string{"t": everyKind, "twin": same, "other": same}), u)
	s := start(t, e, "t", map[string]any{"n": 1}, debug.Options{StartPaused: true})
	for node, test := range map[string][2]string{
		"entry":  {`{}`, "an entry yields the arguments"},
		"broken": {`{}`, "a fail node yields nothing"},
		"way":    {`"each"`, `expected "broken" or "call", found the string "each"`},
		"cal":    {`1`, `unknown node "cal" in tool "t"; did you mean "call"?`},
		"same":   {`1`, `"same" is the id of several nodes: name one of "other#same" or "twin#same"`},
	} {
		if err := s.Pin(node, parse(t, test[0])); err == nil || !strings.Contains(err.Error(), test[1]) {
			t.Errorf("%s: %v, want %s", node, err, test[1])
		}
	}
	if err := s.Pin("call", value.Undef); err == nil || !strings.Contains(err.Error(), "undefined") {
		t.Errorf("undefined: %v", err)
	}
	for what, v := range map[string]value.Value{"a function": value.FromFunc(1), "the number NaN": value.FromFloat(math.NaN()), "undefined": value.Undef} {
		v = value.FromArray([]value.Value{value.FromEntries([]value.Entry{{Key: "a", Value: v}})})
		if err := s.Pin("call", v); err == nil || !strings.Contains(err.Error(), "the value is not JSON: it has "+what) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := s.Pin("call", value.FromString(strings.Repeat("x", debug.MaxPinned+1))); err == nil || !strings.Contains(err.Error(), "16 MiB") {
		t.Errorf("too large: %v", err)
	}
	if err := s.Unpin("sure"); err == nil || !strings.Contains(err.Error(), "not pinned") {
		t.Errorf("unpinned: %v", err)
	}
	if _, err := e.Debug(t.Context(), "t", nil, mcpgraph.WithDebug(debug.Options{Pins: map[string]value.Value{"nobody": value.NullValue}})); err == nil {
		t.Error("a session began with a pin of nobody")
	}
}

func TestUnpinnedNodesAreExecuted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := &upstream{}
		e := load(t, tools(map[string]string{"t": straight}), u)
		s := start(t, e, "t", map[string]any{"n": 1}, debug.Options{StartPaused: true, Pins: map[string]value.Value{"one": parse(t, `{"n": 10}`)}})
		pausedAt(t, s, "start entry")
		if st := s.State(); !slices.Equal(st.Pins, []string{"t#one"}) || s.Pins()["t#one"].JSON() != `{"n":10}` {
			t.Errorf("pinned are %v", st.Pins)
		}
		must(t, s.Unpin("one"))
		must(t, s.Pin("two", parse(t, `5`)))
		must(t, s.Pin("two", parse(t, `6`)))
		must(t, s.Resume())
		if got := result(t, s); got != "6" || len(u.called()) != 1 {
			t.Errorf("the result is %s, calls %v", got, u.called())
		}
		if err := s.Pin("two", parse(t, `7`)); err == nil || !strings.Contains(err.Error(), "the run is done") {
			t.Errorf("at the end: %v", err)
		}
	})
}

func TestSetOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := load(t, tools(map[string]string{"t": mapped}), &upstream{})
		s := start(t, e, "t", map[string]any{"list": []int{1, 2, 3}}, debug.Options{Breakpoints: []debug.Breakpoint{{Node: "more", Hits: 2}}})
		pausedAt(t, s, "breakpoint each[1].more")
		must(t, s.SetOutput("twice", parse(t, `{"n": 100}`)))
		must(t, s.SetOutput("entry", parse(t, `{"list": "gone"}`)))
		if got := s.Document(s.Here()).JSON(); got != `{"twice":{"n":100},"entry":{"list":"gone"}}` {
			t.Errorf("the document is %s", got)
		}
		rec, ok := s.Record(s.State().Records - 1)
		if !ok || rec.Event != executor.Replaced || rec.Node != "entry" {
			t.Errorf("the last record is %+v", rec)
		}
		for node, want := range map[string]string{
			"more":   "no execution of it has yielded anything",
			"exit":   "no execution of it has yielded anything",
			"each":   "no execution of it has yielded anything",
			"nobody": `unknown node "nobody"`,
		} {
			if err := s.SetOutput(node, value.NullValue); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s", node, err, want)
			}
		}
		if err := s.SetOutput("twice", value.Undef); err == nil || !strings.Contains(err.Error(), "undefined") {
			t.Errorf("undefined: %v", err)
		}
		must(t, s.Resume())
		if got := result(t, s); got != "[3,101,7]" {
			t.Errorf("the result is %s", got)
		}
		replayed(t, e, s)
		if err := s.SetOutput("entry", value.NullValue); err == nil || !strings.Contains(err.Error(), "the run is done") {
			t.Errorf("at the end: %v", err)
		}
		if list := events(t, s); !slices.Contains(list, "replaced each[1].twice") || !slices.Contains(list, "replaced entry") {
			t.Errorf("events %v", list)
		}
	})
}

// TestSetOutputAtAFailure sets what the failing node has read, and one of a walk that
// ends, which is refused.
func TestSetOutputAtAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := load(t, tools(map[string]string{"t": `
- {id: entry, type: entry, next: safe}
- {id: safe, type: mcp, server: up, tool: fail, catch: {next: each}, next: each}
- id: each
  type: map
  items: [1]
  catch: {next: last}
  nodes: [{id: first, type: transform, transform: {expr: "1"}, next: in}, {id: in, type: mcp, server: up, tool: fail}]
  next: last
- {id: last, type: transform, transform: {expr: $.entry.n}, next: exit}
- {id: exit, type: exit}
`}), &upstream{})
		s := start(t, e, "t", map[string]any{"n": 1}, debug.Options{BreakOn: debug.BreakOn{Failure: debug.BreakOnAny}})
		pausedAt(t, s, "failure safe")
		must(t, s.SetOutput("entry", parse(t, `{"n": 2}`)))
		must(t, s.Resume())
		pausedAt(t, s, "failure each[0].in")
		if err := s.SetOutput("first", value.NullValue); err == nil || !strings.Contains(err.Error(), "its walk is over") {
			t.Errorf("of a walk that ends: %v", err)
		}
		must(t, s.SetOutput("entry", parse(t, `{"n": 3}`)))
		must(t, s.Resume())
		if got := result(t, s); got != "3" {
			t.Errorf("the result is %s", got)
		}
		replayed(t, e, s)
	})
}
