package debug_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/debug"
)

// nested has a map, branches and a called tool.
var nested = map[string]string{
	"t": `
- {id: entry, type: entry, next: each}
- id: each
  type: map
  items: {expr: $.entry.list}
  maxConcurrency: 1
  nodes:
    - {id: twice, type: transform, transform: {expr: $item * 2}, next: more}
    - {id: more, type: transform, transform: {expr: $.twice + 1}}
  next: both
- id: both
  type: parallel
  branches:
    left: [{id: l, type: mcp, server: up, tool: slow}]
    right: [{id: r, type: transform, transform: {expr: "1"}, next: r2}, {id: r2, type: transform, transform: {expr: "2"}}]
  next: sub
- {id: sub, type: call, tool: inner, args: {n: 1}, next: exit}
- {id: exit, type: exit}
`,
	"inner": `
- {id: entry, type: entry, next: work}
- {id: work, type: transform, transform: {expr: $.entry.n + 1}, next: exit}
- {id: exit, type: exit}
`,
}

// TestWaysThroughBodies walks with commands, and looks where each pauses.
func TestWaysThroughBodies(t *testing.T) {
	type move struct {
		command func(*debug.Session) error
		want    string // empty: the run ends
	}
	step, into, out := (*debug.Session).Step, (*debug.Session).StepInto, (*debug.Session).StepOut
	to := func(node string) func(*debug.Session) error {
		return func(s *debug.Session) error { return s.RunTo(node) }
	}
	for name, moves := range map[string][]move{
		"over everything": {{step, "step each"}, {step, "step both"}, {step, "step sub"}, {step, "step exit"}, {step, ""}},
		"into a map": {
			{step, "step each"}, {into, "step each[0].twice"}, {step, "step each[0].more"}, {step, "step both"},
		},
		"through all of a map": {
			{step, "step each"}, {into, "step each[0].twice"}, {into, "step each[0].more"}, {into, "step each[1].twice"},
			{into, "step each[1].more"}, {into, "step both"},
		},
		"out of a map":         {{step, "step each"}, {into, "step each[0].twice"}, {out, "step both"}},
		"into a tool":          {{to("sub"), "step sub"}, {into, "step sub>entry"}, {step, "step sub>work"}, {out, "step exit"}, {into, ""}},
		"at the end of a tool": {{to("inner#exit"), "step sub>exit"}, {step, "step exit"}},
		"to a node of a body":  {{to("each[].more"), "step each[0].more"}, {to("more"), "step each[1].more"}, {to("t#both.right.r2"), "step both.right.r2"}},
		"to nowhere":           {{to("inner#work"), "step sub>work"}, {to("twice"), ""}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := load(t, tools(nested), &upstream{})
				s := start(t, e, "t", map[string]any{"list": []int{1, 2}}, debug.Options{StartPaused: true})
				pausedAt(t, s, "start entry")
				for _, m := range moves {
					must(t, m.command(s))
					time.Sleep(2 * time.Hour)
					if m.want == "" {
						if got := result(t, s); got != "2" {
							t.Errorf("the result is %s", got)
						}
						return
					}
					pausedAt(t, s, m.want)
				}
			})
		})
	}
}

func TestCommandsInAWrongState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := load(t, tools(nested), &upstream{})
		s := start(t, e, "t", map[string]any{"list": []int{1}}, debug.Options{})
		synctest.Wait()
		check := func(what string, err error, want string) {
			t.Helper()
			var wrong *debug.StateError
			if !errors.As(err, &wrong) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", what, err, want)
			}
		}
		check("step", s.Step(), `cannot step: the run is running; what can be done now is "breakpoints", "pause", "pin" or "stop"`)
		check("resume", s.Resume(), "cannot resume: the run is running")
		must(t, s.Pause())
		check("pause twice", s.Pause(), "cannot pause: the run is running")
		must(t, s.Resume()) // takes it back
		must(t, s.Pause())
		if st := s.State(); !st.Pausing || st.Status != debug.StatusRunning || !slices.Contains(st.Can, debug.CanResume) {
			t.Errorf("while it pauses: %+v", st)
		}
		time.Sleep(2 * time.Hour)
		pausedAt(t, s, "pause both") // which goes on with what its branches yielded
		check("pause", s.Pause(), "cannot pause: the run is paused")
		must(t, s.Step())
		pausedAt(t, s, "step sub")
		if err := s.StepOut(); err == nil || !strings.Contains(err.Error(), "nothing is around it") {
			t.Errorf("out of the tool: %v", err)
		}
		if st := s.State(); slices.Contains(st.Can, debug.CanStepOut) || !slices.Contains(st.Can, debug.CanSetOutput) {
			t.Errorf("can %v", st.Can)
		}
		must(t, s.Resume())
		result(t, s)
		check("stop", s.Stop(), "cannot stop: the run is done")
		check("resume", s.Resume(), "cannot resume: the run is done")
		if st := s.State(); st.Can != nil {
			t.Errorf("at the end one can %v", st.Can)
		}
	})
}

