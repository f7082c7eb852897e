package upstream

import (
	"context"
	"errors"
	"github.com/mcpgraph/mcpgraph/pkg/value"
	"log/slog"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/credential"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/policy"
)

type (
	// Call is one request to a server, with all of its tries.
	Call = policy.Call
	// Reply is what came of a call, also beside an error.
	Reply = policy.Reply
	// Attempt is one attempt of a call that was tried several times.
	Attempt = policy.Attempt
	// Caller makes calls.
	Caller = policy.Caller
	// Layer stands between a caller and what makes its calls.
	Layer = policy.Layer
	// Credential is what a call carries for its caller: an identity, headers, secrets.
	Credential = policy.Credential
)

// layer returns all layers of the server for a pool, from the caller inwards: count and
// maxCallTimeMs, locked name, credential, cache, breaker, retry, what stands for the
// server, recovery. What stands for a server needs no credential but its identity.
func (s *server) layer(p *Pool) Layer {
	return func(next Caller) Caller {
		next = s.recovered(next)
		if s.intercept == nil {
			next = s.identified(s.resolved, s.layers.Wrap(next))
		} else {
			next = s.standIn(s.identified(s.resolved, next))
			next = s.identified(s.expected, s.layers.Wrap(next))
		}
		if p != nil && p.lock != nil {
			next = p.locked(s, next)
		}
		return s.counted(next)
	}
}

// counted counts calls, and bounds their time (maxCallTimeMs).
func (s *server) counted(next Caller) Caller {
	return func(ctx context.Context, c *Call) (reply Reply, err error) {
		s.counters.calls.Add(1)
		if s.entry.MaxCallTime > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeoutCause(ctx, s.entry.MaxCallTime, KindCallTime)
			defer cancel()
		}
		c.Admit, c.Ask = admitAll, s.asked
		if s.layers.Admits() {
			c.Admit = func(ctx context.Context) (func(), error) { return s.layers.Admit(ctx, c, true) }
		}
		reply, err = next(ctx, c)
		if err != nil {
			s.counters.errors.Add(1)
		}
		if c.State != nil {
			c.State.End(ctx)
		}
		return reply, err
	}
}

// admitAll admits requests of entries without limits.
func admitAll(context.Context) (release func(), err error) { return func() {}, nil }

// identified adds the credential that resolve returns to calls that have none yet.
func (s *server) identified(resolve func(context.Context, *Call) (*Credential, error), next Caller) Caller {
	return func(ctx context.Context, c *Call) (_ Reply, err error) {
		if c.As, err = resolve(ctx, c); err != nil {
			return Reply{}, s.requestError(ctx, opOf(c), c.Tool(), nil, 0, err)
		}
		return next(ctx, c)
	}
}

// resolved returns the credential of a call.
func (s *server) resolved(ctx context.Context, c *Call) (*Credential, error) {
	as, err := s.credentials.Resolve(ctx, c.Info)
	if err == nil {
		learnSecrets(c.Info, as)
	}
	return as, err
}

// expected returns the identity that a call gets, without getting a credential.
func (s *server) expected(_ context.Context, c *Call) (*Credential, error) {
	return &Credential{Identity: s.credentials.Expect(c.Info), Secrets: s.credentials.Forwardable(c.Info)}, nil
}

// Recovery is what may help before a failed call is made again.
type Recovery uint8

const (
	RecoverNot   Recovery = iota
	RecoverWrite          // nothing was written, because the connection had ended: on another one
	RecoverOpen           // the server has forgotten the session: on another one
	RecoverRenew          // the server refused the credential: with another one
	recoveries
)

// recovered makes calls again after failures that something can be done about, each of
// them once in a call. After a refusal it does so only where the request itself was
// refused (Error.Unread) or may be repeated: an answer that only reads like that may be
// that of a tool which has done its work. The credential is renewed in any case. Errors
// are *[Error] without secrets.
func (s *server) recovered(next Caller) Caller {
	return func(ctx context.Context, c *Call) (Reply, error) {
		var tried [recoveries]bool
		for sent := 0; ; {
			reply, err := next(ctx, c)
			sent += reply.Sent
			reply.Sent = sent
			if err == nil {
				reply.Value = s.cleanReply(ctx, reply.Value, c.As)
				return reply, nil
			}
			e := s.failureOf(ctx, c, err)
			again := false
			if !tried[e.Recovery] {
				tried[e.Recovery] = true
				e, again = s.recover(ctx, c, e)
			} else if e.Recovery == RecoverRenew {
				e = s.requestError(ctx, e.Op, e.Tool, nil, 0, c.As.Refused(causeOf(e)))
			}
			switch told := new(refusedReplyError); {
			case again:
				continue
			case errors.As(e.raw, &told): // there is no other credential: the result is what the tool says
				reply.Value = s.cleanReply(ctx, reply.Value, c.As)
				return reply, nil
			case reply.Sent == 0 && kinds[e.Kind].fault != ofNobody:
				reply.Sent = 1 // it was tried, but the server could not be reached
			}
			return Reply{Sent: reply.Sent}, s.cleanError(ctx, e, c.As)
		}
	}
}

