package upstream

import (
	"context"
	"errors"

	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/credential"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/policy"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/wire"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// operation is one thing that a caller asks of a server: the call of a tool, or a
// request for a prompt, a resource, a completion or a list of them.
type operation struct {
	policy.Operation
	op   string // as in Error
	tool string // that is called; empty if it is no tool
	run  runner
	// abandon is called at the end; it may be nil.
	abandon func(context.Context)
}

// runner makes the requests of an operation on a session, each of them through pass.
type runner func(ctx context.Context, s *session, call *credential.Call, pass passer) (value.Value, error)

// passer makes a request as soon as the layers let it through.
type passer func(request func() (value.Value, error)) (value.Value, error)

// callOf returns the operation that calls a tool.
func callOf(tool string, args value.Value) operation {
	t := &taskCall{tool: tool}
	return operation{
		abandon:   t.abandon,
		Operation: policy.Operation{Name: tool, Args: args}, op: "call", tool: tool,
		run: func(ctx context.Context, s *session, call *credential.Call, pass passer) (value.Value, error) {
			if err := s.checkLock(ctx, call, tool); err != nil {
				return value.Value{}, err
			}
			if err := s.checkArguments(ctx, tool, args); err != nil {
				return value.Value{}, err
			}
			reply, err := s.callTool(ctx, call, t, args, pass)
			if err == nil {
				reply = unwrapped(reply)
				err = checkResult(reply)
			}
			if err == nil && call.Token != "" {
				err = refusedReply(reply)
			}
			return reply, err
		},
	}
}

// perform performs an operation, through the layers between a caller and the wire.
func (s *server) perform(ctx context.Context, o operation) (_ Result, err error) {
	s.counters.calls.Add(1)
	defer func() {
		if err != nil {
			s.counters.errors.Add(1)
		}
	}()
	if s.entry.MaxCallTime > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, s.entry.MaxCallTime, KindCallTime)
		defer cancel()
	}
	if o.abandon != nil {
		defer o.abandon(ctx)
	}
	if s.intercept != nil && o.tool != "" {
		return s.performIntercepted(ctx, o)
	}
	call, err := s.credentials.Resolve(ctx, infoOf(ctx))
	if err != nil {
		return Result{}, s.requestError(ctx, o.op, o.tool, nil, 0, err)
	}
	learnSecrets(ctx, call)
	result, err := s.layers.Call(ctx, string(call.Identity), o.Operation, func(ctx context.Context) (reply value.Value, sent int, err error) {
		reply, call, sent, err = s.try(ctx, call, o, false)
		return reply, sent, err
	})
	return Result(result), err
}

// try asks the server once, or once more where it had forgotten the session or
// refused the credentials. It returns the credentials that were used last, and how many
// requests went out. If passed is set, the call has passed the rate limits and holds
// a slot. Errors are *[Error].
func (s *server) try(ctx context.Context, call *credential.Call, o operation, passed bool) (reply value.Value, _ *credential.Call, sent int, err error) {
	pass := func(request func() (value.Value, error)) (value.Value, error) {
		counted := func() (value.Value, error) {
			reply, err := request()
			if !errors.Is(err, wire.ErrNotWritten) {
				sent++
			}
			return reply, err
		}
		if passed {
			return counted()
		}
		return s.layers.Pass(ctx, string(call.Identity), o.Name, counted)
	}
	call, err = s.runOnSession(ctx, call, o.op, o.tool, func(ctx context.Context, session *session, call *credential.Call) (err error) {
		reply, err = o.run(ctx, session, call, pass)
		return err
	})
	var refused *refusedReplyError
	if errors.As(err, &refused) {
		err = nil // there is no other credential, or it must not be repeated: the result is what the tool says
	}
	if err != nil {
		return value.Value{}, call, sent, err
	}
	return s.cleanReply(ctx, reply, call), call, sent, nil
}
