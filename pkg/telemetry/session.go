package telemetry

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/mcpgraph/mcpgraph/pkg/upstream"
)

// Session measures a session with a client, which begins now and ends when what
// it returns is called.
func (r *Recorder) Session(ctx context.Context, transport string) (done func(error)) {
	var attrs attributes
	attrs.text("network.transport", transport)
	return measureSession(ctx, r.metrics.session, attrs)
}

// UpstreamSession measures a session with an upstream server, as
// [upstream.Options] wants it.
func (r *Recorder) UpstreamSession(i upstream.SessionInfo) (ended func(error)) {
	attrs := r.endpoint(i.Server)
	attrs.text("mcp.protocol.version", i.Protocol)
	return measureSession(context.Background(), r.metrics.upstreamSession, attrs)
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

// endpoint returns which upstream server something is about, and where it is.
func (r *Recorder) endpoint(server string) attributes {
	at := r.subject.Server(server)
	attrs := attributes{attribute.String(serverKey, server)}
	attrs.text("network.transport", at.Transport)
	attrs.text("server.address", at.Address)
	attrs.port(at.Port)
	return attrs
}

// serverKey is the attribute for the name of a server in the file.
const serverKey = "mcpgraph.server"
