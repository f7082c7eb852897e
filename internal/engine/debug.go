package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/debug"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/expr"
	"github.com/mcpgraph/mcpgraph/pkg/memory"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// MaxSessions is how many sessions of one Engine can be under way at the same time.
const MaxSessions = 64

// ErrTooManySessions is returned if there are as many as there can be.
var ErrTooManySessions = fmt.Errorf("%d runs are being debugged, which is as many as there can be: stop one of them", MaxSessions)

// sessions are those under way, and places for those that are about to begin.
type sessions struct {
	mu     sync.Mutex
	stops  map[*place]context.CancelCauseFunc
	closed bool
}

// place is that of one session.
type place struct{ _ byte }

// begin takes a place, and returns a context that ends with the engine.
func (s *sessions) begin(ctx context.Context) (_ context.Context, end func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, nil, errClosed
	case len(s.stops) >= MaxSessions:
		return nil, nil, ErrTooManySessions
	}
	if s.stops == nil {
		s.stops = map[*place]context.CancelCauseFunc{}
	}
	ctx, stop := context.WithCancelCause(ctx)
	own := &place{}
	s.stops[own] = stop
	return ctx, func() {
		stop(nil)
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.stops, own)
	}, nil
}

// close stops all sessions; no other one begins.
func (s *sessions) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, stop := range s.stops {
		stop(errClosed)
	}
}

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
	ctx, end, err := p.engine.sessions.begin(ctx)
	if err != nil {
		return nil, err
	}
	release := p.Retain()
	ctx, held, cancel := p.account(ctx)
	over := func() {
		cancel()
		held.Close()
		end()
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
	info.RunID = runs.NewID()
	c := &call{program: p, run: p.masking(run)}
	c.note(info)
	env := debug.Environment{
		ID: info.RunID, Caller: info.Caller, Tools: p.set.Graphs, Functions: p.opts.Functions, Redactor: c.redactor,
		Processor: func() expr.Processor { return processors.Task(info.Caller) },
		Account: func(ctx context.Context) (context.Context, func()) {
			own := p.opts.Memory.Account(info.Caller)
			ctx, cancel := memory.WithAccount(ctx, own)
			return ctx, func() { cancel(); own.Close() }
		},
		Shown: func(q executor.Question) executor.Question { return p.shown(info, q) },
	}
	env.Over = over
	if o.Ask != nil {
		env.Ask = o.Ask
	}
	began := make(chan struct{})
	s, err := debug.Start(ctx, run, env, d, func(ctx context.Context, s *debug.Session) (value.Value, error) {
		<-began
		o.Control = s.Control
		r, err := c.drive(ctx, info, o)
		return r.Value, err
	})
	if err != nil {
		return nil, err
	}
	listen(info, s)
	c.begin(info.RunID, info.Caller, time.Now())
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
