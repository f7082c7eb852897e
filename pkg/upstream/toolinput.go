package upstream

import (
	"context"

	"github.com/mcpgraph/mcpgraph/pkg/upstream/internal/wire"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Input is the inputSchema of a tool, with which the arguments of a call are compared
// before they are sent. It must be safe for concurrent use.
type Input interface {
	// Check returns what is wrong with arguments, in words without their values, and the
	// paths to those that it is about; empty if they fit. The error is that of a check
	// that was given up.
	Check(ctx context.Context, args value.Value) (wrong string, at []string, err error)
	// Secrets returns the values among arguments that the schema declares as secrets, to
	// redact them.
	Secrets(args value.Value) []string
}

// argumentsError says that the arguments of a call do not fit its tool.
type argumentsError struct{ at []string }

func (*argumentsError) Error() string { return KindArguments.Error() }

func (*argumentsError) failureKind() Kind { return KindArguments }

// checkArguments returns why a call with these arguments is not sent, and notes the
// secrets among them. It knows the tool if its server has been asked for its tools, and
// never asks only for that.
func (s *session) checkArguments(ctx context.Context, tool string, args value.Value) error {
	if s.peer.mirrors {
		if _, err := s.listedHeaders(ctx); err != nil { // the call needs them in any case
			return wire.NotWritten(err)
		}
	}
	in := s.hints.input(s.server.entry.NamePrefix + tool)
	if in == nil {
		return nil
	}
	return s.server.checkArguments(ctx, in, tool, args, s.redactor())
}
