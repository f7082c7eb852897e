package mcpgraph

import "github.com/mcpgraph/mcpgraph/pkg/upstream"

// Upstreams returns the sessions with the servers of the file: how they are,
// and who has logged in to them. It is nil where WithCaller took their place.
// After a Reload it is another one.
func (e *Engine) Upstreams() *upstream.Pool { return e.current.Load().upstreams.pool }
