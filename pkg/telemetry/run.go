package telemetry

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Hooks observe runs: each becomes a span of kind INTERNAL, and below it each
// execution of a node another one.
func (r *Recorder) Hooks() executor.Hooks {
	return executor.Hooks{RunStart: r.runStart, RunDone: r.runDone, NodeStart: r.nodeStart, NodeDone: r.nodeDone}
}

func (r *Recorder) runStart(ctx context.Context, run *executor.Run) (context.Context, error) {
	tool := run.Graph().Name
	attrs := attributes{attribute.String("gen_ai.operation.name", "invoke_workflow"), attribute.String("gen_ai.workflow.name", tool)}
	if q := server.RequestOf(ctx); q != nil {
		attrs.text("mcpgraph.run.id", q.Run())
		attrs.text("enduser.id", q.Caller)
	}
	ctx, _ = r.tracer.Start(ctx, "invoke_workflow "+tool, trace.WithAttributes(attrs...))
	return ctx, nil
}

func (r *Recorder) runDone(ctx context.Context, run *executor.Run, err error) {
	span := trace.SpanFromContext(ctx)
	if span.IsRecording() {
		span.SetAttributes(attribute.Int("mcpgraph.run.executions", run.Len()))
		span.SetAttributes(r.show(ctx, "mcpgraph.run.arguments", run.Args())...)
		span.SetAttributes(r.show(ctx, "mcpgraph.run.result", run.Result())...)
		if err != nil {
			r.failed(ctx, span, err)
		}
	}
	span.End()
}

func (r *Recorder) nodeStart(ctx context.Context, _ *executor.Run, t executor.Task) (context.Context, error) {
	n := t.Node()
	ctx, _ = r.tracer.Start(ctx, n.Kind.Name+" "+n.ID, trace.WithAttributes(
		attribute.String("mcpgraph.node.id", n.ID),
		attribute.String("mcpgraph.node.type", n.Kind.Name),
		attribute.Int("mcpgraph.execution.index", t.Execution())))
	return ctx, nil
}

func (r *Recorder) nodeDone(ctx context.Context, _ *executor.Run, rec executor.Record) {
	span := trace.SpanFromContext(ctx)
	if !span.IsRecording() {
		span.End()
		return
	}
	if rec.Attempts > 0 || rec.FromCache {
		span.SetAttributes(
			attribute.Int("mcpgraph.call.attempts", rec.Attempts),
			attribute.Bool("mcpgraph.call.from_cache", rec.FromCache))
	}
	if rec.Via != "" {
		span.SetAttributes(
			attribute.String("mcpgraph.edge", rec.Via),
			attribute.String("mcpgraph.edge.target", rec.Next))
	}
	span.SetAttributes(r.show(ctx, "mcpgraph.node.output", rec.Output)...)
	if rec.Err != nil {
		r.failed(ctx, span, rec.Err)
		// The event has the text that the status and the client have, secrets
		// aside, not the one of span.RecordError.
		span.AddEvent("exception", trace.WithAttributes(
			attribute.String("exception.type", fmt.Sprintf("%T", cause(rec.Err))),
			attribute.String("exception.message", r.message(ctx, rec.Err))))
	}
	span.End()
}

// failed marks a span as that of something that failed.
func (r *Recorder) failed(ctx context.Context, span trace.Span, err error) {
	span.SetAttributes(attribute.String("error.type", errorType(ctx, err)))
	span.SetStatus(codes.Error, r.message(ctx, err))
}

// message returns the text of an error. What a node sent is left out of it where
// content may not be shown.
func (r *Recorder) message(ctx context.Context, err error) string {
	if node, ok := err.(*executor.NodeError); ok && !r.content {
		own := *node
		own.Arguments = value.Undef
		err = &own
	}
	return r.text(ctx, err.Error())
}
