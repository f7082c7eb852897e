package telemetry

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

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

func sentAttributes(s callinfo.Sent) (attrs attributes) {
	attrs.text("mcp.protocol.version", s.Protocol)
	attrs.text("mcp.session.id", s.Session)
	attrs.text("jsonrpc.request.id", s.ID)
	return attrs
}