// recover does what may help after a failure, and reports whether the call is made again.
// It returns the failure if not.
func (s *server) recover(ctx context.Context, c *Call, e *Error) (*Error, bool) {
	switch e.Recovery {
	case RecoverWrite:
		return e, true
	case RecoverOpen:
		return e, s.again(ctx, c, e)
	case RecoverRenew:
		as, why := s.credentials.Renew(ctx, c.Info, c.As, credential.Refusal{Err: causeOf(e), Challenge: credential.ParseChallenge(e.Header)})
		if refused := new(credential.Error); errors.As(why, &refused) {
			if told := new(refusedReplyError); errors.As(e.raw, &told) {
				return e, false
			}
			return s.requestError(ctx, e.Op, e.Tool, nil, 0, why), false
		} else if why != nil {
			return e, false
		}
		c.As = as
		learnSecrets(c.Info, as)
		if s.again(ctx, c, e) {
			return e, true
		}
		edited := *e
		edited.Hint = "its credential was renewed, but the call was not repeated, because the tool may have acted on it: call it again if it may run twice. Tools that the server marks readOnlyHint or idempotentHint are repeated, others with " +
			s.entry.Setting("retryUnsafe") + ": true"
		return &edited, false
	}
	return e, false
}

// again reports whether a call that was refused may be made again.
func (s *server) again(ctx context.Context, c *Call, e *Error) bool {
	if !e.Unread && c.Tool() != "" && !s.entry.RetryUnsafe && !s.mayCallAgain(ctx, c) {
		return false
	}
	if c.Tool() != "" {
		s.counters.layers.Retries.Add(1)
	}
	return true
}

// failureOf returns the error of a call as an *[Error].
func (s *server) failureOf(ctx context.Context, c *Call, err error) *Error {
	var e *Error
	if !errors.As(err, &e) {
		return s.requestError(ctx, opOf(c), c.Tool(), nil, 0, err)
	}
	return e
}

// operations are the operations of errors by methods.
var operations = map[string]string{
	policy.MethodCall: opCall, string(mcp.MethodPromptsGet): "get", string(mcp.MethodResourcesRead): "read",
	string(mcp.MethodCompletionComplete): "complete", string(mcp.MethodResourcesSubscribe): "subscribe",
	string(mcp.MethodToolsList): "list", string(mcp.MethodPromptsList): "list", string(mcp.MethodResourcesList): "list",
	string(mcp.MethodResourcesTemplatesList): "list", string(mcp.MethodPing): "status", string(mcp.MethodInitialize): opStart,
}

// opOf returns the operation of a call as errors name it.
func opOf(c *Call) string { return operations[c.Method] }

// policyOptions returns what the server's layers are made with.
func (s *server) policyOptions() policy.Options {
	o := policy.Options{
		Entry: s.entry, Log: s.logOf, Counts: &s.counters.layers, Errors: callErrors{s}, Classify: policyFailure, Repeatable: s.repeats,
	}
	if s.entry.Cache != nil {
		o.Cached = s.budget.Account("")
	}
	return o
}

// callErrors makes the errors of calls that a layer ends. They are *[Error].
type callErrors struct{ server *server }

var _ policy.Errors = callErrors{}

func (e callErrors) Limited(c *Call, message string) error {
	return e.server.newError(opOf(c), c.Tool(), message, "", KindRateLimited)
}

func (e callErrors) Broken(c *Call, message string) error {
	return e.server.newError(opOf(c), c.Tool(), message, "", KindCircuitOpen)
}

func (e callErrors) Stopped(ctx context.Context, c *Call, when string, before error) error {
	if before == nil {
		return e.server.stoppedError(ctx, opOf(c), c.Tool(), when)
	}
	stopped := e.server.stoppedError(ctx, opOf(c), c.Tool(), when+"; before that, "+messageOf(before))
	stopped.failedLike(before) // what the server did counts, not who gave up
	return stopped
}

func (e callErrors) Amended(err error, words string) error { return withMoreWords(err, words) }

// logOf returns the logger of a call.
func (s *server) logOf(c *Call) *slog.Logger {
	if log := c.Info.Log; log != nil {
		return log.With("server", s.entry.Name)
	}
	return s.log
}

// ask makes a request that changes nothing with a caller of the server, and tells
// Options.Request of it. Errors are *[Error].
func (s *server) ask(ctx context.Context, c *Call, caller Caller) (value.Value, error) {
	done := func(error) {}
	c.Info = infoFor(ctx, c.Info)
	if s.request != nil {
		ctx, c.Info, done = s.request(ctx, c.Info, requestOf(c))
		c.Info = c.Info.OrNone()
	}
	reply, err := caller(withInfo(ctx, c.Info), c)
	err = s.errorOfRequest(err, requestOf(c), c.Info)
	done(err)
	return reply.Value, err
}

// repeats reports whether a call that failed like f may be made again although the server
// may have acted on it. An MCP server is not asked, since it may be dead or hang.
func (s *server) repeats(ctx context.Context, c *Call, f policy.Failure) bool {
	if s.isMCP() {
		return s.isRepeatable(ctx, c, f)
	}
	return s.mayCallAgain(ctx, c)
}

// mayCallAgain reports whether a call that the server may have acted on may be made again.
func (s *server) mayCallAgain(ctx context.Context, c *Call) bool {
	if r, ok := s.provider.(Repeater); ok {
		return r.MayRepeat(ctx, c)
	}
	return s.repeatable != nil && s.repeatable(c.Name)
}
