package debug_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpgraph/mcpgraph"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/debug"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// upstream answers calls of tools: "slow" after an hour, "slower" after 80 minutes, "fail" not at all, "flaky" at
// the third attempt, and others with their arguments.
type upstream struct {
	mu    sync.Mutex
	calls []string // tool and arguments
	tries int
	ended []string // tools whose calls were cancelled
}

func (u *upstream) CallTool(ctx context.Context, _ *callinfo.Info, _, tool string, args value.Value) (graph.ToolResult, error) {
	u.mu.Lock()
	u.calls = append(u.calls, tool+args.JSON())
	u.tries++
	tries := u.tries
	u.mu.Unlock()
	switch {
	case tool == "slow", tool == "slower":
		took := time.Hour
		if tool == "slower" {
			took += 20 * time.Minute
		}
		select {
		case <-time.After(took):
		case <-ctx.Done():
			u.mu.Lock()
			defer u.mu.Unlock()
			u.ended = append(u.ended, tool)
			return graph.ToolResult{Attempts: 1}, context.Cause(ctx)
		}
	case tool == "fail", tool == "flaky" && tries < 3:
		return graph.ToolResult{Attempts: 1}, errors.New("the server is broken")
	}
	b := value.NewBuilder(2)
	b.Set("content", value.FromArray(nil))
	b.Set("structuredContent", args)
	return graph.ToolResult{Reply: b.Value(), Attempts: 1}, nil
}

func (u *upstream) called() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Clone(u.calls)
}

// tools is a file with tools whose nodes these are.
func tools(nodes map[string]string) string {
	text := "version: \"1.0\"\nserver: {name: t, version: \"1\"}\nmcpServers: {up: {command: none}}\nexecutionLimits: {maxExecutionTimeMs: 86400000}\ntools:\n"
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range nodes {
			if !yield(name) {
				return
			}
		}
	}) {
		text += "  - name: " + name + "\n    description: d\n    inputSchema: {type: object}\n    nodes:\n"
		for line := range strings.Lines(strings.Trim(nodes[name], "\n")) {
			text += "      " + line
		}
		text += "\n"
	}
	return text
}

func load(t *testing.T, text string, u *upstream, opts ...mcpgraph.Option) *mcpgraph.Engine {
	t.Helper()
	e, err := mcpgraph.LoadBytes("tools.yaml", []byte(text), append(opts, mcpgraph.WithCaller(u))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// start begins a session that ends with the test.
func start(t *testing.T, e *mcpgraph.Engine, tool string, args any, o debug.Options) *debug.Session {
	t.Helper()
	s, err := e.Debug(t.Context(), tool, args, mcpgraph.WithDebug(o))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.Stop()
		<-s.Done()
	})
	return s
}

// pausedAt waits until the run is paused and checks where: "why key".
func pausedAt(t *testing.T, s *debug.Session, want string) debug.Pause {
	t.Helper()
	synctest.Wait()
	st := s.State()
	if st.Pause == nil {
		t.Fatalf("the run is %s, want it paused at %s; error %v", st.Status, want, st.Err)
	}
	if got := string(st.Pause.Why) + " " + st.Pause.Path; got != want {
		t.Fatalf("paused at %q, want %q", got, want)
	}
	return *st.Pause
}

// result waits for the end.
func result(t *testing.T, s *debug.Session) string {
	t.Helper()
	v, err := s.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return v.JSON()
}

// events returns the types and paths of the events so far.
func events(t *testing.T, s *debug.Session) []string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var list []string
	for last := 0; ; {
		more, err := s.Next(ctx, last)
		if err == io.EOF || err != nil && ctx.Err() != nil {
			return list
		}
		for _, e := range more {
			if e.Number != last+1 {
				t.Fatalf("event %d follows %d", e.Number, last)
			}
			last = e.Number
			list = append(list, strings.TrimSpace(fmt.Sprintf("%s %s", e.Type, e.Path)))
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

const straight = `
- {id: entry, type: entry, next: one}
- {id: one, type: mcp, server: up, tool: echo, args: {n: {expr: "$.entry.n"}}, next: two}
- {id: two, type: transform, transform: {expr: "$.one.n + 1"}, next: exit}
- {id: exit, type: exit}
`

func TestSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := &upstream{}
		e := load(t, tools(map[string]string{"t": straight}), u)
		s := start(t, e, "t", map[string]any{"n": 41}, debug.Options{StartPaused: true})
		pausedAt(t, s, "start entry")
		must(t, s.Step())
		pausedAt(t, s, "step one")
		if len(u.called()) != 0 {
			t.Fatalf("called too early: %v", u.called())
		}
		must(t, s.Step())
		pausedAt(t, s, "step two")
		must(t, s.Resume())
		if got := result(t, s); got != "42" {
			t.Errorf("the result is %s", got)
		}
		want := []string{
			"started", "paused entry", "resumed", "task entry", "done entry", "paused one", "resumed", "task one", "done one",
			"paused two", "resumed", "task two", "done two", "task exit", "done exit", "ended",
		}
		if got := events(t, s); !slices.Equal(got, want) {
			t.Errorf("events:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}
