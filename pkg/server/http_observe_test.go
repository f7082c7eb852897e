package server_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/server"
)

func TestRefusalsAreObservedAndLoggedWithinLimits(t *testing.T) {
	opts, guard := scopedOptions(t)
	var mu sync.Mutex
	var log bytes.Buffer
	seen := map[string]int{}
	opts.Log = slog.New(slog.NewTextHandler(lockedWriter{&mu, &log}, nil))
	opts.Exchanged = func(_ context.Context, e server.Exchange) {
		mu.Lock()
		defer mu.Unlock()
		seen[e.Reason]++
	}
	x := serve(t, opts, server.HTTPOptions{Guard: guard})
	in := x.session("2025-11-25", authorizedAs("bob")...)
	for range 100 {
		x.post(`{}`)
	}
	x.post(calling("note", "1"), in...)
	mu.Lock()
	defer mu.Unlock()
	if seen["unauthenticated"] != 100 || seen["insufficient_scope"] != 1 || seen[""] != 1 {
		t.Errorf("told of %v", seen)
	}
	if n := strings.Count(log.String(), "reason=unauthenticated"); n < 20 || n > 40 {
		t.Errorf("%d of 100 refusals were logged", n)
	}
	if !strings.Contains(log.String(), "level=INFO") || !strings.Contains(log.String(), `reason=insufficient_scope status=403 method=POST path=/mcp`) || !strings.Contains(log.String(), "caller=bob") {
		t.Error(log.String())
	}
	if strings.Contains(log.String(), "0123456789abcdef") {
		t.Errorf("a token was logged:\n%s", log.String())
	}
}

type lockedWriter struct {
	mu *sync.Mutex
	w  *bytes.Buffer
}

func (l lockedWriter) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}
