package serving

import (
	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// listener returns what reports the messages of upstream servers during a call to
// its client; nil if the client asked for none.
func listener(r *server.Reporter) *callinfo.Listener {
	if !r.WantsProgress() && r.LogLevel() == "" {
		return nil
	}
	return &callinfo.Listener{
		LogLevel: r.LogLevel(),
		Notify: func(n callinfo.Notification) {
			switch n.Method {
			case callinfo.MethodProgress:
				// The token distinguishes the calls of a tool.
				source := n.Server + " " + n.Params.Get("progressToken").JSON()
				r.Progress(source, n.Params.Get("progress").Float(), n.Params.Get("total").Float(), n.Params.Get("message").Str())
			case callinfo.MethodMessage:
				r.Log(named(n))
			}
		},
	}
}

// named returns the parameters of a log message with the server's name as the
// logger, where it has no other.
func named(n callinfo.Notification) value.Value {
	if n.Params.Has("logger") {
		return n.Params
	}
	b := value.NewBuilder(n.Params.Len() + 1)
	for _, e := range n.Params.Entries() {
		b.Set(e.Key, e.Value)
		if e.Key == "level" {
			b.Set("logger", value.FromString(n.Server))
		}
	}
	return b.Value()
}

// traceMembers are the members of _meta that carry a trace (MCP, "Trace
// context").
var traceMembers = []string{"traceparent", "tracestate", "baggage"}

// traceOf returns the trace that a request belongs to as members of the _meta of
// the calls that it causes. Telemetry replaces it with its own spans.
func traceOf(r *server.Request) []value.Entry {
	var members []value.Entry
	for _, key := range traceMembers {
		if v := r.Meta.Get(key); v.Kind() == value.String {
			members = append(members, value.Entry{Key: key, Value: v})
		} else if text := r.Header.Get(key); text != "" {
			members = append(members, value.Entry{Key: key, Value: value.FromString(text)})
		}
	}
	return members
}
