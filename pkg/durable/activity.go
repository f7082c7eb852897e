package durable

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// calls makes the calls of upstream tools.
type calls struct {
	source Source
	client *Client
	memory *memory.Budget
	log    *slog.Logger
	beat   time.Duration // how often a call gives a sign of life at most
	// mark lets Temporal know that a call begins, before it begins.
	mark func(ctx context.Context, as said) error

	telemetry Telemetry // may be nil

	waits atomic.Int64 // for the end of runs
}

// call is the activity. Its error is an *ApplicationError whose details are a
// callReply.
func (c *calls) call(ctx context.Context, in *callRequest) (*callReply, error) {
	if in == nil { // from another program of the namespace
		return nil, refused(&graph.Failure{Name: graph.FailArguments, Message: "the activity has no input"}, &callReply{})
	}
	info, err := in.Caller.info()
	if err != nil {
		return nil, err
	}
	trace, err := parsed(in.Trace)
	if err != nil {
		return nil, err
	}
	info.RunID, info.IdempotencyKey, info.Trace = in.Run, in.Key, trace.Entries()
	info.CallID = activity.GetInfo(ctx).ActivityID
	args, err := parsed(in.Args)
	if err != nil {
		return nil, err
	}
	stop := c.beatFor(ctx, info, in)
	defer stop()
	if in.Again && !c.source.MayRepeat(ctx, info, in.Server, in.Tool) {
		if ctx.Err() != nil {
			return nil, temporal.NewCanceledError()
		}
		return nil, refused(unknownFailure(in), nil)
	}
	if err := c.mark(ctx, said{Call: info.CallID, Server: in.Server, Tool: in.Tool}); err != nil {
		if ctx.Err() != nil || temporal.IsCanceledError(err) {
			return nil, temporal.NewCanceledError()
		}
		return nil, temporal.NewNonRetryableApplicationError("the call has not begun: Temporal could not be told", notBegun, err)
	}
	account := c.memory.Account(info.Caller)
	defer account.Close()
	callCtx, cancel := memory.WithAccount(ctx, account)
	defer cancel()
	result, err := c.made(callCtx, info, in, args)
	if err == nil {
		if err = account.Err(); err != nil {
			err = &graph.Failure{Name: graph.FailInterrupted, Message: err.Error()}
		}
	}
	out := &callReply{Attempts: result.Attempts, FromCache: result.FromCache, Times: attemptsOf(result.AttemptTimes)}
	out.Reports, out.Secrets = stop(), c.source.SecretArguments(info, in.Server, in.Tool, args)
	for i := range out.Times {
		out.Times[i].Error = c.source.Redact(info, out.Times[i].Error)
	}
	switch {
	case ctx.Err() != nil && stopped(ctx):
		return nil, temporal.NewNonRetryableApplicationError("the worker was stopped during the call", stopping, nil)
	case ctx.Err() != nil:
		return nil, temporal.NewCanceledError()
	case err != nil:
		if c.telemetry != nil {
			out.ErrorType, out.ExceptionType = c.telemetry.DescribeError(callCtx, err)
		}
		return nil, c.refused(info, out, err)
	}
	if out.Reply = raw(result.Reply); len(out.Reply) > in.MaxValue {
		out.Reply = nil
		return nil, c.refused(info, out, tooLarge("the reply", len(raw(result.Reply)), in.MaxValue))
	}
	return out, nil
}

// made makes the call. A panic is an error.
func (c *calls) made(ctx context.Context, info *callinfo.Info, in *callRequest, args value.Value) (result graph.ToolResult, err error) {
	defer func() {
		if p := recover(); p != nil {
			c.log.Error("a call panicked", "server", in.Server, "tool", in.Tool, "panic", p)
			err = &graph.Failure{Name: graph.FailInternal, Message: fmt.Sprintf("internal error: %v", p)}
		}
	}()
	return c.source.CallTool(ctx, info, in.Server, in.Tool, args)
}

// refused returns the error for a failed call, without secrets.
func (c *calls) refused(info *callinfo.Info, out *callReply, err error) error {
	f := failureOf(err)
	f.Message, f.Data = c.source.Redact(info, f.Message), c.source.RedactValue(info, f.Data)
	if !f.Reply.IsUndefined() {
		f.Reply = c.source.RedactValue(info, f.Reply)
		if f.Reply.TextSize() > maxFailureReply {
			f.Reply = value.Undef
		}
	}
	var later interface{ RetryAfter() time.Duration }
	if errors.As(err, &later) {
		out.RetryAfter = later.RetryAfter()
	}
	f = shortened(f)
	out.Failure = raw(f.Value())
	return refused(&graph.Failure{Name: f.Name, Message: f.Message}, out)
}

// maxFailureReply is how many bytes of the reply of a tool that failed are kept.
const maxFailureReply = 256 << 10

func tooLarge(what string, size, limit int) error {
	return &graph.Failure{
		Name:    graph.FailTooLarge,
		Message: fmt.Sprintf("%s has %d bytes, a durable run keeps at most %d of one value", what, size, limit),
	}
}

// mark records a heartbeat of the activity of ctx, and returns once Temporal has it. It
// does nothing without a client.
func (c *Client) mark(ctx context.Context, as said) error {
	if c == nil {
		return nil // workflows without a server, in tests
	}
	return c.temporal.RecordActivityHeartbeat(ctx, activity.GetInfo(ctx).TaskToken, as)
}

// notBegunFailure is that of a call that no worker could begin.
func notBegunFailure(in *callRequest) *graph.Failure {
	return &graph.Failure{
		Name:    graph.FailConnect,
		Message: fmt.Sprintf("%d workers were lost before they called tool %q of server %q", maxLost+1, in.Tool, in.Server),
	}
}

func unknownFailure(in *callRequest) *graph.Failure {
	return &graph.Failure{
		Name: graph.FailUnknown,
		Message: fmt.Sprintf("the worker that called tool %q of server %q was lost, so it is unknown whether the call happened; "+
			"a tool that is marked idempotentHint or readOnlyHint is called again", in.Tool, in.Server),
	}
}

// stopped reports whether the worker of an activity ends.
func stopped(ctx context.Context) bool {
	select {
	case <-activity.GetWorkerStopChannel(ctx):
		return true
	default:
		return false
	}
}
