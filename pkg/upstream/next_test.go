package upstream

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// processOf returns the process that answers for a server.
func processOf(t *testing.T, p *Pool, name string) int {
	t.Helper()
	r, err := p.CallTool(context.Background(), nil, name, "process", value.Undef)
	if err != nil {
		t.Error(err)
		return 0
	}
	n := int(r.Value.Get("structuredContent").Get("pid").Float())
	if n <= 0 {
		t.Errorf("no process: %s", r.Value.JSON())
	}
	return n
}

func namedChild(name string, change ...func(*config.Upstream)) *config.Upstream {
	u := child(mcptest.Script{}, change...)
	u.Name = name
	slices.SortFunc(u.Env, func(a, b config.EnvVar) int { return strings.Compare(a.Name, b.Name) })
	return u
}

func TestTheNextPoolTakesOverWhatHasNotChanged(t *testing.T) {
	t.Parallel()
	forward := func(line int) []config.Forward {
		return []config.Forward{{From: "X-A", To: "X-A", Pos: diag.Pos{Line: line}}}
	}
	old := start(t, Options{},
		namedChild("same", func(u *config.Upstream) { u.ForwardHeaders = forward(1) }),
		namedChild("changed"), namedChild("removed"))
	was := map[string]int{}
	for _, name := range []string{"same", "changed", "removed"} {
		was[name] = processOf(t, old, name)
	}
	next := old.Next([]*config.Upstream{
		namedChild("new"),
		namedChild("changed", func(u *config.Upstream) { u.Timeout += time.Second }),
		namedChild("same", func(u *config.Upstream) {
			u.File, u.Pos = "other.yaml", diag.Pos{Line: 7}
			u.ForwardHeaders = forward(9)
		}),
	}, Options{})
	t.Cleanup(func() { _ = next.Close(context.Background()) })
	if !next.Has("same", old) || next.Has("changed", old) || next.Has("new", old) || next.Has("removed", old) {
		t.Error("the wrong servers were taken over")
	}

	// Until the old one is closed both can be used.
	if got := processOf(t, old, "changed"); got != was["changed"] {
		t.Errorf("the old pool calls process %d, not %d", got, was["changed"])
	}
	if got := processOf(t, next, "changed"); got == was["changed"] {
		t.Error("a server that has changed was not started again")
	}
	if err := old.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"changed", "removed"} {
		if running(was[name]) {
			t.Errorf("the process of %q has outlived its pool", name)
		}
	}
	if got := processOf(t, next, "same"); got != was["same"] {
		t.Errorf("process %d answers, not %d", got, was["same"])
	}
	var failure *Error
	if _, err := old.CallTool(context.Background(), nil, "same", "process", value.Undef); !errors.As(err, &failure) {
		t.Errorf("a closed pool calls a server that another has: %v", err)
	}
	for _, s := range next.Stats() {
		if s.Server == "same" && (s.Opened != 1 || s.Calls != 2) {
			t.Errorf("its statistics started again: %+v", s)
		}
	}
	for _, s := range old.Stats() {
		if s.Server == "same" {
			t.Error("a server is counted twice")
		}
	}
	if err := next.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if running(was["same"]) {
		t.Error("a process has outlived the last pool that had it")
	}
	if n := next.Next([]*config.Upstream{namedChild("same")}, Options{}); n.Has("same", next) {
		t.Error("a server was taken over that has ended")
	}
}

// Pools follow each other while calls go on: each call succeeds, by one process.
func TestPoolsFollowEachOtherUnderLoad(t *testing.T) {
	t.Parallel()
	entries := []*config.Upstream{child(mcptest.Script{})}
	p := New(entries, Options{})
	first := processOf(t, p, "fake")
	var calls sync.WaitGroup
	for range 200 {
		old := p
		calls.Go(func() {
			if got := processOf(t, old, "fake"); got != first {
				t.Errorf("process %d answered, not %d", got, first)
			}
		})
		p = old.Next(entries, Options{})
		if len(old.Stats()) != 0 || len(p.Stats()) != 1 {
			t.Error("the server is not where it should be")
		}
		calls.Wait()
		if err := old.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if err := old.Close(context.Background()); err != nil { // which must not count twice
			t.Error(err)
		}
	}
	if got := processOf(t, p, "fake"); got != first {
		t.Errorf("process %d answers, not %d", got, first)
	}
	_ = p.Close(context.Background())
}
