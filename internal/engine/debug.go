package engine

import (
	"context"
	"errors"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/debug"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/expr"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

var errArgumentsOfFrom = errors.New("a run that goes on from another one has the arguments of that one: leave them out")

// Debug is Call for a run under control: it returns at once. ctx bounds the session. The
// program stays usable until it is over.
func (p *Program) Debug(ctx context.Context, info *callinfo.Info, tool string, args any, d debug.Options, o CallOptions) (_ *debug.Session, err error) {
	if info == nil {
		info = &callinfo.Info{}
	}
	p.NoteSecrets(info)
	g, err := p.Graph(tool)
	if err != nil {
		return nil, err
	}
	release := p.Retain()
	ctx, held, cancel := p.account(ctx)
	leave := func() {}
	over := func() {
		leave()
		cancel()
		held.Close()
		if release != nil {
			release()
		}
	}
	defer func() {
		if err != nil {
			over()
		}
	}()
	var run *executor.Run
	if d.From != nil {
		if args != nil {
			return nil, errArgumentsOfFrom
		}
		if run, err = d.From.Replay(g, time.Now()); err != nil {
			return nil, err
		}
	} else {
		in, err := p.arguments(ctx, info, g, args, held)
		if err != nil {
			return nil, err
		}
		run = executor.NewRun(g, in, o.seed())
	}
	p.log(info)
	c := p.newCall(info, o)
	c.Run = run
	within, drive, end, err := p.engine.local.Session(ctx, c)
	if err != nil {
		return nil, err
	}
	leave = end
	secrets := p.Secrets(run)
	secrets.Note(info)
	env := debug.Environment{
		ID: info.RunID, Caller: info.Caller, Tools: p.set.Graphs, Functions: p.opts.Functions, Redactor: secrets.Redactor,
		Processor: func() expr.Processor { return processors.Task(info.Caller) },
		Account: func(ctx context.Context) (context.Context, func()) {
			own := p.opts.Memory.Account(info.Caller)
			ctx, cancel := memory.WithAccount(ctx, own)
			return ctx, func() { cancel(); own.Close() }
		},
		Shown: func(q executor.Question) executor.Question { return p.Shown(info, q) },
	}
	env.Over = over
	if o.Ask != nil {
		env.Ask = o.Ask
	}
	began := make(chan struct{})
	s, err := debug.Start(within, run, env, d, func(ctx context.Context, s *debug.Session) (value.Value, error) {
		<-began
		c.Control = s.Control
		st := drive(ctx)
		return st.Result, p.redacted(info, st.Err)
	})
	if err != nil {
		return nil, err
	}
	listen(info, s)
	close(began)
	return s, nil
}

// listen shows what upstream servers report during the call in the session, too.
func listen(info *callinfo.Info, s *debug.Session) {
	own := callinfo.Listener{LogLevel: "debug"}
	next := info.Listener
	if next != nil && next.LogLevel != "" {
		own.LogLevel = next.LogLevel
	}
	own.Notify = func(n callinfo.Notification) {
		s.Notify(n)
		if next != nil && next.Notify != nil && (n.Method != callinfo.MethodMessage || next.LogLevel != "") {
			next.Notify(n)
		}
	}
	info.Listener = &own
}
