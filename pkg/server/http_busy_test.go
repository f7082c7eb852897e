package server_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/server"
)

// Each request that there is no memory or room for is told of once, as refused.
func TestBusyRefusalsAreObserved(t *testing.T) {
	server.SetMaxSubscriptions(t, 0, 0)
	var many strings.Builder // members that take ten times their text
	for i := range 400_000 {
		fmt.Fprintf(&many, `,"%x":1`, i)
	}
	for name, body := range map[string]string{
		"params":       strictRequest("tools/call", `"name":"echo"`, "m", "params", many.String()[1:]),
		"envelope":     strictRequest("tools/call", `"name":"echo"`, "m", "envelope", many.String()[1:]),
		"subscription": strictRequest("subscriptions/listen", `"notifications":{"toolsListChanged":true}`, "m", "", ""),
	} {
		var mu sync.Mutex
		var told []string
		tell := func(reason string) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, reason)
		}
		check := func(over string) {
			t.Helper()
			mu.Lock()
			defer mu.Unlock()
			if fmt.Sprint(told) != "[busy]" {
				t.Errorf("%s over %s: told of %q", name, over, told)
			}
			told = nil
		}
		opts := httpOptions(t)
		opts.Memory = memory.New(memory.MinLimit)
		opts.Observe = func(ctx context.Context, _ *server.Request) (context.Context, func(server.Outcome)) {
			return ctx, func(o server.Outcome) { tell(o.Reason) }
		}
		opts.Exchanged = func(_ context.Context, e server.Exchange) {
			if e.Requests == 0 {
				tell(e.Reason)
			}
		}
		c := start(t, opts)
		c.send("%s", body)
		c.line()
		check("stdio")
		x := serve(t, opts, server.HTTPOptions{})
		method := "tools/call"
		if name == "subscription" {
			method = "subscriptions/listen"
		}
		if g := x.post(body, modern(method, "echo")...); g.status != 503 {
			t.Errorf("%s: %d %s", name, g.status, g.body)
		}
		x.close()
		check("HTTP")
	}
}
