package engine

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/mcpgraph/mcpgraph/pkg/callinfo"
	"github.com/mcpgraph/mcpgraph/pkg/executor"
	"github.com/mcpgraph/mcpgraph/pkg/graph"
	"github.com/mcpgraph/mcpgraph/pkg/runs"
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
	// Answer answers a question of a run. What it does not ask (any more) is ignored.
	Answer(ctx context.Context, id, question string, answer value.Value, failed error) error
	// End ends a run. Its calls end soon afterwards.
	End(ctx context.Context, id string) error
	// NewID returns the id of a run that its caller can come back to.
	NewID(caller string) string
	// Begin starts the run of a call that nobody waits for: State has what comes of it.
	// The error is a *graph.Failure named "busy" if the caller, or all callers, have too
	// many.
	Begin(ctx context.Context, call RemoteCall) error
	// State returns a run as it is now, whichever process started it, if owns reports
	// true for its caller and the check of its Claim. The error is ErrNoRun if there is no
	// such run.
	State(ctx context.Context, id string, owns func(caller, check string) bool, detail Detail) (*RemoteState, error)
}

// Detail is how much a RemoteState has to say.
type Detail uint8

// What a RemoteState says. Less is cheaper.
const (
	// Brief is enough to know that there is the run.
	Brief Detail = iota
	// Status adds what it asks, and what came of it.
	Status
	// Whole adds the arguments and the seed, also while it asks nothing.
	Whole
)

// ErrNoRun says that a Driver has no run with an id, or not for who asks for it.
var ErrNoRun = errors.New("no such run")

// Claim lets a caller come back to a run.
type Claim struct {
	// Check is the digest of what the caller proves that it was told of the run.
	Check string
	// Created is when the caller was told of it.
	Created time.Time
	// Blocks is that of the tool.
	Blocks bool
	// Refused has the failures of questions that the caller's client cannot answer, by
	// [graph.QuestionKind].
	Refused map[string]*graph.Failure
}

// RemoteState is a run at one moment.
type RemoteState struct {
	Tool, Digest string
	Blocks       bool // of its Claim
	// Created is that of its Claim, Updated is when its status last changed. Kept is how
	// long it is kept from Created, 0 if that is not known (yet).
	Created, Updated time.Time
	Kept             time.Duration
	// Over reports that it has ended with Value or Err, Ending that it is being cancelled
	// or was: what came of it then does not matter.
	Over, Ending bool
	Value        value.Value
	Err          error
	// Waiting reports that it waits for answers alone. Questions has what it asks; of
	// their nodes only the ids are known. It is empty if Problem says why nobody knows
	// them now.
	Waiting   bool
	Questions []executor.Question
	Problem   string
	// Args and Seed are those of the run, and Count is how many records it has.
	Args  value.Value
	Seed  uint64
	Count int
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
	// Claim lets the caller come back to the run; it may be nil.
	Claim *Claim
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
	info = p.traced(ctx, info)
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
	remote := c.remoteCall(info, o)
	remote.Ask, remote.Watched = ask, len(o.Hooks) > 0 || p.opts.WatchRemote || c.run.Graph().Asks()
	// Hooks of the Engine measure executions, which workers do.
	remote.Record = func(rec executor.Record) {
		for _, h := range o.Hooks {
			switch {
			case rec.Index < c.known:
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

// traced returns info with the trace of ctx.
func (p *Program) traced(ctx context.Context, info *callinfo.Info) *callinfo.Info {
	if p.recorder == nil {
		return info
	}
	own := *info
	own.Trace = p.recorder.Trace(ctx, info)
	return &own
}

func (c *call) remoteCall(info *callinfo.Info, o CallOptions) RemoteCall {
	return RemoteCall{
		ID: c.id, Run: c.run, Digest: c.program.Digest(), Info: info, Forwarded: c.program.Forwards, Again: c.remote, Claim: o.Claim,
	}
}

// Begin starts a call of a tool as [Program.Call] does, for a caller that comes back to
// it with o.Claim, and returns the id of the run. It needs a Driver.
func (p *Program) Begin(ctx context.Context, info *callinfo.Info, tool string, args any, o CallOptions) (id string, err error) {
	ctx, g, in, done, err := p.accept(ctx, info, tool, args)
	if err != nil {
		return "", err
	}
	defer done()
	c := p.newCall(info, g, in, o)
	return c.id, p.redacted(info, p.opts.Driver.Begin(ctx, c.remoteCall(p.traced(ctx, info), o)))
}

// Attach returns a call that another one has started, maybe that of another process, if
// its state is of this version of the file.
func (p *Program) Attach(id string, info *callinfo.Info, s *RemoteState) (*Parked, error) {
	g, err := p.Graph(s.Tool)
	if err != nil {
		return nil, err
	}
	c := &call{program: p, run: executor.NewRun(g, s.Args, s.Seed), id: id, remote: true, known: s.Count}
	c.live = p.opts.Runs.Begin(runs.Call{ID: id, Run: c.run, Caller: info.Caller, Began: s.Created, Redactor: c.redactor, Masked: c.maskedArguments})
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
