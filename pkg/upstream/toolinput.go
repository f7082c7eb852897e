package upstream

import (
	"context"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
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

// Input returns the schema of the arguments of a tool as calls with info are compared with
// it: the one that the server has listed, else that of the lock file. It is nil if the
// schema is not known. info may be nil.
func (p *Pool) Input(info *callinfo.Info, server, tool string) Input {
	s := p.servers[server]
	if s == nil {
		return nil
	}
	id := s.credentials.Expect(info.OrNone())
	s.mu.Lock()
	slot := s.slots[id]
	s.mu.Unlock()
	if slot != nil {
		if in := slot.hints.input(s.entry.NamePrefix + tool); in != nil {
			return in
		}
	}
	if s.lockedInput == nil {
		return nil
	}
	return s.lockedInput(server, tool)
}

// CheckCall returns why [Pool.CallTool] would send nothing for a call: the server or the
// tool is none that may be called, or the arguments do not fit the tool. It asks no server.
// If info is nil, only the schema of the lock file counts, so every process that has the
// same file says the same.
func (p *Pool) CheckCall(ctx context.Context, info *callinfo.Info, server, tool string, args value.Value) error {
	s, err := p.server("call", server, tool)
	if err == nil {
		err = p.notLocked(s, tool)
	}
	if err != nil {
		return err
	}
	var in Input
	if info != nil {
		in = p.Input(info, server, tool)
	} else if s.lockedInput != nil {
		in = s.lockedInput(server, tool)
	}
	if in == nil {
		return nil
	}
	return s.checkArguments(withInfo(ctx, info), in, tool, args)
}

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

// checkArguments compares arguments with the schema of their tool. The redactors learn the
// secrets among them.
func (s *server) checkArguments(ctx context.Context, in Input, tool string, args value.Value, redactors ...callinfo.Secrets) error {
	if args.Kind() != value.Object {
		args = value.FromEntries(nil) // as they are sent
	}
	if secrets := in.Secrets(args); len(secrets) > 0 {
		for _, r := range append(redactors, infoOf(ctx).Secrets) {
			if r != nil {
				r.LearnArguments(secrets...)
			}
		}
	}
	wrong, at, err := in.Check(ctx, args)
	if err != nil {
		return wire.NotWritten(err)
	}
	if wrong == "" {
		return nil
	}
	e := &argumentsError{at}
	return s.newError("call", tool, e.Error()+": "+wrong, "", e)
}
