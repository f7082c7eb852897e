package durable

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// asking calls a server that reports progress, then asks a person twice.
const asking = `      - {id: a, type: mcp, server: up, tool: do, args: {n: 1}, next: b}
      - {id: b, type: ask, message: "First?", schema: {type: object, properties: {x: {type: string}}}, next: c}
      - {id: c, type: wait, ms: 200, next: d}
      - {id: d, type: ask, message: "Second?", schema: {type: object, properties: {x: {type: string}}}, next: exit}`

// described waits until a run is as it should be.
func described(t *testing.T, c *Client, id string, fits func(*runs.State) bool) *runs.State {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		d, err := c.Look(t.Context(), runs.Who{Operator: true}, id, runs.Whole)
		if err == nil && fits(d) {
			return d
		}
		if time.Now().After(end) {
			t.Fatalf("the run is %+v, %v", d, err)
		}
	}
}

// listed waits until the newest runs have one that waits, or does not.
func listed(t *testing.T, c *Client, id string, waiting bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		for s, err := range c.List(t.Context(), runs.Who{Operator: true}, runs.Filter{Running: true, Limit: 1000}) {
			if err != nil {
				t.Fatal(err)
			}
			if s.ID == id && (s.Status == runs.Waiting) == waiting {
				return
			}
		}
		if time.Now().After(end) {
			t.Fatalf("no list has the run with waiting %t", waiting)
		}
	}
}

func TestOnAServerARunIsDescribedWhileItGoesOn(t *testing.T) {
	t.Parallel()
	c := dialed(t, func(o *Options) { o.Lazy, o.Key = true, []byte("a key of 24 bytes, say!!") })
	source := unique(newSource(t, oneTool(asking)))
	release := make(chan struct{})
	source.call = func(ctx context.Context, info *callinfo.Info, _, _ string, _ value.Value) (graph.ToolResult, error) {
		params, _ := value.Parse(`{"progress":3,"total":4,"message":"nearly"}`)
		info.Listener.Notify(callinfo.Notification{Method: callinfo.MethodProgress, Params: params})
		select {
		case <-release:
		case <-ctx.Done():
		}
		return text("done"), nil
	}
	working(t, c, source)
	id := started(t, c, source, `{"n":5}`, nil)
	d := described(t, c, id, func(d *runs.State) bool {
		return len(d.Calls) == 1 && len(d.Active) == 1 && !d.Calls[0].Progress.IsUndefined() && d.Calls[0].Worker != ""
	})
	if a := d.Active[0]; a.Path != "a" || a.Execution != 1 || a.Try != 1 || a.Server != "up" || d.Calls[0].ID != ":1#1" || d.Status == runs.Waiting {
		t.Errorf("the run is %+v", d)
	}
	args, seed, err := c.requestOf(t.Context(), id)
	if err != nil || args.JSON() != `{"n":5}` || seed != 7 {
		t.Errorf("the request is %s, %d, %v", args.JSON(), seed, err)
	}
	close(release)
	for _, question := range []string{"First?", "Second?"} {
		d = described(t, c, id, func(d *runs.State) bool { return d.Status == runs.Waiting })
		if len(d.Questions) != 1 || messageIn(d.Questions[0]) != question {
			t.Fatalf("it asks %+v", d.Questions)
		}
		listed(t, c, id, true)
		answer, _ := value.Parse(`{"action":"accept","content":{"x":"y"}}`)
		if err := c.answer(t.Context(), id, d.Questions[0].ID, answer, nil); err != nil {
			t.Fatal(err)
		}
		if question == "First?" {
			listed(t, c, id, false)
		}
	}
	if out, err := c.resultOf(t.Context(), id); err != nil || out.Err() != nil {
		t.Errorf("it ended with %+v, %v", out, err)
	}
	replayed(t, c, source, historyOf(t, c, id))
	if _, _, err := c.requestOf(t.Context(), "no-such-run"); !errors.Is(err, runs.ErrNotFound) {
		t.Errorf("a run that is not there: %v", err)
	}
}

func messageIn(q runs.Question) string { return q.Params.Get("message").Str() }

func TestOnAServerRunsAreListedInPages(t *testing.T) {
	t.Parallel()
	c := dialed(t, nil)
	source := unique(newSource(t, oneTool(oneCall)))
	for range 3 {
		id := started(t, c, source, `{}`, nil) // no worker has it
		t.Cleanup(func() { _ = c.temporal.TerminateWorkflow(context.Background(), id, "", "the test is over") })
	}
	seen, before := map[string]bool{}, ""
	for more := true; more; {
		more = false
		for s, err := range c.List(t.Context(), runs.Who{Operator: true}, runs.Filter{Running: true, Limit: 2, Before: before}) {
			if err != nil {
				t.Fatal(err)
			}
			if seen[s.ID] {
				t.Errorf("%s is listed twice", s.ID)
			}
			seen[s.ID], before = true, s.ID
			if more = len(seen)%2 == 0; more { // the next ones come behind it
				break
			}
		}
	}
	if len(seen) < 3 {
		t.Errorf("%d runs are listed", len(seen))
	}
	for _, err := range c.List(t.Context(), runs.Who{Operator: true}, runs.Filter{Before: "no-such-run"}) {
		if !errors.Is(err, runs.ErrNotFound) {
			t.Errorf("behind a run that is not there: %v", err)
		}
	}
}
