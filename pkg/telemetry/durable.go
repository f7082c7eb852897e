package telemetry

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// DurableRun observes one run that several processes drive, one after the other. All of
// them make the same spans, with ids that derive from that of the run: the tracer
// provider must use [IDs]. The spans are those of [Recorder.Hooks]. It is not safe for
// concurrent use.
type DurableRun struct {
	runObserver
	run     *executor.Run
	ctx     context.Context // with the span of the run
	own     bool            // the span has the id that it should have
	retried map[string][]executor.Record
}

// extracted returns a context with the span that members of _meta name as its remote
// parent.
func extracted(ctx context.Context, members []value.Entry) context.Context {
	carrier := propagation.MapCarrier{}
	for _, e := range members {
		carrier[e.Key] = e.Value.Str()
	}
	return propagator.Extract(ctx, carrier)
}

// beneath returns a context with the span of an execution; that of the run if the id
// is empty.
func (o *DurableRun) beneath(execution string) context.Context {
	if execution == "" || !o.own {
		return o.ctx
	}
	at := trace.SpanContextFromContext(o.ctx).WithSpanID(spanIDOf(o.info.RunID, execution))
	return trace.ContextWithSpanContext(o.ctx, at)
}

// Trace returns the members of _meta that carry the span of the execution of a task to
// its call.
func (o *DurableRun) Trace(t executor.Task) []value.Entry {
	return traceMembers(o.beneath(t.Instance()), o.info.Trace)
}

// Recorded notes a record of the run: of the execution of t, if that is not over. What it
// returns makes the span of the execution, nil if none is due.
func (o *DurableRun) Recorded(t executor.Task, rec executor.Record) (report func()) {
	id, within := t.Instance(), t.Within()
	retried := o.noteRetry(rec)
	if rec.Event == executor.Retried {
		return nil
	}
	return func() {
		if !o.made.first(spanIDOf(o.info.RunID, id)) {
			return
		}
		ctx := o.startNode(withIDs(o.beneath(within), o.info.RunID, id), t, trace.WithTimestamp(rec.Start))
		for _, one := range retried {
			o.nodeRetry(ctx, o.run, one)
		}
		o.nodeDone(ctx, o.run, rec)
	}
}

// noteRetry keeps the attempts that failed of executions under way, and returns those of
// an execution that is over.
func (o *DurableRun) noteRetry(rec executor.Record) []executor.Record {
	id := rec.ExecutionID()
	all := o.retried[id]
	switch rec.Event {
	case executor.Retried:
		o.retried[id] = append(all, rec)
	case executor.Done, executor.Cancelled:
		delete(o.retried, id)
	}
	return all
}

// Lost returns what makes the span of a call that another process began and did not end,
// because it was lost, and counts the call.
func (o *DurableRun) Lost(t executor.Task, callID string, began, noticed time.Time) (report func()) {
	n, execution := t.Node(), t.Instance()
	return func() {
		if !o.made.first(spanIDOf(o.info.RunID, callID)) {
			return
		}
		ctx, span, attrs := o.startCall(withIDs(o.beneath(execution), o.info.RunID, callID), n.Server, n.Tool, trace.WithTimestamp(began))
		failure := attribute.String("error.type", graph.FailUnknown)
		span.SetAttributes(failure)
		span.SetStatus(codes.Error, "the worker that made the call was lost")
		span.End(trace.WithTimestamp(noticed))
		observe(ctx, o.metrics.call, time.Now().Add(began.Sub(noticed)), append(attrs, failure))
	}
}

// Ended returns what makes the span of the run, which has ended at a time with err.
func (o *DurableRun) Ended(err error, at time.Time) (report func()) {
	return func() {
		if o.made.first(spanIDOf(o.info.RunID, "")) {
			o.endRun(o.ctx, o.run, err, trace.WithTimestamp(at))
		}
	}
}
