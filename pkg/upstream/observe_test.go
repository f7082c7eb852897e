package upstream

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// observed takes down the sessions of a pool.
type observed struct {
	mu    sync.Mutex
	lines []string
}

func (o *observed) session(i SessionInfo) func(error) {
	o.add("+" + i.Server + " " + i.Protocol)
	return func(err error) {
		var e *Error
		switch {
		case err == nil:
			o.add("-" + i.Server)
		case errors.As(err, &e):
			o.add("-" + i.Server + " " + e.Op + ": " + e.Message)
		}
	}
}

func (o *observed) add(line string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.lines = append(o.lines, line)
}

func (o *observed) count() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.lines)
}

func TestSessionsAreToldAsTheyOpenAndEnd(t *testing.T) {
	t.Parallel()
	const opened = "+fake 2025-11-25"
	check := func(t *testing.T, u *config.Upstream, calls []string, between func(), want ...string) {
		t.Helper()
		var o observed
		p := start(t, Options{Session: o.session}, u)
		for _, tool := range calls {
			_, _ = call(t, p, tool, `{}`)
			if tool == "exit" {
				eventually(t, "the end of the session is told", func() bool { return o.count() == 2 })
			}
			between()
		}
		if err := p.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		// The end of one session may be told after the beginning of the next.
		slices.Sort(o.lines)
		slices.Sort(want)
		if fmt.Sprint(o.lines) != fmt.Sprint(want) {
			t.Errorf("told %q, want %q", o.lines, want)
		}
	}
	nothing := func() {}
	check(t, child(mcptest.Script{}), nil, nothing)
	check(t, child(mcptest.Script{Start: mcptest.StartExit}), []string{"echo"}, nothing)
	check(t, child(mcptest.Script{}), []string{"exit", "echo"}, nothing,
		opened, "-fake session: its connection ended", opened, "-fake")
	forgetful := &mcptest.Web{}
	check(t, web(t, config.HTTP, forgetful), []string{"echo", "echo"}, forgetful.Forget,
		opened, "-fake session: the server has forgotten the session", opened, "-fake")
	check(t, web(t, config.HTTP, &mcptest.Web{Modern: true}), []string{"echo"}, nothing, "+fake 2026-07-28", "-fake")
	everyTransport(t, mcptest.Script{}, func(t *testing.T, u *config.Upstream) {
		revision := "2025-11-25"
		if strings.HasPrefix(path.Base(t.Name()), "2026-07-28") {
			revision = "2026-07-28"
		}
		check(t, u, []string{"echo", "echo"}, nothing, "+fake "+revision, "-fake")
	})
}

func TestCallsTellWhatTheySend(t *testing.T) {
	for name, modern := range map[string]bool{"2025-11-25": false, "2026-07-28": true} {
		server := &mcptest.Web{Modern: modern}
		p := start(t, Options{}, web(t, config.HTTP, server))
		var sent []callinfo.Sent
		info := &callinfo.Info{Sent: func(s callinfo.Sent) { sent = append(sent, s) }}
		for range 2 {
			if _, err := p.CallTool(context.Background(), info, "fake", "echo", value.Undef); err != nil {
				t.Fatal(err)
			}
		}
		if len(sent) != 2 {
			t.Fatalf("%s: told of %+v", name, sent)
		}
		for i, arrived := range server.Arrivals("tools/call") {
			if s := sent[i]; s.Protocol != name || s.Session != arrived.Header.Get("Mcp-Session-Id") || (s.Session == "") != modern ||
				!strings.Contains(arrived.Body, `"id":`+s.ID+`,`) {
				t.Errorf("%s: told of %+v, there arrived %+v", name, s, arrived)
			}
		}
	}
}
