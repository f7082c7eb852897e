package debug_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/debug"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// failing calls three tools, the last of which fails.
const failing = `
- {id: entry, type: entry, next: one}
- {id: one, type: mcp, server: up, tool: echo, args: {n: {expr: $.entry.n}}, next: two}
- {id: two, type: mcp, server: up, tool: other, args: {n: {expr: $.one.n + 1}}, next: three}
- {id: three, type: mcp, server: up, tool: flaky, args: {n: {expr: $.two.n + 1}, day: {expr: "$millis()"}}, next: exit}
- {id: exit, type: exit}
`

// recordOf returns the index of the first record of a node.
func recordOf(t *testing.T, r *executor.Run, node string) int {
	t.Helper()
	for rec := range r.Records(0) {
		if rec.Node == node {
			return rec.Index
		}
	}
	t.Fatalf("no record of %s", node)
	return 0
}

// TestGoingOnFromAFailure makes a run again from the node that failed: upstream is only
// called from there on, and the original stays.
func TestGoingOnFromAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := &upstream{tries: -2}
		e := load(t, tools(map[string]string{"t": failing}), u)
		s := start(t, e, "t", map[string]any{"n": 1}, debug.Options{})
		if _, err := s.Wait(t.Context()); err == nil {
			t.Fatal("the run did not fail")
		}
		kept, _ := e.Runs().Get("", s.ID())
		was, err := kept.Replay()
		must(t, err)
		before := slices.Collect(was.Records(0))
		time.Sleep(24 * time.Hour)
		u.calls = nil
		u.tries = 10
		again := start(t, e, "t", nil, debug.Options{StartPaused: true, From: &debug.From{Run: was, Before: recordOf(t, was, "three")}})
		p := pausedAt(t, again, "start three")
		if got := again.Here().Document().JSON(); got != `{"two":{"n":2},"one":{"n":1},"entry":{"n":1}}` || p.Record != 2 {
			t.Errorf("it begins behind record %d with %s", p.Record, got)
		}
		must(t, again.Resume())
		v, err := again.Wait(t.Context())
		must(t, err)
		if calls := u.called(); len(calls) != 1 || !strings.HasPrefix(calls[0], `flaky{"n":3,`) {
			t.Errorf("called %v", calls)
		}
		if day := v.Get("day").Float(); day != float64(time.Now().UnixMilli()) {
			t.Errorf("it is %v for expressions", time.UnixMilli(int64(day)))
		}
		for rec := range again.Records(0) {
			if took := rec.End.Sub(rec.Start); took > time.Second || time.Since(rec.End) > time.Second {
				t.Errorf("%s took %s and ended %s ago", rec.Node, took, time.Since(rec.End))
			}
		}
		if again.ID() == s.ID() {
			t.Error("both runs have one id")
		}
		after := slices.Collect(was.Records(0))
		if len(after) != len(before) || !after[0].End.Equal(before[0].End) || was.Err() == nil {
			t.Error("the original has changed")
		}
		replayed(t, e, again)
	})
}

func TestGoingOnWithOtherValues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := &upstream{tries: 10}
		e := load(t, tools(map[string]string{"t": failing, "m": mapped}), u)
		s := start(t, e, "t", map[string]any{"n": 1}, debug.Options{})
		result(t, s)
		u.calls = nil
		fork := start(t, e, "t", nil, debug.Options{
			From: &debug.From{Run: s.Run(), Before: recordOf(t, s.Run(), "two"), Set: map[string]value.Value{"one": parse(t, `{"n": 10}`)}},
			Pins: map[string]value.Value{"three": parse(t, `"pinned"`)},
		})
		if got := result(t, fork); got != `"pinned"` {
			t.Errorf("the result is %s", got)
		}
		if calls := u.called(); !slices.Equal(calls, []string{`other{"n":11}`}) {
			t.Errorf("called %v", calls)
		}
		if list := events(t, fork); !strings.HasPrefix(list[0], "started") {
			t.Errorf("the first event is %s", list[0])
		}
		replayed(t, e, fork)

		m := start(t, e, "m", map[string]any{"list": []int{1, 2, 3}}, debug.Options{Breakpoints: []debug.Breakpoint{{Node: "more", Hits: 2}}})
		pausedAt(t, m, "breakpoint each[1].more")
		// A run that is paused can be forked, too: in the middle of a map.
		inside := start(t, e, "m", nil, debug.Options{
			StartPaused: true,
			From:        &debug.From{Run: m.Run(), Before: m.State().Records, Set: map[string]value.Value{"twice": parse(t, `{"n": 50}`)}},
		})
		pausedAt(t, inside, "start each[1].more")
		must(t, inside.Resume())
		if got := result(t, inside); got != "[3,51,7]" {
			t.Errorf("the result is %s", got)
		}
		must(t, m.Resume())
		if got := result(t, m); got != "[3,5,7]" {
			t.Errorf("the result of the original is %s", got)
		}
	})
}

func TestPlacesThatNoRunCanGoOnFrom(t *testing.T) {
	e := load(t, tools(map[string]string{"t": straight, "other": mapped}), &upstream{})
	changed := load(t, tools(map[string]string{"t": strings.Replace(straight, "two", "due", -1)}), &upstream{})
	s := start(t, e, "t", map[string]any{"n": 1}, debug.Options{})
	result(t, s)
	for want, try := range map[string]struct {
		engine *mcpgraph.Engine
		tool   string
		args   any
		from   debug.From
	}{
		"leave them out": {e, "t", map[string]any{"n": 2}, debug.From{Run: s.Run()}},
		`the run is one of tool "t", not of "other"`:    {e, "other", nil, debug.From{Run: s.Run()}},
		"records 0 to 3; there is no place before":      {e, "t", nil, debug.From{Run: s.Run(), Before: 5}},
		"no place before record -1":                     {e, "t", nil, debug.From{Run: s.Run(), Before: -1}},
		"the run is over before record 4":               {e, "t", nil, debug.From{Run: s.Run(), Before: 4}},
		"there is no run":                               {e, "t", nil, debug.From{}},
		`record 2: it is of node "two"`:                 {changed, "t", nil, debug.From{Run: s.Run(), Before: 3}},
		"no execution before the place":                 {e, "t", nil, debug.From{Run: s.Run(), Before: 2, Set: map[string]value.Value{"two": value.NullValue}}},
		`unknown node "nobody" in tool "t"; expected "`: {e, "t", nil, debug.From{Run: s.Run(), Set: map[string]value.Value{"nobody": value.NullValue}}},
		`the value is undefined`:                        {e, "t", nil, debug.From{Run: s.Run(), Before: 2, Set: map[string]value.Value{"one": value.Undef}}},
	} {
		_, err := try.engine.Debug(t.Context(), try.tool, try.args, mcpgraph.WithDebug(debug.Options{From: &try.from}))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	// A changed file is fine where the records fit it.
	again := start(t, changed, "t", nil, debug.Options{From: &debug.From{Run: s.Run(), Before: 2}})
	if got := result(t, again); got != "2" {
		t.Errorf("the result is %s", got)
	}
}
