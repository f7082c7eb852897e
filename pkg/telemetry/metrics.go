package telemetry

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// buckets are the bounds, in seconds, that the semantic conventions for MCP
// give for durations.
var buckets = metric.WithExplicitBucketBoundaries(.01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 30, 60, 120, 300)

// instruments are the histograms of durations in seconds, and counters.
type instruments struct {
	request, session, call, upstreamSession metric.Float64Histogram

	refusals metric.Int64Counter
}

func newInstruments(m metric.Meter) (i instruments, err error) {
	var errs []error
	histogram := func(name, description string) metric.Float64Histogram {
		h, err := m.Float64Histogram(name, metric.WithDescription(description), metric.WithUnit("s"), buckets)
		errs = append(errs, err)
		return h
	}
	i.request = histogram("mcp.server.operation.duration", "How long requests of clients took")
	i.session = histogram("mcp.server.session.duration", "How long sessions of clients lasted")
	i.call = histogram("mcp.client.operation.duration", "How long calls of upstream servers took")
	i.upstreamSession = histogram("mcp.client.session.duration", "How long sessions with upstream servers lasted")
	i.refusals, err = m.Int64Counter("mcpgraph.server.refusals", metric.WithDescription("Requests of clients that were refused"), metric.WithUnit("{request}"))
	return i, errors.Join(append(errs, err)...)
}

func observe(ctx context.Context, h metric.Float64Histogram, since time.Time, attrs []attribute.KeyValue) {
	if h.Enabled(ctx) {
		h.Record(ctx, time.Since(since).Seconds(), metric.WithAttributes(attrs...))
	}
}

func measureSession(ctx context.Context, h metric.Float64Histogram, attrs attributes) (ended func(error)) {
	began := time.Now()
	return func(err error) {
		if err != nil {
			attrs.text("error.type", errorType(ctx, err))
		}
		observe(ctx, h, began, attrs)
	}
}
