package upstream

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/lock"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/redact"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// needed is an Input of a schema that only has "required".
type needed struct{ schema value.Value }

func (n needed) Check(_ context.Context, args value.Value) (string, []string, error) {
	for _, name := range n.schema.Get("required").Elems() {
		if !args.Has(name.Str()) {
			return "missing " + name.Str(), []string{name.Str()}, nil
		}
	}
	return "", nil, nil
}

func (n needed) Secrets(args value.Value) []string {
	if s := args.Get("pin").Str(); s != "" {
		return []string{s}
	}
	return nil
}

func neededOf(schema value.Value) Input {
	if schema.Kind() != value.Object {
		return nil
	}
	return needed{schema}
}

const (
	needsAt   = `{"name":"look","inputSchema":{"type":"object","required":["at"]}}`
	needsWhen = `{"name":"look","inputSchema":{"type":"object","required":["when"]}}`
)

// TestKnownSchemasHoldBackCalls compares calls with the list that the session has, and
// never asks for one only for that.
func TestKnownSchemasHoldBackCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newChanging(t, Options{Input: neededOf}, func(u *config.Upstream) {
			u.CircuitBreaker = &config.CircuitBreaker{FailureThreshold: 1, SuccessThreshold: 1, ResetTimeout: 1 << 40, HalfOpenMaxCalls: 1}
		})
		c.set(needsAt)
		c.must(t, "look", "")
		if n := c.count("tools/list"); n != 0 {
			t.Errorf("a call asked for the list %d times", n)
		}
		if _, err := c.pool.Tools(t.Context(), nil, "fake"); err != nil {
			t.Fatal(err)
		}
		sent := c.count("tools/call")
		for range 3 { // the circuit breaker does not count them
			c.must(t, "look", "arguments", "missing at")
		}
		if n := c.count("tools/call"); n != sent {
			t.Errorf("%d calls were sent", n-sent)
		}
		result, err := ask(c.pool, "look", parse(t, `{"at":1}`))
		if err != nil || result.Sent != 1 {
			t.Errorf("%d attempts, %v", result.Sent, err)
		}
		c.set(needsWhen)
		c.pool.servers["fake"].toolsChanged()
		c.must(t, "look", "") // as long as nobody knows the new list
		if _, err := c.pool.Tools(t.Context(), nil, "fake"); err != nil {
			t.Fatal(err)
		}
		_, err = ask(c.pool, "look", parse(t, `{"at":1}`))
		if f, ok := FailureOf(err); !ok || f.Name != "arguments" || err.(*Error).FailureData().JSON() != `{"arguments":["when"]}` {
			t.Errorf("with the new list: %v", err)
		}
		if _, err := ask(c.pool, "look", parse(t, `{"when":1}`)); err != nil {
			t.Error(err)
		}
		_ = c.pool.Close(canceledContext)
	})
}

// TestLockedSchemasHoldBackCalls compares calls with a lock file: as soon as the server
// was compared with it, or where something stands for the server.
func TestLockedSchemasHoldBackCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		locked := lockOf(t, needsAt)
		c := newChanging(t, Options{Input: neededOf, Lock: locked, LockMode: lock.Default}, nil)
		c.set(needsAt, `{"name":"other"}`)
		c.must(t, "look", "arguments", "missing at")
		c.must(t, "look", "arguments", "missing at")
		if lists, calls := c.count("tools/list"), c.count("tools/call"); lists != 1 || calls != 0 {
			t.Errorf("%d lists, %d calls", lists, calls)
		}
		_ = c.pool.Close(canceledContext)

		asked := 0
		stand := newChanging(t, Options{
			LockedInput: func(server, tool string) Input { return neededOf(locked.Tool(server, tool).InputSchema) },
			Intercept: func(context.Context, Exchange, func(context.Context) (value.Value, error)) (value.Value, error) {
				asked++
				return parse(t, `{"content":[]}`), nil
			},
		}, nil)
		stand.must(t, "look", "arguments", "missing at")
		if asked != 0 {
			t.Errorf("the interceptor was asked %d times", asked)
		}
		info := &callinfo.Info{}
		stand.pool.NoteSecrets(info)
		if _, err := stand.pool.CallTool(t.Context(), info, "fake", "look", parse(t, `{"at":1,"pin":"correct-horse"}`)); err != nil || asked != 1 {
			t.Errorf("%d exchanges, %v", asked, err)
		}
		if got := stand.pool.Redactor(info)("a correct-horse"); got != "a "+redact.Mark {
			t.Errorf("the secret argument is shown: %s", got)
		}
		if !slices.Contains(FailureNames(), "arguments") {
			t.Error("mocks cannot fail so")
		}
		_ = stand.pool.Close(canceledContext)
	})
}

func parse(t *testing.T, text string) value.Value {
	t.Helper()
	v, err := value.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
