package durable

import (
	"context"
	"regexp"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Telemetry observes the runs of a worker. It must be safe for concurrent use.
type Telemetry interface {
	// Observe begins to observe a run that began at a time. info has the id of the run
	// and, in Trace, what the run is part of.
	Observe(info *callinfo.Info, run *executor.Run, began time.Time) Observer
	// DescribeError returns what other workers have to know of the error of a call to
	// report it: its error.type and exception.type.
	DescribeError(ctx context.Context, err error) (errorType, exceptionType string)
}

// Observer observes a run that several workers drive, one after the other. Each of them
// tells its own Observer everything from the beginning. Functions that it returns report
// something; they are called once for all workers, and may be nil.
type Observer interface {
	// Trace returns the members of _meta with which a call of the execution is sent.
	Trace(t executor.Task) []value.Entry
	// Recorded is told of a record of the execution of t that Settle returned.
	Recorded(t executor.Task, rec executor.Record) (report func())
	// Lost is told of a call whose worker was lost, by the ID of its activity.
	Lost(t executor.Task, callID string, began, noticed time.Time) (report func())
	// Ended is told of the end of the run.
	Ended(err error, at time.Time) (report func())
}

// observe begins to observe the run of a workflow.
func (d *driving) observe(ctx workflow.Context) error {
	d.began = d.in.Began
	if d.began.IsZero() {
		d.began = workflow.GetInfo(ctx).WorkflowStartTime
	}
	if d.telemetry == nil {
		return nil
	}
	info, err := d.in.Caller.info()
	if err != nil {
		return err
	}
	trace, err := parsed(d.in.Trace)
	if err != nil {
		return err
	}
	info.RunID, info.Trace = workflow.GetInfo(ctx).WorkflowExecution.ID, trace.Entries()
	d.observer = d.telemetry.Observe(info, d.run, d.began)
	return nil
}

// traceOf returns the trace for what the execution of a task causes.
func (d *driving) traceOf(t executor.Task) []byte {
	if d.observer == nil {
		return d.in.Trace
	}
	if members := d.observer.Trace(t); len(members) > 0 {
		return raw(value.FromEntries(members))
	}
	return nil
}

// report has what happened reported with the end of the step, unless the worker before
// has done so. A step that fails is done again, and must not have reported anything.
func (d *driving) report(f func()) {
	if f != nil && !workflow.IsReplaying(d.ctx) {
		d.reports = append(d.reports, f)
	}
}

// reported ends a step.
func (d *driving) reported() {
	for _, f := range d.reports {
		f()
	}
	d.reports = nil
}

// validTraceparent is what travels of a trace without a key: it has no room for anything
// else (W3C Trace Context, 3.2).
var validTraceparent = regexp.MustCompile(`^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$`)

// traceFor returns the trace of a request as it travels: tracestate and baggage are what
// callers send, and need the key of the deployment.
func traceFor(info *callinfo.Info, sealed bool) []byte {
	if info == nil {
		return nil
	}
	var members []value.Entry
	for _, e := range info.Trace {
		if sealed || e.Key == "traceparent" && validTraceparent.MatchString(e.Value.Str()) {
			members = append(members, e)
		}
	}
	if len(members) == 0 {
		return nil
	}
	return raw(value.FromEntries(members))
}
