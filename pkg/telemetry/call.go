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

	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/upstream"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Caller returns a caller that calls through next: each call becomes a span of
// kind CLIENT and a measurement, and carries the span to the server.
func (r *Recorder) Caller(next graph.Caller) graph.Caller { return &caller{r, next} }

type caller struct {
	*Recorder
	next graph.Caller
}

func (c *caller) CallTool(ctx context.Context, server, tool string, args value.Value) (graph.ToolResult, error) {
	began := time.Now()
	at := c.subject.Server(server)
	attrs := attributes{
		attribute.String("mcp.method.name", callMethod),
		attribute.String("gen_ai.operation.name", "execute_tool"),
		attribute.String("gen_ai.tool.name", tool),
		attribute.String("mcpgraph.server", server),
	}
	attrs.text("network.transport", at.Transport)
	attrs.text("server.address", at.Address)
	attrs.port(at.Port)
	ctx, span := c.tracer.Start(ctx, callMethod+" "+tool, trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(slices.Concat(attrs, c.show("gen_ai.tool.call.arguments", args))...))
	defer span.End() // also where the call panics
	result, err := c.next.CallTool(pass(ctx), server, tool, args)

	var failure attributes
	var rpc *upstream.RPCError
	switch {
	case err != nil:
		failure.text("error.type", errorType(ctx, err))
		if errors.As(err, &rpc) {
			failure.text("rpc.response.status_code", strconv.Itoa(rpc.Code))
		}
	case result.Reply.Get("isError").Bool():
		failure.text("error.type", toolError)
	}
	if span.IsRecording() {
		span.SetAttributes(failure...)
		if err != nil {
			span.SetStatus(codes.Error, c.text(err.Error()))
		}
		span.SetAttributes(attribute.Int("mcpgraph.call.attempts", result.Attempts), attribute.Bool("mcpgraph.call.from_cache", result.FromCache))
		span.SetAttributes(c.show("gen_ai.tool.call.result", result.Reply)...)
	}
	observe(ctx, c.metrics.call, began, append(attrs, failure...))
	return result, err
}
