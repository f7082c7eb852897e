package serving

import (
	"context"
	"errors"

	"github.com/mcpgraph/mcpgraph/internal/engine"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/server"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// call runs a tool, prompt or resource for a client. Questions of the run reach the client as the
// revision of MCP has it: in a session as requests while the call goes on, without
// one as the answer to the call, which the client then repeats with the answers.
func (s *Servers) call(ctx context.Context, p *engine.Program, r *server.Request) (value.Value, error) {
	o := engine.CallOptions{Hooks: reports(p, r), URI: r.URI}
	var given answers // that came with the call
	secret := ""
	switch state, goesOn := r.State(); {
	case goesOn:
		return s.claims.resume(ctx, p, r, state)
	case r.WantsTask() && !(r.CanAsk() && asksFirst(p, r.Tool)):
		return value.Undef, s.claims.start(ctx, p, r, "", newSecret())
	case !r.Stateless() || !r.CanAsk():
		o.Ask = Ask(r)
	case p.Asks(r.Tool):
		early, err := responses(r)
		if err != nil {
			return value.Undef, err
		}
		secret = newSecret()
		o.Park, o.Claim, given = true, newClaim(r, secret, KeepState), newAnswers(early)
	}
	result, err := p.Call(ctx, &r.Info, r.Tool, r.Args, o)
	return s.claims.finish(ctx, p, r, o, given, secret, result, err)
}

// Ask returns what asks a client in a session.
func Ask(r *server.Request) engine.AskFunc {
	return func(ctx context.Context, q executor.Question) (value.Value, error) {
		if err := r.Needs(q.Method, q.Value); err != nil {
			return value.Undef, asFailure(ctx, err)
		}
		params := q.Value
		if params.Get("mode").Str() == server.URLMode {
			params = withID(params, r.RunID+"/"+q.ID)
		}
		answer, err := r.Ask(ctx, q.Method, params)
		return answer, asFailure(ctx, err)
	}
}

// withID adds what names a visit (MCP 2025-11-25, Elicitation, URL mode).
func withID(params value.Value, id string) value.Value {
	b := value.NewBuilder(params.Len() + 1)
	for _, e := range params.Entries() {
		b.Set(e.Key, e.Value)
	}
	b.Set("elicitationId", value.FromString(id))
	return b.Value()
}

// asFailure returns the failure of a question that was not answered.
func asFailure(ctx context.Context, err error) error {
	var failed *graph.Failure
	var missing *server.MissingCapabilityError
	switch {
	case err == nil, ctx.Err() != nil, errors.As(err, &failed):
		return err
	case errors.As(err, &missing):
		return &unaskableError{cannotAsk(missing), missing}
	case errors.Is(err, server.ErrRefused):
		return &graph.Failure{Name: graph.FailDeclined, Message: err.Error()}
	}
	return engine.CannotAsk(err.Error())
}

// cannotAsk returns the failure of a question that the client cannot answer. Its data
// says why wherever the failure goes.
func cannotAsk(missing *server.MissingCapabilityError) *graph.Failure {
	f := engine.CannotAsk(missing.Error())
	f.Data = value.FromEntries([]value.Entry{{Key: requiredCapabilities, Value: missing.Capabilities}})
	return f
}

const requiredCapabilities = "requiredCapabilities"

// withMissing returns err, or if it is such a failure that comes from somewhere else, an
// error that says which capability is missing.
func withMissing(err error) error {
	if errors.As(err, new(*server.MissingCapabilityError)) {
		return err
	}
	f := executor.FailureOf(err)
	missing := f.Data.Get(requiredCapabilities)
	if f.Name != graph.FailCannotAsk || missing.Kind() != value.Object {
		return err
	}
	return &missingError{err, &server.MissingCapabilityError{Capabilities: missing}}
}

// missingError is a failure, and which capability is missing.
type missingError struct {
	error
	missing *server.MissingCapabilityError
}

// Unwrap returns the failure, and what is missing.
func (e *missingError) Unwrap() []error { return []error{e.error, e.missing} }

// unaskableError is the failure of a question that the client cannot answer for want
// of a capability. If nothing handles it the client hears which one.
type unaskableError struct {
	*graph.Failure
	missing *server.MissingCapabilityError
}

// Unwrap returns the failure, and what is missing.
func (e *unaskableError) Unwrap() []error { return []error{e.Failure, e.missing} }
