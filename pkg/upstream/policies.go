package upstream

import (
	"context"

	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/credential"
	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/policy"
)

// policyOptions returns what the server's layers are made with.
func (s *server) policyOptions() policy.Options {
	o := policy.Options{
		Entry: s.entry, Log: s.logOf, Counts: &s.counters.layers, Errors: callErrors{s}, Classify: policyFailure,
		Repeatable: func(ctx context.Context, caller, tool string, f policy.Failure) bool {
			return s.isRepeatable(ctx, credential.Identity(caller), tool, f)
		},
	}
	if s.entry.Cache != nil {
		o.Cached = s.budget.Account("")
	}
	return o
}

// callErrors makes the errors of calls that a layer ends. They are *[Error].
type callErrors struct{ server *server }

var _ policy.Errors = callErrors{}

func (e callErrors) Rejected(tool, message, hint string, cause error) error {
	return e.server.newError("call", tool, message, hint, cause)
}

func (e callErrors) Stopped(ctx context.Context, tool, when string, before error) error {
	if before == nil {
		return e.server.stoppedError(ctx, "call", tool, when)
	}
	stopped := e.server.stoppedError(ctx, "call", tool, when+"; before that, "+messageOf(before))
	stopped.failedLike(before) // what the server did counts, not who gave up
	return stopped
}

func (e callErrors) Amended(err error, words string) error { return withMoreWords(err, words) }
