package executor_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// calling returns a graph that calls a tool, with these policies.
func calling(t *testing.T, policies string) *graph.Graph {
	t.Helper()
	return build(t, `
version: "1.0"
server: {name: test, version: "1"}
mcpServers: {web: {command: web}}
tools:
  - name: t
    description: Test
    inputSchema: {type: object}
    nodes:
      - {id: entry, type: entry, next: get}
      - {id: get, type: mcp, server: web, tool: get, `+policies+`, next: exit}
      - {id: late, type: transform, transform: {expr: '"late"'}, next: exit}
      - {id: exit, type: exit}
`).Graphs[0]
}

// askedToWait is the failure of a server that asks to be left alone for a while.
type askedToWait struct{ time.Duration }

func (askedToWait) Error() string               { return "too many requests" }
func (askedToWait) FailureName() string         { return graph.FailProtocol }
func (e askedToWait) RetryAfter() time.Duration { return e.Duration }

func TestRetriesOfNodesObeyRetryAfter(t *testing.T) {
	const second = time.Second
	for _, c := range []struct {
		asked, took time.Duration
		calls       int
	}{
		{0, 2*second + 4*second, 3},          // the delays of the rule
		{3 * second, 3*second + 4*second, 3}, // the longer one of the two
		{5 * second, 5*second + 5*second, 3}, // the longest that the rule allows
		{5*second + 1, 0, 1},                 // longer: there is no retry
	} {
		synctest.Test(t, func(t *testing.T) {
			g := calling(t, "retry: {maxAttempts: 3, initialDelayMs: 2000, maxDelayMs: 5000, jitter: false}, catch: {next: late}")
			calls, start := 0, time.Now()
			port := world{func(context.Context, value.Value) (value.Value, error) {
				calls++
				return value.Undef, askedToWait{c.asked}
			}}
			r := newRun(g)
			if err := (&executor.Local{}).Run(context.Background(), r, port); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(start); took != c.took || calls != c.calls || r.Result().Str() != "late" {
				t.Errorf("asked to wait %v: %d calls in %v, want %d in %v; the result is %s", c.asked, calls, took, c.calls, c.took, r.Result().JSON())
			}
		})
	}
}

func TestConditionsOfCatchThatFailAreLogged(t *testing.T) {
	g := calling(t, `catch: [{when: {expr: '$error.message + 1'}, next: exit}, {when: {expr: '$error.name = "protocol"'}, next: late}]`)
	var log strings.Builder
	e := &executor.Local{Log: slog.New(slog.NewTextHandler(&log, nil))}
	port := world{func(context.Context, value.Value) (value.Value, error) { return value.Undef, askedToWait{} }}
	r := newRun(g)
	if err := e.Run(context.Background(), r, port); err != nil || r.Result().Str() != "late" {
		t.Fatalf("%v, the result is %s", err, r.Result().JSON())
	}
	for _, want := range []string{"level=WARN", `msg="a condition of catch failed, so its rule does not apply"`, "node=get", "T2001"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log is %s, want %s in it", log.String(), want)
		}
	}
	if strings.Count(log.String(), "WARN") != 1 {
		t.Errorf("the log is %s", log.String())
	}
	// Without a log it is the same.
	r = newRun(g)
	if err := (&executor.Local{}).Run(context.Background(), r, port); err != nil || r.Result().Str() != "late" {
		t.Fatalf("%v, the result is %s", err, r.Result().JSON())
	}
}
