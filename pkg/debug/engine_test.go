package debug_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/debug"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
)

// TestRunIsKnownFromItsStart looks for the run under the id of the session.
func TestRunIsKnownFromItsStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := load(t, tools(map[string]string{"t": straight}), &upstream{})
		s, err := e.Debug(t.Context(), "t", map[string]any{"n": 1}, mcpgraph.WithCallInfo(&callinfo.Info{Caller: "ann"}), mcpgraph.WithDebug(debug.Options{StartPaused: true}))
		must(t, err)
		run, ok := e.Runs().Get("ann", s.ID())
		if !ok || !run.Running || run.Tool != "t" {
			t.Errorf("the run is %+v", run)
		}
		if st := s.State(); st.ID != s.ID() || st.Tool != "t" || st.Caller != "ann" || st.Args.JSON() != `{"n":1}` {
			t.Errorf("the state is %+v", st)
		}
		synctest.Wait()
		must(t, s.Resume())
		result(t, s)
		if run, ok = e.Runs().Get("ann", s.ID()); !ok || run.Running || run.Err != "" {
			t.Errorf("at the end the run is %+v", run)
		}
	})
}

func TestSessionsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := load(t, tools(map[string]string{"t": straight}), &upstream{})
		ctx, leave := context.WithCancel(t.Context())
		var first *debug.Session
		for range mcpgraph.MaxSessions {
			s, err := e.Debug(ctx, "t", map[string]any{"n": 1}, mcpgraph.WithDebug(debug.Options{StartPaused: true}))
			must(t, err)
			if first == nil {
				first = s
			}
		}
		if _, err := e.Debug(ctx, "t", map[string]any{"n": 1}); !errors.Is(err, mcpgraph.ErrTooManySessions) {
			t.Errorf("one more: %v", err)
		}
		must(t, first.Stop())
		<-first.Done()
		if s, err := e.Debug(ctx, "t", map[string]any{"n": 1}); err != nil {
			t.Errorf("after one has ended: %v", err)
		} else {
			result(t, s)
		}
		leave()
		synctest.Wait()
		if s, err := e.Debug(t.Context(), "t", map[string]any{"n": 1}); err != nil {
			t.Errorf("after all have ended: %v", err)
		} else {
			result(t, s)
		}
		// Sessions that do not begin take no place.
		for range 2 * mcpgraph.MaxSessions {
			if _, err := e.Debug(t.Context(), "t", []int{1}); err == nil || errors.Is(err, mcpgraph.ErrTooManySessions) {
				t.Fatalf("arguments that do not fit: %v", err)
			}
		}
	})
}

// TestSessionsEndWithTheEngine closes the Engine of a paused run.
func TestSessionsEndWithTheEngine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := load(t, tools(map[string]string{"t": straight}), &upstream{})
		s, err := e.Debug(t.Context(), "t", map[string]any{"n": 1}, mcpgraph.WithDebug(debug.Options{StartPaused: true}))
		must(t, err)
		synctest.Wait()
		must(t, e.Close())
		if _, err := s.Wait(t.Context()); err == nil || !strings.Contains(err.Error(), "closed") {
			t.Errorf("the error is %v", err)
		}
		if _, err := e.Debug(t.Context(), "t", map[string]any{"n": 1}); err == nil || !strings.Contains(err.Error(), "closed") {
			t.Errorf("a closed engine: %v", err)
		}
	})
}

// TestSessionsDoNotKnowOfEachOther pauses one run of two.
func TestSessionsDoNotKnowOfEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := load(t, tools(map[string]string{"t": straight}), &upstream{})
		paused := start(t, e, "t", map[string]any{"n": 1}, debug.Options{Breakpoints: []debug.Breakpoint{{Node: "two"}}})
		other := start(t, e, "t", map[string]any{"n": 5}, debug.Options{Pins: nil})
		if got := result(t, other); got != "6" {
			t.Errorf("the other one yields %s", got)
		}
		if r, err := e.Call(t.Context(), "t", map[string]any{"n": 7}); err != nil || r.Value.JSON() != "8" {
			t.Errorf("a call without a session: %v", err)
		}
		pausedAt(t, paused, "breakpoint two")
		must(t, paused.Resume())
		result(t, paused)
	})
}

func TestErrorsBeforeARunBegins(t *testing.T) {
	e := load(t, tools(map[string]string{"t": straight}), &upstream{})
	if _, err := e.Debug(t.Context(), "nobody", nil); err == nil || !strings.Contains(err.Error(), "nobody") {
		t.Errorf("an unknown tool: %v", err)
	}
	_, err := e.Debug(t.Context(), "t", []int{1})
	var wrong *graph.SchemaError
	if !errors.As(err, &wrong) {
		t.Errorf("arguments that do not fit: %v", err)
	}
}

// TestManyCommandsAtOnce lets goroutines control, look at and change one run. The race
// detector is the judge.
func TestManyCommandsAtOnce(t *testing.T) {
	u := &upstream{}
	e := load(t, tools(map[string]string{"t": `
- {id: entry, type: entry, next: each}
- {id: each, type: map, items: {expr: "[1..200]"}, maxConcurrency: 10, nodes: [{id: in, type: mcp, server: up, tool: echo, args: {n: {expr: $item}}, next: out}, {id: out, type: transform, transform: {expr: $.in.n}}], next: exit}
- {id: exit, type: exit}
`}), u)
	s, err := e.Debug(t.Context(), "t", nil, mcpgraph.WithDebug(debug.Options{StartPaused: true}))
	must(t, err)
	commands := []func() error{
		s.Pause, s.Resume, s.Step, s.StepInto, s.StepOut, s.Resume, s.Resume,
		func() error { return s.RunTo("out") },
		func() error {
			return s.SetBreakpoints(debug.BreakOn{Failure: debug.BreakOnAny}, debug.Breakpoint{Node: "out", When: "$item % 50 = 0"})
		},
		func() error { return s.SetBreakpoints(debug.BreakOn{}) },
		func() error { return s.SetOutput("entry", parse(t, "1")) },
		func() error { return s.Pin("in", parse(t, `{"n": 1}`)) },
		func() error { return s.Unpin("in") },
		func() error { _, err := s.Eval(t.Context(), s.Here(), "$"); return err },
		func() error { s.State(); return nil },
		func() error {
			for range s.Records(s.State().Records - 3) {
			}
			return nil
		},
	}
	for _, command := range commands {
		go func() {
			for {
				select {
				case <-s.Done():
					return
				case <-time.After(100 * time.Microsecond):
					_ = command() // in whatever state
				}
			}
		}()
	}
	for range s.Events(t.Context(), 0) {
	}
	v, err := s.Wait(t.Context())
	must(t, err)
	if v.Len() != 200 {
		t.Errorf("the result has %d items", v.Len())
	}
	kept, _ := e.Runs().Get("", s.ID())
	if again, err := kept.Replay(); err != nil || again.Result().JSON() != v.JSON() {
		t.Errorf("replayed: %v", err)
	}
}
