package engine

import (
	"context"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// CannotAsk returns the failure of a question that cannot be asked.
func CannotAsk(why string) *graph.Failure {
	return &graph.Failure{Name: graph.FailCannotAsk, Message: "nobody can be asked: " + why}
}

var errNobody = CannotAsk("the caller answers no questions (Go programs: WithAsk)")

// asker returns what a driver asks people with.
func (p *Program) asker(info *callinfo.Info, ask AskFunc) func(context.Context, *executor.Run, executor.Question) (value.Value, error) {
	if ask == nil {
		return nobody
	}
	return func(ctx context.Context, _ *executor.Run, q executor.Question) (value.Value, error) {
		return ask(ctx, p.Shown(info, q))
	}
}

func nobody(context.Context, *executor.Run, executor.Question) (value.Value, error) {
	return value.Undef, errNobody
}

// Shown implements [runs.Program]: what is asked before a call quotes its arguments, and
// prompts quote what tools returned. Both can have secrets of the file.
func (p *Program) Shown(info *callinfo.Info, q executor.Question) executor.Question {
	switch {
	case q.Node.Approval != nil:
		// Before they are shortened: no secret may be cut in two.
		return q.WithArguments(p.engine.RedactValue(info, q.Arguments))
	case q.Method == graph.AskModel:
		q.Value = p.engine.RedactValue(info, q.Value)
	}
	return q
}

// apart returns a copy of the arguments of a call that may be parked. They would
// keep the whole message of the client alive.
func apart(ctx context.Context, args value.Value) (value.Value, error) {
	account := memory.AccountOf(ctx)
	if err := account.Grow(int64(args.TextSize())); err != nil {
		return args, err
	}
	args = args.Apart()
	if account != nil {
		args = args.Metered(account)
	}
	return args, nil
}
