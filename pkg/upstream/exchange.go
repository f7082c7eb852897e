package upstream

import (
	"context"
	"errors"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/credential"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/wire"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Exchange is one exchange of a tool call with its server. A call that its server's
// entry retries has several of them; one that the cache answers has none.
type Exchange struct {
	Info *callinfo.Info // what the call carries about its caller; not nil
	// Server is the name of the entry, and Tool that of the tool as a graph calls it,
	// without namePrefix.
	Server, Tool string
	Args         value.Value // as the graph sends them
}

// Intercept stands between the policies of a server's entry (cache, circuit breaker,
// retry, rate limit, limit of concurrent calls), which act on what it returns, and
// credentials, sessions and the wire. It returns what next returns, or something else
// without calling it. Without a call of next no server is started, no credential is
// fetched, and no tools are listed.
//
// Next makes the exchange. Its errors are *[Error], its replies whole result objects
// of tools/call. Intercept calls it at most once and returns after it has.
//
// An Intercept may return these errors:
//
//   - a *[Failure], which fails the call like the real failure of that name
//   - the error of next
//   - an error of ctx, if that is done
//   - any other error: the call fails with it, and no policy repeats the call or
//     counts it against the server. Rules of a graph see the name that a method
//     FailureName() string of it returns.
//
// It is called by several goroutines at once. It must return soon after ctx is done.
type Intercept func(ctx context.Context, x Exchange, next func(context.Context) (value.Value, error)) (value.Value, error)

// performIntercepted calls a tool through the layers, with the interceptor in the place
// of the server.
func (s *server) performIntercepted(ctx context.Context, o operation) (Result, error) {
	id := string(s.credentials.Expect(infoOf(ctx)))
	result, err := s.layers.Call(ctx, id, o.Operation, func(ctx context.Context) (reply value.Value, sent int, err error) {
		reply, err = s.layers.Pass(ctx, id, o.Name, func() (reply value.Value, err error) {
			reply, sent, err = s.exchange(ctx, o)
			return reply, err
		})
		return reply, sent, err
	})
	return Result(result), err
}

// exchange lets the interceptor make one exchange, and returns how many requests went
// out, or would have gone out to a server that answers like it.
func (s *server) exchange(ctx context.Context, o operation) (reply value.Value, sent int, err error) {
	info, tool := infoOf(ctx), o.tool
	asked := false
	if s.lockedInput != nil {
		if in := s.lockedInput(s.entry.Name, tool); in != nil {
			if err := s.checkArguments(ctx, in, tool, o.Args); err != nil {
				return value.Undef, 0, err
			}
		}
	}
	reply, err = s.intercept(ctx, Exchange{Info: info, Server: s.entry.Name, Tool: tool, Args: o.Args}, func(ctx context.Context) (value.Value, error) {
		asked = true
		ctx = withInfo(ctx, info)
		call, err := s.credentials.Resolve(ctx, info)
		if err != nil {
			return value.Undef, s.requestError(ctx, "call", tool, nil, 0, err)
		}
		learnSecrets(ctx, call)
		reply, _, n, err := s.try(ctx, call, o, true)
		sent += n
		return reply, err
	})
	own := &credential.Call{Secrets: s.credentials.Forwardable(info)}
	if err != nil {
		err = s.cleanError(ctx, s.interceptedError(ctx, tool, err), own)
		var answered *Error
		if !asked && errors.As(err, &answered) && answered.FailureCode() != "" {
			sent = 1
		}
		return value.Undef, sent, err
	}
	if asked {
		return reply, sent, nil
	}
	if reply.Kind() != value.Object {
		return value.Undef, 1, s.requestError(ctx, "call", tool, nil, 0, wire.ErrMalformed)
	}
	if held := memory.AccountOf(ctx); held != nil {
		if err := held.Grow(int64(reply.TextSize())); err != nil {
			return value.Undef, 1, s.requestError(ctx, "call", tool, nil, 0, err)
		}
		reply = reply.Metered(held)
	}
	return s.cleanReply(ctx, reply, own), 1, nil
}

// interceptedError returns the error of a call whose interceptor returned err.
func (s *server) interceptedError(ctx context.Context, tool string, err error) error {
	var failure *Failure
	var already *Error
	switch {
	case errors.As(err, &failure):
		return s.failed(ctx, tool, failure)
	case errors.As(err, &already):
		return err
	case ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx))):
		return s.stoppedError(ctx, "call", tool, "before it was answered")
	}
	return err
}
