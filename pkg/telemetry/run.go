package telemetry

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
)

// runObserver records the run of one call.
type runObserver struct {
	*Recorder
	info *callinfo.Info
	// past is true if spans are made of what has happened, with the times that
	// records have.
	past bool
}

func (r *runObserver) runStart(ctx context.Context, run *executor.Run) (context.Context, error) {
	return r.startRun(ctx, run), nil
}

func (r *runObserver) startRun(ctx context.Context, run *executor.Run, opts ...trace.SpanStartOption) context.Context {
	tool := run.Graph().Name
	attrs := attributes{attribute.String("gen_ai.operation.name", "invoke_workflow"), attribute.String("gen_ai.workflow.name", tool)}
	attrs.text("mcpgraph.run.id", r.info.RunID)
	attrs.text("enduser.id", r.info.Caller)
	ctx, _ = r.tracer.Start(ctx, "invoke_workflow "+tool, append(opts, trace.WithAttributes(attrs...))...)
	return ctx
}

func (r *runObserver) runDone(ctx context.Context, run *executor.Run, err error) {
	r.endRun(ctx, run, err)
}

func (r *runObserver) endRun(ctx context.Context, run *executor.Run, err error, opts ...trace.SpanEndOption) {
	span := trace.SpanFromContext(ctx)
	if span.IsRecording() {
		span.SetAttributes(attribute.Int("mcpgraph.run.executions", run.Len()))
		span.SetAttributes(r.arguments(r.info, "mcpgraph.run.arguments", "", run.Graph().Name, run.Args())...)
		span.SetAttributes(r.show(r.info, "mcpgraph.run.result", run.Result())...)
		switch {
		case errors.Is(err, executor.ErrParked): // it goes on with another call
			span.SetAttributes(attribute.Bool("mcpgraph.run.parked", true))
		case err != nil:
			r.failed(ctx, span, err)
		}
	}
	span.End(opts...)
}

func (r *runObserver) nodeStart(ctx context.Context, _ *executor.Run, t executor.Task) (context.Context, error) {
	return r.startNode(ctx, t), nil
}

func (r *runObserver) startNode(ctx context.Context, t executor.Task, opts ...trace.SpanStartOption) context.Context {
	n := t.Node()
	attrs := attributes{
		attribute.String("mcpgraph.node.id", n.ID),
		attribute.String("mcpgraph.node.type", n.Kind.Name),
		attribute.Int("mcpgraph.execution.index", t.Execution()),
	}
	if path := t.Path(); path != n.ID {
		attrs.text("mcpgraph.node.path", path)
	}
	if index, branch, ok := t.Body(); ok && branch != "" {
		attrs.text("mcpgraph.body.branch", branch)
	} else if ok {
		attrs = append(attrs, attribute.Int("mcpgraph.body.index", index))
	}
	ctx, _ = r.tracer.Start(ctx, n.Kind.Name+" "+n.ID, append(opts, trace.WithAttributes(attrs...))...)
	return ctx
}

// nodeRetry adds an event for an attempt that failed and is made again.
func (r *runObserver) nodeRetry(ctx context.Context, _ *executor.Run, rec executor.Record) {
	span := trace.SpanFromContext(ctx)
	if !span.IsRecording() {
		return
	}
	r.event(span, rec, "retry",
		attribute.Int("mcpgraph.retry.attempt", rec.Try),
		attribute.Int64("mcpgraph.retry.delay_ms", rec.Until.Sub(rec.End).Milliseconds()),
		attribute.String("error.type", errorType(ctx, rec.Err)),
		attribute.String("exception.message", r.message(rec.Err)))
}

// event adds what a record tells to the span of its execution.
func (r *runObserver) event(span trace.Span, rec executor.Record, name string, attrs ...attribute.KeyValue) {
	opts := []trace.EventOption{trace.WithAttributes(attrs...)}
	if r.past {
		opts = append(opts, trace.WithTimestamp(rec.End))
	}
	span.AddEvent(name, opts...)
}

func (r *runObserver) nodeDone(ctx context.Context, run *executor.Run, rec executor.Record) {
	span := trace.SpanFromContext(ctx)
	if r.past {
		defer span.End(trace.WithTimestamp(rec.End))
	} else {
		defer span.End()
	}
	if !span.IsRecording() {
		return
	}
	if rec.Attempts > 0 || rec.FromCache {
		span.SetAttributes(
			attribute.Int("mcpgraph.call.attempts", rec.Attempts),
			attribute.Bool("mcpgraph.call.from_cache", rec.FromCache))
	}
	if rec.Try > 1 {
		span.SetAttributes(attribute.Int("mcpgraph.node.tries", rec.Try))
	}
	if rec.Via != "" {
		span.SetAttributes(
			attribute.String("mcpgraph.edge", rec.Via),
			attribute.String("mcpgraph.edge.target", rec.Next))
	}
	span.SetAttributes(r.show(r.info, "mcpgraph.node.output", run.MaskedRecord(rec).Output)...)
	if rec.Err != nil {
		r.failed(ctx, span, rec.Err)
		// The event has the text that the status and the client have, secrets
		// aside, not the one of span.RecordError.
		r.event(span, rec, "exception",
			attribute.String("exception.type", exceptionType(rec.Err)),
			attribute.String("exception.message", r.message(rec.Err)))
	}
}

// failed marks a span as that of something that failed.
func (r *runObserver) failed(ctx context.Context, span trace.Span, err error) {
	span.SetAttributes(attribute.String("error.type", errorType(ctx, err)))
	span.SetStatus(codes.Error, r.message(err))
}

// message returns the text of an error. What a node sent is left out of it where
// content may not be shown.
func (r *runObserver) message(err error) string {
	if node, ok := err.(*executor.NodeError); ok && !r.content {
		err = node.WithoutArguments()
	}
	return r.text(r.info, err.Error())
}
