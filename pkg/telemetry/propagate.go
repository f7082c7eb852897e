package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// propagator reads and writes W3C Trace Context and W3C Baggage.
var propagator = propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{})

// metaCarrier is the _meta of a request that came.
type metaCarrier struct{ meta value.Value }

func (c metaCarrier) Get(key string) string { return c.meta.Get(key).Str() }

func (c metaCarrier) Set(string, string) {}

func (c metaCarrier) Keys() []string {
	var keys []string
	for _, e := range c.meta.Entries() {
		keys = append(keys, e.Key)
	}
	return keys
}

// origin returns ctx with the span that r belongs to as its remote parent: the
// one that _meta names, or else the one around the transport (the headers of
// HTTP, or what ctx had). Where both are there, the latter is a link (semantic
// conventions for MCP, "Context propagation").
func origin(ctx context.Context, r *server.Request) (context.Context, []trace.Link) {
	if r.Header != nil {
		ctx = propagator.Extract(ctx, propagation.HeaderCarrier(r.Header))
	}
	if r.Meta.Len() == 0 {
		return ctx, nil
	}
	around := trace.SpanContextFromContext(ctx)
	ctx = propagator.Extract(ctx, metaCarrier{r.Meta})
	if now := trace.SpanContextFromContext(ctx); around.IsValid() && !now.Equal(around) {
		return ctx, []trace.Link{{SpanContext: around}}
	}
	return ctx, nil
}

// traceMembers returns the members of _meta that carry the span of ctx to an
// upstream server; others if there is none.
func traceMembers(ctx context.Context, others []value.Entry) []value.Entry {
	carrier := propagation.MapCarrier{}
	propagator.Inject(ctx, carrier)
	var members []value.Entry
	for _, key := range propagator.Fields() {
		if text := carrier[key]; text != "" {
			members = append(members, value.Entry{Key: key, Value: value.FromString(text)})
		}
	}
	if members == nil {
		return others
	}
	return members
}
