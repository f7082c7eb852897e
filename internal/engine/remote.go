package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// driveRemote lets the Place of the Engine run the call.
func (c *call) driveRemote(ctx context.Context, info *callinfo.Info, o CallOptions, ask func(context.Context, *executor.Run, executor.Question) (value.Value, error)) error {
	p := c.program
	// The driver of the run makes its spans, and tells the hooks of the Engine, which
	// measure executions, about them.
	var hooks []executor.Hooks
	for _, h := range p.ownHooks(info, nil) {
		hooks = append(hooks, executor.Hooks{RunStart: h.RunStart, RunDone: h.RunDone})
	}
	remote := c.remoteCall(p.traced(ctx, info), o)
	remote.Hooks, remote.From = append(hooks, o.Hooks...), c.known
	remote.Ask, remote.Watched = ask, p.opts.WatchPlace
	remote.Begun = func(id string) {
		info.RunID = id
		c.begin(id, info.Caller, time.Now())
	}
	s, err := p.opts.Place.Do(ctx, remote)
	switch {
	case err != nil:
		if own := c.run.Err(); own != nil {
			return own // has the place in the file
		}
		return forClients(err)
	case s.Status == runs.Waiting:
		return executor.ErrParked
	case s.Err != nil:
		return s.Err
	}
	return c.run.Err()
}

// forClients returns what callers may know of the error of a place: others can name
// machines of the operator.
func forClients(err error) error {
	var failure *graph.Failure
	if errors.Is(err, runs.ErrUnavailable) && errors.As(err, &failure) {
		return failure
	}
	return err
}

// traced returns info with the trace of ctx.
func (p *Program) traced(ctx context.Context, info *callinfo.Info) *callinfo.Info {
	if p.recorder == nil {
		return info
	}
	own := *info
	own.Trace = p.recorder.Trace(ctx, info)
	return &own
}

func (c *call) remoteCall(info *callinfo.Info, o CallOptions) *runs.Call {
	return &runs.Call{ID: c.id, Run: c.run, Program: c.program, Info: info, Claim: o.Claim, Refuses: o.Refuses}
}

// Begin starts a call of a tool as [Program.Call] does, for a caller that comes back to
// it with o.Claim. It needs a Place.
func (p *Program) Begin(ctx context.Context, info *callinfo.Info, tool string, args any, o CallOptions) (*runs.State, error) {
	ctx, g, in, done, err := p.accept(ctx, info, tool, args)
	if err != nil {
		return nil, err
	}
	defer done()
	c := p.newCall(info, g, in, o)
	s, err := p.opts.Place.Start(ctx, c.remoteCall(p.traced(ctx, info), o))
	if err != nil {
		return nil, p.redacted(info, forClients(err))
	}
	info.RunID = s.ID
	return s, nil
}

// Attach returns a call that another one has started, maybe that of another process, if
// its state is of this version of the file.
func (p *Program) Attach(info *callinfo.Info, s *runs.State) (*Parked, error) {
	g, err := p.Graph(s.Tool)
	if err != nil {
		return nil, err
	}
	c := &call{program: p, run: p.masking(executor.NewRun(g, s.Args, s.Seed)), known: s.Count}
	own := &callinfo.Info{Caller: info.Caller, SecretArguments: slices.Concat(s.Secrets, p.SecretArguments(nil, "", s.Tool, s.Args))}
	p.NoteSecrets(own)
	c.note(own)
	c.begin(s.ID, info.Caller, s.Created)
	return &Parked{c}, nil
}

// Shown returns the result of a run as clients get it; see [graph.Graph.Result].
func (p *Program) Shown(tool string, result, args value.Value, uri string) (value.Value, error) {
	g, err := p.Graph(tool)
	if err != nil {
		return value.Undef, err
	}
	return g.Result(result, args, uri)
}

// Forwards reports whether a server of the file may be sent this header of the caller.
func (p *Program) Forwards(header string) bool {
	for _, u := range p.set.File.Upstreams {
		if u.Auth != nil && strings.EqualFold(u.Auth.From, header) {
			return true
		}
		for _, f := range u.ForwardHeaders {
			if strings.EqualFold(f.From, header) {
				return true
			}
		}
	}
	return false
}
