package runs_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// executionOf returns an execution of a node in the JSON of the only run.
func executionOf(t *testing.T, store *runs.Store, node string) value.Value {
	t.Helper()
	text, err := store.List("")[0].JSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range parse(t, text).Get("history").Elems() {
		if one.Get("node").Str() == node {
			return one
		}
	}
	t.Fatalf("no execution of %s in %s", node, text)
	return value.Undef
}

// finished returns a run that is over.
func finished(t *testing.T, e *mcpgraph.Engine, args string) (c runs.Entry) {
	t.Helper()
	if _, err := e.Call(context.Background(), "count", parse(t, args), mcpgraph.WithCallHooks(executor.Hooks{
		RunDone: func(_ context.Context, r *executor.Run, _ error) { c.Run = r },
	})); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestKeptRunHasRepliesWithoutSecrets(t *testing.T) {
	store := runs.New(runs.Limits{})
	e := engine(t, runs.New(runs.Limits{Count: runs.None}))
	f := finished(t, e, `{"n":1}`)
	f.Secrets = redacting(strings.NewReplacer(`1`, "[redacted]").Replace)
	add(store, f, nil)
	if got, want := executionOf(t, store, "ask").Get("reply").JSON(), `{"structuredContent":{"n":"[redacted]"}}`; got != want {
		t.Errorf("the reply is %s, want %s", got, want)
	}
	run, err := store.List("")[0].Replay()
	if err != nil {
		t.Fatal(err)
	}
	for _, rec := range run.History() {
		if has := !rec.Reply.IsUndefined(); has != (rec.Node == "ask") {
			t.Errorf("node %s has the reply %s", rec.Node, rec.Reply.JSON())
		}
	}
}

func TestRepliesNeverCostARunItsValues(t *testing.T) {
	e := engine(t, runs.New(runs.Limits{Count: runs.None}))
	f := finished(t, e, `{"n":1,"list":[`+strings.Repeat("1,", 10<<10)+`1]}`)
	for _, c := range []struct {
		bytes       int64
		whole, kept bool
	}{
		{16 << 10, false, false},
		{64 << 10, true, false}, // a reply takes at most a 16th
		{1 << 20, true, true},
	} {
		store := runs.New(runs.Limits{Bytes: c.bytes})
		add(store, f, nil)
		if run := store.List("")[0]; run.Truncated == c.whole {
			t.Fatalf("within %d bytes, truncated is %v", c.bytes, run.Truncated)
		} else if !c.whole {
			continue
		}
		ask := executionOf(t, store, "ask")
		if ask.Has("reply") != c.kept || ask.Has("replyBytes") == c.kept || !ask.Has("output") {
			t.Errorf("within %d bytes: %.300s", c.bytes, ask.JSON())
		}
	}
}

func TestKeptRunHasTheTimesOfAttempts(t *testing.T) {
	e := engine(t, runs.New(runs.Limits{Count: runs.None}))
	f := finished(t, e, `{"n":1}`)
	start := time.Date(2026, 7, 28, 9, 30, 0, 0, time.UTC)
	replayed, err := executor.Replay(f.Run.Graph(), f.Run.Args(), 1, func(yield func(executor.Record) bool) {
		for rec := range f.Run.Records(0) {
			if rec.Node == "ask" {
				rec.AttemptTimes = []graph.Attempt{
					{Start: start, End: start.Add(time.Second), Err: errors.New("hunter2 is busy")},
					{Start: start.Add(2 * time.Second), End: start.Add(5 * time.Second)},
				}
			}
			if !yield(rec) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	f.Run, f.Secrets = replayed, redacting(strings.NewReplacer("hunter2", "[redacted]").Replace)
	store := runs.New(runs.Limits{})
	add(store, f, nil)
	want := `[{"start":"2026-07-28T09:30:00Z","durationMs":1000,"error":"[redacted] is busy"},{"start":"2026-07-28T09:30:02Z","durationMs":3000}]`
	if got := executionOf(t, store, "ask").Get("attemptTimes").JSON(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
