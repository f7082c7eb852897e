package telemetry

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/upstream"
)

// UpstreamRequest makes a request to an upstream server for a prompt, a resource, a
// completion or a list of them a span of kind CLIENT and a measurement, as
// [upstream.Options] wants it. The request carries the span to the server.
func (r *Recorder) UpstreamRequest(ctx context.Context, info *callinfo.Info, q upstream.Request) (_ context.Context, _ *callinfo.Info, done func(error)) {
	began := time.Now()
	measured := append(r.endpoint(q.Server), attribute.String("mcp.method.name", q.Method))
	attrs := slices.Clone(measured)
	prompt := r.text(info, q.Prompt)
	attrs.text("gen_ai.prompt.name", prompt)
	attrs.text("mcp.resource.uri", r.text(info, q.Resource))
	ctx, span := r.tracer.Start(ctx, q.Method, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attrs...))
	var sent callinfo.Sent // the last of them
	own := *info.OrNone()
	own.Trace = traceMembers(ctx, own.Trace)
	own.Sent = func(s callinfo.Sent) { sent = s }
	return ctx, &own, func(err error) {
		defer span.End()
		measured.text("mcp.protocol.version", sent.Protocol)
		var failure attributes
		if err == nil && prompt != "" {
			span.SetName(q.Method + " " + prompt) // a client may have made it up where the server does not know it
		} else if err != nil {
			failure = failureAttributes(ctx, err)
			span.SetStatus(codes.Error, r.text(info, err.Error()))
		}
		span.SetAttributes(failure...)
		span.SetAttributes(sentAttributes(sent)...)
		observe(ctx, r.metrics.call, began, append(measured, failure...))
	}
}

// failureAttributes returns what a span of kind CLIENT says of the error of its request.
func failureAttributes(ctx context.Context, err error) (attrs attributes) {
	attrs.text("error.type", errorType(ctx, err))
	if rpc := (*upstream.RPCError)(nil); errors.As(err, &rpc) {
		attrs.text("rpc.response.status_code", strconv.Itoa(rpc.Code))
	}
	return attrs
}

// startCall begins the span of a call. The attributes are those of its measurement, too.
func (r *Recorder) startCall(ctx context.Context, server, tool string, opts ...trace.SpanStartOption) (context.Context, trace.Span, attributes) {
	attrs := append(r.endpoint(server),
		attribute.String("mcp.method.name", callMethod),
		attribute.String("gen_ai.operation.name", "execute_tool"),
		attribute.String("gen_ai.tool.name", tool))
	ctx, span := r.tracer.Start(ctx, callMethod+" "+tool,
		append(opts, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(slices.Clone(attrs)...))...)
	return ctx, span, attrs
}

// UpstreamSession measures a session with an upstream server, as
// [upstream.Options] wants it.
func (r *Recorder) UpstreamSession(i upstream.SessionInfo) (ended func(error)) {
	attrs := r.endpoint(i.Server)
	attrs.text("mcp.protocol.version", i.Protocol)
	return measureSession(context.Background(), r.metrics.upstreamSession, attrs)
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