// TestPauseStopsAllBranches pauses while a branch calls a slow tool: the other branches
// stop at their next task, and so does that one.
func TestPauseStopsAllBranches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := load(t, tools(map[string]string{"t": `
- {id: entry, type: entry, next: both}
- id: both
  type: parallel
  branches:
    left: [{id: l, type: mcp, server: up, tool: slow, args: {n: 1}, next: l2}, {id: l2, type: transform, transform: {expr: "1"}}]
    right: [{id: r, type: mcp, server: up, tool: slower, args: {n: 2}, next: r2}, {id: r2, type: transform, transform: {expr: "2"}}]
  next: exit
- {id: exit, type: exit}
`}), &upstream{})
		s := start(t, e, "t", nil, debug.Options{Breakpoints: []debug.Breakpoint{{Node: "l2"}}})
		time.Sleep(90 * time.Minute)
		pausedAt(t, s, "breakpoint both.left.l2")
		var done []string
		for rec := range s.Records(0) {
			done = append(done, rec.NodePath()+" "+rec.Event.String())
		}
		want := []string{"entry done", "both opened", "both.left.l done", "both.right.r done"}
		if slices.Sort(done); !slices.Equal(done, slices.Sorted(slices.Values(want))) {
			t.Errorf("records %v", done)
		}
		must(t, s.Resume())
		if got := result(t, s); got != `{"left":1,"right":2}` {
			t.Errorf("the result is %s", got)
		}
	})
}

// TestPauseOfARunThatWaits pauses at once, also for hours of sleep, and stops the time.
func TestPauseOfARunThatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := load(t, tools(map[string]string{"t": `
- {id: entry, type: entry, next: rest}
- {id: rest, type: wait, ms: 3600000, next: exit}
- {id: exit, type: exit}
`}), &upstream{})
		s := start(t, e, "t", nil, debug.Options{})
		time.Sleep(30 * time.Minute)
		must(t, s.Pause())
		pausedAt(t, s, "pause rest")
		time.Sleep(24 * time.Hour)
		if st := s.State(); st.Status != debug.StatusPaused {
			t.Fatalf("the run is %s", st.Status)
		}
		resumed := time.Now()
		must(t, s.Resume())
		result(t, s)
		if took := time.Since(resumed); took != 30*time.Minute {
			t.Errorf("slept %s after the pause", took)
		}
	})
}

// TestPausedTimeDoesNotCount has limits that are shorter than the pauses.
func TestPausedTimeDoesNotCount(t *testing.T) {
	text := strings.Replace(tools(map[string]string{"t": `
- {id: entry, type: entry, next: all}
- id: all
  type: map
  items: [1]
  timeoutMs: 1000
  nodes:
    - {id: one, type: transform, transform: {expr: "1"}, timeoutMs: 1000, next: two}
    - {id: two, type: wait, ms: 500}
  next: exit
- {id: exit, type: exit}
`}), "86400000", "2000", 1)
	synctest.Test(t, func(t *testing.T) {
		e := load(t, text, &upstream{})
		s := start(t, e, "t", nil, debug.Options{StartPaused: true})
		for _, want := range []string{"start entry", "step all", "step all[0].one", "step all[0].two", "step exit"} {
			pausedAt(t, s, want)
			time.Sleep(time.Hour)
			must(t, s.StepInto())
			time.Sleep(600 * time.Millisecond)
		}
		result(t, s)
		for rec := range s.Records(0) {
			if took := rec.End.Sub(rec.Start); took > 501*time.Millisecond {
				t.Errorf("%s took %s", rec.NodePath(), took)
			}
		}
	})
	synctest.Test(t, func(t *testing.T) { // and without pauses they do count
		e := load(t, strings.Replace(text, "ms: 500", "ms: 1500", 1), &upstream{})
		s := start(t, e, "t", nil, debug.Options{StartPaused: true})
		pausedAt(t, s, "start entry")
		must(t, s.Resume())
		if _, err := s.Wait(t.Context()); err == nil || !strings.Contains(err.Error(), "not done after 1000 ms") {
			t.Errorf("the error is %v", err)
		}
	})
}

