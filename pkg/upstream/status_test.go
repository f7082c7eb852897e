package upstream

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/mcpgraph/mcpgraph/internal/mcptest"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

func TestStatusConnectsAndTellsWhatItFound(t *testing.T) {
	everyTransport(t, mcptest.Script{}, func(t *testing.T, u *config.Upstream) {
		p := start(t, Options{}, u)
		s, err := p.Status(context.Background(), nil, "fake")
		if err != nil {
			t.Fatal(err)
		}
		if s.Server != "fake" || s.Transport != u.Transport || s.Protocol == "" || s.Name != "fake" || s.Version != "1.0.0" ||
			len(s.Tools) != len(mcptest.Builtins) || s.RoundTrip <= 0 {
			t.Errorf("%+v", s)
		}
	})
	p := start(t, Options{}, child(mcptest.Script{Start: mcptest.StartExit}))
	if s, err := p.Status(context.Background(), nil, "fake"); err == nil || s.Transport != config.Stdio || s.Protocol != "" {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestStatsFollowTheStateOfAServer(t *testing.T) {
	good := child(mcptest.Script{})
	bad := child(mcptest.Script{Start: mcptest.StartExit}, func(u *config.Upstream) { u.Name = "bad" })
	p := start(t, Options{}, good, bad)
	want := func(fake, bad string, opened int64) {
		t.Helper()
		s := p.Stats()
		if s[0].Server != "fake" || s[0].State != fake || s[1].State != bad || s[0].Opened != opened {
			t.Errorf("%+v", s)
		}
	}
	want("idle", "idle", 0)
	mustCall(t, p, "echo", `{}`)
	_, _ = p.Tools(context.Background(), nil, "bad")
	want("connected", "failed", 1)
	mustFail(t, p, "exit", `{}`)
	want("idle", "failed", 1)
	mustCall(t, p, "echo", `{}`)
	want("connected", "failed", 2)
	if o := p.Openings(); len(o) != 2 || o[0].Server != "fake" || o[0].From.IsZero() || o[1].From.Before(o[0].To) {
		t.Errorf("the openings are %+v", o) // that of the server that failed is none
	}
	if s := p.Stats()[0]; s.Calls != 3 || s.Errors != 1 || s.Sessions != 1 || s.Protocol != "2025-11-25" || s.Name != "fake" || s.Failure != nil {
		t.Errorf("%+v", s)
	}
	if s := p.Stats()[1]; s.Failure == nil || s.Failure.Op != "handshake" || s.Protocol != "" {
		t.Errorf("%+v", s)
	}
	if err := p.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	want("closed", "closed", 2)
}

func TestOpeningsAreBounded(t *testing.T) {
	p := start(t, Options{}, child(mcptest.Script{}))
	s := p.servers["fake"]
	for range 3 * maxOpenings {
		s.sessionOpened(time.Now())
	}
	if o := p.Openings(); len(o) != maxOpenings || cap(s.openings) > 2*maxOpenings {
		t.Errorf("%d openings are known", len(o))
	}
}

// TestServerWithoutItsVariablesIsNotStarted: what stands in the place of a value would
// reach the server.
func TestServerWithoutItsVariablesIsNotStarted(t *testing.T) {
	everyTransport(t, mcptest.Script{}, func(t *testing.T, u *config.Upstream) {
		u.Unset = []string{"TOKEN", "BASE"}
		p := start(t, Options{}, u)
		_, err := p.CallTool(context.Background(), nil, "fake", "echo", value.FromEntries(nil))
		if err == nil || !strings.Contains(err.Error(), "missing TOKEN, BASE") || p.Stats()[0].Opened != 0 {
			t.Errorf("%v", err)
		}
	})
}
