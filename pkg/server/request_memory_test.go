package server_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// A call that memory ends is told of as that, and not as cancelled. The text of a
// failure counts, too.
func TestCallsThatMemoryEndsAreInterrupted(t *testing.T) {
	budget := memory.New(memory.MinLimit)
	calls := map[string]server.CallFunc{
		"needs too much": func(ctx context.Context, _ *server.Request) (value.Value, error) {
			err := memory.AccountOf(ctx).Grow(1 << 30)
			<-ctx.Done()
			return value.Undef, err
		},
		"needs too much for its answer": func(context.Context, *server.Request) (value.Value, error) {
			return value.FromString(strings.Repeat("x", 40<<20)), nil
		},
		"fails at length": func(context.Context, *server.Request) (value.Value, error) {
			return value.Undef, errors.New(strings.Repeat("x", 40<<20))
		},
	}
	for name, call := range calls {
		var (
			mu   sync.Mutex
			told []server.Outcome
		)
		opts := httpOptions(t)
		opts.Memory, opts.Call = budget, call
		opts.Observe = func(ctx context.Context, _ *server.Request) (context.Context, func(server.Outcome)) {
			return ctx, func(o server.Outcome) { mu.Lock(); defer mu.Unlock(); told = append(told, o) }
		}
		body := strictRequest("tools/call", `"name":"echo"`, "m", "", "")
		check := func(over, answer string) {
			t.Helper()
			mu.Lock()
			defer mu.Unlock()
			if len(answer) > 2000 || !strings.Contains(answer, `"isError":true`) || !strings.Contains(answer, "memory") {
				t.Errorf("%s over %s: %.300s", name, over, answer)
			}
			if len(told) != 1 || !told[0].Interrupted || told[0].Cancelled || told[0].Reason != "" || !told[0].Failed {
				t.Errorf("%s over %s: told of %d, %.300v", name, over, len(told), told)
			}
			told = nil
		}
		c := start(t, opts)
		c.send("%s", body)
		check("stdio", c.line())
		x := serve(t, opts, server.HTTPOptions{})
		check("HTTP", x.post(body, modern("tools/call", "echo")...).body)
		x.close()
	}
}

func TestFailuresOfModestLengthAreSentAndCounted(t *testing.T) {
	budget := memory.New(memory.MinLimit)
	opts := httpOptions(t)
	opts.Memory = budget
	opts.Call = func(context.Context, *server.Request) (value.Value, error) {
		return value.Undef, errors.New(strings.Repeat("x", 1<<20))
	}
	var held int64
	opts.Observe = func(ctx context.Context, _ *server.Request) (context.Context, func(server.Outcome)) {
		return ctx, func(server.Outcome) { held = budget.Held() }
	}
	c := start(t, opts)
	c.send("%s", strictRequest("tools/call", `"name":"echo"`, "m", "", ""))
	if answer := c.line(); len(answer) < 1<<20 || held < 2<<20 {
		t.Errorf("an answer of %d bytes, of which %d are counted", len(answer), held)
	}
}
