package engine

import (
	"context"
	"errors"
	"strings"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/value"
)

// Driver drives the runs of calls somewhere else, such as on a durable engine. It must
// be safe for concurrent use.
type Driver interface {
	// Drive starts the run of a call, or goes on with one that it parked, and adds
	// what happens to call.Run until that has ended. It returns the failure of the
	// run, nil if it ended well; [executor.ErrParked] if call.Ask is nil and the run
	// waits for answers alone; or why there is no run. When ctx is done, it ends the
	// run.
	Drive(ctx context.Context, call RemoteCall) error
	// Answer answers a question of a run that was parked.
	Answer(ctx context.Context, id, question string, answer value.Value, failed error) error
	// End ends a run that was parked.
	End(ctx context.Context, id string) error
}

// RemoteCall is a call that a Driver drives.
type RemoteCall struct {
	// ID is that of the run.
	ID string
	// Run has the graph, the arguments and the seed. It becomes what the run is.
	Run *executor.Run
	// Digest is that of the file.
	Digest string
	Info   *callinfo.Info
	// Forwarded reports whether servers of the file are sent a header of the caller.
	Forwarded func(header string) bool
	// Again is true if the run was started before.
	Again bool
	// Ask asks a person; nil: the run is parked.
	Ask func(ctx context.Context, r *executor.Run, q executor.Question) (value.Value, error)
	// Watched is true if somebody wants to know of the run before its end. Record is
	// then called for each record; it may be nil.
	Watched bool
	Record  func(executor.Record)
}

// driveRemote lets the Driver of the Engine drive the run.
func (c *call) driveRemote(ctx context.Context, info *callinfo.Info, o CallOptions, ask func(context.Context, *executor.Run, executor.Question) (value.Value, error)) (err error) {
	p := c.program
	if p.recorder != nil {
		own := *info
		own.Trace = p.recorder.Trace(ctx, info)
		info = &own
	}
	// The driver of the run makes its spans.
	for _, h := range p.ownHooks(info, o.Hooks) {
		if h.RunStart != nil {
			if ctx, err = h.RunStart(ctx, c.run); err != nil {
				return err
			}
		}
		if h.RunDone != nil {
			at := ctx
			defer func() { h.RunDone(at, c.run, err) }()
		}
	}
	remote := RemoteCall{
		ID: c.id, Run: c.run, Digest: p.Digest(), Info: info, Forwarded: p.Forwards,
		Again: c.remote, Ask: ask, Watched: len(o.Hooks) > 0 || p.opts.WatchRemote || c.run.Graph().Asks(),
	}
	// Hooks of the Engine measure executions, which workers do.
	remote.Record = func(rec executor.Record) {
		for _, h := range o.Hooks {
			switch {
			case rec.Event == executor.Retried && h.NodeRetry != nil:
				h.NodeRetry(ctx, c.run, rec)
			case (rec.Event == executor.Done || rec.Event == executor.Cancelled) && h.NodeDone != nil:
				h.NodeDone(ctx, c.run, rec)
			}
		}
	}
	c.remote = true
	if err = p.opts.Driver.Drive(ctx, remote); err == nil {
		return c.run.Err()
	}
	if !errors.Is(err, executor.ErrParked) {
		if own := c.run.Err(); own != nil {
			return own // has the place in the file
		}
	}
	return err
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
