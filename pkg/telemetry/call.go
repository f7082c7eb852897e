package telemetry

import (
	"context"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Caller returns a caller that calls through next: each call becomes a span of
// kind CLIENT and a measurement, and carries the span to the server.
func (r *Recorder) Caller(next graph.Caller) graph.Caller { return &caller{r, next} }

type caller struct {
	*Recorder
	next graph.Caller
}

func (c *caller) CallTool(ctx context.Context, info *callinfo.Info, server, tool string, args value.Value) (graph.ToolResult, error) {
	began := time.Now()
	ctx, span, attrs := c.startCall(ctx, server, tool)
	defer span.End()       // also where the call panics
	var sent callinfo.Sent // the last of them
	own := *info.OrNone()
	own.Trace = traceMembers(ctx, own.Trace)
	own.Sent = func(s callinfo.Sent) { sent = s }
	result, err := c.next.CallTool(ctx, &own, server, tool, args)
	attrs.text("mcp.protocol.version", sent.Protocol)

	var failure attributes
	switch {
	case err != nil:
		failure = failureAttributes(ctx, err)
	case result.Reply.Get("isError").Bool():
		failure.text("error.type", toolError)
	}
	if span.IsRecording() {
		span.SetAttributes(failure...)
		span.SetAttributes(sentAttributes(sent)...)
		if err != nil {
			span.SetStatus(codes.Error, c.text(info, err.Error()))
		}
		span.SetAttributes(attribute.Int("mcpgraph.call.attempts", result.Attempts), attribute.Bool("mcpgraph.call.from_cache", result.FromCache))
		span.SetAttributes(c.arguments(info, "gen_ai.tool.call.arguments", server, tool, args)...)
		span.SetAttributes(c.show(info, "gen_ai.tool.call.result", result.Reply)...)
	}
	observe(ctx, c.metrics.call, began, append(attrs, failure...))
	return result, err
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

func sentAttributes(s callinfo.Sent) (attrs attributes) {
	attrs.text("mcp.protocol.version", s.Protocol)
	attrs.text("mcp.session.id", s.Session)
	attrs.text("jsonrpc.request.id", s.ID)
	return attrs
}
