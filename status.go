package mcpgraph

import (
	"context"
	"net/http"

	"github.com/mcpgraph/mcpgraph/internal/serving"
	"github.com/mcpgraph/mcpgraph/pkg/config"
	"github.com/mcpgraph/mcpgraph/pkg/diag"
	"github.com/mcpgraph/mcpgraph/pkg/upstream"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// ServerStatus is what was found out about one server.
type ServerStatus struct {
	Entry  *config.Upstream
	Status upstream.Status
	Stats  upstream.Stats // as they were afterwards
	Err    error          // an *upstream.Error where the server cannot be used
}

// ToolNames returns the tools of the server by the names that nodes call them by,
// and apart from them those that its settings keep out.
func (s ServerStatus) ToolNames() (open, keptOut []string) {
	return serving.ServerStatus(s).ToolNames()
}

// Status connects to every server of the file concurrently and returns their
// states, in the order of the file. A server has its connectTimeoutMs and its
// timeoutMs, taken together, to answer. Of opts only [WithCallInfo] matters. An
// Engine with WithCaller has none.
func (e *Engine) Status(ctx context.Context, opts ...CallOption) []ServerStatus {
	p := e.engine.Use()
	defer p.Release()
	found := serving.Status(ctx, newCallOptions(opts).info, p)
	if found == nil {
		return nil
	}
	servers := make([]ServerStatus, len(found))
	for i, s := range found {
		servers[i] = ServerStatus(s)
	}
	return servers
}

// CheckLive connects to every server of the file, as Status does, and compares
// what nodes call with the tools that are there: tools that are missing, and
// arguments that do not fit whatever a run will be. Servers that cannot be used
// are errors at their entries. The diagnostics are sorted by place.
func (e *Engine) CheckLive(ctx context.Context, opts ...CallOption) []diag.Diagnostic {
	p := e.engine.Use()
	defer p.Release()
	return serving.CheckLive(ctx, newCallOptions(opts).info, p)
}

// StatusPage answers GET with what is known of the servers of the file without
// asking them, as JSON in the form of [StatusDocument], and under "parkedRuns" the
// number of runs that wait for answers of people between two calls. With WithCaller
// there are no servers.
func (e *Engine) StatusPage() http.Handler { return e.servers.StatusPage() }

// StatusDocument returns what Status found as one JSON object: for each server
// its [upstream.Stats], and beside them what it answered.
func StatusDocument(found []ServerStatus) value.Value {
	servers := make([]serving.ServerStatus, len(found))
	for i, s := range found {
		servers[i] = serving.ServerStatus(s)
	}
	return serving.StatusDocument(servers)
}

// Upstreams returns the sessions with the servers of the file: how they are,
// and who has logged in to them. It is nil where WithCaller took their place.
// After a Reload it is another one.
func (e *Engine) Upstreams() *upstream.Pool { return e.engine.Current().Pool() }
