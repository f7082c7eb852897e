package executor_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// layered is a world whose calls may take several attempts.
type layered struct {
	world
	call func() (graph.ToolResult, error)
}

func (l layered) CallTool(context.Context, *callinfo.Info, string, string, value.Value) (graph.ToolResult, error) {
	return l.call()
}

// times shows attempts: the seconds from start at which each began and ended, and why
// it failed.
func times(start time.Time, list []graph.Attempt) string {
	var out []string
	for _, one := range list {
		text := one.Start.Sub(start).String() + "-" + one.End.Sub(start).String()
		if one.Err != nil {
			text += " " + one.Err.Error()
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

func TestRecordsHaveTheTimesOfAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := calling(t, "retry: {maxAttempts: 3, initialDelayMs: 1000, backoff: 1, jitter: false}")
		start, calls := time.Now(), 0
		reply := value.FromEntries([]value.Entry{{Key: "structuredContent", Value: value.FromEntries(nil)}})
		port := layered{call: func() (graph.ToolResult, error) {
			began := time.Now()
			time.Sleep(2 * time.Second)
			switch calls++; calls {
			case 1: // the server's entry has it tried twice
				middle := began.Add(time.Second)
				return graph.ToolResult{Attempts: 2, AttemptTimes: []graph.Attempt{
					{Start: began, End: middle, Err: errors.New("busy")}, {Start: middle, End: time.Now(), Err: errors.New("still busy")},
				}}, askedToWait{}
			case 2:
				return graph.ToolResult{Attempts: 1}, askedToWait{}
			}
			return graph.ToolResult{Attempts: 1, Reply: reply}, nil
		}}
		r := newRun(g)
		if err := (&executor.Local{}).Run(context.Background(), r, port); err != nil {
			t.Fatal(err)
		}
		const first, second, third = "0s-1s busy, 1s-2s still busy", "3s-5s too many requests", "6s-8s"
		want := []string{"", first, second, first + ", " + second + ", " + third, ""}
		check := func(r *executor.Run) {
			t.Helper()
			var got []string
			for rec := range r.Records(0) {
				got = append(got, times(start, rec.AttemptTimes))
				if rec.Event == executor.Done && rec.Node == "get" && rec.Reply.JSON() != reply.JSON() {
					t.Errorf("the reply is %s", rec.Reply.JSON())
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		}
		check(r)
		check(replay(t, g, log(r)))
	})
}

func TestAttemptsOfAnExecutionAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := calling(t, "retry: {maxAttempts: 100, initialDelayMs: 1000, backoff: 1, jitter: false}, catch: {next: late}")
		port := layered{call: func() (graph.ToolResult, error) { return graph.ToolResult{}, askedToWait{} }}
		r := newRun(g)
		if err := (&executor.Local{}).Run(context.Background(), r, port); err != nil {
			t.Fatal(err)
		}
		rec := r.History()[1]
		if n := len(rec.AttemptTimes); n != 32 || rec.Try != 100 {
			t.Errorf("%d attempts of %d are kept", n, rec.Try)
		}
		if last := rec.AttemptTimes[31]; !last.End.Equal(rec.End) || last.Err.Error() != "too many requests" {
			t.Errorf("the last one is %+v, the execution ended at %v", last, rec.End)
		}
	})
}

func TestRepliesOfARunAreBounded(t *testing.T) {
	text := func(n int) string { return `{"structuredContent":"` + strings.Repeat("x", n) + `"}` }
	for _, c := range []struct {
		items, size, kept int
	}{
		{3, 60 << 10, 3},
		{3, 70 << 10, 0},    // each is too long
		{100, 60 << 10, 68}, // 4 MiB
	} {
		g := mapOf(t, c.items, oneCall, graph.Spread{Limit: 1}, graph.Policy{}, false)
		port := world{func(context.Context, value.Value) (value.Value, error) { return value.ParseLazy(text(c.size)) }}
		r := newRun(g)
		if err := (&executor.Local{}).Run(context.Background(), r, port); err != nil {
			t.Fatal(err)
		}
		check := func(r *executor.Run) {
			t.Helper()
			kept, last := 0, false
			for rec := range r.Records(0) {
				if rec.Node != "one" {
					continue
				}
				if last = rec.ReplyBytes == 0; last {
					kept++
				} else if rec.ReplyBytes != len(text(c.size)) || !rec.Reply.IsUndefined() {
					t.Errorf("a reply of %d bytes that is not kept is said to have %d", len(text(c.size)), rec.ReplyBytes)
				}
			}
			if kept != c.kept || last != (kept > 0) {
				t.Errorf("%d of %d replies of %d bytes are kept, the last %v; want %d", kept, c.items, c.size, last, c.kept)
			}
		}
		check(r)
		check(replay(t, g, log(r)))
	}
}