// TestStop stops runs in the middle of things: what is under way is cancelled, and no
// goroutine is left, or the bubble of the test would not end.
func TestStop(t *testing.T) {
	items := make([]int, 500)
	for name, nodes := range map[string]string{
		"a slow call": `
- {id: entry, type: entry, next: call}
- {id: call, type: mcp, server: up, tool: slow, next: exit}
- {id: exit, type: exit}
`,
		"a delay": `
- {id: entry, type: entry, next: call}
- {id: call, type: mcp, server: up, tool: fail, retry: {maxAttempts: 3, initialDelayMs: 60000, maxDelayMs: 60000}, next: exit}
- {id: exit, type: exit}
`,
		"a map": `
- {id: entry, type: entry, next: each}
- {id: each, type: map, items: {expr: $.entry.list}, maxConcurrency: 50, nodes: [{id: call, type: mcp, server: up, tool: slow}], next: exit}
- {id: exit, type: exit}
`,
		"a question": `
- {id: entry, type: entry, next: sure}
- {id: sure, type: ask, message: Sure?, next: exit}
- {id: exit, type: exit}
`,
	} {
		for how, stop := range map[string]func(*testing.T, *debug.Session, context.CancelFunc){
			"stopped": func(t *testing.T, s *debug.Session, _ context.CancelFunc) { must(t, s.Stop()) },
			"paused and stopped": func(t *testing.T, s *debug.Session, _ context.CancelFunc) {
				must(t, s.Pause())
				time.Sleep(time.Second)
				must(t, s.Stop())
			},
			"left": func(_ *testing.T, _ *debug.Session, leave context.CancelFunc) { leave() },
		} {
			t.Run(name+" "+how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					u := &upstream{}
					e := load(t, tools(map[string]string{"t": nodes}), u)
					ctx, leave := context.WithCancel(t.Context())
					defer leave()
					s, err := e.Debug(ctx, "t", map[string]any{"list": items})
					must(t, err)
					time.Sleep(time.Minute)
					before := time.Now()
					stop(t, s, leave)
					if _, err := s.Wait(t.Context()); err == nil {
						t.Error("the run ended well")
					}
					if took := time.Since(before); took > 4*time.Second {
						t.Errorf("it took %s", took)
					}
					st := s.State()
					if st.Status != debug.StatusStopped || st.Err == nil || len(st.Can) > 0 {
						t.Errorf("it is %s: %v", st.Status, st.Err)
					}
					if calls, ended := len(u.called()), len(u.ended); strings.Contains(nodes, "slow") && calls != ended {
						t.Errorf("%d of %d calls were cancelled", ended, calls)
					}
					if list := events(t, s); list[len(list)-1] != "ended" {
						t.Errorf("the last event is %s", list[len(list)-1])
					}
				})
			})
		}
	}
}

// TestStopWhilePaused stops a run that holds tasks at breakpoints.
func TestStopWhilePaused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := load(t, tools(nested), &upstream{})
		s := start(t, e, "t", map[string]any{"list": []int{1}}, debug.Options{StartPaused: true})
		pausedAt(t, s, "start entry")
		must(t, s.Stop())
		if _, err := s.Wait(t.Context()); err == nil || !strings.Contains(err.Error(), "stopped by the debugger") {
			t.Errorf("the error is %v", err)
		}
	})
}
